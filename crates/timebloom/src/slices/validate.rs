//! The invariants of a row of slices.

use super::{MAX_SLICE_BITS, MAX_SLICES, SliceFigures, Slices};
use crate::num::MAX_COUNT;

impl Slices {
    /// Checks the invariants of the row; the error says which is broken. Reads all bits.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let hashes = self.hashes();
        if self.is_empty() && self.generation_items > 0 {
            return Err(format!("I2: no slices, but {} items in them", self.generation_items));
        }
        if !self.is_empty() && self.len() < hashes {
            return Err(format!("I2: {} slices, but insertions need {hashes}", self.len()));
        }
        if self.len() > MAX_SLICES as usize {
            return Err(format!("I2: {} slices, more than {MAX_SLICES}", self.len()));
        }
        if !(self.len() as u64..=MAX_COUNT).contains(&self.opened) {
            return Err(format!("I2: {} slices, of {} opened", self.len(), self.opened));
        }
        for position in 0..self.len() {
            let figures = self.figures(position);
            if position > 0 && self.newest_of(position - 1) < figures.newest {
                return Err(format!("I1: slice {position} is newer than the one before it"));
            }
            if !(1..=MAX_SLICE_BITS).contains(&figures.bits) {
                return Err(format!("I4: slice {position} has {} bits", figures.bits));
            }
            if !self.row[position].bits.is_clear_past_end() {
                return Err(format!("I3: slice {position} has bits set past its end"));
            }
            let ones = self.ones(position);
            if ones > figures.items.min(figures.bits) {
                let SliceFigures { bits, items, .. } = figures;
                return Err(format!("I3: slice {position} has {ones} bits set of {bits}, from {items} items"));
            }
            if figures.last_generation > figures.items {
                return Err(format!("I3: slice {position} had more items at its end than in all"));
            }
        }
        Ok(())
    }
}
