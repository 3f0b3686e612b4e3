//! A filter on a steady stream: what it takes, and what it still reports after the window.

use std::time::Duration;

use timebloom::{TimeBloom, TimeBloomBuilder, Timestamp};

use crate::error::Error;

/// The window of every steady stream here.
pub const SPAN: Duration = Duration::from_secs(300);

/// How a steady stream is run.
#[derive(Clone, Copy, Debug)]
pub struct Steady {
    /// Items a window.
    pub per_span: u32,
    /// Windows before anything is measured.
    pub settle: u32,
    /// Windows that are measured.
    pub measure: u32,
}

/// Ages past the window, in steps of `span / l`, at which expired items are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ages {
    /// How many steps past the window the last bin ends; the first begins one step before its end.
    pub steps: u32,
    /// Bins in a step.
    pub bins_per_step: u32,
    /// Ask after one in so many insertions.
    pub every: u32,
}

/// Items of one range of ages that were asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Where it begins, in steps past the window; negative inside it.
    pub from_step: f64,
    /// How many were asked for.
    pub asked: u64,
    /// How many were reported.
    pub reported: u64,
}

impl Bin {
    /// The share that was reported.
    pub fn share(&self) -> f64 {
        self.reported as f64 / self.asked.max(1) as f64
    }
}

/// What a steady stream showed.
#[derive(Clone, Debug)]
pub struct Seen {
    /// k.
    pub hashes: usize,
    /// l.
    pub aging_slices: usize,
    /// Bits of all slices for each item in the window, on average.
    pub slice_bits_per_item: f64,
    /// Bits of all memory for each item in the window, on average.
    pub bits_per_item: f64,
    /// The longest that an item was held past the window, as a share of it.
    pub overstay: f64,
    /// How many slices a query for an absent item looks at, as planned.
    pub probes_per_miss: f64,
    /// By age.
    pub bins: Vec<Bin>,
    /// Look-ups of items in the window that failed.
    pub false_negatives: u64,
    /// All look-ups of items in the window.
    pub looked_up: u64,
}

impl Steady {
    fn time_of(&self, number: u64) -> Timestamp {
        let start = Timestamp::from_secs(1_000_000);
        let nanos = SPAN.as_nanos() * u128::from(number) / u128::from(self.per_span);
        start.saturating_add(Duration::from_nanos(u64::try_from(nanos).expect("a few windows")))
    }

    /// Runs a filter; after measured insertions, one item of each range of ages is asked for.
    pub fn run(&self, builder: &TimeBloomBuilder, ages: Option<Ages>, seed: u64) -> Result<Seen, Error> {
        let mut filter = builder.clone().expected_items(self.per_span.into()).seed(seed).build()?;
        let plan = filter.plan();
        let mut seen = Seen {
            hashes: plan.hashes(),
            aging_slices: plan.aging_slices(),
            slice_bits_per_item: 0.0,
            bits_per_item: 0.0,
            overstay: 0.0,
            probes_per_miss: plan.probes_per_miss(),
            bins: Vec::new(),
            false_negatives: 0,
            looked_up: 0,
        };
        if let Some(ages) = ages {
            let bins = (ages.steps + 1) * ages.bins_per_step;
            let from = |bin: u32| f64::from(bin) / f64::from(ages.bins_per_step) - 1.0;
            seen.bins = (0..bins).map(|bin| Bin { from_step: from(bin), asked: 0, reported: 0 }).collect();
        }
        // the items of a step, and of a bin of ages
        let step = f64::from(self.per_span) / seen.aging_slices as f64;
        let bin_items = ages.map_or(0.0, |ages| step / f64::from(ages.bins_per_step));
        let mut random = fastrand::Rng::with_seed(seed);
        let first_measured = u64::from(self.settle * self.per_span);
        let items = first_measured + u64::from(self.measure * self.per_span);
        let (mut slice_bits, mut memory_bits) = (0.0, 0.0);
        let (mut bits_after, mut bits) = (None, 0);
        for number in 0..items {
            let now = self.time_of(number);
            let measured = number >= first_measured;
            if measured && filter.is_shift_due_at(now) {
                seen.overstay = seen.overstay.max(open_for(&filter));
            }
            filter.insert_at(number.to_le_bytes(), now)?;
            if !measured {
                continue;
            }
            memory_bits += filter.memory_bytes() as f64 * 8.0;
            // slices change at shifts only
            let shifts = filter.counts().shifts;
            if bits_after != Some(shifts) {
                (bits_after, bits) = (Some(shifts), filter.slices().map(|slice| slice.bits).sum::<u64>());
            }
            slice_bits += bits as f64;
            if ages.is_none_or(|ages| !number.is_multiple_of(ages.every.into())) {
                continue;
            }
            for bin in &mut seen.bins {
                let age = f64::from(self.per_span) + bin.from_step * step + random.f64() * bin_items;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive: at most one step younger
                let Some(item) = number.checked_sub(age.ceil() as u64) else { continue };
                let reported = filter.contains_at(item.to_le_bytes(), now);
                bin.asked += 1;
                bin.reported += u64::from(reported);
                if now.saturating_since(self.time_of(item)) <= SPAN {
                    seen.looked_up += 1;
                    seen.false_negatives += u64::from(!reported);
                }
            }
        }
        let all = f64::from(self.measure) * f64::from(self.per_span) * f64::from(self.per_span);
        seen.bits_per_item = memory_bits / all;
        seen.slice_bits_per_item = slice_bits / all;
        Ok(seen)
    }
}

/// How long the open generation has lasted, as a share of the window.
fn open_for(filter: &TimeBloom) -> f64 {
    let lasted = filter.open_generation().map_or(Duration::ZERO, |(first, last)| last.saturating_since(first));
    lasted.as_secs_f64() / SPAN.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_reported_up_to_the_end_of_the_window_and_rarely_long_after() {
        let steady = Steady { per_span: 2_000, settle: 2, measure: 1 };
        let builder = TimeBloom::builder(SPAN).false_positive_rate(0.01);
        let seen =
            steady.run(&builder, Some(Ages { steps: 12, bins_per_step: 2, every: 1 }), 1).expect("a legal filter");
        assert_eq!(seen.false_negatives, 0);
        assert!(seen.looked_up > 2_000, "{}", seen.looked_up);
        assert_eq!(seen.bins.len(), 26);
        assert_eq!((seen.bins[0].from_step, seen.bins[0].share()), (-1.0, 1.0));
        assert!(seen.bins[25].share() < 0.05, "{:?}", seen.bins[25]);
        assert!(seen.overstay <= 1.0 / seen.aging_slices as f64 && seen.overstay > 0.0);
        assert!(seen.slice_bits_per_item < seen.bits_per_item && seen.slice_bits_per_item > 15.0, "{seen:?}");
    }
}
