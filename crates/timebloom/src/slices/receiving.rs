//! The slices that receive: what decides how the next generation begins.

use super::{OFTEN_COUNTED_BITS, Slices, expected_fill};

/// A slice that receives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Receiving {
    pub(crate) bits: f64,
    /// Items inserted so far, repeats included.
    pub(crate) items: f64,
    /// The share of set bits: counted in the smallest slices, and expected from the items in others.
    pub(crate) fill: f64,
    /// Whether it was counted.
    pub(crate) is_counted: bool,
}

impl Slices {
    /// The slices that receive, youngest first: `hashes` of them, or none in an empty row.
    pub(crate) fn receivers(&self) -> Vec<Receiving> {
        let mut receivers = vec![Receiving::default(); self.hashes().min(self.len())];
        // panels stand in order of their youngest slice
        for panel in self.panels.iter().take_while(|panel| panel.open() != 0) {
            let bits = panel.slice_bits();
            let is_counted = bits <= OFTEN_COUNTED_BITS;
            let ones = if is_counted { panel.ones_of_lanes() } else { Default::default() };
            let mut ages = panel.ages;
            for index in 0..panel.open().count_ones() as usize {
                let position = ages.trailing_zeros() as usize;
                ages &= ages - 1;
                let items = self.items_of(position);
                let fill = if !is_counted {
                    expected_fill(items, bits)
                } else if self.clearing.is_some() {
                    self.ones_in(panel, index, position) as f64 / bits as f64
                } else {
                    f64::from(ones[panel.lane(index)]) / bits as f64
                };
                receivers[position] = Receiving { bits: bits as f64, items: items as f64, fill, is_counted };
            }
        }
        receivers
    }
}
