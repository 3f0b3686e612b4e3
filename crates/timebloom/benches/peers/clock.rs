//! Time that other programs do not take part in.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A point in the time of the clock on the wall and of this thread.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    processor: Duration,
    wall: Instant,
}

/// What passed since.
#[derive(Clone, Copy, Debug)]
pub struct Elapsed {
    pub wall: Duration,
    /// Time that the thread was running, where the system tells: the mean of many short times is worth nothing when a few
    /// of them contain the time slices of others.
    pub processor: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        // the slower clock outside
        let processor = processor_time();
        Stopwatch { processor, wall: Instant::now() }
    }

    pub fn elapsed(self) -> Elapsed {
        let Elapsed { wall, processor } = self.raw();
        Elapsed { wall, processor: processor.saturating_sub(*READING) }
    }

    fn raw(self) -> Elapsed {
        let wall = self.wall.elapsed();
        Elapsed { wall, processor: processor_time().saturating_sub(self.processor) }
    }
}

/// What it costs to look at the thread's clock, a system call: the median of many looks.
static READING: LazyLock<Duration> = LazyLock::new(|| {
    let mut looks: Vec<Duration> = (0..1_001).map(|_| Stopwatch::start().raw().processor).collect();
    looks.sort_unstable();
    looks[looks.len() / 2]
});

#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a thread has not run for a negative time")
}

/// The clock on the wall, for want of a better one.
#[cfg(not(target_os = "linux"))]
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
