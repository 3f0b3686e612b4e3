//! What a filter tells about itself.

use crate::timestamp::Timestamp;

/// The figures of a filter at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Slices, the expired ones that wait to be retired included.
    pub slices: usize,
    /// Bits of all slices.
    pub bits: u64,
    /// Items recorded in the window, repeats counted each time they were inserted. Up to one generation (`1/l` of the
    /// window) of items just past the window may be among them.
    pub items_in_window: u64,
    /// The false positive rate now: the exact run probability of the slices' fills, times the plan's
    /// [`crowding`](crate::Plan::crowding). Fills are counted in slices up to 1 Kibit, and up to 64 Kibit in those that no
    /// longer receive; others follow from the number of items.
    pub false_positive_rate: f64,
    /// The highest false positive rate since creation, or a little more: taken at the end of every generation, where it
    /// peaks, over all slices that were there when it began.
    pub worst_false_positive_rate: f64,
    /// Insertions since creation.
    pub inserted: u64,
    /// Shifts since creation: generations that were closed.
    pub shifts: u64,
    /// Slices retired because their items had expired.
    pub retired: u64,
    /// Times the filter opened a full set of slices at once: when it was empty, or to absorb a jump in the rate.
    pub fresh_starts: u64,
    /// Slices forgotten early because of the memory limit: each shortened the window.
    pub shortened: u64,
    /// Insertions rejected because of the memory limit.
    pub rejected: u64,
    /// All bytes in use, the filter's own struct included.
    pub memory_bytes: usize,
}

impl Stats {
    /// The figures of nothing at all, to add others to.
    pub(crate) const NONE: Stats = Stats {
        slices: 0,
        bits: 0,
        items_in_window: 0,
        false_positive_rate: 0.0,
        worst_false_positive_rate: 0.0,
        inserted: 0,
        shifts: 0,
        retired: 0,
        fresh_starts: 0,
        shortened: 0,
        rejected: 0,
        memory_bytes: 0,
    };

    /// Bits of memory, everything counted, for each item in the window; `None` when there is none.
    pub fn bits_per_item(&self) -> Option<f64> {
        (self.items_in_window > 0).then(|| self.memory_bytes as f64 * 8.0 / self.items_in_window as f64)
    }
}

/// What a filter did since it was created: the counters of [`Stats`] alone, which cost nothing to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Insertions.
    pub inserted: u64,
    /// Generations that were closed.
    pub shifts: u64,
    /// Slices retired because their items had expired.
    pub retired: u64,
    /// Times the filter opened a full set of slices at once.
    pub fresh_starts: u64,
    /// Slices forgotten early because of the memory limit.
    pub shortened: u64,
    /// Insertions rejected because of the memory limit.
    pub rejected: u64,
}

/// The figures of one slice.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SliceStats {
    /// The slice's number: how many were opened before it. The youngest slice has the highest.
    pub number: u64,
    /// Size in bits.
    pub bits: u64,
    /// Bits that are set, counted.
    pub ones: u64,
    /// Items of the generation for which it is the oldest slice, repeats counted each time: they are held for as long as
    /// it is there. 0 in slices that will receive after the open generation.
    pub generation: u64,
    /// When the last item entered it, or up to 2^-26 of the window later; for a count window, the number of that
    /// insertion. `None` while there is none.
    pub newest: Option<Timestamp>,
}

impl SliceStats {
    /// The share of bits that are set.
    pub fn fill(&self) -> f64 {
        self.ones as f64 / self.bits as f64
    }
}

/// The items that came between two shifts, as far as they are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generation {
    /// How many came, repeats counted each time.
    pub items: u64,
    /// When the last of them came. `None` while there is none.
    pub newest: Option<Timestamp>,
}
