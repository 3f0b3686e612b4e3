//! Time as the module sees it: wall-clock milliseconds, read once per command.
//!
//! The primary's clock decides. What it read goes to replicas and to the append-only file with the command, so nobody
//! else's clock has a say in what a filter holds. Only reads on a replica use the clock there.
//!
//! Most commands of a busy stream need not carry it: they come in a millisecond that the filter knows already. A replayed
//! command that says no time counts at the latest time of its filter, and filters are the same on both sides.

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

/// Whose clock a change goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// This server's, which says so many milliseconds.
    Own(u64),
    /// That of the primary which has carried out the command before.
    Primary,
}

impl Clock {
    /// Refuses a time that a client says if it lies further ahead than `skew`: it would move the filter's clock, and
    /// expire what is older. One that lies behind is clamped by the filter, and what a primary says is never refused.
    pub(crate) fn check(self, at: Option<u64>, skew: u64) -> Result<(), TooFarAhead> {
        match (self, at) {
            (Clock::Own(now), Some(at)) if at > now.saturating_add(skew) => {
                Err(TooFarAhead { at, latest: now.saturating_add(skew) })
            }
            _ => Ok(()),
        }
    }
}

/// When a change counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Not before the latest time of the filter.
    pub(crate) time: Timestamp,
    /// The milliseconds that lead to it, if it takes any: the filter may know a later time.
    pub(crate) at: Option<u64>,
    /// Whether the command, replayed on the same filter with the words it has, counts at the same moment.
    pub(crate) is_said: bool,
}

impl Moment {
    /// For filters without time.
    pub(crate) const NONE: Moment = Moment { time: Timestamp::MIN, at: None, is_said: true };

    /// For a command that says `at`, or no time, and a filter whose latest time is `latest`.
    pub(crate) fn new(at: Option<u64>, clock: Clock, latest: Timestamp) -> Self {
        let (at, is_said) = match (at, clock) {
            (Some(at), _) => (Some(at), true),
            (None, Clock::Own(now)) => (Some(now), timestamp(now) <= latest),
            (None, Clock::Primary) => (None, true),
        };
        Moment { time: at.map_or(latest, timestamp).max(latest), at, is_said }
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
        let clock = Clock::Own(1_000);
        assert_eq!(clock.check(None, 10), Ok(()));
        assert_eq!(clock.check(Some(0), 10), Ok(()));
        assert_eq!(clock.check(Some(1_010), 10), Ok(()));
        assert_eq!(clock.check(Some(1_011), 10), Err(TooFarAhead { at: 1_011, latest: 1_010 }));
        assert_eq!(clock.check(Some(u64::MAX), u64::MAX), Ok(()));
        assert_eq!(Clock::Primary.check(Some(u64::MAX), 0), Ok(()));
    }

    /// Whoever replays what a moment says, on a filter with the same latest time, finds the same moment.
    #[test]
    fn moments_are_found_again_by_what_they_say() {
        let times = [0, 1, 999, 1_000, 1_001, 5_000, u64::MAX / 1_000_000, u64::MAX];
        // a filter from elsewhere may know a time between two milliseconds
        let latest = times.into_iter().map(timestamp).chain([Timestamp::from_nanos(1_000_000_001)]);
        for latest in latest {
            for now in times {
                for said in [None, Some(0), Some(1_000), Some(5_000), Some(u64::MAX)] {
                    let moment = Moment::new(said, Clock::Own(now), latest);
                    assert!(moment.time >= latest);
                    assert_eq!(moment.time, timestamp(said.unwrap_or(now)).max(latest));
                    let replayed = Moment::new(moment.at, Clock::Primary, latest);
                    assert_eq!(replayed.time, moment.time, "with its time: {said:?} {now} {latest:?}");
                    if moment.is_said {
                        let replayed = Moment::new(said, Clock::Primary, latest);
                        assert_eq!(replayed.time, moment.time, "as it was said: {said:?} {now} {latest:?}");
                    }
                }
            }
        }
    }
}
