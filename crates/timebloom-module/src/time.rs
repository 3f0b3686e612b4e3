//! Time as the module sees it: wall-clock milliseconds, read once per command.
//!
//! The primary's clock decides. What it read goes to replicas and to the append-only file with the command, so nobody
//! else's clock has a say in what a filter holds. Only reads on a replica use the clock there.

use std::time::Duration;

use timebloom::Timestamp;

/// The longest window: a hundred years.
pub(crate) const MAX_SPAN_MS: u64 = 100 * 31_557_600_000;

/// Why a time given by a client is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooFarAhead {
    pub(crate) at: u64,
    pub(crate) latest: u64,
}

/// The moment a command counts at, in milliseconds: what the client says, if that is not further ahead of `now` than
/// `skew`, or `now`. A time that lies ahead moves the filter's clock and expires what is older, hence the limit; one that
/// lies behind is clamped by the filter.
pub(crate) fn resolve(at: Option<u64>, now: u64, skew: u64) -> Result<u64, TooFarAhead> {
    let latest = now.saturating_add(skew);
    match at {
        Some(at) if at > latest => Err(TooFarAhead { at, latest }),
        Some(at) => Ok(at),
        None => Ok(now),
    }
}

/// Milliseconds as the library's time.
pub(crate) fn timestamp(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A duration in milliseconds, as replies have it.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_up_to_the_skew_are_taken_and_later_ones_refused() {
        assert_eq!(resolve(None, 1_000, 10), Ok(1_000));
        assert_eq!(resolve(Some(0), 1_000, 10), Ok(0));
        assert_eq!(resolve(Some(1_010), 1_000, 10), Ok(1_010));
        assert_eq!(resolve(Some(1_011), 1_000, 10), Err(TooFarAhead { at: 1_011, latest: 1_010 }));
        assert_eq!(resolve(Some(u64::MAX), 1_000, u64::MAX), Ok(u64::MAX));
    }
}
