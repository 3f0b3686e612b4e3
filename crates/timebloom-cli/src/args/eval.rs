//! `timebloom eval`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  timebloom eval                        everything, into ./timebloom-evaluation
  timebloom eval --quick                the same with fewer and shorter runs
  timebloom eval --only paper           the paper's experiments alone
  timebloom eval --only tail --out /tmp/tail --seed 7

Exit codes: 0 when every check of the results holds, 1 when one does not or something failed, 2 when the command line
makes no sense.";

/// Reproduce the paper, measure both policies under stress, and write a report with pictures
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    /// Where report.html, the CSV files, figures and tables go; made if it is missing
    #[arg(long, value_name = "FOLDER", default_value = "timebloom-evaluation")]
    pub(crate) out: PathBuf,

    /// Only this experiment; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Fewer and shorter runs
    #[arg(long)]
    pub(crate) quick: bool,

    /// The seed of everything random
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Also renew the figures, tables and marked texts of the documentation in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "quick")]
    pub(crate) docs: Option<PathBuf>,
}
