//! The `timebloom` command-line tool.
//!
//! Exit codes: 0 when all went well, and when the reader of our output went away early, as in `| head`; 1 when something
//! could not be read or written; 2 when the command line asks for something impossible.

mod args;
mod block;
mod dedup;
mod duration;
mod error;
#[cfg(feature = "eval")]
mod eval;
mod event_clock;
mod filter;
mod guide;
mod input;
mod inspect;
mod judge;
mod output;
mod paint;
mod plan;
mod progress;
mod reader;
mod record;
mod sample;
mod server;
mod signals;
mod size;
mod state;
mod summary;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Dedup(args) => dedup::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        #[cfg(feature = "eval")]
        Command::Eval(args) => eval::run(&args),
        Command::Completions(args) => guide::completions(&args),
        Command::Man(args) => guide::manual(&args),
        Command::Help(args) => guide::help(&args),
    };
    match outcome {
        Ok(code) => code,
        // Whoever read our output has seen enough: the ordinary end of a pipeline, not a failure.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
