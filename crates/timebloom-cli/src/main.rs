//! `timebloom`: answers "was this line here in the last T seconds?" for streams too large to remember line by line.
//!
//! The flow: `args` says what is asked, `input` opens the readers, `lines` cuts them into records, and each subcommand
//! has a module of its own that decides about every record.
//!
//! Exit codes: 0 when all went well, and also when the reader of our output went away (`timebloom ... | head`); 1 when
//! something could not be read or written; 2 when the command line asks for something impossible.

mod args;
mod dedup;
mod duration;
mod error;
mod input;
mod lines;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Dedup(args) => dedup::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough: the ordinary end of a pipeline, not a failure.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
