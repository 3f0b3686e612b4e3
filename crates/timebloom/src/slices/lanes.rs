//! Which panel a new slice goes to, and how wide panels are.
//!
//! A slice goes to a free lane of a panel of its size; the oldest slice's lane becomes free at every shift of a steady
//! filter, so that all its panels stay eight lanes wide and full. Otherwise a panel of its size is made wider, or a new one
//! of one lane is opened. A panel is made narrower when some of its slices have gone and no others have come.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::clearing::Clearing;
use super::panel::{MAX_WIDTH, Panel, WIDE_LINES, width_for};
use super::slot::Slot;
use super::stored::MAX_LINES;
use super::way::Way;
use super::{MAX_SLICE_BITS, Slices};

/// Which panels are copied to change their width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copying {
    /// All: memory matters most.
    Any,
    /// All but large ones, for which an insertion would have to wait: these get their width when they are opened.
    Small,
}

/// Slices of this many lines are large: about those of four million items in the window.
static LARGE_LINES: AtomicU32 = AtomicU32::new(1 << 15);

/// Slices of fewer lines than this are small: those of up to 1,500 items in the window ...
const FEW_LINES: u32 = 16;
/// ... and so are those of fewer bits.
pub(crate) const FEW_BITS: u64 = 64 * FEW_LINES as u64;

/// Slices of this many lines are long: those of some 30,000 items in the window.
const LONG_LINES: u32 = 256;

/// The most bytes of a panel that is opened wider than the slices at hand need.
const MAX_WIDE_BYTES: usize = 1 << 30;

/// How many lanes of a row of wide panels may be free.
const MOST_FREE: usize = 3;

/// Treats slices of so many lines as large, in all filters of the process, so that tests reach what is done for them.
#[doc(hidden)]
pub fn set_large_lines(lines: u32) {
    LARGE_LINES.store(lines, Relaxed);
}

fn is_large(lines: u32) -> bool {
    lines >= LARGE_LINES.load(Relaxed)
}

/// The most lanes that a panel of so many lines may keep for so many slices: a small one or one of eight lanes has fewer than
/// half of them free, and others none that a narrower panel would not have.
fn loose_width(lines: u32, slices: usize) -> usize {
    let loose = slices.next_power_of_two().min(MAX_WIDTH);
    if lines < FEW_LINES || loose == MAX_WIDTH { loose } else { width_for(slices) }
}

impl Panel {
    pub(super) fn is_large(&self) -> bool {
        is_large(self.lines())
    }

    /// Whether it has more free lanes than it may keep.
    pub(super) fn is_too_wide(&self) -> bool {
        self.width() > loose_width(self.lines(), self.live()) && !self.is_large()
    }

    /// Whether there is a free lane, or could be.
    fn can_take_one(&self, copying: Copying) -> bool {
        self.has_free_lane() | ((self.live() < MAX_WIDTH) & copying.allows(self))
    }

    /// The same for a lane within these shares of `bits`.
    fn fits(&self, bits: u64, shares: &RangeInclusive<f64>, copying: Copying) -> bool {
        let share = self.slice_bits() as f64 / bits as f64;
        self.can_take_one(copying) & (share >= *shares.start()) & (share <= *shares.end())
    }
}

impl Copying {
    fn allows(self, panel: &Panel) -> bool {
        (self == Copying::Any) | !is_large(panel.lines())
    }
}

impl Slices {
    /// The size nearest to `bits` for which there is a lane already, within these shares of it; one in a wide panel rather
    /// than another.
    ///
    /// Where slices are long, and chance does little to their sizes, only the panel of the oldest slice will do, from which
    /// the next ones will go as well: a slice on its own between those of other panels would stay there for all time, and
    /// items enter one panel more. Panels that are too large to be copied are taken as they are.
    pub(crate) fn fitting(&self, bits: u64, shares: &RangeInclusive<f64>, copying: Copying) -> Option<u64> {
        // more than two sizes can differ by
        const ANY: u64 = 2 * MAX_SLICE_BITS;
        // in numbers rather than branches: small filters shift often, and nothing foretells which panels fit
        let (mut best, mut chosen) = (0, 0);
        let oldest = self.row.first().map_or(0, |slot| slot.panel);
        for panel in &self.panels {
            let is_next = (panel.id() == oldest) | (panel.lines() < LONG_LINES) | panel.is_large();
            let is_there = u64::from(panel.width() == MAX_WIDTH) & u64::from(panel.has_free_lane());
            let worth = (ANY << is_there) - panel.slice_bits().abs_diff(bits);
            let worth = u64::from(is_next & panel.fits(bits, shares, copying)) * worth;
            (best, chosen) = if worth >= best { (worth, panel.slice_bits()) } else { (best, chosen) };
        }
        (best > 0).then_some(chosen)
    }

    /// The size of the youngest slice, if its panel has such a lane.
    pub(crate) fn fitting_youngest(&self, bits: u64, shares: &RangeInclusive<f64>, copying: Copying) -> Option<u64> {
        self.panels.first().filter(|panel| panel.fits(bits, shares, copying)).map(Panel::slice_bits)
    }

    /// Gives a new youngest slice its lane, cleared; returns the id of the panel. With the further ones of this size
    /// that follow it, there are `alike` such slices: a panel gets wide enough for all at once, and is not copied for each.
    /// `together` slices of any size are opened at once.
    pub(super) fn open_lane(&mut self, bits: u64, alike: usize, together: usize, copying: Copying) -> u16 {
        let lines = u32::try_from(bits / 64).expect("bits <= MAX_SLICE_BITS");
        for panel in &mut self.panels {
            panel.ages <<= 1;
        }
        let same_size = |panel: &Panel| panel.lines() == lines;
        // one after the other, round and round: that of the youngest slice, or the one that has waited longest
        let has_free = |panel: &Panel| same_size(panel) && panel.has_free_lane();
        let is_first = self.panels.first().is_some_and(has_free);
        let free = if is_first { Some(0) } else { self.panels.iter().rposition(has_free) };
        let chosen =
            free.or_else(|| self.panels.iter().position(|panel| same_size(panel) && panel.can_take_one(copying)));
        let index = chosen.unwrap_or_else(|| {
            // ids come round: those in use are passed over
            while self.panels.iter().any(|panel| panel.id() == self.next_panel) {
                self.next_panel = self.next_panel.wrapping_add(1);
            }
            let gets_no_wider = copying == Copying::Small && is_large(lines);
            let may_be_wide = Panel::heap_bytes(lines as usize, MAX_WIDTH) <= MAX_WIDE_BYTES;
            // if the rate is steady, others will follow
            let is_wide = gets_no_wider && may_be_wide && together == 1 && self.has_full_panel_near(lines);
            let width = if is_wide { MAX_WIDTH } else { width_for(alike) };
            // slices of one run should have different fields
            let seat = self.panels.first().map_or(0, Panel::youngest);
            let panel = Panel::new(lines, self.next_panel, width, seat);
            self.next_panel = self.next_panel.wrapping_add(1);
            self.panels.reserve_exact(1);
            self.panels.push(panel);
            self.panels.len() - 1
        });
        // the panel of the youngest slice first, so that an insertion finds its panels at the front
        self.panels[..=index].rotate_right(1);
        if !self.panels[0].has_free_lane() {
            self.finish_clearing();
        }
        if !self.panels[0].has_free_lane() {
            let width = self.width_of(&self.panels[0], self.panels[0].live() + alike, copying);
            self.panels[0].resize(width);
        }
        let panel = &mut self.panels[0];
        let was_used = panel.push();
        panel.ages |= 1;
        let id = panel.id();
        if let Some(clearing) = &mut self.clearing {
            clearing.position += 1;
        }
        if was_used {
            self.clear_youngest();
        }
        id
    }

    /// Clears the youngest slice: a large one while insertions go on.
    fn clear_youngest(&mut self) {
        if is_large(self.panels[0].lines()) {
            // one at a time; the one before has been clear since long ago, unless its generation was very short
            self.finish_clearing();
            self.clearing = Some(Box::new(Clearing::youngest_of(&self.panels[0])));
        } else {
            self.panels[0].clear_youngest();
        }
    }

    /// The width of a panel for so many slices.
    ///
    /// Small panels keep some free lanes: it is a few words, and slices that come and go by chance would have them copied at
    /// every other shift. Others do so if that keeps a whole row wide: with one narrow panel among them it has no short way,
    /// and where generations take a little longer than planned there are a few slices less than lanes.
    fn width_of(&self, panel: &Panel, slices: usize, copying: Copying) -> usize {
        let (least, most) = (width_for(slices), loose_width(panel.lines(), slices));
        if copying == Copying::Any || least == most {
            return least;
        }
        if panel.lines() < FEW_LINES {
            return if most <= panel.width() { most } else { least };
        }
        let is_rest_wide = self.panels.iter().all(|other| other.id() == panel.id() || other.is_wide());
        let free = (MAX_WIDTH * self.panels.len()).saturating_sub(self.row.len());
        if is_rest_wide && free <= MOST_FREE { most } else { least }
    }

    /// Whether there is a full panel of slices that are nearly as large.
    fn has_full_panel_near(&self, lines: u32) -> bool {
        self.panels.iter().any(|panel| !panel.has_free_lane() && panel.lines().abs_diff(lines) <= lines / 32)
    }

    /// Lets the first `hashes` slices take insertions, and no others.
    pub(super) fn open_receiving(&mut self) {
        let receiving = u64::MAX >> (64 - self.hashes);
        for panel in &mut self.panels {
            panel.open_youngest((panel.ages & receiving).count_ones() as usize);
        }
    }

    /// Frees the lane of the oldest slice, which was in this panel.
    pub(super) fn close_lane(&mut self, id: u16) {
        let index = self.panels.iter().position(|panel| panel.id() == id).expect("I7: every slice has a panel");
        let panel = &mut self.panels[index];
        panel.pop();
        let remaining = self.row.len();
        if remaining < 64 {
            panel.ages &= (1 << remaining) - 1;
        }
        if panel.live() == 0 {
            let panel = self.panels.remove(index);
            self.leave(panel);
            self.way = Way::Any;
        }
        self.shorten_way();
    }

    /// Makes panels narrower of whose slices some have gone. After a shift, when new slices have taken what they could.
    pub(crate) fn narrow(&mut self, copying: Copying) {
        if copying == Copying::Any {
            // a panel that is being cleared may be copied
            self.finish_clearing();
        }
        for index in 0..self.panels.len() {
            let panel = &self.panels[index];
            if panel.live() == panel.width() || !copying.allows(panel) {
                continue;
            }
            let width = self.width_of(panel, panel.live(), copying);
            if width < panel.width() {
                self.panels[index].resize(width);
                self.way = Way::Any;
            }
        }
        if matches!(self.way, Way::Any) {
            self.find_way();
        }
    }

    /// Bytes of the slices and their panels, and of nothing that belongs to no slice.
    pub(crate) fn row_bytes(&self) -> usize {
        self.row.len() * Slot::BYTES + self.panels.iter().map(|panel| Outline::of(panel).bytes()).sum::<usize>()
    }

    /// Heap bytes, as they would be with further slices of these sizes, opened last to first.
    pub(crate) fn heap_bytes_with(&self, new: &[u64]) -> usize {
        let mut panels: Vec<Outline> = self.panels.iter().map(Outline::of).collect();
        for &bits in new.iter().rev() {
            let lines = usize::try_from(bits / 64).expect("bits <= MAX_SLICE_BITS");
            // as open_lane does
            let same_size = |panel: &Outline| panel.lines == lines;
            let free = panels.iter().position(|panel| same_size(panel) && panel.free > 0);
            let chosen = free.or_else(|| panels.iter().position(|panel| same_size(panel) && panel.live < MAX_WIDTH));
            let index = chosen.unwrap_or_else(|| {
                panels.push(Outline { lines, width: 0, live: 0, free: 0 });
                panels.len() - 1
            });
            panels[..=index].rotate_right(1);
            let panel = &mut panels[0];
            panel.live += 1;
            if panel.free == 0 {
                panel.width = width_for(panel.live);
                panel.free = panel.width - panel.live + 1;
            }
            panel.free -= 1;
        }
        let largest = panels.iter().map(|panel| panel.lines).max().unwrap_or(0);
        // whether there is something to clear or not: that must not decide what happens next
        let is_large = u32::try_from(largest).is_ok_and(is_large);
        let clearing = if is_large { Clearing::heap_bytes(largest) } else { 0 };
        let slices = self.row.len() + new.len();
        let way = Self::way_bytes(slices, panels.iter().map(|panel| (panel.lines, panel.width)));
        slices * Slot::BYTES + clearing + way + panels.iter().map(Outline::bytes).sum::<usize>()
    }
}

/// How slices lie in panels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lanes {
    /// All of one size, opened without any going: all panels full but the last.
    OfOneSize,
    /// Any sizes up to a largest one, and each panel as empty as it may be: five slices in six lanes.
    OfAnySizes,
}

impl Lanes {
    /// Panels and lanes for so many slices, at most.
    fn outline(self, slices: usize) -> (usize, usize) {
        match self {
            Lanes::OfOneSize => {
                let last = slices % MAX_WIDTH;
                let lanes = slices - last + if last == 0 { 0 } else { width_for(last) };
                (slices.div_ceil(MAX_WIDTH), lanes)
            }
            Lanes::OfAnySizes => (slices, (slices * 6).div_ceil(5)),
        }
    }
}

impl Slices {
    /// The most heap bytes that so many slices take, of `words` words each at most.
    pub(crate) fn heap_bytes_of(slices: usize, words: u64, lanes: Lanes) -> u64 {
        let (panels, lanes) = lanes.outline(slices);
        let is_tiny = words < MAX_WIDTH as u64;
        let spare = if is_tiny { Panel::MAX_VECTOR_BYTES } else { Panel::MAX_SPARE_BYTES };
        // panels of so few lines are not wide
        const { assert!(WIDE_LINES >= MAX_WIDTH) };
        let way = if is_tiny && slices <= 64 { 0 } else { Self::max_way_bytes(slices, panels) };
        let lines = u32::try_from(words).expect("at most MAX_LINES");
        let clearing = if is_large(lines) { Clearing::heap_bytes(lines as usize) } else { 0 };
        let own = slices * Slot::BYTES + panels * (Panel::OWN_BYTES + spare) + clearing + way;
        own as u64 + words * (lanes * size_of::<u64>()) as u64
    }

    /// The most words that each of so many slices can have within so many bytes, up to [`MAX_LINES`]; 0 if not even one.
    pub(crate) fn words_within(bytes: u64, slices: usize, lanes: Lanes) -> u64 {
        let per_word = Self::heap_bytes_of(slices, 1, lanes) - Self::heap_bytes_of(slices, 0, lanes);
        // panels of small slices have no spare words
        let Some(rest) = bytes.checked_sub(Self::heap_bytes_of(slices, MAX_WIDTH as u64, lanes)) else {
            let rest = bytes.saturating_sub(Self::heap_bytes_of(slices, 0, lanes));
            return (rest / per_word).min(MAX_WIDTH as u64 - 1);
        };
        let words = (rest / per_word).saturating_add(MAX_WIDTH as u64).min(MAX_LINES.into());
        if Self::heap_bytes_of(slices, words, lanes) <= bytes {
            return words;
        }
        // large ones take more than their words, for what is being cleared
        let (mut fits, mut exceeds) = (MAX_WIDTH as u64, words);
        while exceeds - fits > 1 {
            let middle = fits + (exceeds - fits) / 2;
            if Self::heap_bytes_of(slices, middle, lanes) <= bytes { fits = middle } else { exceeds = middle }
        }
        fits
    }
}

/// What a panel takes in memory.
struct Outline {
    lines: usize,
    width: usize,
    live: usize,
    /// Lanes for new slices.
    free: usize,
}

impl Outline {
    fn of(panel: &Panel) -> Self {
        Outline { lines: panel.lines() as usize, width: panel.width(), live: panel.live(), free: panel.free_lanes() }
    }

    fn bytes(&self) -> usize {
        Panel::OWN_BYTES + Panel::heap_bytes(self.lines, self.width)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::panel::MAX_WIDTH;
    use crate::{TimeBloom, Timestamp};

    /// A panel is copied at a tenth of the shifts. It is a fifth with panels just as wide as they have to be, a third with
    /// lanes of one word and of two in turn, and more than half with both.
    #[test]
    #[cfg_attr(miri, ignore = "thousands of insertions take minutes there")]
    fn panels_of_small_slices_are_seldom_copied() {
        let widths = |filter: &TimeBloom| -> Vec<(u16, usize)> {
            filter.window.slices.panels.iter().map(|panel| (panel.id(), panel.width())).collect()
        };
        let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(1).build().unwrap();
        let mut random = fastrand::Rng::with_seed(1);
        let (mut now, mut before) = (Timestamp::from_secs(1), Vec::new());
        let (mut shifts, mut copies) = (0, 0);
        for item in 0..20_000_u32 {
            // 125 a minute, by chance
            now = now.saturating_add(Duration::from_secs_f64(-0.48 * (1.0 - random.f64()).ln()));
            let is_shift = filter.is_shift_due_at(now);
            filter.insert_at(item.to_le_bytes(), now).unwrap();
            if is_shift && item > 1_000 {
                let after = widths(&filter);
                let is_copy =
                    |&&(id, width): &&(u16, usize)| after.iter().any(|&other| other.0 == id && other.1 != width);
                shifts += 1;
                copies += before.iter().filter(is_copy).count();
                before = after;
            }
        }
        assert!(shifts > 3_000 && copies < shifts / 7, "{copies} at {shifts} shifts");
    }

    /// Whatever the rate is, as long as it stays the same; but for a window, where chance has made a fresh start of it. Panels
    /// that were taken up again, after slices had been too large for them, left one stream in ten with a panel of a single
    /// lane for all time.
    #[test]
    #[cfg_attr(miri, ignore = "millions of insertions take hours there")]
    fn rows_of_steady_streams_are_wide() {
        const SPAN: Duration = Duration::from_secs(60);
        let mut random = fastrand::Rng::with_seed(1);
        for seed in 0..40 {
            let items = random.u64(1_000..20_000);
            let gap = SPAN / u32::try_from(items).unwrap();
            let mut filter = TimeBloom::builder(SPAN).seed(seed).build().unwrap();
            let mut now = Timestamp::from_secs(1);
            let (mut shifts, mut wide) = (0, 0);
            for item in 0..15 * items {
                now = now.saturating_add(gap);
                let is_shift = filter.is_shift_due_at(now);
                filter.insert_at(item.to_le_bytes(), now).unwrap();
                if is_shift && item > 5 * items {
                    shifts += 1;
                    wide += u32::from(filter.window.slices.panels.iter().all(|panel| panel.width() == MAX_WIDTH));
                }
            }
            assert!(wide >= shifts * 8 / 10, "{items} items, seed {seed}: wide after {wide} of {shifts} shifts");
        }
    }

    /// With each new slice in the panel nearest to its size, items of this stream enter more than three panels.
    #[test]
    #[cfg_attr(miri, ignore = "thousands of insertions take minutes there")]
    fn items_of_an_uneven_stream_enter_few_panels() {
        const SPAN: Duration = Duration::from_secs(31);
        let (mut panels, mut open, mut looks) = (0, 0, 0);
        for seed in 0..4 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut filter =
                TimeBloom::builder(SPAN).expected_items(20_000).hashes_and_aging(9, 31).seed(seed).build().unwrap();
            let mut now = Timestamp::from_secs(1);
            for second in 0..300 {
                let items = random.u64(400..900);
                for item in 0..items {
                    now = now.saturating_add(Duration::from_secs(1) / u32::try_from(items).unwrap());
                    filter.insert_at([second, item].map(u64::to_le_bytes).concat(), now).unwrap();
                }
                if second > 90 {
                    let slices = &filter.window.slices;
                    panels += slices.panels.len();
                    open += slices.panels.iter().filter(|panel| panel.open() != 0).count();
                    looks += 1;
                }
            }
        }
        let [panels, open] = [panels, open].map(|sum| sum as f64 / f64::from(looks));
        assert!(panels < 7.5 && open < 2.8, "{panels} panels, {open} of them open");
    }
}
