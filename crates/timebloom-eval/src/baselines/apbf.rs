//! The plain Age-Partitioned Bloom Filter, without panels, blocks or planning: the design this project started from.
//!
//! Ariel Shtul, Carlos Baquero, Paulo Sérgio Almeida, *Age-Partitioned Bloom Filters*, 2020. There are k + l slices of one
//! size; an insertion sets a bit in the k youngest, and k neighbours with a key's bit report it. After every g insertions
//! the oldest slice is emptied and becomes the youngest. Slices are half full when they stop receiving, so they have
//! `k g / ln 2` bits, and a window is l generations. Each slice has its own place in the progression of a key's
//! places.
//!
//! It forgets by insertions, whatever the time.

use super::bits::Bits;
use super::hash::{Key, Places};
use super::num::{ceil, index};
use super::{Window, Windowed};

/// Which of the published pairs is used: at 0.01 it is k = 10, l = 25, and at 0.001 it is k = 13, l = 23.
pub const LEVEL: u32 = 3;

/// The filter.
#[derive(Clone, Debug)]
pub struct Apbf {
    /// All slices, one after another; they stay where they are.
    bits: Bits,
    /// Bits of a slice, m in the paper.
    slice_bits: u64,
    /// k in the paper.
    hashes: usize,
    /// k + l in the paper.
    slices: usize,
    /// The place of the youngest slice.
    youngest: usize,
    /// g in the paper.
    generation_size: u64,
    /// Insertions since the last shift.
    items: u64,
}

impl Apbf {
    /// An empty filter over the last `window.items` insertions. `rate` is one of those with published pairs.
    pub fn new(window: Window, rate: f64) -> Self {
        let pair = timebloom::levels(rate)[LEVEL as usize];
        let (hashes, aging) = (pair.hashes as usize, pair.aging_slices as usize);
        let generation_size = window.items.div_ceil(aging as u64);
        let slice_bits = ceil(hashes as f64 * generation_size as f64 / std::f64::consts::LN_2);
        let slices = hashes + aging;
        let bits = Bits::new(slices * index(slice_bits));
        Apbf { bits, slice_bits, hashes, slices, youngest: 0, generation_size, items: 0 }
    }

    /// Where the key's bit is in the slice at `position`, 0 being the youngest.
    #[inline]
    fn place(&self, places: Places, position: usize) -> usize {
        let mut slice = self.youngest + position;
        if slice >= self.slices {
            slice -= self.slices;
        }
        slice * index(self.slice_bits) + places.get(slice as u64, self.slice_bits)
    }

    fn shift(&mut self) {
        self.youngest = if self.youngest == 0 { self.slices - 1 } else { self.youngest - 1 };
        let size = index(self.slice_bits);
        let mut at = self.youngest * size;
        let end = at + size;
        while at < end {
            let width = u32::try_from((end - at).min(64)).expect("at most 64");
            self.bits.set(at, width, 0);
            at += width as usize;
        }
        self.items = 0;
    }
}

impl Windowed for Apbf {
    fn insert(&mut self, key: &Key, _now: u64) {
        if self.items == self.generation_size {
            self.shift();
        }
        let places = Places::of(key);
        for position in 0..self.hashes {
            let place = self.place(places, position);
            self.bits.set_bit(place);
        }
        self.items += 1;
    }

    /// The paper's query: it begins at position l, and leaps back by k from a slice without the bit.
    fn contains(&self, key: &Key, _now: u64) -> bool {
        let places = Places::of(key);
        let k = self.hashes;
        let (mut position, mut before, mut run) = (self.slices - k, 0, 0);
        loop {
            if self.bits.bit(self.place(places, position)) {
                run += 1;
                position += 1;
                if before + run == k {
                    return true;
                }
            } else {
                if position < k {
                    return false;
                }
                position -= k;
                (before, run) = (run, 0);
            }
        }
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.bits.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::key;
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    /// Whether any k neighbours have the key's bit: what the leaping query must find.
    fn has_run(filter: &Apbf, number: u64) -> bool {
        let places = Places::of(&key(number));
        let set: Vec<bool> = (0..filter.slices).map(|i| filter.bits.bit(filter.place(places, i))).collect();
        set.windows(filter.hashes).any(|run| run.iter().all(|&bit| bit))
    }

    #[test]
    fn leaping_finds_every_run() {
        let mut filter = Apbf::new(Window::count(500), 0.01);
        insert_numbered(&mut filter, 0..3_000);
        let mut found = 0;
        for number in (0..3_000).chain(1 << 40..(1 << 40) + 20_000) {
            assert_eq!(filter.contains(&key(number), 0), has_run(&filter, number), "{number}");
            found += u32::from(has_run(&filter, number));
        }
        assert!(found > 500);
    }

    #[test]
    fn the_last_window_is_held_and_then_fades() {
        for rate in [0.01, 0.001] {
            let mut filter = Apbf::new(Window::count(10_000), rate);
            assert_eq!(missed_in_count_window(&mut filter, 10_000, 4), 0);
            // 1.5 times the rate just before a shift, as the paper's pairs have; false alarm: one in a million
            let most = at_most_with_confidence(300_000, 1.5 * rate, 1e-6);
            assert!(reported_absent(&filter, 300_000, 0) <= most);
            // an item just past l + 1 generations has lost one bit of k, and chance replaces it half of the time
            let g = filter.generation_size;
            let gone = 40_000 - 10_000 - 3 * g;
            let faded = reported(&filter, gone..gone + g, 0);
            assert!(faded < g / 2, "{faded} of {g}");
        }
    }
}
