//! The way that a query takes through the panels of a row. What it needs to know is made once a shift.

use super::Slices;
use super::long::Long;
use super::panel::Panel;
use super::probe::is_fast;
use super::wide::{Wide, is_wide};

/// Half a megabyte: what the second cache of most machines holds.
const FAR_BITS: u64 = 1 << 22;

/// How a query finds the slices that have an item's bit.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// Panel by panel.
    Any,
    /// All panels are wide, and share an item's fields: four at once.
    Wide(Box<Wide>),
    /// All panels are wide, and some so low that they have fields of their own: four at once.
    Low(Box<Wide>),
    /// Panel by panel, beyond the first 64 slices.
    Long(Box<Long>),
}

impl Slices {
    /// Whether the slices are too many for the nearer caches, if they are all like the youngest.
    #[inline]
    pub(super) fn is_far(&self) -> bool {
        self.panels.first().is_some_and(|panel| panel.slice_bits() * self.len() as u64 >= FAR_BITS)
    }

    /// Whether all panels are wide.
    pub(crate) fn is_wide(&self) -> bool {
        is_wide(self.len(), self.panels.iter().map(Panel::shape))
    }

    /// Whether the row has a short way now, on a machine with the instructions for it: a lane that is being cleared has bits
    /// that do not count.
    fn has_short_way(&self) -> bool {
        self.is_wide() && self.clearing.is_none() && is_fast()
    }

    /// Goes on after one slice was opened. In most shifts of a steady row it is in the panel of the one before, and all panels
    /// stand where they stood.
    pub(super) fn find_next_way(&mut self) {
        let is_in_same = matches!(*self.row, [.., before, youngest] if before.panel == youngest.panel);
        if !(is_in_same && self.has_short_way()) {
            return self.find_way();
        }
        match &mut self.way {
            Way::Wide(wide) | Way::Low(wide) => wide.push(self.panels[0].lane(0)),
            Way::Any | Way::Long(_) => self.find_way(),
        }
    }

    /// Finds the way anew.
    pub(super) fn find_way(&mut self) {
        if self.has_short_way() {
            let wide = Box::new(Wide::of(&self.panels));
            self.way = if self.shares_fields() { Way::Wide(wide) } else { Way::Low(wide) };
        } else if Long::is_for(self.len()) {
            self.way = Way::Long(Box::new(Long::of(&self.panels, &self.row)));
        } else {
            self.way = Way::Any;
        }
    }

    /// Whether an item has the same fields in all panels.
    fn shares_fields(&self) -> bool {
        self.panels.iter().all(Panel::shares_fields)
    }

    /// Takes slices that have gone, the oldest, out of the way.
    pub(super) fn shorten_way(&mut self) {
        let remaining = self.len();
        match &mut self.way {
            Way::Any => {}
            Way::Wide(wide) | Way::Low(wide) => wide.shorten(remaining),
            Way::Long(_) if !Long::is_for(remaining) => self.way = Way::Any,
            Way::Long(long) => long.shorten(remaining),
        }
    }

    /// Whether the way leads through all slices.
    pub(super) fn has_right_way(&self) -> bool {
        match &self.way {
            Way::Any => !(self.has_short_way() || Long::is_for(self.len())),
            Way::Wide(wide) | Way::Low(wide) => {
                let shares_fields = matches!(self.way, Way::Wide(_));
                self.has_short_way()
                    && shares_fields == self.shares_fields()
                    && wide.is_same_as(&Wide::of(&self.panels))
            }
            Way::Long(long) => Long::is_for(self.len()) && **long == Long::of(&self.panels, &self.row),
        }
    }

    /// Bytes of the way through a row of so many slices in panels of these shapes. Whether it is there or not: what a
    /// memory limit allows must not depend on the machine.
    pub(super) fn way_bytes(slices: usize, shapes: impl ExactSizeIterator<Item = (usize, usize)>) -> usize {
        let panels = shapes.len();
        if Long::is_for(slices) {
            Long::heap_bytes(panels)
        } else if is_wide(slices, shapes) {
            Wide::BYTES
        } else {
            0
        }
    }

    /// The most bytes of the way through so many slices in so many panels.
    pub(super) fn max_way_bytes(slices: usize, panels: usize) -> usize {
        if Long::is_for(slices) { Long::heap_bytes(panels) } else { Wide::BYTES }
    }
}
