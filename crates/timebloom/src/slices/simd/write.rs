//! Setting an item's bits in the slices that take insertions.

use std::arch::x86_64::*;

use super::super::panel::{MAX_WIDTH, Panel};
use super::bits::{Bits, Item, bits_of_four};
use super::raw::{LineMut, vector};
use crate::hash::ItemHash;

#[target_feature(enable = "avx2,bmi2")]
#[cold] // away from the short way
#[inline]
pub(super) fn set(panels: &mut [Panel], hash: ItemHash) {
    let item = Item::of(hash);
    for panel in panels {
        if panel.open() == 0 {
            // panels stand in order of their youngest slice
            break;
        }
        set_in_one(panel, item);
    }
}

/// Sets an item's bits in one panel.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn set_in_one(panel: &mut Panel, item: Item) {
    if panel.width() == MAX_WIDTH {
        set_in_eight::<false>(panel, item);
    } else {
        set_in_narrow(panel, item);
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn set_in_wide<const SHARED: bool>(panels: &mut [Panel], hash: ItemHash) {
    if let Some(two) = only::<2>(panels) {
        set_in_each::<2, SHARED>(two, hash);
    } else {
        set_in_more::<SHARED>(panels, hash);
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn set_all_in_wide<const SHARED: bool>(panels: &mut [Panel], hashes: &[ItemHash]) {
    if let Some(two) = only::<2>(panels) {
        hashes.iter().for_each(|&hash| set_in_each::<2, SHARED>(two, hash));
    } else {
        hashes.iter().for_each(|&hash| set_in_more::<SHARED>(panels, hash));
    }
}

/// Sets an item's bits where more than two panels of a wide row take insertions: three, as a rule.
#[target_feature(enable = "avx2,bmi2")]
#[cold] // away from the short way
#[inline]
fn set_in_more<const SHARED: bool>(panels: &mut [Panel], hash: ItemHash) {
    match only::<3>(panels) {
        Some(three) => set_in_each::<3, SHARED>(three, hash),
        None => set(panels, hash),
    }
}

/// The first so many panels, if no others take insertions.
#[inline]
fn only<const N: usize>(panels: &mut [Panel]) -> Option<&mut [Panel; N]> {
    match panels.get(N) {
        Some(next) if next.open() == 0 => panels.first_chunk_mut(),
        _ => None,
    }
}

/// Sets an item's bits in panels of eight: their number is known, so that there is no loop.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn set_in_each<const N: usize, const SHARED: bool>(panels: &mut [Panel; N], hash: ItemHash) {
    let item = Item::of(hash);
    for panel in panels {
        set_in_eight::<SHARED>(panel, item);
    }
}

/// Sets an item's bits in a panel of eight lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn set_in_eight<const SHARED: bool>(panel: &mut Panel, item: Item) {
    let bits = item.bits_in::<SHARED>(panel);
    let (open, line) = (open_words(panel), panel.line(item.hash));
    let mut line = LineMut::of_eight(panel, line);
    line.set_low(_mm256_and_si256(bits.low, open.low));
    line.set_high(_mm256_and_si256(bits.high, open.high));
}

/// Sets an item's bits in a panel of fewer lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn set_in_narrow(panel: &mut Panel, item: Item) {
    let fields = panel.by_lane(panel.fields(item.hash, item.fields));
    let (open, line, width) = (open_words(panel), panel.line(item.hash), panel.width());
    let mut line = LineMut::of(panel, line);
    // no lane above the last is open
    line.set_low(_mm256_and_si256(bits_of_four(fields), open.low));
    if width > 4 {
        line.set_high(_mm256_and_si256(bits_of_four(fields >> 32), open.high));
    }
}

/// A word for each lane: all ones if it takes insertions, otherwise 0.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn open_words(panel: &Panel) -> Bits {
    let [low, high] = &LANES[usize::from(panel.open())];
    Bits { low: vector(low), high: vector(high) }
}

/// For each set of lanes, a bit each, a word for each lane: all ones if it is one of them, otherwise 0.
static LANES: [[[u64; MAX_WIDTH / 2]; 2]; 256] = {
    let mut words = [[[0; MAX_WIDTH / 2]; 2]; 256];
    let mut lanes = 0;
    while lanes < 256 {
        let mut lane = 0;
        while lane < MAX_WIDTH {
            if lanes >> lane & 1 == 1 {
                words[lanes][lane / 4][lane % 4] = u64::MAX;
            }
            lane += 1;
        }
        lanes += 1;
    }
    words
};
