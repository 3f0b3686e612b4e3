//! The casts that formulas need, named.

/// `value` rounded down to an integer; negative numbers and NaN become 0, large ones saturate.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
pub(crate) fn floor_u64(value: f64) -> u64 {
    libm::floor(value) as u64
}

/// `value` rounded up to an integer; negative numbers and NaN become 0, large ones saturate.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
pub(crate) fn ceil_u64(value: f64) -> u64 {
    libm::ceil(value) as u64
}

/// `value` rounded down to a small integer; negative numbers and NaN become 0, large ones saturate.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
pub(crate) fn floor_u32(value: f64) -> u32 {
    libm::floor(value) as u32
}
