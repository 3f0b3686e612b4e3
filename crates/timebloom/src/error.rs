//! What can go wrong, with the numbers that say why.

use std::fmt;
use std::time::Duration;

use crate::sizing::PlanError;

/// A filter cannot be built like this.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The rate, the hash functions, the aging slices or the level are out of range.
    Plan(PlanError),
    /// The span is shorter than a microsecond or longer than 584 years.
    Span {
        /// The span that was asked for.
        got: Duration,
    },
    /// The capacity of a count window is zero, or more than a filter can have.
    Capacity {
        /// The capacity that was asked for.
        got: u64,
        /// The largest one with these proportions.
        max: u64,
    },
    /// The guarded policy cannot keep its promises with so few hash functions.
    TooFewHashes {
        /// The number that was asked for.
        got: usize,
        /// The smallest one that works.
        min: usize,
    },
    /// The memory limit is too small for a filter of these proportions.
    MaxBytes {
        /// The limit that was asked for.
        got: u64,
        /// The smallest one that works.
        min: u64,
    },
    /// There are no shards, or too many.
    Shards {
        /// The number that was asked for.
        got: usize,
        /// The largest one.
        max: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Plan(error) => error.fmt(f),
            BuildError::Span { got } => {
                write!(f, "a time window of {got:?} is not allowed: use one microsecond to 584 years")
            }
            BuildError::Capacity { got, max } => {
                write!(f, "a count window of {got} items is not allowed: use 1 to {max}")
            }
            BuildError::TooFewHashes { got, min } => {
                write!(f, "{got} hash functions are too few for a guarded time window: use {min} or more")
            }
            BuildError::MaxBytes { got, min } => {
                write!(f, "a memory limit of {got} bytes is too small for this filter: it needs at least {min}")
            }
            BuildError::Shards { got, max } => write!(f, "{got} shards are not allowed: use 1 to {max}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Plan(error) => Some(error),
            _ => None,
        }
    }
}

impl From<PlanError> for BuildError {
    fn from(error: PlanError) -> Self {
        BuildError::Plan(error)
    }
}

/// An insertion was rejected: it needs more memory than the filter may use, and the filter is built to
/// [reject](crate::OnFull::Reject) rather than to forget early. The item is not recorded. Time has moved on;
/// nothing else changed.
///
/// Only filters with a [`max_bytes`](crate::TimeBloomBuilder::max_bytes) ever return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// What the filter would take.
    pub needed_bytes: u64,
    /// What it may take.
    pub max_bytes: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the filter is full: the insertion needs {} bytes and the limit is {}",
            self.needed_bytes, self.max_bytes
        )
    }
}

impl std::error::Error for Full {}

/// An insertion of a batch was [rejected](Full), and the batch ended there. The items before it are done as if the batch
/// had been only these; to go on later, start with item number `done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchFull {
    /// How many items were done: the place in the batch of the one that was rejected.
    pub done: usize,
    /// Why it was rejected.
    pub full: Full,
}

impl fmt::Display for BatchFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} items of the batch: {}", self.done, self.full)
    }
}

impl std::error::Error for BatchFull {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.full)
    }
}
