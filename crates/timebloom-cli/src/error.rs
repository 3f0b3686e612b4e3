//! What can go wrong in a run, and the exit code that says so.

use std::fmt;
use std::io;
use std::path::PathBuf;

use timebloom::{BuildError, Full, Plan, PlanError};

use crate::input::Input;
use crate::record::CsvError;
use crate::server::ServerError;
use crate::state::StateError;

const EXIT_FAILURE: u8 = 1;
const EXIT_USAGE: u8 = 2; // the code clap uses for the mistakes it finds itself

#[derive(Debug)]
pub(crate) enum Error {
    /// The options ask for a filter that cannot be.
    Build(BuildError),
    /// The options do not go together.
    Usage(String),
    Open {
        input: Input,
        source: io::Error,
    },
    Read {
        input: Input,
        source: io::Error,
    },
    /// A record is longer than allowed.
    LongRecord {
        input: Input,
        line: u64,
        max: usize,
    },
    /// A record has no key, and that is not allowed.
    NoKey {
        input: Input,
        line: u64,
        timed: bool,
    },
    /// An input does not have the columns asked for.
    Csv {
        input: Input,
        source: CsvError,
    },
    Write(io::Error),
    /// A file of our own making could not be written.
    Create {
        path: PathBuf,
        source: io::Error,
    },
    /// The filter could not record another item.
    Full {
        full: Full,
        input: Input,
        line: u64,
    },
    State(StateError),
    Server(ServerError),
    #[cfg(feature = "eval")]
    Eval(timebloom_eval::Error),
    /// The sample tells nothing.
    Sample {
        input: Input,
        reason: &'static str,
    },
}

impl Error {
    /// Whether this only says that nobody reads our output any more.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Write(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Build(_) | Error::Usage(_) | Error::Server(ServerError::Url { .. } | ServerError::Tls { .. }) => {
                EXIT_USAGE
            }
            #[cfg(feature = "eval")]
            Error::Eval(timebloom_eval::Error::UnknownExperiment { .. }) => EXIT_USAGE,
            _ => EXIT_FAILURE,
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
            Error::Build(BuildError::Capacity { got, max }) => {
                write!(f, "--last {got} is not allowed: it must be at least 1 and at most {max}")
            }
            Error::Build(BuildError::MaxBytes { got, min }) => {
                write!(f, "--max-memory {got} is too small for this filter: it needs at least {min} bytes")
            }
            Error::Build(source) => source.fmt(f),
            Error::Usage(what) => f.write_str(what),
            Error::Open { input, source } => write!(f, "cannot open {input}: {source}"),
            Error::Read { input, source } => write!(f, "cannot read {input}: {source}"),
            Error::LongRecord { input, line, max } => {
                write!(f, "{input}, line {line}: longer than {max} bytes; --max-line allows more")
            }
            Error::NoKey { input, line, timed } => {
                let what = if *timed { "no key or no time" } else { "no key" };
                write!(f, "{input}, line {line}: {what}; --missing keep or --missing drop would go on")
            }
            Error::Csv { input, source } => write!(f, "{input}: {source}"),
            Error::Write(source) => write!(f, "cannot write to standard output: {source}"),
            Error::Create { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Error::Full { full, input, line } => write!(
                f,
                "{input}, line {line}: {full}; allow more with --max-memory, or let the window get shorter with \
                 --on-full shorten"
            ),
            Error::State(source) => source.fmt(f),
            Error::Server(source) => source.fmt(f),
            #[cfg(feature = "eval")]
            Error::Eval(source) => source.fmt(f),
            Error::Sample { input, reason } => write!(f, "the sample {input} {reason}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<BuildError> for Error {
    fn from(source: BuildError) -> Self {
        Error::Build(source)
    }
}

impl From<PlanError> for Error {
    fn from(source: PlanError) -> Self {
        Error::Build(BuildError::Plan(source))
    }
}

impl From<StateError> for Error {
    fn from(source: StateError) -> Self {
        Error::State(source)
    }
}

impl From<ServerError> for Error {
    fn from(source: ServerError) -> Self {
        Error::Server(source)
    }
}

#[cfg(feature = "eval")]
impl From<timebloom_eval::Error> for Error {
    fn from(source: timebloom_eval::Error) -> Self {
        Error::Eval(source)
    }
}
