//! `timebloom plan`, `inspect`, `completions`, `man` and `help`.

use std::path::PathBuf;
use std::time::Duration;

use super::TimeArgs;
use super::key::SampleKeyArgs;
use crate::duration;
use crate::input::Input;
use crate::size;

const PLAN_EXAMPLES: &str = "\
Examples:
  timebloom plan --window 1h --rate 5000
        five thousand different items a second, for an hour
  timebloom plan --window 1d --rate 2M/d --error 0.0001
  timebloom plan --last 1000000
  timebloom plan --window 60s --sample a.log --field 1,7 --time-field 4 --time-format access-log
  timebloom plan --window 60s --sample minute.log --sample-span 60s";

/// Say what a filter will cost: bits per item, bytes, precision, and the alternatives
#[derive(Debug, clap::Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub(crate) struct PlanArgs {
    /// The window: 100ms, 60s, 5m, 1h30m, 7d
    #[arg(long, short, value_name = "DURATION", value_parser = duration::parse, required_unless_present = "last")]
    pub(crate) window: Option<Duration>,

    /// A window of the last N items instead: 5000, 20k, 1M
    #[arg(long, value_name = "N", conflicts_with_all = ["window", "rate", "sample"],
          value_parser = size::parse_count, allow_hyphen_values = true)]
    pub(crate) last: Option<u64>,

    /// Highest acceptable chance of a false positive: 1e-12 or more, below 0.5
    #[arg(long, value_name = "RATE", default_value_t = 0.01, allow_negative_numbers = true, value_parser = super::rate)]
    pub(crate) error: f64,

    /// Different items a second, such as 5000 or 20k; or per other unit, such as 300/m, 1M/h, 2M/d
    #[arg(long, value_name = "N[/UNIT]", value_parser = crate::plan::parse_rate, conflicts_with = "sample",
          allow_hyphen_values = true)]
    pub(crate) rate: Option<f64>,

    /// Learn the rate, and the length of keys, from a part of the stream
    #[arg(long, value_name = "FILE", value_parser = Input::parser())]
    pub(crate) sample: Option<Input>,

    /// How long the sample took to come, if its lines have no times
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, requires = "sample",
          conflicts_with = "time")]
    pub(crate) sample_span: Option<Duration>,

    /// The length of a key, for what other ways to remember would take
    #[arg(long, value_name = "BYTES", default_value_t = 24, conflicts_with = "sample")]
    pub(crate) key_bytes: u64,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) key: SampleKeyArgs,

    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

/// Show what a saved filter holds: slices by age and fill, sizes, and arrivals over the window
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// A file written by `dedup --state`, or by the library
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a completion script for a shell
///
/// For bash: `timebloom completions bash > ~/.local/share/bash-completion/completions/timebloom`
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual pages into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Where to; made if it is missing
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

/// Show the guide, or the help of a command
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// `guide`, or the name of a command
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
}
