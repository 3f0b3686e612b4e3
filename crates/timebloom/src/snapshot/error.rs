//! Why bytes are not a filter.

use std::{fmt, io};

/// What kind of filter a snapshot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SnapshotKind {
    /// A [`CountBloom`](crate::CountBloom).
    Count,
    /// A [`TimeBloom`](crate::TimeBloom).
    Time,
}

impl fmt::Display for SnapshotKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SnapshotKind::Count => "count window",
            SnapshotKind::Time => "time window",
        })
    }
}

/// A filter cannot be restored from these bytes. Offsets count from the first byte of the snapshot.
#[derive(Debug)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes do not start like a snapshot.
    NotASnapshot,
    /// The snapshot was written by a newer version of this library, or by none.
    UnsupportedVersion {
        /// The version of the snapshot.
        got: u16,
        /// The newest version that can be read; the oldest is 1.
        max: u16,
    },
    /// The snapshot holds another kind of filter than the one asked for.
    WrongKind {
        /// What it holds.
        got: SnapshotKind,
        /// What was asked for.
        expected: SnapshotKind,
    },
    /// The bytes end before the snapshot does.
    Truncated {
        /// Where they end.
        offset: u64,
    },
    /// The bytes are not those that were written.
    Checksum {
        /// Where the checksum stands: it covers what comes before.
        offset: u64,
        /// The checksum that is there.
        stored: u32,
        /// The checksum of what is there.
        computed: u32,
    },
    /// A number is not one that a filter can have.
    OutOfRange {
        /// What the number says.
        field: &'static str,
        /// The number.
        got: u64,
        /// The least that is allowed.
        min: u64,
        /// The most that is allowed.
        max: u64,
        /// Where it stands.
        offset: u64,
    },
    /// A field is not what a filter can have, for another reason than its range as an integer.
    Invalid {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        what: String,
        /// Where it stands.
        offset: u64,
    },
    /// Every field could be right, but not together with the others.
    Inconsistent {
        /// What is wrong: the invariant that is broken, by its number, and how.
        what: String,
    },
    /// There is more than one snapshot's worth of bytes.
    TrailingBytes {
        /// Where the snapshot ends.
        offset: u64,
        /// How many bytes follow.
        extra: u64,
    },
    /// Reading failed, or there is not enough memory.
    Io(io::Error),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::NotASnapshot => f.write_str("this is not a timebloom snapshot: it does not start like one"),
            DecodeError::UnsupportedVersion { got, max } => {
                write!(f, "the snapshot has format version {got}; this library reads versions 1 to {max}")
            }
            DecodeError::WrongKind { got, expected } => {
                write!(f, "the snapshot holds a {got}, not a {expected}")
            }
            DecodeError::Truncated { offset } => {
                write!(f, "the snapshot is cut off: it goes on after its {offset} bytes")
            }
            DecodeError::Checksum { offset, stored, computed } => write!(
                f,
                "the snapshot is damaged before byte {offset}: its checksum there is {stored:08x}, but the bytes give \
                 {computed:08x}"
            ),
            DecodeError::OutOfRange { field, got, min, max, offset } => {
                write!(f, "{field} at byte {offset} is {got}, not in {min}..={max}")
            }
            DecodeError::Invalid { field, what, offset } => write!(f, "{field} at byte {offset}: {what}"),
            DecodeError::Inconsistent { what } => write!(f, "the snapshot contradicts itself: {what}"),
            DecodeError::TrailingBytes { offset, extra } => {
                write!(f, "the snapshot ends at byte {offset}, but {extra} more follow")
            }
            DecodeError::Io(error) => write!(f, "the snapshot could not be read: {error}"),
        }
    }
}

impl std::error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DecodeError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for DecodeError {
    fn from(error: io::Error) -> Self {
        DecodeError::Io(error)
    }
}
