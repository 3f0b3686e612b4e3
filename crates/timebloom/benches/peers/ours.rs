//! The filters of this crate.

use std::ops::Range;

use timebloom::{CountBloom, TimeBloom};

use crate::filters::{Filter, Mode};
use crate::workload::{Key, SPAN, Stream};

/// Seeds are fixed: runs differ in their times only.
pub const SEED: u64 = 1;

/// A time window that is told nothing about the rate.
pub struct TimeWindow {
    filter: TimeBloom,
    stream: Stream,
    /// The last insertion.
    last: u64,
    seen: Vec<bool>,
}

impl TimeWindow {
    pub fn new(eps: f64, pair: Option<(u32, u32)>, stream: Stream) -> Result<Self, String> {
        let mut builder = TimeBloom::builder(SPAN).false_positive_rate(eps).seed(SEED);
        if let Some((hashes, aging_slices)) = pair {
            builder = builder.hashes_and_aging(hashes, aging_slices);
        }
        let filter = builder.build().map_err(|error| error.to_string())?;
        Ok(TimeWindow { filter, stream, last: 0, seen: Vec::with_capacity(Mode::BATCH) })
    }
}

impl Filter for TimeWindow {
    fn insert(&mut self, mode: Mode, keys: &[Key], first: u64) {
        match mode {
            Mode::Single => {
                for (key, item) in keys.iter().zip(first..) {
                    self.filter.insert_at(key, self.stream.time_of(item)).expect("no memory limit");
                }
            }
            Mode::Batch16 => {
                for (batch, first) in keys.chunks(Mode::BATCH).zip((first..).step_by(Mode::BATCH)) {
                    let now = self.stream.time_of(first + batch.len() as u64 - 1);
                    self.filter.insert_batch_at(batch, now).expect("no memory limit");
                }
            }
        }
        self.last = first + keys.len() as u64 - 1;
    }

    fn count_seen(&mut self, mode: Mode, keys: &[Key], now: u64) -> usize {
        let now = self.stream.time_of(now);
        match mode {
            Mode::Single => keys.iter().filter(|key| self.filter.contains_at(key, now)).count(),
            Mode::Batch16 => {
                let mut count = 0;
                for batch in keys.chunks(Mode::BATCH) {
                    self.filter.contains_batch_at(batch, now, &mut self.seen);
                    count += self.seen.iter().filter(|&&seen| seen).count();
                }
                count
            }
        }
    }

    fn held(&self, next: u64) -> Range<u64> {
        next - self.stream.window..next
    }

    fn is_at_peak(&self, next: u64) -> bool {
        self.filter.is_shift_due_at(self.stream.time_of(next))
    }

    fn bytes(&self) -> u64 {
        self.filter.stats(self.stream.time_of(self.last)).memory_bytes as u64
    }
}

/// A count window.
pub struct CountWindow {
    filter: CountBloom,
    seen: Vec<bool>,
}

impl CountWindow {
    pub fn new(eps: f64, pair: Option<(u32, u32)>, stream: Stream) -> Result<Self, String> {
        let mut builder = CountBloom::builder(stream.window).false_positive_rate(eps).seed(SEED);
        if let Some((hashes, aging_slices)) = pair {
            builder = builder.hashes_and_aging(hashes, aging_slices);
        }
        let filter = builder.build().map_err(|error| error.to_string())?;
        Ok(CountWindow { filter, seen: Vec::with_capacity(Mode::BATCH) })
    }
}

impl Filter for CountWindow {
    fn insert(&mut self, mode: Mode, keys: &[Key], _first: u64) {
        match mode {
            Mode::Single => keys.iter().for_each(|key| self.filter.insert(key)),
            Mode::Batch16 => keys.chunks(Mode::BATCH).for_each(|batch| self.filter.insert_batch(batch)),
        }
    }

    fn count_seen(&mut self, mode: Mode, keys: &[Key], _now: u64) -> usize {
        match mode {
            Mode::Single => keys.iter().filter(|key| self.filter.contains(key)).count(),
            Mode::Batch16 => {
                let mut count = 0;
                for batch in keys.chunks(Mode::BATCH) {
                    self.filter.contains_batch(batch, &mut self.seen);
                    count += self.seen.iter().filter(|&&seen| seen).count();
                }
                count
            }
        }
    }

    fn held(&self, next: u64) -> Range<u64> {
        next - self.filter.capacity()..next
    }

    fn is_at_peak(&self, _next: u64) -> bool {
        self.filter.is_shift_due()
    }

    fn bytes(&self) -> u64 {
        self.filter.stats().memory_bytes as u64
    }
}
