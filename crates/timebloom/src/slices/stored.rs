//! Taking a row of slices apart for a snapshot, and putting it together again.

use std::borrow::Cow;

use super::panel::{MAX_WIDTH, Panel, WIDTHS};
use super::slot::Slot;
use super::way::Way;
use super::{MAX_SLICE_BITS, Slices, Tick};
use crate::timestamp::Timestamp;

/// The most words of one slice.
#[allow(clippy::cast_possible_truncation)] // 2^26
pub(crate) const MAX_LINES: u32 = (MAX_SLICE_BITS / 64) as u32;

/// Lines that are copied at once: some 64 KiB.
const COPIED_LINES: usize = 1024;

/// What a row knows besides its slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowRecord {
    /// In `1..=64`.
    pub(crate) hashes: u8,
    pub(crate) generation_items: u32,
    pub(crate) opened: u64,
    pub(crate) next_panel: u16,
    pub(crate) newest: Timestamp,
    pub(crate) stamp: u64,
}

/// What a panel knows besides its words, and cannot be told from the slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PanelRecord {
    pub(crate) id: u16,
    /// In `1..=MAX_LINES`.
    pub(crate) lines: u32,
    /// One of [`PanelRecord::WIDTHS`].
    pub(crate) width: u8,
    /// In `0..8`.
    pub(crate) youngest: u8,
    /// In `0..8`.
    pub(crate) base: u8,
}

impl PanelRecord {
    pub(crate) const WIDTHS: [u8; 6] = WIDTHS;

    /// Words of all lanes.
    pub(crate) fn words(&self) -> u64 {
        u64::from(self.lines) * u64::from(self.width)
    }
}

/// What a slice knows besides its bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceRecord {
    pub(crate) age: u32,
    pub(crate) count: u32,
    pub(crate) fill: u16,
    /// The place of its panel in the row of panels.
    pub(crate) panel: u16,
}

/// The bits that count in each word of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Masks {
    lanes: [u64; MAX_WIDTH],
    width: usize,
}

impl Masks {
    /// One for each lane.
    pub(crate) fn as_slice(&self) -> &[u64] {
        &self.lanes[..self.width]
    }
}

impl Slices {
    pub(crate) fn record(&self) -> RowRecord {
        RowRecord {
            hashes: self.hashes,
            generation_items: self.generation_items,
            opened: self.opened,
            next_panel: self.next_panel,
            newest: self.newest,
            stamp: self.stamp,
        }
    }

    /// Each panel, that of the youngest slice first.
    pub(crate) fn stored_panels(&self) -> impl ExactSizeIterator<Item = PanelRecord> + '_ {
        self.panels.iter().map(Panel::record)
    }

    /// The words of each panel line by line, in one piece or several, and for each word of a line the bits that count.
    pub(crate) fn stored_words(&self) -> impl Iterator<Item = (Cow<'_, [u64]>, Masks)> + '_ {
        self.panels.iter().flat_map(|panel| {
            let clearing = self.clearing.as_deref().filter(|clearing| clearing.panel == panel.id());
            let lines = panel.lines() as usize;
            // what has to be changed is copied: a little at a time
            let step = if clearing.is_some() { COPIED_LINES } else { lines };
            (0..lines).step_by(step).map(move |first| {
                let some = first..lines.min(first + step);
                let words = match clearing {
                    Some(clearing) => Cow::Owned(clearing.cleared(panel, some)),
                    None => Cow::Borrowed(panel.words()),
                };
                (words, panel.masks())
            })
        })
    }

    /// Each slice, oldest first.
    pub(crate) fn stored_slices(&self) -> impl Iterator<Item = SliceRecord> + '_ {
        self.row.iter().map(|slot| {
            let Slot { age, count, fill, panel } = *slot;
            let panel = self.panels.iter().position(|candidate| candidate.id() == panel);
            let panel = panel.and_then(|index| u16::try_from(index).ok()).expect("I7: every slice has a panel");
            SliceRecord { age, count, fill, panel }
        })
    }

    /// A row with places for so many panels and slices: [`restore_panel`](Self::restore_panel) puts in all panels, then
    /// [`restore_slice`](Self::restore_slice) all slices, oldest first. [`restore_words`](Self::restore_words) makes
    /// the row whole. Nothing is checked here: [`Slices::validate_panels`] does that before there are words, and
    /// [`Slices::validate`] once there are.
    pub(crate) fn restore(row: RowRecord, tick: Tick, panels: usize, slices: usize) -> Self {
        let RowRecord { hashes, generation_items, opened, next_panel, newest, stamp } = row;
        Slices {
            row: Vec::with_capacity(slices),
            panels: Vec::with_capacity(panels),
            opened,
            newest,
            stamp,
            generation_items,
            next_panel,
            hashes,
            tick,
            clearing: None,
            leaving: None,
            all_since: Timestamp::MIN,
            way: Way::Any,
        }
    }

    /// Sets the unit of ages, which follows from what is read after the row.
    pub(crate) fn set_tick(&mut self, tick: Tick) {
        self.tick = tick;
    }

    pub(crate) fn restore_panel(&mut self, record: PanelRecord) {
        self.panels.push(Panel::restore(record));
    }

    /// Puts in a slice with so many younger ones.
    pub(crate) fn restore_slice(&mut self, record: SliceRecord, younger: usize) {
        let SliceRecord { age, count, fill, panel } = record;
        let panel = &mut self.panels[usize::from(panel)];
        panel.restore_slice(younger);
        self.row.push(Slot { age, count, fill, panel: panel.id() });
    }

    /// Brings the words of every panel, in order: `read` is given how many there are, and for how many more there must
    /// be room behind them.
    pub(crate) fn restore_words<E>(
        &mut self,
        mut read: impl FnMut(usize, usize) -> Result<Vec<u64>, E>,
    ) -> Result<(), E> {
        for panel in &mut self.panels {
            let spare = panel.spare_words();
            let mut words = read(panel.lines() as usize * panel.width(), spare)?;
            words.resize(words.len() + spare, 0);
            panel.take_words(words);
        }
        self.open_receiving();
        self.note_oldest();
        self.find_way();
        Ok(())
    }

    /// The first word that has a bit set where no slice is, counted over all panels.
    pub(crate) fn first_stray_word(&self) -> Option<u64> {
        let mut before = 0;
        for panel in &self.panels {
            if let Some(word) = panel.first_stray_word() {
                return Some(before + word as u64);
            }
            before += panel.record().words();
        }
        None
    }
}

impl Panel {
    fn record(&self) -> PanelRecord {
        let (id, lines, youngest, base) = (self.id(), self.lines(), self.youngest(), self.base());
        PanelRecord { id, lines, width: self.width, youngest, base }
    }

    /// For each word of a line the bits that count: those of free lanes do not.
    fn masks(&self) -> Masks {
        let mut lanes = [0; MAX_WIDTH];
        (0..self.live()).for_each(|index| lanes[self.lane(index)] = u64::MAX);
        Masks { lanes, width: self.width() }
    }

    /// A panel without words and slices.
    fn restore(record: PanelRecord) -> Self {
        let PanelRecord { id, lines, width, youngest, base } = record;
        let mut panel = Panel::without_words(lines, id, width.into());
        panel.take_seats(youngest, base);
        panel
    }

    /// Counts one more slice, at this position in the row.
    fn restore_slice(&mut self, position: usize) {
        self.ages |= u32::try_from(position).ok().and_then(|position| 1_u64.checked_shl(position)).unwrap_or(0);
        self.live = self.live.saturating_add(1);
    }

    /// The first word of a free lane that has a bit set, counted line by line.
    fn first_stray_word(&self) -> Option<usize> {
        if self.live() == self.width() {
            return None;
        }
        self.words().iter().zip(self.masks().as_slice().iter().cycle()).position(|(word, mask)| word & !mask != 0)
    }

    /// Whether it has its words, and no others.
    pub(super) fn has_all_words(&self) -> bool {
        self.words.len() == self.lines() as usize * self.width() + self.spare_words()
            && self.padding() <= self.spare_words()
    }
}
