//! `timebloom dedup`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, ArgGroup};

use super::{ClockArgs, KeyArgs, TimeArgs};
use crate::duration;
use crate::input::Input;
use crate::output::Mode;
use crate::reader::Missing;
use crate::size;

const EXAMPLES: &str = "\
Examples:
  timebloom dedup --window 60s app.log
        each line once a minute, by the clock on the wall
  timebloom dedup --window 60s --field 1,7 --time-field 4 --time-format access-log a.log
        each address and path once a minute, by the times in the log
  timebloom dedup --window 10m --json /id --time-json /at --lateness 5s --state seen.tb < events
        each event once, from run to run, though they come up to five seconds out of order
  tail -f syslog | timebloom dedup --window 10s --refresh --regex ']: (.*)'
        a message that keeps coming only once, until it was quiet for ten seconds
  timebloom dedup --last 1000000 --csv user,item --stats clicks.csv
        each user and item once among the last million, with a summary
`timebloom help guide` has more.

Exit codes: 0 when all went well, also when the reader of the output went away; 1 when something failed; 2 when the \
command line makes no sense. Ctrl-C and a polite kill flush the output, save the state, print the summary, and then end \
the process as that signal does.";

/// Print each line the first time it is seen within the window
///
/// Lines are compared as bytes, without their newline, and printed in the order they came. The first sighting decides: a
/// repeat does not prolong the window, so a line that keeps coming is printed again about once per window; --refresh makes
/// it wait for a quiet window instead. Without --time-..., what counts is when a line is read.
///
/// A line repeated within the window is never printed twice. A line that was not seen is dropped by mistake with a
/// chance of at most --error. A line may be held for a little longer than asked, 1/31 of the window at most rates; from
/// then on the chance that it is still dropped is at most about 1/2, and falls quickly.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "Try --help for examples and the long version.")]
#[command(group = ArgGroup::new("print").multiple(false))]
pub(crate) struct DedupArgs {
    /// How long a line is remembered: 100ms, 60s, 5m, 1h30m, 7d
    // Hyphens are let through for the sake of the message: `-5s` is a bad duration, not an unknown option.
    #[arg(long, short, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) window: Option<Duration>,

    /// Remember the last N different lines instead: 5000, 20k, 1M
    #[arg(long, value_name = "N", conflicts_with_all = ["window", "time", "max_memory"],
          value_parser = size::parse_count, allow_hyphen_values = true)]
    pub(crate) last: Option<u64>,

    /// Highest acceptable chance that a line never seen before is taken for a repeat: 1e-12 or more, below 0.5
    /// [default: 0.01]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = super::rate)]
    pub(crate) error: Option<f64>,

    /// A repeat starts its time anew: a line is printed again only after a window without it
    #[arg(long)]
    pub(crate) refresh: bool,

    /// The most memory the filter may take, such as 64M
    #[arg(long, value_name = "SIZE", value_parser = size::parse, allow_hyphen_values = true)]
    pub(crate) max_memory: Option<u64>,

    /// What to do when that is not enough
    #[arg(long, value_enum, requires = "max_memory")]
    pub(crate) on_full: Option<OnFullArg>,

    /// Files to read, one after the other, up to the first that cannot be read; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-", value_parser = Input::parser(), hide_default_value = true)]
    pub(crate) inputs: Vec<Input>,

    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// What to do with a line that has no key, or no time where one is asked for
    #[arg(long, value_enum, default_value_t = Missing::Keep,
          help_heading = "Key: what makes two lines the same (default: all of the line)")]
    pub(crate) missing: Missing,

    #[command(flatten)]
    pub(crate) time: TimeArgs,

    #[command(flatten)]
    pub(crate) clock: ClockArgs,

    /// Print the repeats instead
    #[arg(long, group = "print", help_heading = "Output")]
    duplicates: bool,

    /// Print every line behind `new`, `seen`, `late` or `nokey`, and a tab
    #[arg(long, group = "print", help_heading = "Output")]
    mark: bool,

    /// Print only how many lines were suppressed
    #[arg(long, group = "print", help_heading = "Output")]
    count: bool,

    /// Print every line, and tell on standard error how many would have been suppressed
    #[arg(long, group = "print", help_heading = "Output")]
    shadow: bool,

    /// Lines end with a zero byte instead of a newline, in and out
    #[arg(long, short = '0', help_heading = "Output", conflicts_with_all = ["csv", "time_csv"])]
    pub(crate) null: bool,

    /// Write each line by itself; without it, lines are held back only while more can be read at once
    #[arg(long, help_heading = "Output")]
    pub(crate) line_buffered: bool,

    /// A line longer than this is an error
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size::parse, help_heading = "Output")]
    pub(crate) max_line: u64,

    /// Print a summary to standard error at the end; `--stats=json` for programs
    #[arg(long, value_name = "FORMAT", value_enum, num_args = 0..=1, require_equals = true, action = ArgAction::Set,
          default_missing_value = "text", help_heading = "Output")]
    pub(crate) stats: Option<StatsFormat>,

    /// Go on with the filter in this file, and save it there; the window may then be left out
    #[arg(long, value_name = "FILE", help_heading = "State", conflicts_with = "redis")]
    pub(crate) state: Option<PathBuf>,

    /// Save it also from time to time: after 30s, or after 100000 lines
    #[arg(long, value_name = "DURATION|LINES", value_parser = SaveEvery::parse, requires = "state",
          help_heading = "State")]
    pub(crate) save_every: Option<SaveEvery>,

    /// Use a filter in a server with the timebloom module, such as redis://127.0.0.1:6379; TLS needs a tunnel
    #[arg(long, value_name = "URL", requires = "key_name", help_heading = "Server")]
    pub(crate) redis: Option<String>,

    /// The name of the filter there; it is created if it is missing
    #[arg(long = "key", id = "key_name", value_name = "NAME", requires = "redis", help_heading = "Server")]
    pub(crate) key_name: Option<String>,

    /// Spread the filter over N keys of a cluster, NAME:{0}, NAME:{1} and so on
    #[arg(long, value_name = "N", default_value_t = 1, requires = "redis", help_heading = "Server",
          value_parser = clap::value_parser!(u64).range(1..=16384))]
    pub(crate) shards: u64,

    /// How often to try to get back to a server that is gone, with pauses from 50ms to 5s
    #[arg(long, value_name = "N", default_value_t = 8, requires = "redis", help_heading = "Server")]
    pub(crate) retries: u32,
}

impl DedupArgs {
    pub(crate) fn mode(&self) -> Mode {
        match self {
            _ if self.duplicates => Mode::Duplicates,
            _ if self.mark => Mode::Mark,
            _ if self.count => Mode::Count,
            _ if self.shadow => Mode::Shadow,
            _ => Mode::Unique,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnFullArg {
    /// End the run with an error
    Reject,
    /// Forget the oldest lines early, and tell so in the summary
    Shorten,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StatsFormat {
    Text,
    Json,
}

/// When the state is saved besides at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaveEvery {
    Time(Duration),
    Lines(u64),
}

impl SaveEvery {
    fn parse(text: &str) -> Result<Self, String> {
        let zero = || "it cannot be saved all the time: write 1ms or more, or 1 line or more".to_owned();
        if let Ok(lines) = text.parse() {
            return if lines > 0 { Ok(SaveEvery::Lines(lines)) } else { Err(zero()) };
        }
        match duration::parse(text) {
            Ok(duration) if !duration.is_zero() => Ok(SaveEvery::Time(duration)),
            Ok(_) => Err(zero()),
            Err(error) => Err(format!("{error}; a bare number is lines")),
        }
    }
}
