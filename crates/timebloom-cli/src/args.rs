//! The command line, as types.

use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::duration;
use crate::input::Input;

const EXIT_CODES: &str = "\
Exit codes: 0 when all went well, also when the reader of the output went away; 1 when something could not be read or \
written; 2 when the command line makes no sense.";

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
/// Time is the wall clock's, at the moment a line is read: timestamps inside lines mean nothing here. Lines are compared
/// as bytes, without their newline, and printed in the order they came. The first sighting decides: a repeat does not
/// prolong the window, so a line that keeps coming is printed again about once per window.
///
/// A line repeated within the window is never printed twice. A line that was not seen is dropped by mistake with a
/// chance of at most --error. A line may be held for a little longer than asked, 1/31 of the window at most rates; from
/// then on the chance that it is still dropped is at most about 1/2, and falls quickly.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct DedupArgs {
    /// How long a line is remembered: 100ms, 60s, 5m, 1h30m, 7d
    // Hyphens are let through for the sake of the message: `-5s` is a bad duration, not an unknown option.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) window: Duration,

    /// Highest acceptable chance that a line never seen before is taken for a repeat: 1e-12 or more, below 0.5
    #[arg(long, value_name = "RATE", default_value_t = 0.01, allow_negative_numbers = true, value_parser = rate)]
    pub(crate) error: f64,

    /// Files to read, one after the other, up to the first that cannot be read; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-", value_parser = Input::parser())]
    pub(crate) inputs: Vec<Input>,
}

/// Reads an error rate. Whether it is in range is for the filter to say.
fn rate(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "write a number such as 0.01, for one in a hundred")
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
