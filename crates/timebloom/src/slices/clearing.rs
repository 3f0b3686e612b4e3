//! Clearing the lane of a large slice little by little, so that no insertion waits for all of it.
//!
//! When a slice takes the lane of one that has gone, the old bits are still there. Below a cursor they have been cleared.
//! From the cursor on, a line is clear if an insertion has come to it: the first one clears its word before it sets a bit,
//! and marks the line. Whoever reads an unmarked line there sees a slice without bits.

use std::ops::Range;

use super::Slices;
use super::panel::Panel;
use crate::hash::ItemHash;

/// Lines that are cleared at once, and the insertions between two such steps. A slice has some four items a line, so it
/// is clear long before its generation ends.
const LINES: usize = 512;
const INSERTIONS: u32 = 64;

/// A slice whose lane is being cleared.
#[derive(Clone, Debug)]
pub(super) struct Clearing {
    /// The panel, by id.
    pub(super) panel: u16,
    lane: usize,
    /// The position of the slice.
    pub(super) position: usize,
    /// The first line that has not been cleared.
    cursor: usize,
    /// One bit for each line: whether it was cleared before its turn.
    marked: Box<[u64]>,
}

impl Clearing {
    /// For the youngest slice of a panel, which is the youngest of all.
    pub(super) fn youngest_of(panel: &Panel) -> Self {
        let marked = vec![0; (panel.lines() as usize).div_ceil(64)].into_boxed_slice();
        Clearing { panel: panel.id(), lane: panel.lane(0), position: 0, cursor: 0, marked }
    }

    /// Bytes that this takes for slices of so many lines.
    pub(super) fn heap_bytes(lines: usize) -> usize {
        size_of::<Clearing>() + lines.div_ceil(64) * size_of::<u64>()
    }

    #[inline]
    pub(super) fn is_clear(&self, line: usize) -> bool {
        line < self.cursor || self.marked[line / 64] >> (line % 64) & 1 == 1
    }

    /// Clears the word of a line unless it is clear.
    fn clear(&mut self, panel: &mut Panel, line: usize) {
        if !self.is_clear(line) {
            self.marked[line / 64] |= 1 << (line % 64);
            let word = line * panel.width() + self.lane;
            panel.words_mut()[word] = 0;
        }
    }

    /// Clears so many lines more, and tells whether that was all.
    fn advance(&mut self, panel: &mut Panel, lines: usize) -> bool {
        let all = panel.lines() as usize;
        let end = all.min(self.cursor.saturating_add(lines));
        let width = panel.width();
        for line in self.cursor..end {
            if self.marked[line / 64] >> (line % 64) & 1 == 0 {
                panel.words_mut()[line * width + self.lane] = 0;
            }
        }
        self.cursor = end;
        end == all
    }

    /// The words of some lines of its panel as they should be read.
    pub(super) fn cleared(&self, panel: &Panel, lines: Range<usize>) -> Vec<u64> {
        let mut words = panel.words()[lines.start * panel.width()..lines.end * panel.width()].to_vec();
        for (line, words) in lines.zip(words.chunks_exact_mut(panel.width())) {
            if !self.is_clear(line) {
                words[self.lane] = 0;
            }
        }
        words
    }
}

impl Slices {
    /// Makes the place of an item ready for its bit, and clears some lines of others. Before every insertion.
    #[cold]
    pub(super) fn clear_for(&mut self, hash: ItemHash) {
        let Some(mut clearing) = self.clearing.take() else { return };
        let panel = self.panels.iter_mut().find(|panel| panel.id() == clearing.panel).expect("I7: it has a panel");
        clearing.clear(panel, panel.spot(hash).line);
        let is_turn = self.generation_items.is_multiple_of(INSERTIONS);
        if is_turn && clearing.advance(panel, LINES) {
            self.find_way();
        } else {
            self.clearing = Some(clearing);
        }
    }

    /// Clears all that is left.
    pub(super) fn finish_clearing(&mut self) {
        let Some(mut clearing) = self.clearing.take() else { return };
        let panel = self.panels.iter_mut().find(|panel| panel.id() == clearing.panel).expect("I7: it has a panel");
        clearing.advance(panel, usize::MAX);
    }

    /// The position of the slice that is being cleared, if the item's line in it still has the bits of the old one.
    #[cold]
    pub(super) fn stale_position(&self, hash: ItemHash) -> Option<usize> {
        let clearing = self.clearing.as_ref()?;
        let line = self.panel(clearing.panel).spot(hash).line;
        (!clearing.is_clear(line)).then_some(clearing.position)
    }
}
