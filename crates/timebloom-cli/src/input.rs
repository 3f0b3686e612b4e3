//! Where records come from: files and standard input, with the names used in messages.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};

/// A FILE argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// Reads an argument as an input. Any file name the system allows is accepted, UTF-8 or not.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(Self::from)
    }

    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Input::Stdin => Box::new(io::stdin().lock()),
            Input::File(path) => Box::new(File::open(path)?),
        })
    }

    /// How many bytes it has, if it is a file with an end.
    pub(crate) fn size(&self) -> Option<u64> {
        let metadata = match self {
            Input::Stdin => stdin_metadata()?,
            Input::File(path) => fs::metadata(path).ok()?,
        };
        metadata.is_file().then_some(metadata.len())
    }

    /// How many bytes they have together, if all are files with an end.
    pub(crate) fn total_size(inputs: &[Input]) -> Option<u64> {
        inputs.iter().try_fold(0_u64, |total, input| Some(total.saturating_add(input.size()?)))
    }
}

#[cfg(unix)]
fn stdin_metadata() -> Option<fs::Metadata> {
    use std::os::fd::AsFd;

    File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(not(unix))]
fn stdin_metadata() -> Option<fs::Metadata> {
    None
}

impl From<OsString> for Input {
    fn from(argument: OsString) -> Self {
        if argument == "-" { Input::Stdin } else { Input::File(argument.into()) }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Stdin => f.write_str("standard input"),
            Input::File(path) => path.display().fmt(f),
        }
    }
}
