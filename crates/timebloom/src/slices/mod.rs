//! The slices of a filter, youngest first: bits, and how many items entered when.
//!
//! This is the seam between what a filter remembers and how it lives in memory. Above it, [`crate::window`] and
//! [`crate::CountBloom`] decide when to shift and how large a slice is. Below it:
//!
//! - [`slot`] is what is known of a slice besides its bits;
//! - [`panel`] interleaves slices of one size, so that an item's bits of up to eight of them are in one cache line;
//! - [`clearing`] makes a lane ready for its next slice, little by little when it is large;
//! - [`leaving`] gives the memory of large panels back, little by little as well;
//! - [`lanes`] chooses the panel of a new slice, and makes panels wider and narrower as slices come and go;
//! - [`pace`] tells how evenly items came, from what slices remember;
//! - [`way`] is how queries go through the panels: through [`wide`] ones, as in a steady row, four at once, and through
//!   [`long`] rows beyond the first 64 slices;
//! - [`check`] looks for items and inserts them, several at once;
//! - [`query`] looks for runs, and [`probe`] reads and sets the bits of an item, with vector instructions in [`simd`].
//!
//! Every insertion sets one bit in each of the first `hashes` slices. The insertions between two shifts are a
//! *generation*. A generation's items therefore occupy `hashes` consecutive slices, and stay reported for as long as the
//! oldest of these is there: the slice that stops receiving when the generation closes. That slice remembers how many
//! items the generation had and when the last of them came.

mod check;
mod clearing;
mod lanes;
mod leaving;
mod long;
#[cfg(test)]
mod oracle;
mod pace;
mod panel;
mod probe;
mod query;
mod receiving;
#[cfg(target_arch = "x86_64")]
mod simd;
mod slot;
pub(crate) mod stored;
mod validate;
mod way;
mod wide;

use crate::hash::ItemHash;
use crate::sizing::Runs;
use crate::stats::SliceStats;
use crate::timestamp::Timestamp;
pub(crate) use check::Repeats;
use clearing::Clearing;
pub use lanes::set_large_lines;
pub(crate) use lanes::{Copying, FEW_BITS, Lanes};
use leaving::Leaving;
use panel::Panel;
pub(crate) use probe::Which;
pub(crate) use query::AT_ONCE;
pub(crate) use receiving::Receiving;
use slot::Slot;
pub(crate) use slot::Tick;
use way::Way;

/// The largest slice: 512 MiB. A filter that needs more takes more slices.
pub(crate) const MAX_SLICE_BITS: u64 = 1 << 32;

/// The most slices in a row. Surges take filters to a few hundred: generations grow with the rate, so their number
/// follows the logarithm of a surge.
pub(crate) const MAX_SLICES: u32 = 1 << 15;

/// Slices up to this size are counted when they stop receiving. In larger ones the share of set bits that their items
/// lead to differs from the true one by a fraction of a percent (and repeats only lower the true one).
const COUNTED_BITS: u64 = 1 << 16;

/// Slices up to this size are counted whenever it matters.
const OFTEN_COUNTED_BITS: u64 = 1 << 10;

/// A row of slices, and the generation that is open in the `hashes` youngest of them.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    /// Oldest first; everywhere else, positions count from the youngest.
    row: Vec<Slot>,
    /// The panels that hold the slices, that of the youngest slice first.
    panels: Vec<Panel>,
    /// Slices opened so far.
    opened: u64,
    /// The last insertion.
    newest: Timestamp,
    /// When the last generation was closed, in ticks: what the ages in the slots count from.
    stamp: u64,
    /// Insertions of the open generation.
    generation_items: u32,
    /// The id that the next panel gets, unless a panel has it.
    next_panel: u16,
    /// In `1..=64`.
    hashes: u8,
    tick: Tick,
    /// A large slice that still has bits of the one whose lane it took.
    clearing: Option<Box<Clearing>>,
    /// What large panels that have gone leave to be given back.
    leaving: Option<Box<Leaving>>,
    /// Every slice saw an insertion at this time or later. `MIN` while there are none but those that receive.
    all_since: Timestamp,
    /// How queries go through the panels.
    way: Way,
}

impl Slices {
    /// The most insertions a slice can count.
    pub(crate) const MAX_ITEMS: u64 = u32::MAX as u64;

    pub(crate) fn new(hashes: usize, tick: Tick) -> Self {
        let hashes = u8::try_from(hashes).expect("hashes <= 64 by Plan");
        Slices {
            row: Vec::new(),
            panels: Vec::new(),
            opened: 0,
            newest: Timestamp::MIN,
            stamp: 0,
            generation_items: 0,
            next_panel: 0,
            hashes,
            tick,
            clearing: None,
            leaving: None,
            all_since: Timestamp::MIN,
            way: Way::Any,
        }
    }

    #[inline]
    pub(crate) fn hashes(&self) -> usize {
        self.hashes.into()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.row.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// When the last insertion came; meaningless while there was none.
    #[inline]
    pub(crate) fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Insertions since the generation was opened.
    #[inline]
    pub(crate) fn generation_items(&self) -> u64 {
        self.generation_items.into()
    }

    fn slot(&self, position: usize) -> &Slot {
        &self.row[self.row.len() - 1 - position]
    }

    /// The size of the slice at `position`, in `0..len()`.
    pub(crate) fn bits_of(&self, position: usize) -> u64 {
        self.home(position).slice_bits()
    }

    /// Items inserted into the slice at `position`, which receives, repeats included.
    pub(crate) fn items_of(&self, position: usize) -> u64 {
        debug_assert!(position < self.hashes(), "slice {position} has forgotten how many it got");
        u64::from(self.slot(position).count) + self.generation_items()
    }

    /// Items of the generation for which the slice at `position` is the oldest: 0 while younger ones are.
    pub(crate) fn generation_of(&self, position: usize) -> u64 {
        match position + 1 {
            older if older < self.hashes() => 0,
            older if older == self.hashes() => self.generation_items(),
            _ => self.slot(position).count.into(),
        }
    }

    /// When the last item entered the slice at `position`, or up to [`Tick::rounding`] later.
    #[inline]
    pub(crate) fn newest_of(&self, position: usize) -> Timestamp {
        if position < self.hashes() {
            return self.newest;
        }
        // rounded up, but not beyond what has been
        self.tick.time(self.stamp.saturating_sub(self.slot(position).age.into())).min(self.newest)
    }

    /// When the last item entered the slice at `position`, or up to [`Tick::rounding`] earlier.
    pub(crate) fn newest_of_at_least(&self, position: usize) -> Timestamp {
        let newest = self.newest_of(position);
        if position < self.hashes() {
            return newest;
        }
        Timestamp::from_nanos(newest.as_nanos().saturating_sub(self.tick.rounding()))
    }

    /// Set bits of the slice at `position`. Reads the whole slice.
    pub(crate) fn ones(&self, position: usize) -> u64 {
        let (panel, index) = self.place(position);
        self.ones_in(panel, index, position)
    }

    /// Set bits of the slice at `position`, which is at `index` in its panel.
    fn ones_in(&self, panel: &Panel, index: usize, position: usize) -> u64 {
        match &self.clearing {
            Some(clearing) if clearing.position == position => {
                let lane = panel.words().iter().skip(panel.lane(index)).step_by(panel.width());
                let clear = lane.enumerate().filter(|&(line, _)| clearing.is_clear(line));
                clear.map(|(_, word)| u64::from(word.count_ones())).sum()
            }
            _ => panel.ones(index),
        }
    }

    /// The share of set bits of a slice that receives: counted in those of up to `counted_bits` and expected from the
    /// items in others.
    fn open_fill(&self, position: usize, counted_bits: u64) -> f64 {
        let bits = self.bits_of(position);
        if bits <= counted_bits {
            self.ones(position) as f64 / bits as f64
        } else {
            expected_fill(self.items_of(position), bits)
        }
    }

    /// The runs in the first `live` slices but those that receive, oldest first.
    pub(crate) fn runs_of_aging(&self, live: usize) -> Runs {
        let mut runs = Runs::new(self.hashes());
        let aging = self.len() - live.max(self.hashes()).min(self.len())..self.len().saturating_sub(self.hashes());
        runs.extend(self.row[aging].iter().map(Slot::fill));
        runs
    }

    /// What the `count` oldest slices add to the chance of a run, or a little more. `None` if some of them, or their
    /// neighbours as far as a run reaches and one further, still receive.
    pub(crate) fn rate_of_oldest(&self, count: usize) -> Option<f64> {
        let hashes = self.hashes();
        let aging = &self.row[..self.len().checked_sub(hashes)?];
        let runs = aging.get(..count + hashes)?.windows(hashes + 1);
        // a run ends at one of them and would be none without it: the slice before the run is clear
        let added = runs.map(|run| run[..hashes].iter().map(Slot::fill).product::<f64>() * (1.0 - run[hashes].fill()));
        Some(added.sum())
    }

    /// The largest share of set bits among the youngest slices that only age, as far as a run reaches that begins in those
    /// that receive.
    pub(crate) fn fullest_beside_receiving(&self) -> f64 {
        let aging = self.len().saturating_sub(self.hashes());
        let near = &self.row[aging.saturating_sub(self.hashes() - 1)..aging];
        near.iter().max_by_key(|slot| slot.fill).map_or(0.0, Slot::fill)
    }

    /// How many slices, from the youngest on, saw an insertion at `oldest` or later.
    #[inline]
    pub(crate) fn since(&self, oldest: Timestamp) -> usize {
        if self.are_all_since(oldest) { self.len() } else { self.some_since(oldest) }
    }

    /// Whether all slices saw an insertion at `oldest` or later.
    #[inline]
    pub(super) fn are_all_since(&self, oldest: Timestamp) -> bool {
        oldest <= self.all_since
    }

    #[cold]
    #[inline]
    fn some_since(&self, oldest: Timestamp) -> usize {
        if self.newest < oldest {
            return 0;
        }
        // those that receive, and by their ages those that are not too old: I1, ages never fall towards the older ones
        let aging = self.len().saturating_sub(self.hashes());
        let gone = match self.stamp.checked_sub(self.tick.at_or_after(oldest)) {
            Some(oldest) => self.row[..aging].iter().take_while(|slot| u64::from(slot.age) > oldest).count(),
            None => aging,
        };
        self.len() - gone
    }

    /// Items of the generations that are still whole in the first `live` slices.
    pub(crate) fn items_in(&self, live: usize) -> u64 {
        let Some(oldest_open) = self.hashes().checked_sub(1).filter(|&oldest_open| oldest_open < live) else {
            return 0;
        };
        let aging = self.len() - live..self.len() - 1 - oldest_open;
        self.generation_items() + self.row[aging].iter().map(|slot| u64::from(slot.count)).sum::<u64>()
    }

    /// Sets the item's bits in the first `hashes` slices: the row has at least that many.
    #[inline]
    pub(crate) fn insert(&mut self, hash: ItemHash, now: Timestamp) {
        debug_assert!(self.len() >= self.hashes(), "too few slices: {}", self.len());
        debug_assert!(now >= self.newest, "time is clamped before it comes here");
        self.newest = now;
        self.generation_items += 1;
        self.set_bits(hash);
    }

    /// [`insert`](Self::insert) for several items, the last of them at `now`.
    #[inline]
    pub(crate) fn insert_all(&mut self, hashes: &[ItemHash], now: Timestamp) {
        for some in hashes.chunks(AT_ONCE) {
            if self.clearing.is_some() {
                self.prefetch(some, Which::Open);
                some.iter().for_each(|&hash| self.insert(hash, now));
                continue;
            }
            debug_assert!(self.len() >= self.hashes() && now >= self.newest, "as for one");
            self.newest = now;
            #[allow(clippy::cast_possible_truncation)] // at most AT_ONCE
            let count = some.len() as u32;
            self.generation_items += count;
            self.set_all_bits(some);
        }
    }

    /// Ends the generation, and opens slices of so many clear bits, multiples of 64, in front of the others: the last of
    /// them first.
    pub(crate) fn shift(&mut self, sizes: &[u64], copying: Copying) {
        self.close_generation(sizes.len());
        if self.row.capacity() < self.row.len() + sizes.len() {
            // no spare places: small filters consist of little else
            self.row.reserve_exact(sizes.len());
        }
        for (index, &bits) in sizes.iter().enumerate().rev() {
            debug_assert!((64..=MAX_SLICE_BITS).contains(&bits) && bits.is_multiple_of(64), "a slice of {bits} bits");
            let alike = sizes[..=index].iter().filter(|&&other| other == bits).count();
            let panel = self.open_lane(bits, alike, sizes.len(), copying);
            self.row.push(Slot::new(panel));
            self.opened += 1;
        }
        self.open_receiving();
        self.note_oldest();
        if sizes.len() == 1 { self.find_next_way() } else { self.find_way() }
    }

    /// Brings up to date what follows from the oldest slice.
    fn note_oldest(&mut self) {
        let is_aging = self.len() > self.hashes();
        self.all_since = if is_aging { self.newest_of(self.len() - 1) } else { Timestamp::MIN };
    }

    /// Counts the generation in the slices that it entered, of which the last `closing` receive no longer.
    fn close_generation(&mut self, closing: usize) {
        let stamp = self.tick.at_or_after(self.newest).max(self.stamp);
        let passed = u32::try_from(stamp - self.stamp).unwrap_or(u32::MAX);
        let receiving = self.hashes().min(self.len());
        let still = receiving.min(self.hashes().saturating_sub(closing));
        for position in still..receiving {
            let fill = self.open_fill(position, COUNTED_BITS);
            let at = self.row.len() - 1 - position;
            self.row[at].set_fill(fill);
        }
        let is_whole = receiving == self.hashes();
        let aging = self.row.len() - receiving;
        let (aging, open) = self.row.split_at_mut(aging);
        // I1: none is older than the first
        if aging.first().is_none_or(|slot| slot.age.checked_add(passed).is_some()) {
            aging.iter_mut().for_each(|slot| slot.age += passed);
        } else {
            aging.iter_mut().for_each(|slot| slot.age = slot.age.saturating_add(passed));
        }
        let (closed, open) = open.split_at_mut(receiving - still);
        closed.iter_mut().for_each(|slot| (slot.age, slot.count) = (0, 0));
        if let Some(oldest) = closed.first_mut().filter(|_| is_whole) {
            oldest.count = self.generation_items;
        }
        open.iter_mut().for_each(|slot| slot.count = slot.count.saturating_add(self.generation_items));
        self.stamp = stamp;
        self.generation_items = 0;
    }

    /// Drops the oldest slice, and tells when the last item had entered it, or up to [`Tick::rounding`] earlier.
    pub(crate) fn pop(&mut self) -> Option<Timestamp> {
        let oldest = self.len().checked_sub(1)?;
        let newest = self.newest_of_at_least(oldest);
        let slot = self.row.remove(0);
        if self.clearing.as_ref().is_some_and(|clearing| clearing.position == oldest) {
            self.clearing = None;
        }
        self.close_lane(slot.panel);
        self.note_oldest();
        Some(newest)
    }

    /// Drops everything, memory included but for what is [`leaving`].
    pub(crate) fn clear(&mut self) {
        self.row = Vec::new();
        std::mem::take(&mut self.panels).into_iter().for_each(|panel| self.leave(panel));
        self.clearing = None;
        self.way = Way::Any;
        self.generation_items = 0;
        self.note_oldest();
    }

    /// Gives back the places of slices that have gone.
    pub(crate) fn shrink(&mut self) {
        self.row.shrink_to_fit();
        self.panels.shrink_to_fit();
    }

    /// Bits of all slices.
    pub(crate) fn bits(&self) -> u64 {
        self.panels.iter().map(|panel| panel.slice_bits() * panel.live() as u64).sum()
    }

    /// The size of the largest slice.
    pub(crate) fn largest(&self) -> u64 {
        self.panels.iter().map(Panel::slice_bits).max().unwrap_or(0)
    }

    fn panel(&self, id: u16) -> &Panel {
        self.panels.iter().find(|panel| panel.id() == id).expect("I7: every slice has a panel")
    }

    /// The panel of the slice at `position`.
    fn home(&self, position: usize) -> &Panel {
        if position >= 64 {
            return self.panel(self.slot(position).panel);
        }
        self.panels.iter().find(|panel| panel.ages >> position & 1 == 1).expect("I7: every slice has a panel")
    }

    /// The panel of the slice at `position`, and the slice's place among those of the panel, youngest first.
    fn place(&self, position: usize) -> (&Panel, usize) {
        if position < 64 {
            let panel = self.home(position);
            return (panel, (panel.ages & ((1 << position) - 1)).count_ones() as usize);
        }
        let id = self.slot(position).panel;
        let index = self.row[self.row.len() - position..].iter().filter(|slot| slot.panel == id).count();
        (self.panel(id), index)
    }

    /// The figures of every slice, youngest first.
    pub(crate) fn stats(&self) -> impl Iterator<Item = SliceStats> + '_ {
        let any = self.newest > Timestamp::MIN || self.generation_items > 0;
        (0..self.len()).map(move |position| {
            let ones = self.ones(position);
            SliceStats {
                number: self.opened - 1 - position as u64,
                bits: self.bits_of(position),
                ones,
                generation: self.generation_of(position),
                newest: (any && ones > 0).then(|| self.newest_of(position)),
            }
        })
    }
}

/// The share of set bits that so many items lead to.
fn expected_fill(items: u64, bits: u64) -> f64 {
    1.0 - libm::exp(-(items as f64) / bits as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice that is too large to be counted notes what its items lead to. Items that were chosen for their bits, as
    /// someone who knows the seed can, set more: that is no reason to refuse the filter.
    #[test]
    #[cfg_attr(miri, ignore = "thousands of insertions take minutes there")]
    fn large_slices_note_what_their_items_lead_to() {
        let bits = 2 * COUNTED_BITS;
        for is_chosen in [false, true] {
            let mut slices = Slices::new(1, Tick::ONE);
            slices.shift(&[bits], Copying::Any);
            let mut item = 0_u64;
            for _ in 0..bits / 2 {
                let hash = loop {
                    item += 1;
                    let hash = ItemHash::new(item.to_le_bytes(), 0);
                    if !(is_chosen && slices.panels[0].read(hash) == 1) {
                        break hash;
                    }
                };
                slices.insert(hash, Timestamp::from_nanos(1));
            }
            slices.shift(&[64], Copying::Any);
            assert_eq!(slices.validate(), Ok(()));
            let (noted, counted) = (slices.slot(1).fill(), slices.ones(1) as f64 / bits as f64);
            // eight deviations
            let is_near = (noted - counted).abs() < 4.0 / libm::sqrt(bits as f64);
            assert_eq!(is_near, !is_chosen, "{counted}, noted as {noted}");
        }
    }

    #[test]
    fn slices_count_as_long_as_their_newest_item_does() {
        for span in [1_000, 1 << 30, 1 << 40] {
            let mut slices = Slices::new(3, Tick::for_span(span));
            let mut random = fastrand::Rng::with_seed(span);
            let mut now = 1 << 50;
            slices.shift(&[64; 3], Copying::Any);
            for item in 0..if cfg!(miri) { 20_u32 } else { 200 } {
                now += random.u64(..span / 10);
                slices.insert(ItemHash::new(item.to_le_bytes(), 0), Timestamp::from_nanos(now));
                if random.bool() {
                    slices.shift(&[64], Copying::Any);
                }
                if slices.len() > 20 {
                    slices.pop();
                }
                for _ in 0..10 {
                    let oldest = Timestamp::from_nanos(now + span / 20 - random.u64(..2 * span));
                    let live = (0..slices.len()).filter(|&position| slices.newest_of(position) >= oldest).count();
                    assert_eq!(slices.since(oldest), live, "{oldest:?} of {slices:?}");
                }
            }
        }
    }
}
