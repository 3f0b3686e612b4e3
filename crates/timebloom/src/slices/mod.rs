//! The slices of a filter, youngest first: bits, and how many items entered when.
//!
//! This is the seam between what a filter remembers and how it lives in memory. Above it, [`crate::window`] and
//! [`crate::CountBloom`] decide when to shift and how large a slice is; below it, [`bits`] stores the bits; beside it,
//! [`query`] looks for runs.
//!
//! Every insertion sets one bit in each of the first `hashes` slices. The insertions between two shifts are a
//! *generation*. A generation's items therefore occupy `hashes` consecutive slices, and stay reported for as long as the
//! oldest of these is there: the slice that stops receiving when the generation closes. That slice remembers how many
//! items the generation had and when the last of them came.

pub(crate) mod bits;
mod query;
pub(crate) mod stored;
mod validate;

use std::collections::VecDeque;

use crate::hash::ItemHash;
use crate::stats::SliceStats;
use crate::timestamp::Timestamp;
use bits::SliceBits;

/// The largest slice: 512 MiB. A filter that needs more takes more slices.
pub(crate) const MAX_SLICE_BITS: u64 = 1 << 32;

/// The most slices in a row. Surges take filters to a few hundred: generations grow with the rate, so their number
/// follows the logarithm of a surge.
pub(crate) const MAX_SLICES: u32 = 1 << 16;

/// One slice. While it is among the first `hashes`, its figures lack the open generation: see [`Slices`].
#[derive(Clone, Debug)]
struct Slice {
    bits: SliceBits,
    /// When the last item entered, once closed generations are counted.
    newest: Timestamp,
    /// Items inserted, repeats included.
    items: u32,
    /// Items of the last generation that entered.
    last_generation: u32,
}

/// A row of slices, youngest first, and the generation that is open in the first `hashes` of them.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    row: VecDeque<Slice>,
    /// Slices opened so far: decides which hash function each slice has.
    opened: u64,
    /// The last insertion.
    newest: Timestamp,
    /// Insertions of the open generation.
    generation_items: u32,
    /// In `1..=MAX_FUNCTIONS`.
    hashes: u32,
}

/// What is known of one slice, the open generation included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SliceFigures {
    pub(crate) bits: u64,
    pub(crate) items: u64,
    pub(crate) newest: Timestamp,
    pub(crate) last_generation: u64,
}

const _: () = assert!(size_of::<Slice>() <= Slices::SLOT_BYTES);

impl Slices {
    /// The most insertions a slice can count.
    pub(crate) const MAX_ITEMS: u64 = u32::MAX as u64;

    pub(crate) fn new(hashes: usize) -> Self {
        let hashes = u32::try_from(hashes).expect("hashes <= 64 by Plan");
        Slices { row: VecDeque::new(), opened: 0, newest: Timestamp::MIN, generation_items: 0, hashes }
    }

    pub(crate) fn hashes(&self) -> usize {
        self.hashes as usize
    }

    pub(crate) fn len(&self) -> usize {
        self.row.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// When the last insertion came; meaningless while there was none.
    pub(crate) fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Insertions since the generation was opened.
    pub(crate) fn generation_items(&self) -> u64 {
        u64::from(self.generation_items)
    }

    /// The figures of the slice at `position`, in `0..len()`.
    pub(crate) fn figures(&self, position: usize) -> SliceFigures {
        let slice = &self.row[position];
        let open = position < self.hashes();
        let open_items = if open { self.generation_items } else { 0 };
        SliceFigures {
            bits: slice.bits.len(),
            items: u64::from(slice.items) + u64::from(open_items),
            newest: if open { self.newest } else { slice.newest },
            last_generation: u64::from(if position + 1 == self.hashes() { open_items } else { slice.last_generation }),
        }
    }

    /// When the last item entered the slice at `position`.
    pub(crate) fn newest_of(&self, position: usize) -> Timestamp {
        if position < self.hashes() { self.newest } else { self.row[position].newest }
    }

    /// Set bits of the slice at `position`. Reads the whole slice.
    pub(crate) fn ones(&self, position: usize) -> u64 {
        self.row[position].bits.ones()
    }

    /// The share of set bits at `position`: counted in small slices, expected from the items in large ones, where the
    /// two differ by a fraction of a percent (and repeats only lower the true one).
    pub(crate) fn fill(&self, position: usize) -> f64 {
        const COUNTED_BITS: u64 = 1 << 16;
        let figures = self.figures(position);
        let bits = figures.bits as f64;
        if figures.bits <= COUNTED_BITS {
            self.ones(position) as f64 / bits
        } else {
            1.0 - libm::exp(-(figures.items as f64) / bits)
        }
    }

    /// How many slices, from the youngest on, saw an insertion at `oldest` or later.
    pub(crate) fn since(&self, oldest: Timestamp) -> usize {
        if self.newest < oldest {
            return 0;
        }
        // mostly all of them, or all but the last few: I1, newest times never rise with age
        let mut live = self.len();
        while live > 0 && self.newest_of(live - 1) < oldest {
            live -= 1;
        }
        live
    }

    /// Items of the generations that are still whole in the first `live` slices.
    pub(crate) fn items_in(&self, live: usize) -> u64 {
        if live < self.hashes() {
            return 0;
        }
        (self.hashes()..live).map(|position| u64::from(self.row[position].last_generation)).sum::<u64>()
            + self.generation_items()
    }

    /// Sets the item's bits in the first `hashes` slices: the row has at least that many.
    #[inline]
    pub(crate) fn insert(&mut self, hash: ItemHash, now: Timestamp) {
        let hashes = self.hashes();
        debug_assert!(self.len() >= hashes, "an insertion needs {hashes} slices, there are {}", self.len());
        let mut function = self.function_of(0);
        for slice in self.row.range_mut(..hashes) {
            slice.bits.set(hash.position(function, slice.bits.len()));
            function = if function == 0 { hashes - 1 } else { function - 1 };
        }
        debug_assert!(now >= self.newest, "time is clamped before it comes here");
        self.newest = now;
        self.generation_items += 1;
    }

    /// Ends the generation: its items are counted in the slices they entered.
    pub(crate) fn close_generation(&mut self) {
        let hashes = self.hashes().min(self.len());
        for slice in self.row.range_mut(..hashes) {
            slice.items = slice.items.saturating_add(self.generation_items);
            slice.newest = self.newest;
            slice.last_generation = 0;
        }
        if hashes > 0 {
            self.row[hashes - 1].last_generation = self.generation_items;
        }
        self.generation_items = 0;
    }

    /// Opens a slice of `bits` clear bits in front of the others. The generation is closed by now.
    pub(crate) fn push(&mut self, bits: u64) {
        debug_assert!((1..=MAX_SLICE_BITS).contains(&bits), "a slice of {bits} bits");
        debug_assert_eq!(self.generation_items, 0, "close the generation before a shift");
        if self.row.len() == self.row.capacity() {
            // no spare places: small filters consist of little else
            self.row.reserve_exact(1);
        }
        let slice = Slice { bits: SliceBits::zeroed(bits), newest: self.newest, items: 0, last_generation: 0 };
        self.row.push_front(slice);
        self.opened += 1;
    }

    /// Drops the oldest slice and tells when the last item had entered it.
    pub(crate) fn pop(&mut self) -> Option<Timestamp> {
        let oldest = self.len().checked_sub(1)?;
        let newest = self.newest_of(oldest);
        self.row.pop_back();
        Some(newest)
    }

    /// Drops everything, memory included.
    pub(crate) fn clear(&mut self) {
        self.row = VecDeque::new();
        self.generation_items = 0;
    }

    /// Gives back the places of retired slices, but for `spare` of them that slices to come will take.
    pub(crate) fn shrink(&mut self, spare: usize) {
        self.row.shrink_to(self.row.len() + spare);
    }

    /// Bits of all slices.
    pub(crate) fn bits(&self) -> u64 {
        self.row.iter().map(|slice| slice.bits.len()).sum()
    }

    /// Heap bytes, as they would be with `new` further slices.
    pub(crate) fn heap_bytes_with(&self, new: &[u64]) -> usize {
        // not the row's capacity: it depends on the past, and a restored or cloned filter must count like its original
        let places = self.row.len() + new.len();
        let held = self.row.iter().map(|slice| slice.bits.len());
        places * Self::SLOT_BYTES + held.chain(new.iter().copied()).map(SliceBits::heap_bytes).sum::<usize>()
    }

    /// Bytes that a slice takes besides its bits. A constant: see [`crate::window::Window::OWN_BYTES`].
    pub(crate) const SLOT_BYTES: usize = 32;

    /// The hash function of the slice at `position`: slices that are `hashes` apart share one.
    #[inline]
    fn function_of(&self, position: usize) -> usize {
        let number = self.opened - 1 - position as u64;
        usize::try_from(number % u64::from(self.hashes)).expect("below hashes")
    }

    #[inline]
    fn has_bit(&self, hash: ItemHash, position: usize) -> bool {
        let bits = &self.row[position].bits;
        bits.get(hash.position(self.function_of(position), bits.len()))
    }

    /// The figures of every slice, youngest first.
    pub(crate) fn stats(&self) -> impl Iterator<Item = SliceStats> + '_ {
        (0..self.len()).map(|position| {
            let SliceFigures { bits, items, newest, .. } = self.figures(position);
            SliceStats {
                number: self.opened - 1 - position as u64,
                bits,
                ones: self.ones(position),
                items,
                newest: (items > 0).then_some(newest),
            }
        })
    }
}
