//! A whole run: experiments, files, report.

use std::path::PathBuf;

use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::output::Output;
use crate::report;
use crate::section::Section;

/// What to run and where to write it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for `report.html`, the CSV files, `figures` and `tables`.
    pub out: PathBuf,
    /// Which experiments, in this order.
    pub experiments: Vec<Experiment>,
    /// Fewer and shorter runs.
    pub quick: bool,
    /// Of everything random.
    pub seed: u64,
    /// A folder of documentation whose figures, tables and marked texts are to be renewed.
    pub docs: Option<PathBuf>,
}

/// Runs the experiments, writes everything, and tells what came out. `progress` hears how much of an experiment is done,
/// from 0 to 1.
pub fn run(options: &Options, progress: &mut dyn FnMut(Experiment, f64)) -> Result<Vec<Section>, Error> {
    let output = Output::in_folder(&options.out)?;
    let context = Context { quick: options.quick, seed: options.seed, output: &output };
    let mut sections = Vec::new();
    for &experiment in &options.experiments {
        progress(experiment, 0.0);
        sections.push(experiment.run(&context, &mut |share| progress(experiment, share))?);
        progress(experiment, 1.0);
    }
    output.write("report.html", &report::page(&sections, &description(options)))?;
    report::write_docs(&options.out, &sections)?;
    if let Some(docs) = &options.docs {
        report::write_docs(docs, &sections)?;
    }
    Ok(sections)
}

fn description(options: &Options) -> String {
    let size = if options.quick { "a quick run: fewer filters, fewer looks" } else { "a full run" };
    let names: Vec<_> = options.experiments.iter().map(|experiment| experiment.name()).collect();
    format!(
        "timebloom {}, seed {}, {size}. Experiments: {}. All but times is the same for the same seed.",
        env!("CARGO_PKG_VERSION"),
        options.seed,
        names.join(", ")
    )
}
