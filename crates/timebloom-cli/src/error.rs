//! What can go wrong in a run, and the exit code that says so.

use std::fmt;
use std::io;

use timebloom::{BuildError, Full, Plan, PlanError};

use crate::input::Input;

const EXIT_FAILURE: u8 = 1;
const EXIT_USAGE: u8 = 2; // the code clap uses for the mistakes it finds itself

#[derive(Debug)]
pub(crate) enum Error {
    /// The options ask for a filter that cannot be.
    Build(BuildError),
    Open {
        input: Input,
        source: io::Error,
    },
    Read {
        input: Input,
        source: io::Error,
    },
    Write(io::Error),
    /// The filter could not record another item.
    Full(Full),
}

impl Error {
    /// Whether this only says that nobody reads our output any more.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Write(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Build(_) => EXIT_USAGE,
            Error::Open { .. } | Error::Read { .. } | Error::Write(_) | Error::Full(_) => EXIT_FAILURE,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // In the terms of the command line, which has no unit below the millisecond.
            Error::Build(BuildError::Span { .. }) => f.write_str("--window must be at least 1ms and at most 584 years"),
            Error::Build(BuildError::Plan(PlanError::Rate { got })) => {
                let (min, max) = (Plan::MIN_RATE, Plan::MAX_RATE);
                write!(f, "--error {got:?} is not allowed: it must be at least {min:e} and below {max}")
            }
            Error::Build(source) => source.fmt(f),
            Error::Open { input, source } => write!(f, "cannot open {input}: {source}"),
            Error::Read { input, source } => write!(f, "cannot read {input}: {source}"),
            Error::Write(source) => write!(f, "cannot write to standard output: {source}"),
            Error::Full(source) => source.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<BuildError> for Error {
    fn from(source: BuildError) -> Self {
        Error::Build(source)
    }
}
