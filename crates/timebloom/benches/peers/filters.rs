//! One face for everything under test.

use std::ops::Range;

use crate::others::{ExpiringMap, FastBloom, Foldhash, Rapidhash, Rotating, SplitBlocks, Unforgetting};
use crate::ours::{CountWindow, TimeWindow};
use crate::workload::{Key, Stream};

/// How many items a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Single,
    Batch16,
}

impl Mode {
    pub const BATCH: usize = 16;

    pub fn name(self) -> &'static str {
        match self {
            Mode::Single => "single",
            Mode::Batch16 => "batch16",
        }
    }
}

/// A filter under test. Calls take whole chunks, so that what is timed inside them is the filter and not this face.
pub trait Filter {
    /// Called before `insert`, and not timed: makes a filter that cannot forget empty before it gets too full.
    fn prepare(&mut self, _items: u64) {}

    /// Inserts the items from `first` on, each at its time; in a batch, all at the time of the last.
    fn insert(&mut self, mode: Mode, keys: &[Key], first: u64);

    /// How many of the keys are reported, at the time of the item `now`.
    fn count_seen(&mut self, mode: Mode, keys: &[Key], now: u64) -> usize;

    /// Items that it holds for certain when `next` is the next to be inserted.
    fn held(&self, next: u64) -> Range<u64>;

    /// Whether the false positive rate is at its highest, because inserting `next` will begin a new generation.
    fn is_at_peak(&self, next: u64) -> bool;

    /// All bytes, the struct included.
    fn bytes(&self) -> u64;
}

/// The filters there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    TimeBloom,
    CountBloom,
    /// The one that all are compared with: its values can be stored, as ours can.
    FastBloom,
    FastBloomFoldhash,
    SplitBlocks,
    Rotating,
    HashMap,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::TimeBloom,
        Kind::CountBloom,
        Kind::FastBloom,
        Kind::FastBloomFoldhash,
        Kind::SplitBlocks,
        Kind::Rotating,
        Kind::HashMap,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::TimeBloom => "timebloom-time",
            Kind::CountBloom => "timebloom-count",
            Kind::FastBloom => "fastbloom",
            Kind::FastBloomFoldhash => "fastbloom-foldhash",
            Kind::SplitBlocks => "sbbf",
            Kind::Rotating => "fastbloom-rotating",
            Kind::HashMap => "hashmap",
        }
    }

    pub fn is_ours(self) -> bool {
        matches!(self, Kind::TimeBloom | Kind::CountBloom)
    }

    /// The ways it can be called.
    pub fn modes(self) -> &'static [Mode] {
        if self.is_ours() { &[Mode::Single, Mode::Batch16] } else { &[Mode::Single] }
    }

    /// Insertions after which it is as it will always be.
    pub fn items_to_fill(self, window: u64) -> u64 {
        match self {
            // these are full by then, and are not made fuller
            Kind::FastBloom | Kind::FastBloomFoldhash | Kind::SplitBlocks => window,
            // one in, one out
            Kind::HashMap => window + window / 4,
            Kind::CountBloom | Kind::Rotating => 2 * window + window / 8,
            // the panels of its youth go in the second window, and large ones that took their place in the two after that
            Kind::TimeBloom => 5 * window,
        }
    }

    /// The filter, empty; or why it is left out. One of ours has this pair of hash functions and aging slices, if one is
    /// given.
    pub fn build(self, eps: f64, pair: Option<(u32, u32)>, stream: Stream) -> Result<Box<dyn Filter>, String> {
        Ok(match self {
            Kind::TimeBloom => Box::new(TimeWindow::new(eps, pair, stream)?),
            Kind::CountBloom => Box::new(CountWindow::new(eps, pair, stream)?),
            Kind::FastBloom => Box::new(Unforgetting::<FastBloom<Rapidhash>>::new(eps, stream)),
            Kind::FastBloomFoldhash => Box::new(Unforgetting::<FastBloom<Foldhash>>::new(eps, stream)),
            Kind::SplitBlocks => Box::new(Unforgetting::<SplitBlocks>::new(eps, stream)),
            Kind::Rotating => Box::new(Rotating::new(eps, stream)),
            Kind::HashMap => Box::new(ExpiringMap::new(stream)?),
        })
    }
}
