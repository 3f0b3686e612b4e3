//! The command line, as types.

use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::duration;
use crate::input::Input;

/// Deduplicate streams within a time window, in a few bits per item
#[derive(Debug, Parser)]
#[command(name = "timebloom", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(DedupArgs),
}

/// Print each line the first time it is seen within the window
///
/// Lines are compared as bytes, without their line ending, and printed in the order they came. The first sighting
/// decides: a repeat does not prolong the window, so a line that keeps coming is printed again about once per window.
///
/// A line repeated within the window is never printed twice. A line that was not seen is dropped by mistake with a
/// chance of at most --error. One that has left the window may be held a little longer, by a thirtieth of it or so; from
/// then on it is dropped with a chance of at most about 1/2, which about halves with each further thirtieth.
#[derive(Debug, clap::Args)]
pub(crate) struct DedupArgs {
    /// How long a line is remembered: 100ms, 60s, 5m, 1h30m, 7d
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) window: Duration,

    /// Highest acceptable chance that a line never seen before is taken for a repeat
    #[arg(long, value_name = "RATE", default_value_t = 0.01, allow_negative_numbers = true)]
    pub(crate) error: f64,

    /// Files to read, one after the other; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-", value_parser = Input::parser())]
    pub(crate) inputs: Vec<Input>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn without_files_standard_input_is_read() {
        let args = Args::try_parse_from(["timebloom", "dedup", "--window", "1h30m"]).expect("valid command line");
        let Command::Dedup(dedup) = args.command;
        assert_eq!(dedup.window, Duration::from_secs(5400));
        assert_eq!(dedup.inputs, [Input::Stdin]);
    }
}
