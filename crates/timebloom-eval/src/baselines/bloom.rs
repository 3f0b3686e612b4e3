//! The plain Bloom filter, which never forgets: what several of the others are made of.
//!
//! Burton H. Bloom, *Space/Time Trade-offs in Hash Coding with Allowable Errors*, 1970. All places come from one hash.

use super::bits::Bits;
use super::hash::{Key, Places};
use super::num::{ceil, index};

/// A Bloom filter of the size that is best for some number of items and some rate.
#[derive(Clone, Debug)]
pub struct Bloom {
    bits: Bits,
    /// At least 1.
    size: u64,
    /// At least 1.
    hashes: u64,
}

/// The number of hash functions that is best for a rate.
pub(super) fn best_hashes(rate: f64) -> u64 {
    ceil((-rate.log2() - 0.5).max(1.0))
}

/// The bits that hold `items` at `rate` with so many hash functions: from `rate = (1 - exp(-hashes * items / bits))^hashes`.
pub(super) fn bits_for_rate(items: u64, rate: f64, hashes: u64) -> u64 {
    let fill = rate.powf(1.0 / hashes as f64);
    ceil(hashes as f64 * items as f64 / -(1.0 - fill).ln()).max(64)
}

impl Bloom {
    /// An empty filter whose false positive rate is `rate` once it holds `items`.
    pub fn new(items: u64, rate: f64) -> Self {
        let hashes = best_hashes(rate);
        let size = bits_for_rate(items, rate, hashes);
        Bloom { bits: Bits::new(index(size)), size, hashes }
    }

    /// Adds a key.
    #[inline]
    pub fn insert(&mut self, key: &Key) {
        let places = Places::of(key);
        for i in 0..self.hashes {
            self.bits.set_bit(places.get(i, self.size));
        }
    }

    /// Whether the key was added, or seems so.
    #[inline]
    pub fn contains(&self, key: &Key) -> bool {
        let places = Places::of(key);
        (0..self.hashes).all(|i| self.bits.bit(places.get(i, self.size)))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.bits.clear();
    }

    /// The bytes of its array.
    pub fn heap_bytes(&self) -> u64 {
        self.bits.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash::key;
    use super::*;
    use timebloom_testkit::{at_least_with_confidence, at_most_with_confidence};

    #[test]
    fn a_full_filter_has_its_rate_and_the_best_size() {
        // false alarms: one in a million for each bound; a tenth is allowed for the fill's own chance
        for (rate, best) in [(0.1, 4.8), (0.01, 9.6), (0.001, 14.4)] {
            let mut bloom = Bloom::new(20_000, rate);
            (0..20_000).for_each(|item| bloom.insert(&key(item)));
            assert!((0..20_000).all(|item| bloom.contains(&key(item))));
            let reported = (20_000..1_020_000).filter(|&item| bloom.contains(&key(item))).count() as u64;
            assert!(reported <= at_most_with_confidence(1_000_000, 1.1 * rate, 1e-6), "{rate}: {reported}");
            assert!(reported >= at_least_with_confidence(1_000_000, 0.9 * rate, 1e-6), "{rate}: {reported}");
            let bits = bloom.heap_bytes() as f64 * 8.0 / 20_000.0;
            assert!((best - 0.1..best + 0.2).contains(&bits), "{rate}: {bits} bits");
        }
    }
}
