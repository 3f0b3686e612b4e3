//! What can go wrong in a run.

use std::fmt;
use std::io;
use std::path::PathBuf;

use timebloom::{BuildError, Full};

/// Why a run did not come to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no experiment of this name.
    UnknownExperiment {
        /// What was asked for.
        got: String,
    },
    /// A file could not be written.
    Write {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A page of the documentation has no place for this text.
    NoPlace {
        /// The page.
        path: PathBuf,
        /// The name of the text.
        name: String,
    },
    /// A filter was refused.
    Build(BuildError),
    /// A filter without a limit was full.
    Full(Full),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownExperiment { got } => {
                let names: Vec<_> = crate::Experiment::ALL.iter().map(|experiment| experiment.name()).collect();
                write!(f, "there is no experiment `{got}`; the experiments are: {}", names.join(", "))
            }
            Error::Write { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Error::NoPlace { path, name } => {
                write!(f, "{} has no lines `<!-- {name} -->` and `<!-- end -->` to write between", path.display())
            }
            Error::Build(source) => source.fmt(f),
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

impl From<Full> for Error {
    fn from(source: Full) -> Self {
        Error::Full(source)
    }
}
