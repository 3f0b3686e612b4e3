//! The experiments, by name.

use crate::error::Error;
use crate::output::Output;
use crate::section::Section;
use crate::{aging, comparison, memory, paper, stress, tail};

/// What every experiment is told.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Fewer and shorter runs, for a machine that checks every change.
    pub quick: bool,
    /// Of everything random.
    pub seed: u64,
    /// Where files go.
    pub output: &'a Output,
}

/// An experiment, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// The paper's own.
    Paper,
    /// Streams whose rate changes.
    Stress,
    /// What is still reported after its time.
    Tail,
    /// Bits per item against the rate.
    Memory,
    /// What more aging slices buy.
    Aging,
    /// Other filters on the same streams.
    Compare,
}

impl Experiment {
    /// All of them, in the order of the report.
    pub const ALL: [Experiment; 6] = [
        Experiment::Paper,
        Experiment::Stress,
        Experiment::Tail,
        Experiment::Memory,
        Experiment::Aging,
        Experiment::Compare,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Paper => "paper",
            Experiment::Stress => "stress",
            Experiment::Tail => "tail",
            Experiment::Memory => "memory",
            Experiment::Aging => "aging",
            Experiment::Compare => "compare",
        }
    }

    /// The experiment of this name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let found = Experiment::ALL.into_iter().find(|experiment| experiment.name() == name);
        found.ok_or_else(|| Error::UnknownExperiment { got: name.into() })
    }

    pub(crate) fn run(self, context: &Context<'_>, progress: &mut dyn FnMut(f64)) -> Result<Section, Error> {
        match self {
            Experiment::Paper => paper::experiment(context, progress),
            Experiment::Stress => stress::experiment(context, progress),
            Experiment::Tail => tail::experiment(context, progress),
            Experiment::Memory => memory::experiment(context, progress),
            Experiment::Aging => aging::experiment(context, progress),
            Experiment::Compare => comparison::experiment(context, progress),
        }
    }
}
