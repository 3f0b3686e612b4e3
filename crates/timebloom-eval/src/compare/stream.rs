//! The streams: distinct items, and when each arrives.

use crate::baselines::{Key, Window, key};

/// What a window is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// The last so many insertions.
    Count,
    /// The last so many nanoseconds.
    Time,
}

impl WindowKind {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            WindowKind::Count => "count",
            WindowKind::Time => "time",
        }
    }
}

/// A kind of stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// One item after another, in a count window.
    Counted,
    /// One item every so often.
    Steady,
    /// Independent arrivals at a constant mean rate.
    Poisson,
    /// The rate swings smoothly, tenfold between its lowest and its highest, over four spans.
    Varying,
    /// The rate rises tenfold at once, after four spans.
    TenfoldUp,
    /// The rate falls tenfold at once, after four spans.
    TenfoldDown,
}

/// The time window, in nanoseconds.
const SPAN: u64 = 60_000_000_000;
/// When the rate of some streams changes, in windows.
const CHANGE: f64 = 4.0;

impl StreamKind {
    /// All of them, those of one kind of window together.
    pub const ALL: [StreamKind; 6] = [
        StreamKind::Counted,
        StreamKind::Steady,
        StreamKind::Poisson,
        StreamKind::Varying,
        StreamKind::TenfoldUp,
        StreamKind::TenfoldDown,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            StreamKind::Counted | StreamKind::Steady => "steady",
            StreamKind::Poisson => "Poisson",
            StreamKind::Varying => "varying tenfold",
            StreamKind::TenfoldUp => "tenfold up",
            StreamKind::TenfoldDown => "tenfold down",
        }
    }

    /// The kind of window it is for.
    pub fn window_kind(self) -> WindowKind {
        if self == StreamKind::Counted { WindowKind::Count } else { WindowKind::Time }
    }

    /// Whether its rate changes in a way that nobody knew beforehand.
    pub fn surprises(self) -> bool {
        matches!(self, StreamKind::TenfoldUp | StreamKind::TenfoldDown)
    }

    /// The rate, relative to the usual one, `at` windows after the beginning.
    fn relative_rate(self, at: f64) -> f64 {
        match self {
            StreamKind::Counted | StreamKind::Steady | StreamKind::Poisson => 1.0,
            StreamKind::Varying => 10_f64.powf(-0.5 * (at * std::f64::consts::PI / 2.0).cos()),
            StreamKind::TenfoldUp => {
                if at < CHANGE {
                    1.0
                } else {
                    10.0
                }
            }
            StreamKind::TenfoldDown => {
                if at < CHANGE {
                    1.0
                } else {
                    0.1
                }
            }
        }
    }

    /// From where on it is measured, and where it ends, in windows. Surprising streams are measured from the change on.
    fn extent(self) -> (f64, f64) {
        match self {
            StreamKind::Counted | StreamKind::Steady | StreamKind::Poisson => (3.0, 8.0),
            StreamKind::Varying => (4.0, 12.0),
            StreamKind::TenfoldUp => (CHANGE, CHANGE + 4.0),
            // filters that go by insertions take ten times as long to forget
            StreamKind::TenfoldDown => (CHANGE, CHANGE + 24.0),
        }
    }
}

/// A stream.
#[derive(Clone, Debug)]
pub struct Stream {
    /// What kind it is.
    pub kind: StreamKind,
    /// What is known of it beforehand.
    pub window: Window,
    /// When each item arrives, in order.
    pub times: Vec<u64>,
    /// From when on it is measured.
    pub measured_from: u64,
    /// When it ends: no item arrives later.
    pub end: u64,
    /// What it and its keys depend on.
    pub seed: u64,
}

impl Stream {
    /// A stream with so many items a window, as long as its rate is the usual one.
    pub fn new(kind: StreamKind, items: u64, seed: u64) -> Self {
        let length = if kind == StreamKind::Counted { items } else { SPAN };
        let (measured_from, end) = kind.extent();
        let clock = |windows: f64| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and float casts saturate
            let clock = (windows * length as f64) as u64;
            clock
        };
        let mut random = fastrand::Rng::with_seed(seed);
        let mut times = Vec::new();
        if kind == StreamKind::Counted {
            times.extend(0..clock(end));
        } else {
            let mut at = 0.0;
            while at < end {
                times.push(clock(at));
                let mean = 1.0 / (items as f64 * kind.relative_rate(at));
                at += if kind == StreamKind::Poisson { -mean * (1.0 - random.f64()).ln() } else { mean };
            }
        }
        let known = if kind.surprises() { clock(CHANGE) } else { clock(end) };
        let window = match kind {
            StreamKind::Counted => Window::count(items),
            _ => Window::time(most_in_a_window(&times, SPAN, known), SPAN),
        };
        Stream { kind, window, times, measured_from: clock(measured_from), end: clock(end), seed }
    }

    /// The key of the `number`-th item.
    pub fn key(&self, number: u64) -> Key {
        key(self.base().wrapping_add(number))
    }

    /// The `number`-th key that is never inserted.
    pub fn absent_key(&self, number: u64) -> Key {
        key(self.base().wrapping_add(1 << 50).wrapping_add(number))
    }

    fn base(&self) -> u64 {
        self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The items in the window at `now`, when `inserted` items have arrived.
    pub fn in_window(&self, now: u64, inserted: usize) -> std::ops::Range<usize> {
        let horizon = now.saturating_sub(self.window.reach);
        self.times[..inserted].partition_point(|&time| time < horizon)..inserted
    }
}

/// The most items that any window of `reach` has that ends before `until`.
fn most_in_a_window(times: &[u64], reach: u64, until: u64) -> u64 {
    let (mut first, mut most) = (0, 0);
    for (last, &time) in times.iter().enumerate().take_while(|&(_, &time)| time < until) {
        while times[first] + reach < time {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_the_rates_they_say() {
        for kind in StreamKind::ALL {
            let stream = Stream::new(kind, 10_000, 1);
            assert!(stream.times.is_sorted() && *stream.times.last().expect("not empty") <= stream.end);
            let in_the_window_before = |now: u64| {
                let inserted = stream.times.partition_point(|&time| time <= now);
                stream.in_window(now, inserted).len() as f64
            };
            let windows = |windows: u64| windows * stream.window.length - 1;
            let at_four = in_the_window_before(windows(4));
            // a Poisson number of 10,000 deviates by 500, five deviations, once in a million
            match kind {
                StreamKind::Varying => {
                    // lowest at 4 and 8, highest at 6 and 10
                    let (low, high) = (in_the_window_before(windows(8)), in_the_window_before(windows(6)));
                    assert!(high > 4.0 * low, "{low}, {high}");
                }
                _ => assert!((at_four - 10_000.0).abs() < 500.0, "{kind:?}: {at_four}"),
            }
            let (end, expected) = (in_the_window_before(stream.end), stream.window.items as f64);
            match kind {
                StreamKind::TenfoldUp => assert!((end / expected - 10.0).abs() < 0.1),
                StreamKind::TenfoldDown => assert!((end / expected - 0.1).abs() < 0.01),
                _ => assert!(end <= expected),
            }
        }
    }

    #[test]
    fn streams_follow_from_the_seed() {
        let stream = |seed| Stream::new(StreamKind::Poisson, 1_000, seed);
        assert_eq!(stream(1).times, stream(1).times);
        assert_ne!(stream(1).times, stream(2).times);
        assert_ne!(stream(1).key(0), stream(2).key(0));
        assert_ne!(stream(1).key(0), stream(1).absent_key(0));
    }

    #[test]
    fn the_most_in_a_window_counts_both_ends() {
        assert_eq!(most_in_a_window(&[0, 5, 10, 11, 12, 30], 10, 100), 4);
        assert_eq!(most_in_a_window(&[0, 5, 10, 11, 12, 30], 10, 11), 3);
    }
}
