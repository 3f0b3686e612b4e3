//! Where time comes from, for those who do not bring their own.
//!
//! The filters never read a clock: their methods take `now`. [`Clocked`](crate::Clocked) pairs a filter with one of these.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::timestamp::{Timestamp, saturating_nanos};

/// A source of time.
///
/// It may stand still and it may step: filters clamp backward steps and let items expire on forward ones.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// The system's wall clock. Survives restarts, so filters that are saved and loaded should use it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

/// The system's wall clock at the resolution of its timer tick, 1 to 10 milliseconds on Linux, for a fraction of the
/// cost: reading the precise one takes longer than a query. Elsewhere it is the precise one.
///
/// Use one of the two for a filter, not both in turn: a window is exact to the clock that measured it.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

#[cfg(target_os = "linux")]
impl Clock for CoarseClock {
    fn now(&self) -> Timestamp {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        // times before 1970 become the origin
        let secs = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
        Timestamp::from_secs(secs).saturating_add(Duration::from_nanos(nanos))
    }
}

#[cfg(not(target_os = "linux"))]
impl Clock for CoarseClock {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }
}

/// A clock that stands still until it is told to move. For tests, simulations, and event time.
///
/// ```
/// use std::time::Duration;
/// use timebloom::{Clock, ManualClock, Timestamp};
///
/// let clock = ManualClock::at(Timestamp::from_secs(100));
/// clock.advance(Duration::from_secs(5));
/// assert_eq!(clock.now(), Timestamp::from_secs(105));
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        ManualClock { now: AtomicU64::new(now.as_nanos()) }
    }

    /// Shows `now` from here on, be it later or earlier.
    pub fn set(&self, now: Timestamp) {
        self.now.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// Moves forward; stops at [`Timestamp::MAX`].
    pub fn advance(&self, by: Duration) {
        let by = saturating_nanos(by);
        let forward = |now: u64| Some(now.saturating_add(by));
        self.now
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, forward)
            .expect("the closure always returns a time");
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.now.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for its coarse clock")]
    fn coarse_time_is_wall_time() {
        let before = SystemClock.now();
        let coarse = CoarseClock.now();
        let after = SystemClock.now();
        let tick = Duration::from_millis(50);
        assert!(coarse.saturating_add(tick) >= before && coarse <= after.saturating_add(tick));
    }

    #[test]
    fn manual_time_moves_only_when_told() {
        let clock = ManualClock::at(Timestamp::from_secs(9));
        assert_eq!(clock.now(), Timestamp::from_secs(9));
        clock.set(Timestamp::from_secs(3));
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), Timestamp::MAX);
    }
}
