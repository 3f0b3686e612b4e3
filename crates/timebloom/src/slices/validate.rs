//! The invariants of a row of slices.

use super::panel::{MAX_WIDTH, Panel};
use super::stored::{MAX_LINES, PanelRecord};
use super::{COUNTED_BITS, MAX_SLICE_BITS, MAX_SLICES, Slices};
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
        if self.stamp > self.tick.at_or_after(self.newest) {
            return Err(format!("I1: a generation closed at tick {}, after the last insertion", self.stamp));
        }
        let aging = &self.row[..self.len().saturating_sub(hashes)];
        if let Some(older) = aging.windows(2).position(|pair| pair[0].age < pair[1].age) {
            let position = self.len() - 2 - older;
            return Err(format!("I1: slice {position} is older than the one behind it"));
        }
        let homes = self.validate_panels()?;
        if let Some(panel) = self.panels.iter().find(|panel| !panel.has_all_words()) {
            return Err(format!("I7: panel {} has not as many words as it needs", panel.id()));
        }
        if !self.has_right_way() {
            return Err("I7: the short way through all slices leads elsewhere".to_owned());
        }
        if let Some(panel) = self.panels.iter().find(|panel| panel.is_too_wide()) {
            let (id, live, width) = (panel.id(), panel.live(), panel.width());
            return Err(format!("I7: panel {id} has {live} slices in {width} lanes: it should be narrower"));
        }
        let mut passed = vec![0; self.panels.len()];
        for (position, home) in homes.into_iter().enumerate() {
            let panel = &self.panels[home];
            if position > 0 && self.newest_of(position - 1) < self.newest_of_at_least(position) {
                return Err(format!("I1: slice {position} is newer than the one before it"));
            }
            let is_clearing = self.clearing.as_ref().is_some_and(|clearing| clearing.position == position);
            let ones = if is_clearing { self.ones(position) } else { panel.ones(passed[home]) };
            self.validate_bits(position, panel.slice_bits(), ones)?;
            passed[home] += 1;
        }
        Ok(())
    }

    /// Checks I3 for a slice of so many bits, of which so many are set.
    fn validate_bits(&self, position: usize, bits: u64, ones: u64) -> Result<(), String> {
        if position < self.hashes() {
            let items = self.items_of(position);
            if ones > items.min(bits) {
                return Err(format!("I3: slice {position} has {ones} bits set of {bits}, from {items} items"));
            }
            return Ok(());
        }
        let noted = *self.slot(position);
        let is_right = if bits <= COUNTED_BITS {
            let mut counted = noted;
            counted.set_fill(ones as f64 / bits as f64);
            noted.fill == counted.fill
        } else {
            // expected from its items: those tell how many bits can be set, whatever items they were
            ones as f64 <= -libm::log1p(-noted.fill()) * bits as f64
        };
        if is_right { Ok(()) } else { Err(format!("I3: slice {position} has {ones} bits set of {bits}, not as noted")) }
    }

    /// Checks I4 and I7, for which no words are needed; tells the place of each slice's panel.
    pub(crate) fn validate_panels(&self) -> Result<Vec<usize>, String> {
        for panel in &self.panels {
            let (id, lines, width) = (panel.id(), panel.lines(), panel.width());
            if !(1..=MAX_LINES).contains(&lines) {
                return Err(format!("I4: slices of {lines} words in panel {id}, the most is {MAX_SLICE_BITS} bits"));
            }
            let (live, youngest, base) = (panel.live(), panel.youngest(), panel.base());
            let is_legal = PanelRecord::WIDTHS.contains(&panel.width) && base < 8 && live <= width;
            // in a row, or, if there is a lane for each seat, round in a ring
            let fits = if width == MAX_WIDTH { base == 0 } else { live == 0 || panel.lane(0) + live <= width };
            if !(is_legal && fits) {
                return Err(format!(
                    "I7: panel {id} has {width} lanes from seat {base} on, and {live} slices from seat {youngest} on"
                ));
            }
        }
        let mut ids: Vec<(u16, usize)> = self.panels.iter().map(Panel::id).zip(0..).collect();
        ids.sort_unstable();
        if let Some(same) = ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("I7: two panels have the id {}", same[0].0));
        }
        // panels stand in the order in which the row comes to them first
        let mut expected: Vec<(usize, u64)> = Vec::with_capacity(self.panels.len());
        let mut homes = Vec::with_capacity(self.len());
        for (position, slot) in self.row.iter().rev().enumerate() {
            let found = ids.binary_search_by_key(&slot.panel, |&(id, _)| id);
            let home = found.map(|place| ids[place].1);
            let home = home.map_err(|_| format!("I7: slice {position} has no panel {}", slot.panel))?;
            if home > expected.len() {
                return Err(format!("I7: panel {} comes before older ones", slot.panel));
            }
            if home == expected.len() {
                expected.push((0, 0));
            }
            let (live, ages) = &mut expected[home];
            *live += 1;
            *ages |= if position < 64 { 1 << position } else { 0 };
            homes.push(home);
        }
        if expected.len() < self.panels.len() {
            return Err(format!("I7: {} panels, slices in {}", self.panels.len(), expected.len()));
        }
        for (panel, (live, ages)) in self.panels.iter().zip(expected) {
            if (panel.live(), panel.ages) != (live, ages) {
                let (id, got) = (panel.id(), panel.live());
                return Err(format!(
                    "I7: panel {id} counts {got} slices at {:#x}, not {live} at {ages:#x}",
                    panel.ages
                ));
            }
        }
        Ok(homes)
    }
}
