//! Rows of wide panels only, which is what steady filters consist of.
//!
//! Vector instructions find the bits of four panels at once, a byte for each slice. What they need to know to put these in
//! the order of the row is made here, once a shift.

use super::panel::{MAX_WIDTH, Panel, is_wide_panel};

/// What is known of the first four panels of a row of wide ones.
///
/// The bytes of their slices come in two halves: those of lanes 0, 1, 4 and 5 of each panel, and those of lanes 2, 3, 6 and
/// 7.
#[derive(Clone, Debug, Default)]
pub(super) struct Wide {
    /// For both halves: which of its bytes is that of the youngest slice, of the next, and so on. What comes after the
    /// last means nothing.
    pub(super) by_age: [[u8; HALF]; 2],
    /// For both halves: the positions of the slices in the row, a bit each.
    pub(super) ages: [u64; 2],
    /// The panels, by their ids.
    panels: [u16; FOUR],
}

/// Panels that are looked at together.
pub(super) const FOUR: usize = 4;

/// Bytes of a half.
const HALF: usize = 16;

impl Wide {
    /// Bytes that this takes. A constant: see [`crate::window::Window::OWN_BYTES`].
    pub(super) const BYTES: usize = 56;

    /// Rows of fewer than four panels have nothing to be known.
    pub(super) fn of(panels: &[Panel]) -> Self {
        let mut wide = Wide::default();
        let Some(panels) = panels.first_chunk::<FOUR>() else { return wide };
        wide.panels = panels.each_ref().map(Panel::id);
        // the byte of the slice at each position in the row
        let mut bytes = [0; 64];
        for (panel, first) in panels.iter().zip([0, 4, 8, 12]) {
            let mut left = panel.ages;
            for index in 0..panel.live() {
                let lane = panel.lane(index);
                wide.ages[half_of(lane)] |= left & left.wrapping_neg();
                bytes[left.trailing_zeros() as usize % 64] = first + PLACES[lane];
                left &= left.wrapping_sub(1);
            }
        }
        for (by_age, mut left) in wide.by_age.iter_mut().zip(wide.ages) {
            for byte in by_age.iter_mut().take(left.count_ones() as usize) {
                *byte = bytes[left.trailing_zeros() as usize % 64];
                left &= left - 1;
            }
        }
        wide
    }

    /// Goes on with one more slice, opened in the first panel, if the panels are those that it knows. In most shifts of a
    /// steady row they are.
    pub(super) fn push(&mut self, panels: &[Panel]) -> bool {
        let Some(panels) = panels.first_chunk::<FOUR>() else { return false };
        if self.panels != panels.each_ref().map(Panel::id) {
            return false;
        }
        let lane = panels[0].lane(0);
        let half = half_of(lane);
        self.ages = self.ages.map(|ages| ages << 1);
        self.ages[half] |= 1;
        self.by_age[half].copy_within(..HALF - 1, 1);
        self.by_age[half][0] = PLACES[lane];
        true
    }

    /// Takes out slices that have gone, the oldest: so many remain.
    pub(super) fn shorten(&mut self, remaining: usize) {
        for ages in &mut self.ages {
            *ages &= !(u64::MAX << remaining); // there were 64 at most before
        }
    }

    /// Whether panels are the same and slices have the same order, whatever stands behind the last.
    pub(super) fn is_same_as(&self, other: &Wide) -> bool {
        let slices = other.ages.map(|ages| ages.count_ones() as usize);
        (self.panels, self.ages) == (other.panels, other.ages)
            && (0..2).all(|half| self.by_age[half][..slices[half]] == other.by_age[half][..slices[half]])
    }
}

const _: () = assert!(size_of::<Wide>() <= Wide::BYTES);

/// Which of the halves has the bytes of this lane.
fn half_of(lane: usize) -> usize {
    lane / 2 % 2
}

/// Where in its half the byte of each lane is, among those of its panel.
const PLACES: [u8; MAX_WIDTH] = [0, 1, 0, 1, 2, 3, 2, 3];

/// Whether a row of so many slices in panels of these shapes, lines and width, is one that has a short way.
pub(super) fn is_wide(slices: usize, mut shapes: impl ExactSizeIterator<Item = (usize, usize)>) -> bool {
    let may_be = (1..=64).contains(&slices) && shapes.len() <= 2 * FOUR;
    may_be && shapes.all(|(lines, width)| is_wide_panel(lines, width))
}
