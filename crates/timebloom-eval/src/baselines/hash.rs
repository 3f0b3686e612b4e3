//! Keys and their hashes. All baselines hash alike, and as fast as we know how: foldhash, the 16 bytes as one number.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;

use super::num::index;

/// A key of a stream.
pub type Key = [u8; 16];

/// The hasher of all baselines. Its seed is fixed: runs repeat.
pub(super) const HASHER: FixedState = FixedState::with_seed(0x7f4a_7c15);

/// The key of item `number`: distinct numbers have distinct keys, which look random.
pub fn key(number: u64) -> Key {
    let first = mix(number.wrapping_add(0x9e37_79b9_7f4a_7c15));
    let second = first.wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(32) ^ number;
    let mut key = [0; 16];
    key[..8].copy_from_slice(&first.to_le_bytes());
    key[8..].copy_from_slice(&second.to_le_bytes());
    key
}

/// A bijection whose every output bit depends on every input bit.
#[inline]
pub(super) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A key that hashes as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(pub Key);

impl Hash for Number {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(u128::from_ne_bytes(self.0));
    }
}

/// The 64 bits that a filter knows of a key.
#[inline]
pub(super) fn hash(key: &Key) -> u64 {
    HASHER.hash_one(Number(*key))
}

/// A number below `range`, even over it, from the high bits of a hash.
#[inline]
pub(super) fn scale(hash: u64, range: u64) -> u64 {
    let product = u128::from(hash) * u128::from(range);
    #[allow(clippy::cast_possible_truncation)] // below `range`
    let scaled = (product >> 64) as u64;
    scaled
}

/// The places of a key: a quadratic progression over all 64-bit numbers, scaled down.
///
/// A linear one, double hashing (Kirsch, Mitzenmacher, 2006), would do for large filters. In small ones with low rates,
/// progressions that happen to be close in both numbers add too many false positives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    at: u64,
    step: u64,
    bend: u64,
}

impl Places {
    #[inline]
    pub(super) fn of(key: &Key) -> Self {
        let at = hash(key);
        let step = mix(at);
        Places { at, step, bend: step.rotate_left(32) }
    }

    /// The `i`-th place below `range`.
    #[inline]
    pub(super) fn get(self, i: u64, range: u64) -> usize {
        let step = self.step.wrapping_add(self.bend.wrapping_mul(i));
        index(scale(self.at.wrapping_add(step.wrapping_mul(i)), range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_even() {
        // 100,000 throws at 100 places: 1,000 each, deviation 31.5; six deviations are one in 5 * 10^8, 500 such counts
        for i in 0..5 {
            let mut counts = [0_u32; 100];
            for number in 0..100_000 {
                counts[Places::of(&key(number)).get(i, 100)] += 1;
            }
            assert!(counts.iter().all(|count| (811..1_189).contains(count)), "{counts:?}");
        }
    }
}
