//! Blocks: many records at once, on their way from the reader to the filter and back to be filled again.
//!
//! All vectors keep their memory from one use to the next, so that nothing is allocated for a record.

use std::ops::Range;

use timebloom::{ItemHash, Timestamp};

/// Bytes that are asked for in one read. Larger ones go through fewer hands, smaller ones stay in the cache.
pub(crate) const BLOCK_BYTES: usize = 128 * 1024;

/// Above this, a block that once held a very long record gives its memory back.
const KEPT_BYTES: usize = 4 * BLOCK_BYTES;

/// What is to be done with a record, as far as the record itself can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It has a key: the filter decides.
    Keyed,
    /// It has no key, and is kept.
    Unkeyed,
    /// It has no key, and is dropped.
    Dropped,
    /// It names the columns of those that follow.
    Header,
    /// The same, after another input has named them already.
    RepeatedHeader,
}

/// One record: `start..end` of the block, without its terminator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
}

#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Records with their terminators, from the start; what follows the last one means nothing.
    pub(crate) data: Vec<u8>,
    pub(crate) records: Vec<Record>,
    /// Whether the last record came without a terminator, at the end of an input.
    pub(crate) unterminated: bool,
    /// Of each keyed record, its hash; or nothing at all when the keys themselves are wanted.
    pub(crate) hashes: Vec<ItemHash>,
    /// Of each keyed record, its key, if the keys themselves are wanted.
    pub(crate) keys: Keys,
    /// Of each keyed record, its time, if records have times.
    pub(crate) times: Vec<Timestamp>,
    /// Which input it is from, and the number of its first record there, counted from 1.
    pub(crate) input: usize,
    pub(crate) first_line: u64,
}

impl Block {
    pub(crate) fn clear(&mut self) {
        if self.data.len() > KEPT_BYTES {
            self.data = Vec::new();
        }
        if self.keys.bytes.capacity() > KEPT_BYTES {
            self.keys.bytes = Vec::new();
        }
        self.records.clear();
        self.unterminated = false;
        self.hashes.clear();
        self.keys.clear();
        self.times.clear();
    }

    /// How many keyed records there are.
    pub(crate) fn keyed(&self) -> usize {
        self.hashes.len().max(self.keys.len())
    }

    pub(crate) fn content(&self, record: Record) -> &[u8] {
        &self.data[record.start..record.end]
    }
}

/// Keys, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    pub(crate) fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    pub(crate) fn range(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        range.map(|index| self.get(index))
    }
}
