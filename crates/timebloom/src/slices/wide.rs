//! Rows of panels of eight lanes only, which is what steady filters consist of.
//!
//! Vector instructions find the bits of four panels at once, a byte for each slice. What they need to know to put these in
//! the order of the row is made here, once a shift.

use super::panel::{MAX_WIDTH, Panel, is_wide_panel};

/// What is known of the first panels of a row of wide ones: of four that are looked at together, and of a fifth.
///
/// The bytes of the slices of four come in two halves: those of lanes 0, 1, 4 and 5 of each panel, and those of lanes 2, 3,
/// 6 and 7.
#[derive(Clone, Debug, Default)]
pub(super) struct Wide {
    /// For both halves: which of its bytes is that of the youngest slice, of the next, and so on. What comes after the
    /// last means nothing.
    pub(super) by_age: [[u8; HALF]; 2],
    /// For both halves: the positions of the slices in the row, a bit each.
    pub(super) ages: [u64; 2],
    /// The positions of all slices of the row, of whichever panel.
    pub(super) live: u64,
    /// For the fifth panel: which of its lanes, in the order of [`BY_SEAT`], is that of the youngest slice, and so on.
    pub(super) fifth: [u8; MAX_WIDTH],
}

/// Panels that are looked at together.
pub(super) const FOUR: usize = 4;

/// Bytes of a half.
const HALF: usize = 16;

impl Wide {
    /// Bytes that this takes. A constant: see [`crate::window::Window::OWN_BYTES`].
    pub(super) const BYTES: usize = 64;

    pub(super) fn of(panels: &[Panel]) -> Self {
        let live = panels.iter().fold(0, |live, panel| live | panel.ages);
        let mut wide = Wide { live, ..Wide::default() };
        let (panels, others) = panels.split_at(FOUR.min(panels.len()));
        if let Some(fifth) = others.first() {
            wide.fifth = BY_SEAT[usize::from(fifth.youngest())];
        }
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

    /// Goes on with one more slice, opened in the panel of the youngest one before it, in this lane.
    pub(super) fn push(&mut self, lane: usize) {
        let half = half_of(lane);
        self.ages = self.ages.map(|ages| ages << 1);
        self.ages[half] |= 1;
        self.live = self.live << 1 | 1;
        self.by_age[half].copy_within(..HALF - 1, 1);
        self.by_age[half][0] = PLACES[lane];
    }

    /// Takes out slices that have gone, the oldest: so many remain.
    pub(super) fn shorten(&mut self, remaining: usize) {
        for ages in self.ages.iter_mut().chain([&mut self.live]) {
            *ages &= !(u64::MAX << remaining); // there were 64 at most before
        }
    }

    /// Whether slices have the same order, whatever stands behind the last.
    pub(super) fn is_same_as(&self, other: &Wide) -> bool {
        let slices = other.ages.map(|ages| ages.count_ones() as usize);
        (self.ages, self.live, self.fifth) == (other.ages, other.live, other.fifth)
            && (0..2).all(|half| self.by_age[half][..slices[half]] == other.by_age[half][..slices[half]])
    }
}

const _: () = assert!(size_of::<Wide>() <= Wide::BYTES);

/// The lanes of a panel, from the youngest slice on, by its seat, where they come in the order of the halves: 0, 1, 4, 5, 2,
/// 3, 6, 7.
pub(super) static BY_SEAT: [[u8; MAX_WIDTH]; MAX_WIDTH] = {
    let places = [0, 1, 4, 5, 2, 3, 6, 7];
    let mut by_seat = [[0; MAX_WIDTH]; MAX_WIDTH];
    let mut index = 0;
    while index < MAX_WIDTH * MAX_WIDTH {
        let (youngest, older) = (index / MAX_WIDTH, index % MAX_WIDTH);
        by_seat[youngest][older] = places[(youngest + older) % MAX_WIDTH];
        index += 1;
    }
    by_seat
};

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
