//! The proportions that the laws are tried on.

use timebloom::{CountBloomBuilder, TimeBloomBuilder};

/// A rate, and how hashes and aging slices are chosen for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportions {
    /// The target false positive rate.
    pub rate: f64,
    /// How `k` and `l` are chosen.
    pub choice: Choice,
}

/// How hashes (k) and aging slices (l) are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// By the planner.
    Planned,
    /// As given.
    Pair(u32, u32),
    /// The published pair of this level.
    Level(u32),
}

impl Proportions {
    /// From the smallest pairs to the largest published ones, the planner's own among them.
    pub const ALL: [Proportions; 14] = [
        Proportions::new(0.01, Choice::Pair(10, 25)),
        Proportions::new(0.01, Choice::Planned),
        Proportions::new(0.001, Choice::Planned),
        Proportions::new(0.1, Choice::Pair(3, 1)),
        Proportions::new(0.05, Choice::Pair(3, 7)),
        Proportions::new(0.05, Choice::Pair(3, 3)),
        Proportions::new(0.1, Choice::Pair(4, 3)),
        Proportions::new(0.1, Choice::Pair(7, 1)),
        Proportions::new(0.3, Choice::Planned),
        Proportions::new(0.1, Choice::Level(4)),
        Proportions::new(0.01, Choice::Level(0)),
        Proportions::new(0.001, Choice::Level(5)),
        Proportions::new(1e-4, Choice::Level(2)),
        Proportions::new(1e-5, Choice::Pair(22, 95)),
    ];

    /// These proportions.
    pub const fn new(rate: f64, choice: Choice) -> Self {
        Proportions { rate, choice }
    }

    /// Asks for these proportions.
    pub fn time(self, builder: TimeBloomBuilder) -> TimeBloomBuilder {
        let builder = builder.false_positive_rate(self.rate);
        match self.choice {
            Choice::Planned => builder,
            Choice::Pair(hashes, aging_slices) => builder.hashes_and_aging(hashes, aging_slices),
            Choice::Level(level) => builder.level(level),
        }
    }

    /// Asks for these proportions.
    pub fn count(self, builder: CountBloomBuilder) -> CountBloomBuilder {
        let builder = builder.false_positive_rate(self.rate);
        match self.choice {
            Choice::Planned => builder,
            Choice::Pair(hashes, aging_slices) => builder.hashes_and_aging(hashes, aging_slices),
            Choice::Level(level) => builder.level(level),
        }
    }
}
