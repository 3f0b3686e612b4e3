//! The casts that formulas need, named; and how far counters count.

/// No counter of a filter gets here: at an event a nanosecond, it takes 292 years.
pub(crate) const MAX_COUNT: u64 = 1 << 63;

/// A stored filter that claims to have counted further is refused, so that none overflows later.
pub(crate) const MAX_STORED_COUNT: u64 = MAX_COUNT / 2;

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

/// The larger of two numbers. Unlike `f64::max` it does not look for NaN, which takes longer than the rest.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, likewise.
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
