//! Reading an item's bits from panels of any width.

use std::arch::x86_64::*;

use super::super::long::{Found, Long};
use super::super::panel::{MAX_WIDTH, Panel, shared_fields};
use super::super::query::{self, AT_ONCE};
use super::bits::{Bits, bits_of, bits_of_four};
use super::raw::{Line, vector};
use crate::hash::ItemHash;

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn matches(panels: &[Panel], hash: ItemHash) -> u64 {
    let shared = shared_fields(hash);
    let bits = bits_of(shared);
    panels.iter().fold(0, |found, panel| found | matches_in_one(panel, hash, shared, bits))
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
pub(super) fn matches_long(panels: &[Panel], long: &Long, hash: ItemHash) -> Found {
    let shared = shared_fields(hash);
    let mut found = Found::default();
    for (panel, ages) in long.ages(panels) {
        let mut bits = u64::from(read_line(panel, hash, shared));
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
    read_line(panel, hash, shared_fields(hash))
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn have_runs(found: &[u64; AT_ONCE], length: u32) -> [bool; AT_ONCE] {
    query::have_runs(found, length)
}

/// Which of the first 64 slices have the item's bit, of those of a panel.
#[target_feature(enable = "avx2,bmi2")]
pub(super) fn matches_in_one(panel: &Panel, hash: ItemHash, shared: u64, bits: Bits) -> u64 {
    if panel.width() == MAX_WIDTH {
        let bits = if panel.shares_fields() { bits } else { bits_of(panel.own_fields(hash)) };
        return panel.ages & !missing_of_one(panel, halves_in(panel, hash, bits));
    }
    let fields = panel.by_lane(panel.fields(hash, shared));
    let lanes = !missing_in_narrow(Line::of(panel, panel.line(hash)), panel.width(), fields);
    // those after the oldest slice have no place to go to
    _pdep_u64((lanes >> panel.lane(0)).into(), panel.ages)
}

/// One bit per slice of a panel of any width, youngest lowest: whether it has the item's bit. `shared` are the fields of
/// panels that share them.
#[target_feature(enable = "avx2")]
fn read_line(panel: &Panel, hash: ItemHash, shared: u64) -> u32 {
    let fields = panel.by_lane(panel.fields(hash, shared));
    let line = panel.line(hash);
    if panel.width() == 1 {
        // nothing to do at once
        return u32::from((panel.words[panel.padding() + line] << (fields & 63)).cast_signed() < 0);
    }
    let missing = if panel.width() == MAX_WIDTH {
        missing_in_eight(Line::of_eight(panel, line), bits_of(fields))
    } else {
        missing_in_narrow(Line::of(panel, line), panel.width(), fields)
    };
    let lanes = !missing;
    u32::from(from_youngest(panel, lanes)) & ((1 << panel.live()) - 1)
}

/// The bits of lanes, that of the youngest slice lowest.
#[inline]
fn from_youngest(panel: &Panel, lanes: u8) -> u8 {
    lanes.rotate_right(panel.youngest().wrapping_sub(panel.base()).into())
}

/// One bit per lane of a line of fewer than eight: whether it lacks the item's bit. Those above the last lane mean nothing.
/// The fields come in the order of the lanes.
#[target_feature(enable = "avx2")]
fn missing_in_narrow(line: Line, width: usize, fields: u64) -> u8 {
    let low = missing_of_four(_mm256_and_si256(line.low(), bits_of_four(fields)));
    if width <= 4 {
        return low;
    }
    low | missing_of_four(_mm256_and_si256(line.high(), bits_of_four(fields >> 32))) << 4
}

/// One bit per word: whether it is 0.
#[target_feature(enable = "avx2")]
fn missing_of_four(words: __m256i) -> u8 {
    let missing = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // four bits
    let lanes = _mm256_movemask_pd(_mm256_castsi256_pd(missing)) as u8;
    lanes
}

/// One bit per lane of a line of eight: whether it lacks the item's bit.
#[target_feature(enable = "avx2")]
fn missing_in_eight(line: Line, bits: Bits) -> u8 {
    #[allow(clippy::cast_possible_truncation)] // eight bits
    let missing = zeros(_mm256_permute4x64_epi64::<0b11_01_10_00>(halves(line, bits))) as u8;
    missing
}

/// The item's bits in a line of eight, each word half as long: 0, or something else. They come as those of lanes 0, 1, 4,
/// 5, 2, 3, 6, 7.
#[target_feature(enable = "avx2")]
pub(super) fn halves(line: Line, bits: Bits) -> __m256i {
    _mm256_packs_epi32(_mm256_and_si256(line.low(), bits.low), _mm256_and_si256(line.high(), bits.high))
}

/// [`halves`] of the item's line in a panel of eight.
#[target_feature(enable = "avx2")]
pub(super) fn halves_in(panel: &Panel, hash: ItemHash, bits: Bits) -> __m256i {
    halves(Line::of_eight(panel, panel.line(hash)), bits)
}

/// One bit for each of eight numbers: whether it is 0.
#[target_feature(enable = "avx2")]
pub(super) fn zeros(numbers: __m256i) -> u32 {
    let zeros = _mm256_cmpeq_epi32(numbers, _mm256_setzero_si256());
    _mm256_movemask_ps(_mm256_castsi256_ps(zeros)).cast_unsigned()
}

/// Which slices of a panel of eight lack the item's bit, given what its line has.
#[target_feature(enable = "avx2,bmi2")]
pub(super) fn missing_of_one(panel: &Panel, halves: __m256i) -> u64 {
    let missing = zeros(_mm256_permutevar8x32_epi32(halves, from_youngest_in(panel)));
    // lanes without a slice have no place to go to
    _pdep_u64(missing.into(), panel.ages)
}

/// Where the lanes of a panel of eight are among its [`halves`], that of the youngest slice first.
#[target_feature(enable = "avx2")]
pub(super) fn from_youngest_in(panel: &Panel) -> __m256i {
    vector(&BY_SEAT[usize::from(panel.youngest())])
}

/// The same for each seat of the youngest slice.
static BY_SEAT: [[u32; MAX_WIDTH]; MAX_WIDTH] = {
    let places = [0, 1, 4, 5, 2, 3, 6, 7];
    let mut by_seat = [[0; MAX_WIDTH]; MAX_WIDTH];
    let mut index = 0;
    while index < MAX_WIDTH * MAX_WIDTH {
        let (youngest, older) = (index / MAX_WIDTH, index % MAX_WIDTH);
        by_seat[youngest][older] = places[(youngest + older) % MAX_WIDTH];
        index += 1;
    }
    by_seat
};
