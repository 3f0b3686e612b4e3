//! Taking a row of slices apart for a snapshot, and putting it together again.

use std::collections::VecDeque;

use super::bits::SliceBits;
use super::{Slice, Slices};
use crate::timestamp::Timestamp;

/// What a row knows besides its slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowRecord {
    pub(crate) hashes: u32,
    pub(crate) generation_items: u32,
    pub(crate) opened: u64,
    pub(crate) newest: Timestamp,
}

/// What a slice knows besides its bits. While it is among the first `hashes` of its row, the open generation is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceRecord {
    /// How many bits there are, set or clear.
    pub(crate) bits: u64,
    pub(crate) newest: Timestamp,
    pub(crate) items: u32,
    pub(crate) last_generation: u32,
}

impl Slices {
    pub(crate) fn record(&self) -> RowRecord {
        RowRecord {
            hashes: self.hashes,
            generation_items: self.generation_items,
            opened: self.opened,
            newest: self.newest,
        }
    }

    /// Each slice, youngest first: its record and the words of its bits.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (SliceRecord, &[u64])> + '_ {
        self.row.iter().map(|slice| {
            let Slice { ref bits, newest, items, last_generation } = *slice;
            (SliceRecord { bits: bits.len(), newest, items, last_generation }, bits.words())
        })
    }

    /// A row with places for `slices` slices, which [`restore_slice`](Self::restore_slice) puts in, youngest first.
    /// Nothing is checked here: [`Slices::validate`] does that.
    pub(crate) fn restore(row: RowRecord, slices: usize) -> Self {
        let RowRecord { hashes, generation_items, opened, newest } = row;
        Slices { row: VecDeque::with_capacity(slices), opened, newest, generation_items, hashes }
    }

    pub(crate) fn restore_slice(&mut self, record: SliceRecord, bits: SliceBits) {
        debug_assert_eq!(record.bits, bits.len(), "the bits of another slice");
        let SliceRecord { newest, items, last_generation, .. } = record;
        self.row.push_back(Slice { bits, newest, items, last_generation });
    }
}
