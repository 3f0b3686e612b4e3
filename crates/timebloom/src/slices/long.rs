//! Rows of more than 64 slices: those of a stream whose rate has just jumped.
//!
//! Each panel knows which of its slices are among the first 64. Where the others are is kept here, in blocks of 64 as well,
//! and brought up to date once a shift.

use super::panel::Panel;
use super::slot::Slot;

/// Slices of a block: the bits of a word.
const BLOCK: usize = 64;

/// The most blocks that are looked through at once. Surges that take more than some 190 slices are not known.
const MAX_BLOCKS: usize = 4;

/// Which slices have an item's bit, a bit each, youngest lowest.
pub(super) type Found = [u64; MAX_BLOCKS];

/// Where the slices beyond the first 64 are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Long {
    /// For each panel: the positions of its slices in the second block, in the third, and so on.
    ages: Box<[[u64; MAX_BLOCKS - 1]]>,
}

impl Long {
    /// Whether a row of so many slices is one of these.
    pub(super) fn is_for(slices: usize) -> bool {
        (BLOCK + 1..=MAX_BLOCKS * BLOCK).contains(&slices)
    }

    /// Bytes that this takes for so many panels.
    pub(super) fn heap_bytes(panels: usize) -> usize {
        size_of::<Long>() + panels * size_of::<[u64; MAX_BLOCKS - 1]>()
    }

    /// For a row of these panels and slices, oldest first.
    pub(super) fn of(panels: &[Panel], row: &[Slot]) -> Self {
        let mut ages = vec![[0; MAX_BLOCKS - 1]; panels.len()].into_boxed_slice();
        for (position, slot) in row.iter().rev().enumerate().skip(BLOCK) {
            let home = panels.iter().position(|panel| panel.id() == slot.panel).expect("I7: every slice has a panel");
            ages[home][position / BLOCK - 1] |= 1 << (position % BLOCK);
        }
        Long { ages }
    }

    /// Takes out slices that have gone, the oldest: so many remain.
    pub(super) fn shorten(&mut self, remaining: usize) {
        for (block, ages) in self.ages.iter_mut().flat_map(|ages| ages.iter_mut().enumerate()) {
            *ages &= low_bits(remaining.saturating_sub((block + 1) * BLOCK));
        }
    }

    /// The positions of the slices of each panel, in all blocks.
    pub(super) fn ages<'a>(&'a self, panels: &'a [Panel]) -> impl Iterator<Item = (&'a Panel, [u64; MAX_BLOCKS])> {
        panels
            .iter()
            .zip(&self.ages)
            .map(|(panel, &[second, third, fourth])| (panel, [panel.ages, second, third, fourth]))
    }
}

/// The lowest so many bits, up to 64.
fn low_bits(count: usize) -> u64 {
    if count >= BLOCK { u64::MAX } else { (1 << count) - 1 }
}

/// Leaves only the bits of slices at these positions.
pub(super) fn within(found: &mut Found, range: std::ops::Range<usize>) {
    for (block, found) in found.iter_mut().enumerate() {
        let [start, end] = [range.start, range.end].map(|at| low_bits(at.saturating_sub(block * BLOCK)));
        *found &= end & !start;
    }
}

/// Whether so many consecutive slices, up to 64, have the bit.
pub(super) fn has_run(found: &Found, length: u32) -> bool {
    // a run is in two blocks at most
    found.windows(2).any(|pair| {
        let (mut runs, mut have) = (u128::from(pair[0]) | u128::from(pair[1]) << BLOCK, 1);
        while have < length {
            let step = have.min(length - have);
            runs &= runs >> step;
            have += step;
        }
        runs != 0
    })
}
