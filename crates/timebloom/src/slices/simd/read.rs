//! Reading an item's bits from panels of any width.

use std::arch::x86_64::*;

use super::super::long::{Found, Long};
use super::super::panel::{MAX_WIDTH, Panel};
use super::super::query::{self, AT_ONCE};
use super::super::wide::{BY_SEAT, Wide};
use super::bits::{Bits, Item, places};
use super::raw::Line;
use crate::hash::ItemHash;

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn matches(panels: &[Panel], hash: ItemHash) -> u64 {
    let item = Item::of(hash);
    panels.iter().fold(0, |found, panel| found | matches_in_one(panel, item))
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
pub(super) fn matches_long(panels: &[Panel], long: &Long, hash: ItemHash) -> Found {
    let item = Item::of(hash);
    let mut found = Found::default();
    for (panel, ages) in long.ages(panels) {
        let mut bits = u64::from(read_line(panel, item));
        for (found, ages) in found.iter_mut().zip(ages) {
            if bits == 0 {
                break;
            }
            *found |= _pdep_u64(bits, ages);
            bits = bits.unbounded_shr(ages.count_ones());
        }
    }
    found
}

#[target_feature(enable = "avx2")]
pub(super) fn read(panel: &Panel, hash: ItemHash) -> u32 {
    read_line(panel, Item::of(hash))
}

#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn have_runs(found: &[u64; AT_ONCE], inside: u64, length: u32) -> [bool; AT_ONCE] {
    query::have_runs(found, inside, length)
}

/// Which of the first 64 slices have the item's bit, of those of a panel.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn matches_in_one(panel: &Panel, item: Item) -> u64 {
    // those after the oldest slice have no place to go to
    _pdep_u64(found_in_one(panel, item).into(), panel.ages)
}

/// One bit per slice of a panel, youngest lowest: whether it has the item's bit. Those above the last mean nothing.
#[target_feature(enable = "avx2")]
#[inline]
fn found_in_one(panel: &Panel, item: Item) -> u32 {
    let line = panel.line(item.hash);
    if panel.width() == MAX_WIDTH {
        return InEight::of(panel).found(Line::of_eight(panel, line), item.bits_in::<false>(panel));
    }
    let slices = InNarrow::of(panel);
    let (line, fields) = (Line::of(panel, line), slices.by_lane(panel.fields(item.hash, item.fields)));
    if panel.width() > 4 { slices.found::<true>(line, fields) } else { slices.found::<false>(line, fields) }
}

/// The same without what means nothing.
#[target_feature(enable = "avx2")]
fn read_line(panel: &Panel, item: Item) -> u32 {
    found_in_one(panel, item) & ((1 << panel.live()) - 1)
}

/// The item's bits in a line of eight, each word half as long: 0, or something else. They come as those of lanes 0, 1, 4,
/// 5, 2, 3, 6, 7.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn halves(line: Line, bits: Bits) -> __m256i {
    _mm256_packs_epi32(_mm256_and_si256(line.low(), bits.low), _mm256_and_si256(line.high(), bits.high))
}

/// [`halves`] of the item's line in a panel of eight.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn halves_in<const SHARED: bool>(panel: &Panel, item: Item) -> __m256i {
    halves(Line::of_eight(panel, panel.line(item.hash)), item.bits_in::<SHARED>(panel))
}

/// One bit for each of eight numbers: whether it is 0.
#[target_feature(enable = "avx2")]
#[inline]
fn zeros(numbers: __m256i) -> u32 {
    let zeros = _mm256_cmpeq_epi32(numbers, _mm256_setzero_si256());
    _mm256_movemask_ps(_mm256_castsi256_ps(zeros)).cast_unsigned()
}

/// Which slices of a panel of eight lack the item's bit, given where its lanes are and what its line has.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
pub(super) fn missing_in_one(slices: &InEight, panel: &Panel, halves: __m256i) -> u64 {
    // lanes without a slice have no place to go to
    _pdep_u64(slices.missing_in(halves).into(), panel.ages)
}

/// The slices of a panel of eight lanes.
pub(super) struct InEight {
    /// Where the lanes are, from the youngest slice on.
    order: __m256i,
}

impl InEight {
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn of(panel: &Panel) -> Self {
        Self::in_order(BY_SEAT[usize::from(panel.youngest())])
    }

    /// Those of the fifth panel of a wide row.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn of_fifth(wide: &Wide) -> Self {
        Self::in_order(wide.fifth)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn in_order(lanes: [u8; MAX_WIDTH]) -> Self {
        InEight { order: _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(lanes))) }
    }

    /// Which of them have the item's bit, youngest lowest; those above the last mean nothing.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn found(&self, line: Line, bits: Bits) -> u32 {
        !self.missing_in(halves(line, bits))
    }

    /// Which of them lack it, given what the line has.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn missing_in(&self, halves: __m256i) -> u32 {
        zeros(_mm256_permutevar8x32_epi32(halves, self.order))
    }
}

/// The slices of a panel of fewer lanes.
pub(super) struct InNarrow {
    /// How far the fields are turned, so that they come in the order of the lanes.
    turn: u32,
    /// The lane of the youngest slice: the others follow it.
    youngest: usize,
}

impl InNarrow {
    #[inline]
    pub(super) fn of(panel: &Panel) -> Self {
        InNarrow { turn: 8 * u32::from(panel.base()), youngest: panel.lane(0) }
    }

    /// An item's fields in the order of the lanes, six bits of each.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn by_lane(&self, fields: u64) -> __m128i {
        places(fields.rotate_right(self.turn))
    }

    /// Which of them have the item's bit, in a panel of more than four lanes or not, youngest lowest; those above the last
    /// mean nothing.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn found<const MORE_THAN_FOUR: bool>(&self, line: Line, fields: __m128i) -> u32 {
        let mut lanes = has_in_four(line.low(), fields);
        if MORE_THAN_FOUR {
            lanes |= has_in_four(line.high(), _mm_shuffle_epi32::<1>(fields)) << 4;
        }
        lanes >> self.youngest
    }
}

/// One bit per word: whether it has the one that its field names.
#[target_feature(enable = "avx2")]
#[inline]
fn has_in_four(words: __m256i, fields: __m128i) -> u32 {
    let highest = _mm256_sllv_epi64(words, _mm256_cvtepu8_epi64(fields));
    _mm256_movemask_pd(_mm256_castsi256_pd(highest)).cast_unsigned()
}
