//! SWAMP: the fingerprints of the window in a ring, and a table that counts them.
//!
//! Eran Assaf, Ran Ben Basat, Gil Einziger, Roy Friedman, *Pay for a Sliding Bloom Filter and Get Counting, Distinct
//! Elements, and Entropy for Free*, INFOCOM 2018. An insertion overwrites the oldest fingerprint in the ring, takes that one
//! from the table and adds its own. With W items, fingerprints have `log2(W / rate)` bits, so that none of them collides with
//! a query with a chance above `rate`; the table is a TinyTable with a fifth more places than items.
//!
//! It holds the last W items exactly, whatever the time. Entropy, which the paper gets as well, is left out.

use super::bits::Bits;
use super::hash::{Key, hash};
use super::num::{bits_for, ceil, index};
use super::tiny_table::TinyTable;
use super::{Window, Windowed};

/// More places than items in the table.
const SLACK: f64 = 0.2;

/// The filter.
#[derive(Clone, Debug)]
pub struct Swamp {
    ring: Bits,
    table: TinyTable,
    fingerprint_bits: u32,
    /// The place in the ring that is written next.
    next: u64,
    /// Fingerprints in the ring.
    held: u64,
    /// Places of the ring, W in the paper.
    items: u64,
}

impl Swamp {
    /// An empty filter over the last `window.items` insertions with the rate `rate`.
    pub fn new(window: Window, rate: f64) -> Self {
        let items = window.items;
        let fingerprint_bits = bits_for(ceil(items as f64 / rate));
        let ring = Bits::new(index(items) * fingerprint_bits as usize);
        let table = TinyTable::new(items, fingerprint_bits, SLACK);
        Swamp { ring, table, fingerprint_bits, next: 0, held: 0, items }
    }

    #[inline]
    fn fingerprint(&self, key: &Key) -> u64 {
        hash(key) >> (64 - self.fingerprint_bits)
    }

    /// How often the key is in the window; never too few.
    pub fn frequency(&self, key: &Key) -> u64 {
        self.table.count(self.fingerprint(key))
    }

    /// How many different keys are in the window: the most likely number, given how many fingerprints are different.
    pub fn distinct(&self) -> f64 {
        let space = (self.fingerprint_bits as f64).exp2();
        (1.0 - self.table.distinct() as f64 / space).ln() / (1.0 - 1.0 / space).ln()
    }
}

impl Windowed for Swamp {
    fn insert(&mut self, key: &Key, _now: u64) {
        let at = index(self.next) * self.fingerprint_bits as usize;
        if self.held == self.items {
            let oldest = self.ring.get(at, self.fingerprint_bits);
            let was_there = self.table.remove(oldest);
            debug_assert!(was_there, "what is in the ring is in the table");
        } else {
            self.held += 1;
        }
        let fingerprint = self.fingerprint(key);
        self.ring.set(at, self.fingerprint_bits, fingerprint);
        self.table.add(fingerprint);
        self.next = if self.next + 1 == self.items { 0 } else { self.next + 1 };
    }

    fn contains(&self, key: &Key, _now: u64) -> bool {
        self.table.count(self.fingerprint(key)) > 0
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.ring.bytes() + self.table.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::key;
    use super::super::testing::{missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn it_holds_the_window_and_nothing_more() {
        let items = 10_000;
        let mut filter = Swamp::new(Window::count(items), 0.001);
        assert_eq!(missed_in_count_window(&mut filter, items, 4), 0);
        // false alarms: one in a million for each bound
        assert!(reported(&filter, 0..3 * items, 0) <= at_most_with_confidence(3 * items, 0.001, 1e-6));
        assert!(reported_absent(&filter, 300_000, 0) <= at_most_with_confidence(300_000, 0.001, 1e-6));
    }

    #[test]
    fn it_counts_distinct_items_and_how_often_each_came() {
        let mut filter = Swamp::new(Window::count(6_000), 0.01);
        // item i comes i % 3 + 1 times in a row; a window of 6,000 has 3,000 of them
        for number in 0..20_000_u64 {
            for _ in 0..=number % 3 {
                filter.insert(&key(number), 0);
            }
        }
        // 3,000 fingerprints collide among 2^20 some 4 times; ten more or fewer would be five deviations away
        let distinct = filter.distinct();
        assert!((2_990.0..3_012.0).contains(&distinct), "{distinct}");
        for number in 19_000..20_000 {
            assert!(filter.frequency(&key(number)) > number % 3);
        }
        let exact = (19_000..20_000).filter(|&n| filter.frequency(&key(n)) == n % 3 + 1).count();
        assert!(exact > 970, "{exact} of 1,000, where 6 collisions are expected");
    }

    #[test]
    fn its_size_is_that_of_the_paper() {
        for (rate, fingerprint) in [(0.01, 24), (0.001, 27)] {
            let filter = Swamp::new(Window::count(100_000), rate);
            let bits = filter.bytes() as f64 * 8.0 / 100_000.0;
            // W L + 1.2 W (L - log2 W + 3)
            let paper = f64::from(fingerprint) + 1.2 * (f64::from(fingerprint) - 100_000_f64.log2() + 3.0);
            assert!((bits / paper - 1.0).abs() < 0.05, "{bits} for {paper}");
        }
    }
}
