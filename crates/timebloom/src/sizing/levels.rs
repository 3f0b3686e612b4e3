//! The (k, l) pairs that the authors of the Age-Partitioned Bloom Filter publish, as presets.

/// One published pair: `hashes` (k) and `aging_slices` (l).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Hash functions: how many consecutive slices an item occupies.
    pub hashes: u32,
    /// Aging slices: how many generations the window is divided into.
    pub aging_slices: u32,
}

const fn level(hashes: u32, aging_slices: u32) -> Level {
    Level { hashes, aging_slices }
}

/// The false positive rates that have published levels, 10^-1 to 10^-5.
pub const LEVEL_RATES: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];

/// Low levels take fewer slices, high levels fewer bits and a shorter overstay. There is no level 5 at 0.1.
const LEVELS: [&[Level]; 5] = [
    &[level(4, 3), level(5, 7), level(6, 14), level(7, 28), level(8, 56)],
    &[level(7, 5), level(8, 8), level(9, 14), level(10, 25), level(11, 46), level(12, 88)],
    &[level(10, 7), level(11, 9), level(12, 14), level(13, 23), level(14, 40), level(15, 74)],
    &[level(14, 11), level(15, 15), level(16, 22), level(17, 36), level(18, 63), level(19, 117)],
    &[level(17, 13), level(18, 16), level(19, 22), level(20, 33), level(21, 54), level(22, 95)],
];

/// The published levels for a rate, in order; none when the rate is not one of [`LEVEL_RATES`].
///
/// ```
/// let third = timebloom::levels(0.01)[3];
/// assert_eq!((third.hashes, third.aging_slices), (10, 25));
/// assert!(timebloom::levels(0.02).is_empty());
/// ```
pub fn levels(false_positive_rate: f64) -> &'static [Level] {
    LEVEL_RATES.iter().position(|rate| (rate / false_positive_rate - 1.0).abs() < 1e-9).map_or(&[], |row| LEVELS[row])
}
