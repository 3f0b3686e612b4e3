//! The slices that receive: what decides how the next generation begins.

use super::{OFTEN_COUNTED_BITS, Slices, expected_fill};
use crate::hash::MAX_FUNCTIONS;

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

/// The slices that receive, youngest first.
#[derive(Debug)]
pub(crate) struct Receivers {
    all: [Receiving; MAX_FUNCTIONS],
    len: usize,
}

impl Receivers {
    pub(crate) fn as_slice(&self) -> &[Receiving] {
        &self.all[..self.len]
    }
}

impl Slices {
    /// The slices that receive: `hashes` of them, or none in an empty row.
    pub(crate) fn receivers(&self) -> Receivers {
        let len = self.hashes().min(self.len());
        let mut all = [Receiving::default(); MAX_FUNCTIONS];
        for (position, place) in all[..len].iter_mut().enumerate() {
            let (panel, index) = self.place(position);
            let (bits, items) = (panel.slice_bits(), self.items_of(position));
            let is_counted = bits <= OFTEN_COUNTED_BITS;
            let ones = || self.ones_in(panel, index, position) as f64;
            let fill = if is_counted { ones() / bits as f64 } else { expected_fill(items, bits) };
            *place = Receiving { bits: bits as f64, items: items as f64, fill, is_counted };
        }
        Receivers { all, len }
    }
}
