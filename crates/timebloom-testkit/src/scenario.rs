//! Streams whose rate changes in every way that hurts a filter.

use std::time::Duration;

use timebloom::Timestamp;

/// A kind of stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scenario {
    /// One item every so often.
    Steady,
    /// Independent arrivals at a constant mean rate.
    Poisson,
    /// The rate is multiplied once, after three spans.
    Jump {
        /// By this factor, above or below 1.
        factor: f64,
    },
    /// The rate swings by this factor between its lowest and its highest, over four spans.
    Sine {
        /// Highest rate over lowest.
        factor: f64,
    },
    /// Independent arrivals at a rate that swings by this factor between its lowest and its highest, over 24 spans: a day,
    /// for windows of an hour.
    Day {
        /// Highest rate over lowest.
        factor: f64,
    },
    /// Little, and every two spans half a span's items within a hundredth of a span.
    Bursts,
    /// Three spans, then nothing for ten, then on as before.
    Idle,
    /// A hundredth of the rate.
    Trickle,
    /// The rate doubles every `span / l`, from a hundredth on, until it is a hundred times the rate.
    Doubling,
    /// Every `span / l` another rate, from a hundredth to a hundredfold.
    Chaos,
}

impl Scenario {
    /// All streams of the stress tests; the day, which is long, is for those of memory.
    pub const ALL: [Scenario; 14] = [
        Scenario::Steady,
        Scenario::Poisson,
        Scenario::Jump { factor: 10.0 },
        Scenario::Jump { factor: 100.0 },
        Scenario::Jump { factor: 1_000.0 },
        Scenario::Jump { factor: 0.1 },
        Scenario::Jump { factor: 0.01 },
        Scenario::Jump { factor: 0.001 },
        Scenario::Sine { factor: 10.0 },
        Scenario::Bursts,
        Scenario::Idle,
        Scenario::Trickle,
        Scenario::Doubling,
        Scenario::Chaos,
    ];

    /// A short name.
    pub fn name(&self) -> String {
        match self {
            Scenario::Steady => "steady".into(),
            Scenario::Poisson => "Poisson".into(),
            Scenario::Jump { factor } if *factor >= 1.0 => format!("x{factor:.0} up"),
            Scenario::Jump { factor } => format!("x{:.0} down", 1.0 / factor),
            Scenario::Sine { factor } => format!("sine x{factor:.0}"),
            Scenario::Day { factor } => format!("day x{factor:.0}"),
            Scenario::Bursts => "bursts".into(),
            Scenario::Idle => "idle and back".into(),
            Scenario::Trickle => "trickle".into(),
            Scenario::Doubling => "doubling".into(),
            Scenario::Chaos => "chaos".into(),
        }
    }

    /// The times of arrival of a stream with `per_span` items a span before its rate changes.
    pub fn arrivals(self, per_span: f64, span: Duration, aging_slices: usize, seed: u64) -> Arrivals {
        let spans = match self {
            Scenario::Jump { factor } if factor > 100.0 => 4.5,
            Scenario::Jump { factor } if factor > 10.0 => 5.0,
            Scenario::Idle => 17.0,
            Scenario::Sine { .. } => 12.0,
            Scenario::Day { .. } => 54.0,
            Scenario::Trickle => 20.0,
            Scenario::Doubling => 14.0 / aging_slices as f64 + 1.0,
            _ => 10.0,
        };
        Arrivals {
            scenario: self,
            per_span,
            interval: 1.0 / aging_slices as f64,
            end: spans,
            at: 0.0,
            span,
            chaos: (-1.0, 1.0),
            random: fastrand::Rng::with_seed(seed),
        }
    }
}

/// The times of arrival of a stream, in order.
#[derive(Clone, Debug)]
pub struct Arrivals {
    scenario: Scenario,
    per_span: f64,
    /// `1 / l`: the target shift interval in spans.
    interval: f64,
    end: f64,
    /// The time of the last arrival, in spans.
    at: f64,
    span: Duration,
    /// Which interval a random rate belongs to, and that rate.
    chaos: (f64, f64),
    random: fastrand::Rng,
}

impl Arrivals {
    /// When the stream begins.
    pub const START: Timestamp = Timestamp::from_secs(1_000_000);

    /// The rate at `at` spans, relative to `per_span`.
    fn relative_rate(&mut self) -> f64 {
        let at = self.at;
        match self.scenario {
            Scenario::Steady | Scenario::Poisson | Scenario::Idle => 1.0,
            Scenario::Jump { factor } if at >= 3.0 => factor,
            Scenario::Jump { .. } => 1.0,
            Scenario::Sine { factor } => {
                let swing = (1.0 - (at * std::f64::consts::PI / 2.0).cos()) / 2.0;
                factor.powf(swing - 0.5)
            }
            Scenario::Day { factor } => {
                let swing = (factor - 1.0) / (factor + 1.0);
                1.0 + swing * (at * std::f64::consts::PI / 12.0).sin()
            }
            Scenario::Bursts => {
                let phase = at % 2.0;
                if (1.0..1.01).contains(&phase) { 50.0 } else { 0.05 }
            }
            Scenario::Trickle => 0.01,
            Scenario::Doubling => (0.01 * (at / self.interval).exp2()).min(100.0),
            Scenario::Chaos => {
                let interval = (at / self.interval).floor();
                if interval != self.chaos.0 {
                    self.chaos = (interval, 10_f64.powf(self.random.f64() * 4.0 - 2.0));
                }
                self.chaos.1
            }
        }
    }

    fn timestamp(&self) -> Timestamp {
        Self::START.saturating_add(self.span.mul_f64(self.at))
    }
}

impl Iterator for Arrivals {
    type Item = Timestamp;

    fn next(&mut self) -> Option<Timestamp> {
        let mean = 1.0 / (self.per_span * self.relative_rate());
        let gap = match self.scenario {
            Scenario::Poisson | Scenario::Day { .. } | Scenario::Chaos => -mean * (1.0 - self.random.f64()).ln(),
            _ => mean,
        };
        // a slow stream must not step over a change of the rate
        self.at += match self.scenario {
            Scenario::Bursts | Scenario::Chaos | Scenario::Doubling => {
                let boundary = match self.scenario {
                    Scenario::Bursts => 1.0,
                    _ => self.interval,
                };
                let to_boundary = ((self.at / boundary).floor() + 1.0) * boundary - self.at;
                gap.min(to_boundary.max(1e-9))
            }
            _ => gap,
        };
        if self.scenario == Scenario::Idle && (3.0..13.0).contains(&self.at) {
            self.at = 13.0;
        }
        (self.at < self.end).then(|| self.timestamp())
    }
}
