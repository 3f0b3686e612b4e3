//! From an item's bytes to bit positions.
//!
//! One 64-bit hash per item, XXH3 with the filter's seed: a published function that never changes, because filters are
//! stored and travel between machines. Each of the filter's `hashes` functions remixes that one value with a constant
//! of its own.

use std::hash::{BuildHasher, RandomState};

/// The hash of an item under one filter's seed.
///
/// Get it from the filter's `hash` method, once, and use it with the `*_hash_at` twins to ask several questions about
/// the same item. It means nothing to a filter with another seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemHash(u64);

impl ItemHash {
    /// Hashes `item` with XXH3-64 under `seed`.
    pub fn new(item: impl AsRef<[u8]>, seed: u64) -> Self {
        ItemHash(xxhash_rust::xxh3::xxh3_64_with_seed(item.as_ref(), seed))
    }

    /// The hash value itself.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Where hash function number `function` puts this item in a slice of `bits` bits: in `0..bits`.
    #[inline]
    pub(crate) fn position(self, function: usize, bits: u64) -> u64 {
        let (low, high) = wide_product(self.0, MULTIPLIERS[function]);
        // the high word of a product maps a uniform 64-bit value onto 0..bits without a division
        wide_product(low ^ high, bits).1
    }
}

/// The low and the high word of a product.
#[inline]
#[allow(clippy::cast_possible_truncation)] // keeping one half is the point
fn wide_product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

/// The most hash functions a filter can use.
pub(crate) const MAX_HASHES: u32 = 64;

pub(crate) const MAX_FUNCTIONS: usize = MAX_HASHES as usize;

/// One odd constant for each function, from the SplitMix64 sequence.
static MULTIPLIERS: [u64; MAX_FUNCTIONS] = {
    let mut table = [0; MAX_FUNCTIONS];
    let mut i = 0;
    while i < MAX_FUNCTIONS {
        table[i] = splitmix64(i as u64) | 1;
        i += 1;
    }
    table
};

/// Value number `n` of the SplitMix64 sequence that starts at 0.
const fn splitmix64(n: u64) -> u64 {
    let mut z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed that an adversary cannot know, from the randomness std seeds its own hash maps with.
pub(crate) fn random_seed() -> u64 {
    RandomState::new().hash_one(0_u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_the_published_xxh3() {
        // the reference vector for the empty input
        assert_eq!(ItemHash::new(b"", 0).as_u64(), 0x2d06_8005_38d3_94c2);
        assert_ne!(ItemHash::new(b"a", 0), ItemHash::new(b"a", 1));
    }

    #[test]
    fn positions_stay_inside_the_slice() {
        for bits in [1, 2, 63, 64, 65, 1 << 33] {
            for item in 0_u32..200 {
                for function in 0..MAX_FUNCTIONS {
                    let hash = ItemHash::new(item.to_le_bytes(), 7);
                    assert!(hash.position(function, bits) < bits);
                }
            }
        }
    }

    #[test]
    fn seeds_differ_from_call_to_call() {
        assert_ne!(random_seed(), random_seed());
    }
}
