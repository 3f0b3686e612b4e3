//! From an item's bytes to 64 bits.
//!
//! One hash per item, XXH3 with the filter's seed: a published function that never changes, because filters are stored and
//! travel between machines. [`crate::slices`] remixes that one value with a constant for each panel of slices, and takes
//! the places of the item's bits from the product.

use std::hash::{BuildHasher, RandomState};

/// The hash of an item under one filter's seed.
///
/// Get it from the filter's `hash` method, once, and use it with the `*_hash_at` twins to ask several questions about
/// the same item. It means nothing to a filter with another seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemHash(u64);

impl ItemHash {
    /// A placeholder: that of no item in particular.
    pub(crate) const NONE: Self = ItemHash(0);

    /// Hashes `item` with XXH3-64 under `seed`.
    pub fn new(item: impl AsRef<[u8]>, seed: u64) -> Self {
        ItemHash(xxhash_rust::xxh3::xxh3_64_with_seed(item.as_ref(), seed))
    }

    /// The hash value itself.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// The low and the high word of a product.
#[inline]
#[allow(clippy::cast_possible_truncation)] // keeping one half is the point
pub(crate) fn wide_product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

/// The most hash functions a filter can use.
pub(crate) const MAX_HASHES: u32 = 64;

pub(crate) const MAX_FUNCTIONS: usize = MAX_HASHES as usize;

/// Value number `n` of the SplitMix64 sequence that starts at 0.
pub(crate) const fn splitmix64(n: u64) -> u64 {
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
    fn seeds_differ_from_call_to_call() {
        assert_ne!(random_seed(), random_seed());
    }
}
