//! The command line, as types.

mod dedup;
#[cfg(feature = "eval")]
mod eval;
mod key;
mod others;
mod time;

use clap::{Parser, Subcommand};

pub(crate) use dedup::{DedupArgs, OnFullArg, SaveEvery, StatsFormat};
#[cfg(feature = "eval")]
pub(crate) use eval::EvalArgs;
pub(crate) use key::KeyArgs;
pub(crate) use others::{CompletionsArgs, HelpArgs, InspectArgs, ManArgs, PlanArgs};
pub(crate) use time::{ClockArgs, TimeArgs};

const OVERVIEW: &str = "\
Examples:
  timebloom dedup --window 60s app.log            each line once a minute
  tail -f app.log | timebloom dedup --window 10s  the same, as it comes
  timebloom plan --window 1h --rate 5000          what that will cost
  timebloom help guide                            recipes for common tasks

Exit codes: 0 when all went well, 1 when something failed, 2 when the command line makes no sense.";

/// Deduplicate streams within a time window, in a few bits per item
#[derive(Debug, Parser)]
#[command(name = "timebloom", version, after_help = OVERVIEW, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(Box<DedupArgs>),
    Plan(Box<PlanArgs>),
    Inspect(InspectArgs),
    #[cfg(feature = "eval")]
    Eval(EvalArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Help(HelpArgs),
}

/// Reads an error rate. Whether it is in range is for the filter to say.
fn rate(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "write a number such as 0.01, for one in a hundred")
}

/// Reads a single byte: as itself, or as `\t` or `\0`.
fn byte(text: &str) -> Result<u8, &'static str> {
    match text {
        "\\t" => Ok(b'\t'),
        "\\0" => Ok(0),
        "\n" => Err("a newline ends a line, and cannot divide it"),
        _ => match *text.as_bytes() {
            [byte] => Ok(byte),
            _ => Err("write a single byte, such as ',' or ';' or '\\t'"),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::CommandFactory;

    use super::*;
    use crate::input::Input;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn without_files_standard_input_is_read() {
        let args = Args::try_parse_from(["timebloom", "dedup", "--window", "1h30m"]).expect("valid command line");
        let Command::Dedup(dedup) = args.command else { panic!("another command") };
        assert_eq!(dedup.window, Some(Duration::from_secs(5400)));
        assert_eq!(dedup.inputs, [Input::Stdin]);
    }

    #[test]
    fn delimiters_are_single_bytes() {
        assert_eq!((byte(","), byte("\\t"), byte("\t"), byte("\\0")), (Ok(b','), Ok(b'\t'), Ok(b'\t'), Ok(0)));
        for text in ["", ",,", "ä", "\n"] {
            assert!(byte(text).is_err(), "{text:?}");
        }
    }
}
