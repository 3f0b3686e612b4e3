//! The experiments, by name.

use crate::error::Error;
use crate::output::Output;
use crate::paper;
use crate::section::Section;

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
}

impl Experiment {
    /// All of them, in the order of the report.
    pub const ALL: [Experiment; 1] = [Experiment::Paper];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Paper => "paper",
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
        }
    }
}
