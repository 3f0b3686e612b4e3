//! Closing a generation and opening the next one.

use super::{Config, Window};
use crate::error::Full;
use crate::policy::{OnFull, Policy};
use crate::slices::{Copying, Lanes, MAX_SLICE_BITS, Slices};
use crate::timestamp::Timestamp;

/// What the generation that ends tells about the rate, in items per target shift interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observed {
    /// Items of the generation.
    pub(super) items: u64,
    /// How long it took, in nanoseconds; no less than [`Config::shortest_generation`], so that a burst cannot look
    /// infinitely fast.
    pub(super) elapsed: u64,
    /// The rate of this generation alone.
    pub(super) current: f64,
    /// The rate smoothed over about one shift interval.
    pub(super) smoothed: f64,
    /// The rate smoothed over a few, or `smoothed` itself when that is clearly another one.
    pub(super) steady: f64,
    /// How far `smoothed` is from that, as a share of it, even if `steady` is the same.
    pub(super) wobble: f64,
    /// How much the rates of generations differ: see [`Slices::unevenness`].
    pub(super) uneven: f64,
}

/// What a shift opens.
#[derive(Debug, PartialEq)]
pub(super) struct Opening {
    /// Sizes in bits, youngest first.
    pub(super) slices: Sizes,
    /// Insertions until the next shift; at least 1.
    pub(super) generation_size: u64,
    /// The rate to go on from, if that is not the one observed.
    pub(super) rate: Option<f64>,
}

/// The sizes of one slice, or of `hashes` of them for a fresh start. One needs no allocation: small filters shift often.
#[derive(Debug, PartialEq)]
pub(super) enum Sizes {
    One([u64; 1]),
    Many(Vec<u64>),
}

impl Sizes {
    pub(super) fn as_slice(&self) -> &[u64] {
        match self {
            Sizes::One(size) => size,
            Sizes::Many(sizes) => sizes,
        }
    }
}

/// A rate that differs from generation to generation by more than this is not one that stays the same on the whole.
const MOST_UNEVEN: f64 = 0.2;

/// The half-life of what the steady rate remembers, in target shift intervals.
pub(super) const STEADY_INTERVALS: u8 = 3;

impl Window {
    /// Looks at the open generation as if it ended at `now`.
    pub(super) fn observe(&self, now: Timestamp) -> Observed {
        let items = self.slices.generation_items();
        let interval = self.config.target_shift_interval();
        let measured = now.nanos_since(self.generation_started);
        let elapsed = measured.max(self.config.shortest_generation());
        if items == 0 {
            // nothing new: believe what was known, at first the hint
            let Window { rate, steady_rate, .. } = *self;
            return Observed {
                items,
                elapsed,
                current: rate,
                smoothed: rate,
                steady: steady_rate,
                wobble: 0.0,
                uneven: 0.0,
            };
        }
        // an eighth of a few nanoseconds is no whole number of them
        let nanos = if measured == 0 { (interval as f64 / 8.0).min(elapsed as f64) } else { elapsed as f64 };
        let intervals = nanos / interval as f64;
        let current = items as f64 / intervals;
        // what is left of the rates that were known: the one forgets in one interval what the other forgets in three
        let of_steady = libm::exp2(-intervals / f64::from(STEADY_INTERVALS));
        let of_smoothed = (0..STEADY_INTERVALS).fold(1.0, |left, _| left * of_steady);
        let smoothed = current + of_smoothed * (self.rate - current);
        let slow = current + of_steady * (self.steady_rate - current);
        let wobble = (smoothed / slow - 1.0).abs();
        let by_chance = 2.0 / slow.sqrt();
        // small filters shift often, and where chance does as much as the rate itself there is no need to know
        let uneven = if by_chance > 1.0 { 0.0 } else { self.slices.unevenness() };
        let is_steady = wobble <= by_chance.max(0.12).max(2.0 * uneven.min(MOST_UNEVEN));
        Observed { items, elapsed, current, smoothed, steady: if is_steady { slow } else { smoothed }, wobble, uneven }
    }

    /// Whether the insertion that needs these slices may go on: not if the filter rejects at its limit.
    pub(super) fn accept(&mut self, opening: &Opening) -> Result<(), Full> {
        match self.over_limit(opening) {
            Some(full) if self.config.on_full == OnFull::Reject => {
                self.counters.rejected += 1;
                self.slices.shrink();
                Err(full)
            }
            _ => Ok(()),
        }
    }

    /// Ends the generation and opens the next. What does not fit the memory limit beside it is forgotten.
    pub(super) fn shift(&mut self, observed: &Observed, opening: &Opening, now: Timestamp) {
        debug_assert!(opening.generation_size >= 1, "a generation takes at least one item");
        self.rate = opening.rate.unwrap_or(observed.smoothed);
        self.steady_rate = opening.rate.unwrap_or(observed.steady);
        while !self.slices.is_empty() && self.over_limit(opening).is_some() {
            self.drop_oldest();
            self.slices.narrow(Copying::Any);
            self.counters.shortened += 1;
        }
        if self.slices.is_empty() {
            self.oldest_bound = now;
        }
        self.open(opening);
        self.generation_started = now;
        self.counters.shifts += 1;
        self.counters.fresh_starts += u64::from(opening.slices.as_slice().len() > 1);
    }

    /// Opens slices in front of the others.
    pub(super) fn open(&mut self, opening: &Opening) {
        let sizes = opening.slices.as_slice();
        let copying = self.copying(sizes);
        self.counters.inserted = self.inserted();
        self.slices.shift(sizes, copying);
        self.slices.narrow(copying);
        self.slices.shrink();
        self.generation_size = opening.generation_size;
    }

    /// How panels may change their width when slices of these sizes are opened. Near a memory limit, memory is worth the
    /// time that copying takes.
    pub(super) fn copying(&self, sizes: &[u64]) -> Copying {
        let Some(max_bytes) = self.config.max_bytes() else { return Copying::Small };
        // at the most each of them gets a panel of eight lanes
        let bytes = (Self::OWN_BYTES + self.slices.row_bytes()) as u64 + sizes.iter().sum::<u64>();
        if bytes > max_bytes / 2 { Copying::Any } else { Copying::Small }
    }

    /// The error of an insertion that cannot have these slices, if it cannot.
    pub(super) fn over_limit(&self, opening: &Opening) -> Option<Full> {
        let max_bytes = self.config.max_bytes()?;
        let needed_bytes = self.memory_bytes_with(opening.slices.as_slice()) as u64;
        (needed_bytes > max_bytes).then_some(Full { needed_bytes, max_bytes })
    }
}

impl Config {
    /// The least time that a generation counts as: 1 ms, or an eighth of a short shift interval. With a whole one, a
    /// generation that fills before its time would never look faster than its own size.
    fn shortest_generation(&self) -> u64 {
        (self.target_shift_interval() / 8).clamp(1, 1_000_000)
    }

    /// The largest slice: under a memory limit, such that `k + l` of them fit, and `k` whatever the others' sizes are.
    pub(crate) fn max_slice_bits(&self) -> u64 {
        let Some(max_bytes) = self.max_bytes() else { return MAX_SLICE_BITS };
        let bytes = max_bytes.saturating_sub(Window::OWN_BYTES as u64);
        let even = Slices::words_within(bytes, self.plan.base_slices(), Lanes::OfOneSize);
        let uneven = Slices::words_within(bytes, self.plan.hashes(), Lanes::OfAnySizes);
        (64 * even.min(uneven)).clamp(self.min_slice_bits(), MAX_SLICE_BITS)
    }

    /// The smallest slice.
    pub(super) fn min_slice_bits(&self) -> u64 {
        match self.policy {
            Policy::Guarded => 64,
            // under 2k bits, generations of less than one item would follow
            Policy::Paper => (2 * self.plan.hashes()).next_multiple_of(64) as u64,
        }
    }

    /// The least memory limit that a filter of these proportions can work with.
    pub(crate) fn min_bytes(&self) -> u64 {
        let words = self.min_slice_bits() / 64;
        let even = Slices::heap_bytes_of(self.plan.base_slices(), words, Lanes::OfOneSize);
        let uneven = Slices::heap_bytes_of(self.plan.hashes(), words, Lanes::OfAnySizes);
        Window::OWN_BYTES as u64 + even.max(uneven)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{BuildError, OnFull, TimeBloom, Timestamp};

    /// Slices of 64 bits have no memory but their place: if dropping them did not free it, dropping would go on until no
    /// slice is left.
    #[test]
    #[cfg_attr(miri, ignore = "thousands of insertions take minutes there")]
    fn shortening_never_goes_below_what_an_insertion_needs() {
        let builder = TimeBloom::builder(Duration::from_secs(60)).hashes_and_aging(7, 5).seed(1);
        let Err(BuildError::MaxBytes { min, .. }) = builder.clone().max_bytes(0).build() else {
            panic!("a limit of nothing is refused");
        };
        let mut filter = builder.max_bytes(min).on_full(OnFull::Shorten).build().unwrap();
        let mut now = Timestamp::from_secs(1);
        for item in 0..2_000_u32 {
            // slow, then fast: first many small slices, then larger ones
            now = now.saturating_add(Duration::from_millis(if item < 100 { 13_000 } else { 10 }));
            filter.insert_at(item.to_le_bytes(), now).unwrap();
            assert_eq!(filter.validate(), Ok(()), "item {item}");
            assert!(filter.contains_at(item.to_le_bytes(), now));
        }
        assert!(filter.stats(now).shortened > 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of insertions take minutes there")]
    fn short_windows_follow_fast_streams() {
        for (span, gap, l) in [(20_000_000, 1_000, 31), (100_000, 10, 31), (1_000, 0, 31), (1_000, 0, 1_000)] {
            let mut filter =
                TimeBloom::builder(Duration::from_nanos(span)).hashes_and_aging(9, l).seed(1).build().unwrap();
            for item in 0..20_000_u64 {
                filter.insert_at(item.to_le_bytes(), Timestamp::from_nanos(item * gap)).unwrap();
                assert!(filter.window.slices.len() < 250, "{} slices at item {item}", filter.window.slices.len());
            }
        }
    }

    /// A stream of so many items that they come a few ticks apart. Only the first and the last of each generation are
    /// inserted: when slices are opened and dropped depends on no others.
    #[test]
    #[cfg_attr(miri, ignore = "hundreds of shifts take minutes there")]
    fn dense_even_streams_have_the_slices_that_were_planned() {
        // generations a tick shorter would miss their last item
        for (span, gap) in [(50_000_000_000, 1_000), (10_000_000_000, 200), (3_600_000_000_000, 33_300)] {
            let mut filter = TimeBloom::builder(Duration::from_nanos(span)).seed(1).build().unwrap();
            let planned = filter.plan().base_slices();
            // in gaps
            let mut first = 1_000_000;
            for generation in 0..300_u32 {
                let end = filter.window.config.end_of_generation(Timestamp::from_nanos(first * gap));
                let last = end.as_nanos() / gap;
                for item in [first, last] {
                    filter.insert_at(item.to_le_bytes(), Timestamp::from_nanos(item * gap)).unwrap();
                }
                let slices = filter.window.slices.len();
                assert!(slices <= planned, "{slices} slices in generation {generation} of a window of {span}");
                first = last + 1;
            }
            assert_eq!(filter.window.slices.len(), planned, "a window of {span}");
        }
    }

    /// A bulk load: a hundred items at a time, by a clock that counts milliseconds. Generations end up to one of them late,
    /// and rows have fewer slices than planned; a limit far away makes no difference.
    #[test]
    #[cfg_attr(miri, ignore = "thousands of insertions take minutes there")]
    fn rows_stay_wide_when_generations_end_late() {
        for max_bytes in [None, Some(1 << 30)] {
            let builder = TimeBloom::builder(Duration::from_millis(200)).seed(1);
            let builder = max_bytes.into_iter().fold(builder, |builder, bytes| builder.max_bytes(bytes));
            let mut filter = builder.build().unwrap();
            let (mut wide, mut shifts) = (0, 0);
            for batch in 0..3_000_u64 {
                let now = Timestamp::from_millis(1_700_000_000_000 + batch);
                let items: Vec<[u8; 8]> = (100 * batch..100 * batch + 100).map(u64::to_le_bytes).collect();
                filter.insert_batch_at(&items, now).unwrap();
                if batch > 1_000 {
                    wide += u32::from(filter.window.slices.is_wide());
                    shifts += 1;
                }
            }
            let least = shifts * 3 / 4;
            assert!(wide >= least, "{wide} of {shifts} milliseconds, with a limit of {max_bytes:?}");
        }
    }
}
