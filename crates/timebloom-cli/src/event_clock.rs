//! Time as the data tells it: never backwards, and not forward on one record's word.
//!
//! The clock shows the latest time it believes. A record behind it is *out of order* while it is at most `lateness`
//! behind, and *late* after that. A record more than `max_jump` ahead is believed only when the next one agrees with it:
//! a single bad timestamp must not make the filter forget everything and call all that follows late.

use std::time::Duration;

use timebloom::Timestamp;

/// What becomes of late records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Late {
    /// Judge it as if it had come in time
    Keep,
    /// Do not print it
    Drop,
}

#[derive(Clone, Debug)]
pub(crate) struct EventClock {
    /// The latest time believed; `None` before the first.
    now: Option<Timestamp>,
    /// A time too far ahead, waiting for the next record to confirm it.
    suspect: Option<Timestamp>,
    lateness: Duration,
    max_jump: Duration,
    late: Late,
}

/// What the clock makes of a record's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Judge it at `now`, `behind` of which it happened.
    At { now: Timestamp, behind: Duration },
    /// The same, but the record is late.
    LateAt { now: Timestamp, behind: Duration },
    /// Judge it at `now`: its own time is too far ahead to be believed yet.
    AheadAt { now: Timestamp },
    /// The record confirms the one before it, which was judged at the wrong time: it belongs at `now` as well.
    Confirms { now: Timestamp },
    /// So late, and not wanted.
    Dropped { behind: Duration },
}

impl EventClock {
    /// `now` is the latest time already known, from an earlier run.
    pub(crate) fn new(now: Option<Timestamp>, lateness: Duration, max_jump: Duration, late: Late) -> Self {
        EventClock { now, suspect: None, lateness, max_jump, late }
    }

    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.now
    }

    /// Takes note of a record's time. `wall` is the time on the wall, against which the very first record is held.
    pub(crate) fn admit(&mut self, time: Timestamp, wall: impl FnOnce() -> Timestamp) -> Admission {
        let reference = self.now.unwrap_or_else(wall);
        let suspect = self.suspect.take();
        if time > reference.saturating_add(self.max_jump) {
            let near = |suspect: Timestamp| {
                time.saturating_since(suspect) <= self.max_jump && suspect.saturating_since(time) <= self.max_jump
            };
            if let Some(suspect) = suspect.filter(|&suspect| near(suspect)) {
                let now = time.max(suspect);
                self.now = Some(now);
                return Admission::Confirms { now };
            }
            self.suspect = Some(time);
            return Admission::AheadAt { now: self.now.unwrap_or(Timestamp::MIN) };
        }
        let now = self.now.map_or(time, |now| now.max(time));
        self.now = Some(now);
        let behind = now.saturating_since(time);
        match self.late {
            _ if behind <= self.lateness => Admission::At { now, behind },
            Late::Keep => Admission::LateAt { now, behind },
            Late::Drop => Admission::Dropped { behind },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn at(second: u64) -> Timestamp {
        Timestamp::from_secs(1_700_000_000 + second)
    }

    fn clock(lateness: u64, late: Late) -> EventClock {
        EventClock::new(None, Duration::from_secs(lateness), HOUR, late)
    }

    fn admit(clock: &mut EventClock, second: u64) -> Admission {
        clock.admit(at(second), || at(0))
    }

    #[test]
    fn the_clock_never_goes_back() {
        let mut clock = clock(5, Late::Keep);
        let behind = |seconds| Duration::from_secs(seconds);
        assert_eq!(admit(&mut clock, 10), Admission::At { now: at(10), behind: behind(0) });
        assert_eq!(admit(&mut clock, 5), Admission::At { now: at(10), behind: behind(5) });
        assert_eq!(admit(&mut clock, 4), Admission::LateAt { now: at(10), behind: behind(6) });
        assert_eq!(admit(&mut clock, 11), Admission::At { now: at(11), behind: behind(0) });
        clock.late = Late::Drop;
        assert_eq!(admit(&mut clock, 0), Admission::Dropped { behind: behind(11) });
    }

    #[test]
    fn one_bad_timestamp_does_not_move_the_clock() {
        let mut clock = clock(0, Late::Keep);
        admit(&mut clock, 0);
        for bad in [3_601, 1_000_000, u64::MAX / 4_000_000_000] {
            assert_eq!(admit(&mut clock, bad), Admission::AheadAt { now: at(0) }, "{bad}");
        }
        assert_eq!(admit(&mut clock, 1), Admission::At { now: at(1), behind: Duration::ZERO });
        // the bad one before is not a witness any more
        assert_eq!(admit(&mut clock, 90_000), Admission::AheadAt { now: at(1) });
        assert_eq!(admit(&mut clock, 90_000 - 3_600), Admission::Confirms { now: at(90_000) });
        assert_eq!(admit(&mut clock, 90_001), Admission::At { now: at(90_001), behind: Duration::ZERO });
    }

    #[test]
    fn the_first_record_is_held_against_the_wall_clock() {
        let mut clock = clock(0, Late::Keep);
        assert_eq!(admit(&mut clock, 10_000), Admission::AheadAt { now: Timestamp::MIN });
        assert_eq!(clock.now(), None);
        assert_eq!(admit(&mut clock, 3), Admission::At { now: at(3), behind: Duration::ZERO });
        let mut restored = EventClock::new(Some(at(0)), Duration::ZERO, HOUR, Late::Keep);
        assert_eq!(admit(&mut restored, 3_700), Admission::AheadAt { now: at(0) });
    }
}
