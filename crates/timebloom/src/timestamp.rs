//! Points in time, as the core sees them: whole nanoseconds since the Unix epoch.
//!
//! Integers, because a window must end at exactly `t + span`: rounding a float there loses items at the very edge.
//! All arithmetic saturates, so no 64-bit value can make a filter panic or wrap around.

use std::time::{Duration, SystemTime};

/// A point in time: nanoseconds since the Unix epoch, from 1970 to 2554.
///
/// The filters only compare and subtract timestamps, so any other origin works as well, as long as one filter always
/// sees the same one.
///
/// ```
/// use std::time::Duration;
/// use timebloom::Timestamp;
///
/// let start = Timestamp::from_secs(1_000);
/// let later = start.saturating_add(Duration::from_millis(250));
/// assert_eq!(later.saturating_since(start), Duration::from_millis(250));
/// assert_eq!(start.saturating_since(later), Duration::ZERO);
/// assert_eq!(Timestamp::MAX.saturating_add(Duration::from_secs(1)), Timestamp::MAX);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The earliest timestamp: the origin.
    pub const MIN: Timestamp = Timestamp(0);
    /// The latest timestamp.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// A timestamp from nanoseconds since the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Timestamp(nanos)
    }

    /// A timestamp from microseconds since the origin; saturates at [`Timestamp::MAX`].
    pub const fn from_micros(micros: u64) -> Self {
        Timestamp(micros.saturating_mul(1_000))
    }

    /// A timestamp from milliseconds since the origin; saturates at [`Timestamp::MAX`].
    pub const fn from_millis(millis: u64) -> Self {
        Timestamp(millis.saturating_mul(1_000_000))
    }

    /// A timestamp from seconds since the origin; saturates at [`Timestamp::MAX`].
    pub const fn from_secs(secs: u64) -> Self {
        Timestamp(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the origin, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// The time from `earlier` to `self`; zero when `earlier` is in fact later.
    pub const fn saturating_since(self, earlier: Timestamp) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// This timestamp moved forward; stops at [`Timestamp::MAX`].
    pub fn saturating_add(self, duration: Duration) -> Self {
        Timestamp(self.0.saturating_add(saturating_nanos(duration)))
    }

    /// This timestamp moved back; stops at [`Timestamp::MIN`].
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Timestamp(self.0.saturating_sub(saturating_nanos(duration)))
    }

    pub(crate) const fn nanos_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Times before 1970 become [`Timestamp::MIN`], times after 2554 [`Timestamp::MAX`].
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since_epoch) => Timestamp(saturating_nanos(since_epoch)),
            Err(_before_epoch) => Timestamp::MIN,
        }
    }
}

/// A duration in nanoseconds, or `u64::MAX` (584 years) for longer ones.
pub(crate) fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_saturate_at_both_ends() {
        assert_eq!(Timestamp::from_secs(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::from_millis(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::from_micros(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MIN.saturating_sub(Duration::MAX), Timestamp::MIN);
        assert_eq!(Timestamp::MIN.saturating_add(Duration::MAX), Timestamp::MAX);
        let before_epoch = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Timestamp::from(before_epoch), Timestamp::MIN);
    }
}
