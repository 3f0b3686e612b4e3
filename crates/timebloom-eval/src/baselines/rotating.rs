//! Two `fastbloom` filters that take turns: what people use for a time window without a filter made for it.
//!
//! The younger takes what comes in this period, the older has the period before; a period is a window. It holds one to two
//! windows. Each has half of the rate, since both are asked. It turns by the clock, whatever the number of items.

use fastbloom::BloomFilter;
use foldhash::quality::FixedState;

use super::hash::{HASHER, Number};
use super::num::index;
use super::{Key, Window, Windowed};

/// The filter.
#[derive(Debug)]
pub struct Rotating {
    younger: BloomFilter<FixedState>,
    older: BloomFilter<FixedState>,
    window: Window,
    /// The number of the period that `younger` is of.
    period: u64,
}

impl Rotating {
    /// An empty filter with the rate `rate` when both have a window's items.
    pub fn new(window: Window, rate: f64) -> Self {
        let half = || BloomFilter::with_false_pos(rate / 2.0).hasher(HASHER).expected_items(index(window.items));
        Rotating { younger: half(), older: half(), window, period: 0 }
    }
}

impl Windowed for Rotating {
    fn insert(&mut self, key: &Key, now: u64) {
        let period = now / self.window.length;
        if period != self.period {
            std::mem::swap(&mut self.younger, &mut self.older);
            self.younger.clear();
            if period > self.period + 1 {
                self.older.clear();
            }
            self.period = period;
        }
        self.younger.insert(&Number(*key));
    }

    fn contains(&self, key: &Key, now: u64) -> bool {
        let key = Number(*key);
        match now / self.window.length - self.period {
            0 => self.younger.contains(&key) || self.older.contains(&key),
            1 => self.younger.contains(&key),
            _ => false,
        }
    }

    fn bytes(&self) -> u64 {
        let arrays = size_of_val(self.younger.as_slice()) + size_of_val(self.older.as_slice());
        (size_of_val(self) + arrays) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn it_holds_one_to_two_windows() {
        let mut filter = Rotating::new(Window::count(5_000), 0.001);
        assert_eq!(missed_in_count_window(&mut filter, 5_000, 6), 0);
        let mut filter = Rotating::new(Window::count(5_000), 0.001);
        insert_numbered(&mut filter, 0..15_000);
        assert_eq!(reported(&filter, 5_000..15_000, 14_999), 10_000);
        // false alarms: one in a million for each bound
        assert!(reported_absent(&filter, 500_000, 14_999) <= at_most_with_confidence(500_000, 0.0011, 1e-6));
        insert_numbered(&mut filter, 15_000..15_001);
        assert!(reported(&filter, 5_000..10_000, 15_000) <= at_most_with_confidence(5_000, 0.0011, 1e-6));
    }

    #[test]
    fn silence_ends_what_it_holds() {
        let mut filter = Rotating::new(Window::time(10, 1_000), 0.01);
        insert_numbered(&mut filter, 0..10);
        assert_eq!(reported(&filter, 0..10, 1_999), 10);
        assert_eq!(reported(&filter, 0..10, 2_000), 0);
        insert_numbered(&mut filter, 2_500..2_510);
        assert_eq!(reported(&filter, 0..10, 2_510), 0);
        assert_eq!(reported(&filter, 2_500..2_510, 2_510), 10);
    }
}
