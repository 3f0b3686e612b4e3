//! Rows of wide panels only: four of them are tested at once. `SHARED` tells whether all share an item's fields.

use std::arch::x86_64::*;

use super::super::panel::Panel;
use super::super::query::{AT_ONCE, is_run_in};
use super::super::wide::{FOUR, Wide};
use super::bits::Item;
use super::raw::{Line, prefetch, vector};
use super::read::{InEight, halves, halves_in, missing_in_one};
use crate::hash::ItemHash;

/// A row of as many wide panels as those have that are asked for most: at an error rate of 0.01, in the fastest of plans for
/// that, and at 0.001.
enum Row<'a> {
    Four(&'a [Panel; 4]),
    Five(&'a [Panel; 5]),
    Six(&'a [Panel; 6]),
    Other,
}

impl<'a> Row<'a> {
    #[inline]
    fn of(panels: &'a [Panel]) -> Self {
        match panels.len() {
            4 => panels.try_into().map_or(Row::Other, Row::Four),
            5 => panels.try_into().map_or(Row::Other, Row::Five),
            6 => panels.try_into().map_or(Row::Other, Row::Six),
            _ => Row::Other,
        }
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn has_run<const SHARED: bool>(panels: &[Panel], wide: &Wide, hash: ItemHash, length: u32) -> bool {
    if let Ok(five) = panels.try_into() {
        return is_run_in(found_in_some::<5, SHARED>(five, wide, hash), length);
    }
    has_run_in_more::<SHARED>(panels, wide, hash, length)
}

/// Away from the short way of five.
#[target_feature(enable = "avx2,bmi2")]
#[cold]
#[inline]
fn has_run_in_more<const SHARED: bool>(panels: &[Panel], wide: &Wide, hash: ItemHash, length: u32) -> bool {
    is_run_in(matches::<SHARED>(panels, wide, hash), length)
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn matches<const SHARED: bool>(panels: &[Panel], wide: &Wide, hash: ItemHash) -> u64 {
    match Row::of(panels) {
        Row::Four(panels) => found_in_some::<4, SHARED>(panels, wide, hash),
        Row::Five(panels) => found_in_some::<5, SHARED>(panels, wide, hash),
        Row::Six(panels) => found_in_some::<6, SHARED>(panels, wide, hash),
        Row::Other => found_in_any::<SHARED>(panels, wide, hash),
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn matches_each<const SHARED: bool>(
    panels: &[Panel],
    wide: &Wide,
    hashes: &[ItemHash],
    found: &mut [u64; AT_ONCE],
) {
    let items = found.iter_mut().zip(hashes);
    match Row::of(panels) {
        Row::Four(panels) => items.for_each(|(found, &hash)| *found = found_in_some::<4, SHARED>(panels, wide, hash)),
        Row::Five(panels) => items.for_each(|(found, &hash)| *found = found_in_some::<5, SHARED>(panels, wide, hash)),
        Row::Six(panels) => items.for_each(|(found, &hash)| *found = found_in_some::<6, SHARED>(panels, wide, hash)),
        Row::Other => items.for_each(|(found, &hash)| *found = found_in_any::<SHARED>(panels, wide, hash)),
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn matches_each_in_far(panels: &[Panel], wide: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    // with more lines on their way, a processor would wait for them and find nothing else to do
    if panels.iter().any(Panel::is_remote) {
        matches_each_asked::<true, 8>(panels, wide, hashes, found);
    } else {
        matches_each_asked::<false, 4>(panels, wide, hashes, found);
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn matches_each_asked<const REMOTE: bool, const AHEAD: usize>(
    panels: &[Panel],
    wide: &Wide,
    hashes: &[ItemHash],
    found: &mut [u64; AT_ONCE],
) {
    match Row::of(panels) {
        Row::Four(panels) => matches_each_in_some::<4, REMOTE, AHEAD>(panels, wide, hashes, found),
        Row::Five(panels) => matches_each_in_some::<5, REMOTE, AHEAD>(panels, wide, hashes, found),
        Row::Six(panels) => matches_each_in_some::<6, REMOTE, AHEAD>(panels, wide, hashes, found),
        Row::Other => {
            prefetch(panels, hashes);
            matches_each::<true>(panels, wide, hashes, found);
        }
    }
}

/// Asks for the lines of so many items ahead, and remembers where they are.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn matches_each_in_some<const PANELS: usize, const REMOTE: bool, const AHEAD: usize>(
    panels: &[Panel; PANELS],
    wide: &Wide,
    hashes: &[ItemHash],
    found: &mut [u64; AT_ONCE],
) {
    let ask = |hash: ItemHash| {
        panels.each_ref().map(|panel| {
            let line = Line::of_eight(panel, panel.line(hash));
            line.prefetch::<REMOTE>();
            line
        })
    };
    let mut asked = [panels.each_ref().map(|panel| Line::of_eight(panel, 0)); AHEAD];
    for (lines, &hash) in asked.iter_mut().zip(hashes) {
        *lines = ask(hash);
    }
    for (place, (found, &hash)) in found.iter_mut().zip(hashes).enumerate() {
        let lines = &mut asked[place % AHEAD];
        let item = Item::of(hash);
        *found = !missing_in_some(panels, wide, lines.map(|line| halves(line, item.bits))) & wide.live;
        if let Some(&next) = hashes.get(place + AHEAD) {
            *lines = ask(next);
        }
    }
}

/// Which slices have the item's bit, in any wide row.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn found_in_any<const SHARED: bool>(panels: &[Panel], wide: &Wide, hash: ItemHash) -> u64 {
    let item = Item::of(hash);
    let (four, others) = panels.split_first_chunk().map_or((None, panels), |(four, others)| (Some(four), others));
    let in_four = four.map_or(0, |four| missing_in_some(four, wide, halves_in_each::<FOUR, SHARED>(four, item)));
    let missing_in = |panel| missing_in_one(&InEight::of(panel), panel, halves_in::<SHARED>(panel, item));
    !others.iter().fold(in_four, |missing, panel| missing | missing_in(panel)) & wide.live
}

/// The same for a row of four panels or more: without loops.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn found_in_some<const PANELS: usize, const SHARED: bool>(
    panels: &[Panel; PANELS],
    wide: &Wide,
    hash: ItemHash,
) -> u64 {
    !missing_in_some(panels, wide, halves_in_each::<PANELS, SHARED>(panels, Item::of(hash))) & wide.live
}

/// What the lines of an item have.
#[target_feature(enable = "avx2")]
#[inline]
fn halves_in_each<const PANELS: usize, const SHARED: bool>(panels: &[Panel; PANELS], item: Item) -> [__m256i; PANELS] {
    panels.each_ref().map(|panel| halves_in::<SHARED>(panel, item))
}

/// Which slices lack the item's bit, given what the lines of the panels have.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn missing_in_some<const PANELS: usize>(panels: &[Panel; PANELS], wide: &Wide, halves: [__m256i; PANELS]) -> u64 {
    const { assert!(PANELS >= FOUR) };
    let mut missing = missing_in_four([halves[0], halves[1], halves[2], halves[3]], wide);
    if PANELS > FOUR {
        missing |= missing_in_one(&InEight::of_fifth(wide), &panels[FOUR], halves[FOUR]);
    }
    for place in FOUR + 1..PANELS {
        missing |= missing_in_one(&InEight::of(&panels[place]), &panels[place], halves[place]);
    }
    missing
}

/// Which slices of the first four panels lack the item's bit, given what their lines have.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn missing_in_four([a, b, c, d]: [__m256i; FOUR], wide: &Wide) -> u64 {
    // words that are half as long become a quarter, then a byte, and stay 0 or something else. They come as `Wide` says
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    let by_age = _mm256_shuffle_epi8(bytes, vector(&wide.by_age));
    let missing = _mm256_movemask_epi8(_mm256_cmpeq_epi8(by_age, _mm256_setzero_si256())).cast_unsigned();
    // bytes behind the last have no place to go to
    _pdep_u64(missing.into(), wide.ages[0]) | _pdep_u64((missing >> 16).into(), wide.ages[1])
}
