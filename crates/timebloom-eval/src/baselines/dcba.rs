//! The Detached Counting Bloom filter Array: many small Bloom filters in a ring, each with a timer for every bit.
//!
//! Jiansheng Wei, Hong Jiang, Ke Zhou, Dan Feng, Hua Wang, *Detecting Duplicates over Sliding Windows with RAM-Efficient
//! Detached Counting Bloom Filter Arrays*, NAS 2011. One filter is being filled, one is decaying, those between them are
//! stable. A timer says when its bit was last set, so the decaying filter gives its items up one by one, and the window
//! slides exactly, to one timer value. Stable filters need no timers until they decay: the paper keeps those on disk.
//!
//! There are 64 filters, as in the paper's experiments, so a window is 63 of them; each gets a 63rd of the rate, and its
//! timers have as many values as it has items. The windows of the filters follow the clock.
//!
//! Deviations. The bits of all 64 filters at one place are one word, and all filters share their hash functions, so that a
//! query looks at all of them at once. Timers of the decaying filter are looked at by queries, instead of a sweep that
//! clears bits; the answers are the same. Timers are kept in memory; [`resident_bytes`](Windowed::resident_bytes) counts
//! only those of the filling and the decaying filter, as if the rest was on disk.

use super::bits::Bits;
use super::bloom::{best_hashes, bits_for_rate};
use super::hash::{Key, Places};
use super::num::{bits_for, index};
use super::{Window, Windowed};

/// Filters in the ring.
const FILTERS: u64 = 64;

/// The filter.
#[derive(Clone, Debug)]
pub struct Dcba {
    /// A word for each place: a bit for each filter.
    bits: Bits,
    /// For each filter a timer for each place. It means nothing where the bit is not set.
    timers: Bits,
    timer_bits: u32,
    /// Values of a timer.
    ticks: u64,
    /// Places of a filter.
    places: u64,
    hashes: u64,
    /// A filter's window, by the clock.
    length: u64,
    reach: u64,
    /// The number of the filter that is being filled; `None` before the first insertion.
    filling: Option<u64>,
}

impl Dcba {
    /// An empty filter with the rate `rate` when a window is full.
    pub fn new(window: Window, rate: f64) -> Self {
        let windows = FILTERS - 1;
        let items = window.items.div_ceil(windows);
        let each = 1.0 - (1.0 - rate).powf(1.0 / windows as f64);
        let hashes = best_hashes(each);
        let places = bits_for_rate(items, each, hashes);
        let timer_bits = bits_for(items);
        Dcba {
            bits: Bits::new(index(places * FILTERS)),
            timers: Bits::new(index(places * FILTERS) * timer_bits as usize),
            timer_bits,
            ticks: items,
            places,
            hashes,
            length: window.reach.div_ceil(windows).max(1),
            reach: window.reach,
            filling: None,
        }
    }

    /// The value of a timer that is set at `now`.
    #[inline]
    fn tick(&self, now: u64) -> u64 {
        let part = u128::from(now % self.length) * u128::from(self.ticks) / u128::from(self.length);
        u64::try_from(part).expect("below the number of ticks")
    }

    #[inline]
    fn timer_at(&self, filter: u64, place: usize) -> usize {
        (index(filter % FILTERS * self.places) + place) * self.timer_bits as usize
    }

    /// Makes the filter of `now` the one that is filled; those that its ring passes begin anew.
    fn advance(&mut self, now: u64) {
        let filter = now / self.length;
        let passed = match self.filling {
            Some(filling) => (filter - filling).min(FILTERS),
            None => 0,
        };
        self.filling = Some(filter);
        if passed == 0 {
            return;
        }
        let mut kept = u64::MAX;
        for begun in filter + 1 - passed..=filter {
            kept &= !(1 << (begun % FILTERS));
        }
        for place in 0..index(self.places) {
            *self.bits.word_mut(place) &= kept;
        }
    }

    fn timer_bytes(&self, filters: u64) -> u64 {
        (self.places * filters * u64::from(self.timer_bits)).div_ceil(8)
    }
}

impl Windowed for Dcba {
    fn insert(&mut self, key: &Key, now: u64) {
        self.advance(now);
        let filter = now / self.length;
        let tick = self.tick(now);
        let places = Places::of(key);
        for i in 0..self.hashes {
            let place = places.get(i, self.places);
            *self.bits.word_mut(place) |= 1 << (filter % FILTERS);
            let at = self.timer_at(filter, place);
            self.timers.set(at, self.timer_bits, tick);
        }
    }

    fn contains(&self, key: &Key, now: u64) -> bool {
        let Some(filling) = self.filling else { return false };
        let horizon = now.saturating_sub(self.reach);
        let decaying = horizon / self.length;
        if decaying > filling {
            return false;
        }
        let places = Places::of(key);
        let mut filters = u64::MAX;
        for i in 0..self.hashes {
            filters &= self.bits.words()[places.get(i, self.places)];
            if filters == 0 {
                return false;
            }
        }
        // the ring has the filters `filling - 63..=filling`: those before the decaying one are over
        let live = (decaying + 1..=filling).rev().take(63).any(|filter| filters >> (filter % FILTERS) & 1 != 0);
        if live {
            return true;
        }
        let first_tick = self.tick(horizon);
        filling - decaying < FILTERS
            && filters >> (decaying % FILTERS) & 1 != 0
            && (0..self.hashes).all(|i| {
                let at = self.timer_at(decaying, places.get(i, self.places));
                self.timers.get(at, self.timer_bits) >= first_tick
            })
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.bits.bytes() + self.timers.bytes()
    }

    fn resident_bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.bits.bytes() + self.timer_bytes(2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn the_window_slides_exactly() {
        let items = 63 * 200;
        let mut filter = Dcba::new(Window::count(items), 0.001);
        assert_eq!(missed_in_count_window(&mut filter, items, 3), 0);
        // false alarms: one in a million for each bound
        let last = 3 * items - 1;
        let expired = reported(&filter, 0..2 * items, last);
        assert!(expired <= at_most_with_confidence(2 * items, 0.0011, 1e-6), "{expired} outlive the window");
        assert!(reported_absent(&filter, 300_000, last) <= at_most_with_confidence(300_000, 0.0011, 1e-6));
    }

    #[test]
    fn a_timer_is_good_to_one_tick_of_time() {
        // a filter's window is 1,000 long and has ten ticks
        let mut filter = Dcba::new(Window::time(630, 63_000), 1e-6);
        filter.insert(&super::super::key(7), 150);
        assert_eq!(reported(&filter, 7..8, 63_150), 1);
        assert_eq!(reported(&filter, 7..8, 63_199), 1);
        assert_eq!(reported(&filter, 7..8, 63_200), 0);
        insert_numbered(&mut filter, 63_140..63_141); // its own filter is being filled, the first one decays
        assert_eq!(reported(&filter, 7..8, 63_150), 1);
        assert_eq!(reported(&filter, 7..8, 63_200), 0);
    }

    #[test]
    fn silence_empties_the_ring() {
        for silence in [64_000, 64_001, 127_000, 128_000, 10_000_000] {
            let mut filter = Dcba::new(Window::time(630, 63_000), 1e-6);
            insert_numbered(&mut filter, 0..1_000);
            assert_eq!(reported(&filter, 0..1_000, 1_000 + silence), 0);
            insert_numbered(&mut filter, silence + 1_000..silence + 1_001);
            assert_eq!(reported(&filter, 0..1_000, silence + 1_000), 0, "{silence}");
        }
    }

    #[test]
    fn timers_are_most_of_it() {
        let filter = Dcba::new(Window::count(100_000), 0.01);
        let bits = |bytes: u64| bytes as f64 * 8.0 / 100_000.0;
        assert!(bits(filter.bytes()) > 200.0, "{}", bits(filter.bytes()));
        assert!(bits(filter.resident_bytes()) < 27.0, "{}", bits(filter.resident_bytes()));
    }
}
