//! A² Buffering: two Bloom filters that both answer.
//!
//! MyungKeun Yoon, *Aging Bloom Filter with Two Active Buffers for Dynamic Sets*, IEEE Transactions on Knowledge and Data
//! Engineering, 2010. A key that the first buffer does not have is added to it; when the first one is full, the second is
//! emptied and they change roles. With buffers of n items it holds the last n to 2n distinct items, so each has room for
//! one window; each gets the rate `1 - sqrt(1 - rate)`, since both are asked.
//!
//! Deviation: the paper's query adds what it finds, or does not find, to the first buffer; here that is left to `insert`,
//! so that a query changes nothing.

use super::bloom::Bloom;
use super::{Key, Window, Windowed};

/// The filter.
#[derive(Clone, Debug)]
pub struct A2 {
    first: Bloom,
    second: Bloom,
    /// Keys in `first`.
    items: u64,
    /// What a buffer holds: a window.
    capacity: u64,
}

impl A2 {
    /// An empty filter with the rate `rate` when both buffers are full.
    pub fn new(window: Window, rate: f64) -> Self {
        let buffer = Bloom::new(window.items, 1.0 - (1.0 - rate).sqrt());
        A2 { first: buffer.clone(), second: buffer, items: 0, capacity: window.items }
    }
}

impl Windowed for A2 {
    fn insert(&mut self, key: &Key, _now: u64) {
        if self.first.contains(key) {
            return;
        }
        if self.items == self.capacity {
            std::mem::swap(&mut self.first, &mut self.second);
            self.first.clear();
            self.items = 0;
        }
        self.first.insert(key);
        self.items += 1;
    }

    fn contains(&self, key: &Key, _now: u64) -> bool {
        self.first.contains(key) || self.second.contains(key)
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.first.heap_bytes() + self.second.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::key;
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    /// How many of the last items are reported without a gap.
    fn held(filter: &A2, inserted: u64) -> u64 {
        (0..inserted).rev().take_while(|&number| filter.contains(&key(number), inserted)).count() as u64
    }

    #[test]
    fn it_holds_between_n_and_2n_items() {
        let n = 2_000;
        let mut filter = A2::new(Window::count(n), 1e-4);
        assert_eq!(missed_in_count_window(&mut filter, n, 6), 0);
        let mut filter = A2::new(Window::count(n), 1e-4);
        let (mut fewest, mut most) = (u64::MAX, 0);
        for number in 0..10 * n {
            filter.insert(&key(number), number);
            if number >= 2 * n {
                let held = held(&filter, number + 1);
                (fewest, most) = (fewest.min(held), most.max(held));
            }
        }
        // a false positive of an insertion takes no room: it moves a switch by one; more than 10 of 20,000 at a rate of
        // 10^-4 have a chance of one in 10^5, and as many may prolong what is held by chance
        assert!((n..n + 12).contains(&fewest), "{fewest}");
        assert!((2 * n - 12..2 * n + 12).contains(&most), "{most}");
    }

    #[test]
    fn a_repeat_takes_no_room_and_moves_to_the_first_buffer() {
        let mut filter = A2::new(Window::count(100), 1e-6);
        for round in 0..50 {
            for number in 0..100 {
                filter.insert(&key(number), round);
            }
        }
        assert_eq!(filter.items, 100, "a hundred keys, however often");
        insert_numbered(&mut filter, 1_000..1_050);
        filter.insert(&key(0), 0);
        insert_numbered(&mut filter, 2_000..2_050); // the 101st key of the first buffer empties the second
        assert_eq!(reported(&filter, 0..1, 0), 1);
        assert_eq!(reported(&filter, 1..100, 0), 0, "those that were not repeated are gone");
    }

    #[test]
    fn the_rate_holds_when_both_buffers_are_full() {
        let mut filter = A2::new(Window::count(10_000), 0.01);
        insert_numbered(&mut filter, 0..20_000);
        // false alarm: one in a million, with a tenth for the fills' own chance
        assert!(reported_absent(&filter, 500_000, 0) <= at_most_with_confidence(500_000, 0.011, 1e-6));
        let bits = filter.bytes() as f64 * 8.0 / 10_000.0;
        assert!((22.0..22.6).contains(&bits), "{bits}");
    }
}
