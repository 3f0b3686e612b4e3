//! Snapshots: filters as bytes, and back.
//!
//! One format for files, messages and memory, described in FORMAT.md:
//!
//! ```text
//! opening | fields | panel table | slice table | checksum | words of each panel | checksum
//! ```
//!
//! - [`layout`]: the sizes and codes.
//! - [`encode`]: writes, through the checksum of [`stream`].
//! - [`decode`]: reads back. Bytes may come from anywhere: nothing is believed before it is checked, and no memory is
//!   taken that the input does not justify. What goes wrong is in [`error`], with the place where it did.
//! - [`fields`]: the ranges of single fields.
//!
//! Everything that decides what a filter does next is stored, so that a restored filter goes on exactly as the original
//! would. Times are absolute. A filter is streamed either way: besides the filter itself there is one chunk.

mod decode;
mod encode;
mod error;
mod fields;
mod layout;
mod stream;

use std::io::{self, Read, Write};

use crate::count_bloom::CountBloom;
use crate::slices::Slices;
use crate::time_bloom::TimeBloom;
use decode::Common;
pub use error::{DecodeError, SnapshotKind};
use fields::Fields;
use stream::Sink;

/// A filter that can be stored: what differs by kind.
trait Stored: Sized {
    const KIND: SnapshotKind;

    fn slices(&self) -> &Slices;

    fn slices_mut(&mut self) -> &mut Slices;

    /// Writes the fields between the opening and the panel table.
    fn write_own(&self, sink: &mut Sink<impl Write>) -> io::Result<()>;

    /// The filter without its slices, from the same fields, each in its range.
    fn read_own(common: Common, fields: &mut Fields) -> Result<Self, DecodeError>;

    /// Whether all fields fit together.
    fn check(&self) -> Result<(), String>;
}

impl Stored for CountBloom {
    const KIND: SnapshotKind = SnapshotKind::Count;

    fn slices(&self) -> &Slices {
        &self.slices
    }

    fn slices_mut(&mut self) -> &mut Slices {
        &mut self.slices
    }

    fn write_own(&self, sink: &mut Sink<impl Write>) -> io::Result<()> {
        encode::write_count(self, sink)
    }

    fn read_own(common: Common, fields: &mut Fields) -> Result<Self, DecodeError> {
        decode::read_count(common, fields)
    }

    fn check(&self) -> Result<(), String> {
        self.validate()
    }
}

impl Stored for TimeBloom {
    const KIND: SnapshotKind = SnapshotKind::Time;

    fn slices(&self) -> &Slices {
        &self.window.slices
    }

    fn slices_mut(&mut self) -> &mut Slices {
        &mut self.window.slices
    }

    fn write_own(&self, sink: &mut Sink<impl Write>) -> io::Result<()> {
        encode::write_time(self, sink)
    }

    fn read_own(common: Common, fields: &mut Fields) -> Result<Self, DecodeError> {
        decode::read_time(common, fields)
    }

    fn check(&self) -> Result<(), String> {
        self.validate()
    }
}

fn to_bytes<F: Stored>(filter: &F) -> Vec<u8> {
    let size = encode::size(filter);
    let mut bytes = Vec::with_capacity(usize::try_from(size).expect("a filter in memory has a size in memory"));
    encode::write(filter, &mut bytes).expect("a vector takes all bytes");
    debug_assert_eq!(bytes.len() as u64, size, "the size is known ahead");
    bytes
}

fn from_bytes<F: Stored>(bytes: &[u8]) -> Result<F, DecodeError> {
    let length = bytes.len() as u64;
    let (filter, offset) = decode::read(bytes, length)?;
    if offset < length {
        return Err(DecodeError::TrailingBytes { offset, extra: length - offset });
    }
    Ok(filter)
}

/// Snapshots.
impl TimeBloom {
    /// The filter as bytes: everything, so that the filter restored from them goes on exactly as this one would.
    ///
    /// The times inside are those that the filter was given. A filter restored after a while, here or on another machine
    /// with the same clock, is a filter that nobody has used for that while: what has expired in between is gone.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp};
    ///
    /// let at = |minute: u64| Timestamp::from_secs(60 * minute);
    /// let mut filter = TimeBloom::builder(Duration::from_secs(3_600)).seed(1).build()?;
    /// filter.insert_at("early", at(100))?;
    /// filter.insert_at("late", at(130))?;
    /// let bytes = filter.to_bytes();
    ///
    /// let restored = TimeBloom::from_bytes(&bytes)?;
    /// assert!(restored.contains_at("early", at(160)));
    /// // an hour and a half later, the one has expired and the other has not
    /// assert!(!restored.contains_at("early", at(190)));
    /// assert!(restored.contains_at("late", at(190)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// Writes the bytes of [`to_bytes`](Self::to_bytes), a few kilobytes at a time: no second copy of the filter is made.
    ///
    /// To replace a file safely, write to a new one beside it, sync that, and rename it.
    pub fn write_to(&self, output: impl Write) -> io::Result<()> {
        encode::write(self, output)
    }

    /// How many bytes [`to_bytes`](Self::to_bytes) and [`write_to`](Self::write_to) give.
    pub fn snapshot_bytes(&self) -> u64 {
        encode::size(self)
    }

    /// The filter that was written as exactly these bytes.
    ///
    /// The bytes need not be trusted. Whatever they are, the result is a filter in a valid state, or an error that says
    /// what is wrong and where; and no more memory is used than a few times their length.
    /// How large the filter grows *later*, though, is for the snapshot to say, as it is for a builder: it has the rate that
    /// the next slices are sized for. From unknown sources, take only those with a [`max_bytes`](Self::max_bytes) that
    /// you can afford.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        from_bytes(bytes)
    }

    /// Reads a filter, as [`from_bytes`](Self::from_bytes) does: exactly one snapshot. What follows is left in the input.
    ///
    /// Reads are small; give a file a [`BufReader`](io::BufReader).
    pub fn read_from(input: impl Read) -> Result<Self, DecodeError> {
        Ok(decode::read(input, 0)?.0)
    }
}

/// Snapshots.
impl CountBloom {
    /// The filter as bytes: everything, so that the filter restored from them goes on exactly as this one would.
    ///
    /// ```
    /// use timebloom::{CountBloom, DecodeError};
    ///
    /// let mut filter = CountBloom::builder(1_000).build()?;
    /// filter.insert("first");
    /// let mut bytes = filter.to_bytes();
    /// assert!(CountBloom::from_bytes(&bytes)?.contains("first"));
    ///
    /// bytes[100] ^= 1;
    /// assert!(matches!(CountBloom::from_bytes(&bytes), Err(DecodeError::Checksum { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// Writes the bytes of [`to_bytes`](Self::to_bytes), a few kilobytes at a time: no second copy of the filter is made.
    ///
    /// To replace a file safely, write to a new one beside it, sync that, and rename it.
    pub fn write_to(&self, output: impl Write) -> io::Result<()> {
        encode::write(self, output)
    }

    /// How many bytes [`to_bytes`](Self::to_bytes) and [`write_to`](Self::write_to) give.
    pub fn snapshot_bytes(&self) -> u64 {
        encode::size(self)
    }

    /// The filter that was written as exactly these bytes.
    ///
    /// The bytes need not be trusted. Whatever they are, the result is a filter in a valid state, or an error that says
    /// what is wrong and where; and no more memory is used than a few times their length.
    /// How large the filter grows *later*, though, is for the snapshot to say, as it is for a builder: from unknown
    /// sources, look at [`capacity`](Self::capacity) first.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        from_bytes(bytes)
    }

    /// Reads a filter, as [`from_bytes`](Self::from_bytes) does: exactly one snapshot. What follows is left in the input.
    ///
    /// Reads are small; give a file a [`BufReader`](io::BufReader).
    pub fn read_from(input: impl Read) -> Result<Self, DecodeError> {
        Ok(decode::read(input, 0)?.0)
    }
}
