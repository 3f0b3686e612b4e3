//! Several items, one panel after the other: what is known of a panel stays in registers, and the lines of the next ones are
//! on their way meanwhile.

use std::arch::x86_64::*;

use super::super::panel::{MAX_WIDTH, Panel, shared_fields};
use super::super::query::{self, AT_ONCE, is_run_in};
use super::bits::{Bits, Item, bits_at, bits_of};
use super::raw::{Line, LineMut, prefetch};
use super::read::{InEight, InNarrow, matches_in_one};
use super::write::{open_words, set_in_one};
use crate::hash::ItemHash;

/// Up to [`AT_ONCE`] items.
struct Items<'a> {
    hashes: &'a [ItemHash],
    /// Their fields in panels that share them.
    fields: [u64; AT_ONCE],
    /// The bits that these name.
    bits: [Bits; AT_ONCE],
}

impl<'a> Items<'a> {
    #[target_feature(enable = "avx2")]
    fn of(hashes: &'a [ItemHash]) -> Self {
        let mut items = Items { hashes, fields: [0; AT_ONCE], bits: [bits_of(0); AT_ONCE] };
        for ((fields, bits), &hash) in items.fields.iter_mut().zip(&mut items.bits).zip(hashes) {
            *fields = shared_fields(hash);
            *bits = bits_of(*fields);
        }
        items
    }

    /// Where the bits of an item are in a panel that shares fields.
    #[inline]
    fn spot(&self, lines: &Lines, item: usize) -> Spot {
        Spot { line: lines[item], fields: self.fields[item], bits: self.bits[item] }
    }

    /// The same in a panel that does not.
    #[target_feature(enable = "avx2")]
    fn own_spot(&self, panel: &Panel, item: usize) -> Spot {
        let hash = self.hashes[item];
        let fields = panel.own_fields(hash);
        Spot { line: panel.line(hash), fields, bits: bits_of(fields) }
    }

    /// Finds their lines in a panel and asks for them; not if it has so few that they are near in any case.
    #[inline]
    fn ask_for_lines(&self, panel: Option<&Panel>, lines: &mut Lines) {
        if let Some(panel) = panel.filter(|panel| panel.shares_fields()) {
            if panel.is_remote() {
                self.ask_in::<true>(panel, lines);
            } else {
                self.ask_in::<false>(panel, lines);
            }
        }
    }

    #[inline]
    fn ask_in<const REMOTE: bool>(&self, panel: &Panel, lines: &mut Lines) {
        for (line, &hash) in lines.iter_mut().zip(self.hashes) {
            *line = panel.line(hash);
            Line::of(panel, *line).prefetch::<REMOTE>();
        }
    }
}

/// Where an item's bits are in a panel.
struct Spot {
    line: usize,
    fields: u64,
    /// The bits that these name.
    bits: Bits,
}

/// The line of each item in one panel.
type Lines = [usize; AT_ONCE];

/// For how many panels lines are asked for ahead.
const AHEAD: usize = 2;

/// The lines of items in one panel after the other, asked for ahead.
struct Walk {
    /// Those in the panel at hand and in the next ones, each at its place modulo their number.
    lines: [Lines; 1 + AHEAD],
}

impl Walk {
    #[inline]
    fn begin(panels: &[Panel], items: &Items) -> Self {
        let mut walk = Walk { lines: [[0; AT_ONCE]; 1 + AHEAD] };
        for (place, lines) in walk.lines[..AHEAD].iter_mut().enumerate() {
            items.ask_for_lines(panels.get(place), lines);
        }
        walk
    }

    /// Those in the panel at `place`: one after the other, from the first on.
    #[inline]
    fn step(&mut self, panels: &[Panel], place: usize, items: &Items) -> &Lines {
        let ahead = place + AHEAD;
        items.ask_for_lines(panels.get(ahead), &mut self.lines[ahead % (1 + AHEAD)]);
        &self.lines[place % (1 + AHEAD)]
    }
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn matches_each(panels: &[Panel], hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    find_in_all(panels, &Items::of(hashes), found);
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn check_and_set(panels: &mut [Panel], hashes: &[ItemHash], inside: u64, length: u32) -> [bool; AT_ONCE] {
    let mut found = [0; AT_ONCE];
    find_and_set_in_all(panels, &Items::of(hashes), &mut found);
    query::have_runs(&found, inside, length)
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn set_all(panels: &mut [Panel], hashes: &[ItemHash]) {
    let (open, _) = split_at_closed(panels);
    // what is found is dropped: a walk that does not look would save little
    find_and_set_in_all(open, &Items::of(hashes), &mut [0; AT_ONCE]);
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn set_if_new(panels: &mut [Panel], hashes: &[ItemHash], inside: u64, length: u32) -> [bool; AT_ONCE] {
    let (open, closed) = split_at_closed(panels);
    prefetch(open, hashes);
    let items = Items::of(hashes);
    let mut found = [0; AT_ONCE];
    find_in_all(closed, &items, &mut found);
    // whether an item is set, and found by others after it, depends on all panels
    let mut seen = [false; AT_ONCE];
    let each = hashes.iter().zip(items.fields).zip(items.bits);
    for ((((&hash, fields), bits), found), seen) in each.zip(found).zip(&mut seen) {
        let item = Item { hash, fields, bits };
        let found = open.iter().fold(found, |found, panel| found | matches_in_one(panel, item));
        *seen = is_run_in(found & inside, length);
        if !*seen {
            open.iter_mut().for_each(|panel| set_in_one(panel, item));
        }
    }
    seen
}

/// The panels that take insertions, and the others.
#[inline]
fn split_at_closed(panels: &mut [Panel]) -> (&mut [Panel], &mut [Panel]) {
    // panels stand in order of their youngest slice
    let open = panels.iter().take_while(|panel| panel.open() != 0).count();
    panels.split_at_mut(open)
}

/// Adds to `found` which of the first 64 slices have each item's bit.
#[target_feature(enable = "avx2,bmi2")]
fn find_in_all(panels: &[Panel], items: &Items, found: &mut [u64; AT_ONCE]) {
    let mut walk = Walk::begin(panels, items);
    for (place, panel) in panels.iter().enumerate() {
        find(panel, items, walk.step(panels, place, items), found);
    }
}

/// [`find_in_all`], and sets each item's bits before it goes on to the next. Panel by panel or item by item is the same: what
/// is found in a panel depends on no other.
#[target_feature(enable = "avx2,bmi2")]
fn find_and_set_in_all(panels: &mut [Panel], items: &Items, found: &mut [u64; AT_ONCE]) {
    let mut walk = Walk::begin(panels, items);
    for place in 0..panels.len() {
        let lines = walk.step(panels, place, items);
        let panel = &mut panels[place];
        if panel.open() == 0 {
            find(panel, items, lines, found);
        } else {
            find_and_set(panel, items, lines, found);
        }
    }
}

/// [`find_in_all`] for one panel.
#[target_feature(enable = "avx2,bmi2")]
fn find(panel: &Panel, items: &Items, lines: &Lines, found: &mut [u64; AT_ONCE]) {
    let found = &mut found[..items.hashes.len()];
    if panel.shares_fields() {
        find_at(panel, |_, item| items.spot(lines, item), found);
    } else {
        find_at(panel, |panel, item| items.own_spot(panel, item), found);
    }
}

/// The same, given where the bits of each item are.
#[target_feature(enable = "avx2,bmi2")]
fn find_at(panel: &Panel, spot: impl Fn(&Panel, usize) -> Spot, found: &mut [u64]) {
    if panel.width() == MAX_WIDTH {
        let (slices, ages) = (InEight::of(panel), panel.ages);
        for (item, found) in found.iter_mut().enumerate() {
            let Spot { line, bits, .. } = spot(panel, item);
            *found |= _pdep_u64(slices.found(Line::of_eight(panel, line), bits).into(), ages);
        }
    } else if panel.width() > 4 {
        find_in_narrow::<true>(panel, spot, found);
    } else {
        find_in_narrow::<false>(panel, spot, found);
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn find_in_narrow<const MORE_THAN_FOUR: bool>(panel: &Panel, spot: impl Fn(&Panel, usize) -> Spot, found: &mut [u64]) {
    let (slices, ages) = (InNarrow::of(panel), panel.ages);
    for (item, found) in found.iter_mut().enumerate() {
        let Spot { line, fields, .. } = spot(panel, item);
        let lanes = slices.found::<MORE_THAN_FOUR>(Line::of(panel, line), slices.by_lane(fields));
        *found |= _pdep_u64(lanes.into(), ages);
    }
}

/// [`find_and_set_in_all`] for one panel that takes insertions.
#[target_feature(enable = "avx2,bmi2")]
fn find_and_set(panel: &mut Panel, items: &Items, lines: &Lines, found: &mut [u64; AT_ONCE]) {
    let found = &mut found[..items.hashes.len()];
    if panel.shares_fields() {
        find_and_set_at(panel, |_, item| items.spot(lines, item), found);
    } else {
        find_and_set_at(panel, |panel, item| items.own_spot(panel, item), found);
    }
}

/// The same, given where the bits of each item are.
#[target_feature(enable = "avx2,bmi2")]
fn find_and_set_at(panel: &mut Panel, spot: impl Fn(&Panel, usize) -> Spot, found: &mut [u64]) {
    if panel.width() == MAX_WIDTH {
        let (slices, ages, open) = (InEight::of(panel), panel.ages, open_words(panel));
        for (item, found) in found.iter_mut().enumerate() {
            let Spot { line, bits, .. } = spot(panel, item);
            let mut line = LineMut::of_eight(panel, line);
            *found |= _pdep_u64(slices.found(line.as_line(), bits).into(), ages);
            line.set_low(_mm256_and_si256(bits.low, open.low));
            line.set_high(_mm256_and_si256(bits.high, open.high));
        }
    } else if panel.width() > 4 {
        find_and_set_in_narrow::<true>(panel, spot, found);
    } else {
        find_and_set_in_narrow::<false>(panel, spot, found);
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn find_and_set_in_narrow<const MORE_THAN_FOUR: bool>(
    panel: &mut Panel,
    spot: impl Fn(&Panel, usize) -> Spot,
    found: &mut [u64],
) {
    let (slices, ages, open) = (InNarrow::of(panel), panel.ages, open_words(panel));
    for (item, found) in found.iter_mut().enumerate() {
        let Spot { line, fields, .. } = spot(panel, item);
        let fields = slices.by_lane(fields);
        let mut line = LineMut::of(panel, line);
        *found |= _pdep_u64(slices.found::<MORE_THAN_FOUR>(line.as_line(), fields).into(), ages);
        // no lane above the last is open
        line.set_low(_mm256_and_si256(bits_at(fields), open.low));
        if MORE_THAN_FOUR {
            line.set_high(_mm256_and_si256(bits_at(_mm_shuffle_epi32::<1>(fields)), open.high));
        }
    }
}
