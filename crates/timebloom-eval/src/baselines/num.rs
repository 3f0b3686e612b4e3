//! The conversions that sizes and places need.

/// A place in memory.
#[inline]
pub(super) fn index(number: u64) -> usize {
    usize::try_from(number).expect("addresses have 64 bits")
}

/// The least whole number that is not below.
pub(super) fn ceil(number: f64) -> u64 {
    assert!(number.is_finite() && number >= 0.0, "not a size: {number}");
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and float casts saturate
    let whole = number.ceil() as u64;
    whole
}

/// Bits that can tell so many values apart.
pub(super) fn bits_for(values: u64) -> u32 {
    values.max(1).next_power_of_two().trailing_zeros()
}
