//! Running a filter through a stream and looking at it where it is worst.

use std::collections::VecDeque;
use std::time::Duration;

use timebloom::{CountBloom, Full, Plan, SliceStats, TimeBloom, Timestamp, run_probability};

/// What a run showed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Items inserted.
    pub items: u64,
    /// The most slices at any time.
    pub peak_slices: usize,
    /// The highest false positive rate just before a shift, from counted bits.
    pub peak_rate: f64,
    /// The most bytes at any time.
    pub peak_bytes: usize,
    /// Bits per item in the window: all bytes over the run, by all items in the window over the run.
    pub bits_per_item: f64,
    /// The longest that an item was held beyond the span, in spans.
    pub overstay: f64,
    /// Items in the window that were not reported.
    pub false_negatives: u64,
    /// Queries for items that were never inserted, and how many of them were reported.
    pub absent_queries: u64,
    /// See `absent_queries`.
    pub false_positives: u64,
}

/// The false positive rate from the bits that are set in the slices live at `now`.
pub fn rate_from_fills(filter: &TimeBloom, now: Timestamp) -> f64 {
    rate_since(now.saturating_sub(filter.span()), filter.slices(), filter.plan())
}

/// The false positive rate from the bits that are set in the slices that may hold one of the last `capacity` items.
pub fn count_rate_from_fills(filter: &CountBloom) -> f64 {
    let oldest = (filter.inserted() + 1).saturating_sub(filter.capacity());
    rate_since(Timestamp::from_nanos(oldest), filter.slices(), filter.plan())
}

fn rate_since(horizon: Timestamp, slices: impl Iterator<Item = SliceStats>, plan: &Plan) -> f64 {
    let live = slices.filter(|slice| slice.newest.is_some_and(|newest| newest >= horizon));
    let fills: Vec<f64> = live.map(|slice| slice.fill()).collect();
    (plan.crowding() * run_probability(plan.hashes(), &fills)).min(1.0)
}

/// Inserts one new item at each time of `arrivals` and looks at the filter before every shift. Every `check_every`-th
/// insertion an item that is just inside the window is looked up, and `absent` items that were never inserted before
/// every shift.
pub fn measure(
    filter: &mut TimeBloom,
    arrivals: impl Iterator<Item = Timestamp>,
    check_every: u64,
    absent: u64,
) -> Result<Measured, Full> {
    let mut seen = Measured::default();
    let span = filter.span();
    let mut window: VecDeque<(u64, Timestamp)> = VecDeque::new();
    let (mut byte_sum, mut item_sum) = (0.0, 0.0);
    let mut never = u64::MAX;
    let mut last = None;
    for now in arrivals {
        if filter.is_shift_due_at(now) {
            if let Some(last) = last {
                seen.peak_rate = seen.peak_rate.max(rate_from_fills(filter, last));
                for _ in 0..absent {
                    seen.absent_queries += 1;
                    seen.false_positives += u64::from(filter.contains_at(never.to_le_bytes(), last));
                    never -= 1;
                }
            }
            seen.overstay = seen.overstay.max(overstay(filter));
        }
        filter.insert_at(seen.items.to_le_bytes(), now)?;
        window.push_back((seen.items, now));
        seen.items += 1;
        last = Some(now);
        let horizon = now.saturating_sub(span);
        while window.front().is_some_and(|&(_, at)| at < horizon) {
            window.pop_front();
        }
        if seen.items % check_every == 0 {
            if let Some((oldest, _)) = window.front() {
                seen.false_negatives += u64::from(!filter.contains_at(oldest.to_le_bytes(), now));
            }
            let stats = filter.stats(now);
            seen.peak_slices = seen.peak_slices.max(stats.slices);
            seen.peak_bytes = seen.peak_bytes.max(stats.memory_bytes);
            byte_sum += stats.memory_bytes as f64;
            item_sum += window.len() as f64;
        }
    }
    seen.bits_per_item = byte_sum * 8.0 / item_sum.max(1.0);
    Ok(seen)
}

/// How long the open generation lasted so far, in spans: its first item is held for as long as its last.
fn overstay(filter: &TimeBloom) -> f64 {
    let lasted = filter.open_generation().map_or(Duration::ZERO, |(first, last)| last.saturating_since(first));
    lasted.as_secs_f64() / filter.span().as_secs_f64()
}
