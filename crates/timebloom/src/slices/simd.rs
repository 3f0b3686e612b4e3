//! AVX2 and BMI2 versions of what [`super::probe`] does, bit for bit the same. The only unsafe code of the crate.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::panel::{FIELD_BITS, MAX_WIDTH, Panel, Spot};
use crate::hash::ItemHash;

/// Whether this machine has what the functions below need.
#[inline]
pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2")
}

/// See [`super::probe`]. Needs [`available`].
#[inline]
pub(super) fn matches(panels: &[Panel], hash: ItemHash) -> u64 {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { matches_avx2(panels, hash) }
}

/// See [`super::probe`]. Needs [`available`].
#[inline]
pub(super) fn read(panel: &Panel, hash: ItemHash) -> u32 {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { read_avx2(panel, hash) }
}

/// See [`super::probe`]. Needs [`available`].
#[inline]
pub(super) fn set(panels: &mut [Panel], hash: ItemHash) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { set_avx2(panels, hash) }
}

/// See [`super::probe`]. Needs [`available`].
#[inline]
pub(super) fn matches_each(panels: &[Panel], hashes: &[ItemHash], found: &mut [u64]) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { matches_each_avx2(panels, hashes, found) }
}

/// Asks for the lines of all items in these panels, so that they arrive while others are worked on.
#[inline]
pub(super) fn prefetch(panels: &[Panel], hashes: &[ItemHash]) {
    for panel in panels {
        for &hash in hashes {
            let word = panel.padding() + panel.spot(hash).line * panel.width();
            // SAFETY: a line is inside the words of its panel; and prefetching has no effect but on time
            unsafe { _mm_prefetch::<_MM_HINT_T0>(panel.words.as_ptr().add(word).cast()) };
        }
    }
}

/// Panel by panel, so that what is known of one stays in registers, and the lines of all items are fetched at once.
#[target_feature(enable = "avx2,bmi2")]
fn matches_each_avx2(panels: &[Panel], hashes: &[ItemHash], found: &mut [u64]) {
    for panel in panels {
        let (ages, youngest) = (panel.ages, panel.youngest().into());
        if panel.width() == MAX_WIDTH {
            for (&hash, found) in hashes.iter().zip(&mut *found) {
                *found |= _pdep_u64(read8(panel, hash).rotate_right(youngest).into(), ages);
            }
        } else {
            for (&hash, found) in hashes.iter().zip(&mut *found) {
                *found |= _pdep_u64(panel.read(hash).into(), ages);
            }
        }
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn matches_avx2(panels: &[Panel], hash: ItemHash) -> u64 {
    let mut found = 0;
    for panel in panels {
        // lanes without a slice come last, and have no place to go to
        let by_age = if panel.width() == MAX_WIDTH {
            u32::from(read8(panel, hash).rotate_right(panel.youngest().into()))
        } else {
            panel.read(hash)
        };
        found |= _pdep_u64(by_age.into(), panel.ages);
    }
    found
}

#[target_feature(enable = "avx2")]
fn read_avx2(panel: &Panel, hash: ItemHash) -> u32 {
    if panel.width() < MAX_WIDTH {
        return panel.read(hash);
    }
    let lanes = read8(panel, hash).rotate_right(panel.youngest().into());
    u32::from(lanes) & ((1 << panel.live()) - 1)
}

/// One bit per lane of a panel of eight: whether it has the item's bit.
#[target_feature(enable = "avx2")]
fn read8(panel: &Panel, hash: ItemHash) -> u8 {
    let spot = panel.spot(hash);
    // shifting a word left by the field brings the bit to the top
    let (low, high) = field_vectors(spot.fields);
    let line = line8(panel, spot).cast::<__m256i>();
    // SAFETY: a line has 64 readable bytes; unaligned loads
    let (words_low, words_high) = unsafe { (_mm256_loadu_si256(line), _mm256_loadu_si256(line.add(1))) };
    let low = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_sllv_epi64(words_low, low)));
    let high = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_sllv_epi64(words_high, high)));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // four bits each
    let lanes = (low | high << 4) as u8;
    lanes
}

/// The eight words of a line of a panel of eight.
#[inline]
fn line8(panel: &Panel, spot: Spot) -> *const u64 {
    let word = panel.padding() + spot.line * MAX_WIDTH;
    debug_assert!(word + MAX_WIDTH <= panel.words.len(), "I7: a panel has all its lines");
    // SAFETY: the line is below the number of lines, and a panel of eight lanes has eight words for each, behind the
    // padding
    unsafe { panel.words.as_ptr().add(word) }
}

/// The same, to write to.
#[inline]
fn line8_mut(panel: &mut Panel, spot: Spot) -> *mut u64 {
    let word = panel.padding() + spot.line * MAX_WIDTH;
    debug_assert!(word + MAX_WIDTH <= panel.words.len(), "I7: a panel has all its lines");
    // SAFETY: as above
    unsafe { panel.words.as_mut_ptr().add(word) }
}

/// The fields of lanes 0 to 3 and of lanes 4 to 7.
#[target_feature(enable = "avx2")]
fn field_vectors(fields: u64) -> (__m256i, __m256i) {
    #[allow(clippy::cast_possible_wrap)] // 6
    const B: i64 = FIELD_BITS as i64;
    let all = _mm256_set1_epi64x(fields.cast_signed());
    let six_bits = _mm256_set1_epi64x(63);
    let low = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, B, 2 * B, 3 * B));
    let high = _mm256_srlv_epi64(all, _mm256_setr_epi64x(4 * B, 5 * B, 6 * B, 7 * B));
    (_mm256_and_si256(low, six_bits), _mm256_and_si256(high, six_bits))
}

#[target_feature(enable = "avx2,bmi2")]
fn set_avx2(panels: &mut [Panel], hash: ItemHash) {
    for panel in panels {
        if panel.open() == 0 {
            // panels stand in order of their youngest slice
            break;
        }
        if panel.width() == MAX_WIDTH {
            write8(panel, hash);
        } else {
            panel.write(hash);
        }
    }
}

/// Sets the item's bit in each lane of a panel of eight that takes insertions.
#[target_feature(enable = "avx2,bmi2")]
fn write8(panel: &mut Panel, hash: ItemHash) {
    let spot = panel.spot(hash);
    let (low, high) = field_vectors(spot.fields);
    // a byte for each lane, 1 if it is open; then a word, with that bit on top
    let open = _mm_cvtsi64_si128(_pdep_u64(panel.open().into(), 0x0101_0101_0101_0101).cast_signed());
    let open_low = _mm256_slli_epi64(_mm256_cvtepu8_epi64(open), 63);
    let open_high = _mm256_slli_epi64(_mm256_cvtepu8_epi64(_mm_srli_si128(open, 4)), 63);
    let line = line8_mut(panel, spot).cast::<__m256i>();
    // SAFETY: a line has 64 writable bytes, borrowed with the panel; unaligned loads and stores
    unsafe {
        let words = _mm256_or_si256(_mm256_loadu_si256(line), _mm256_srlv_epi64(open_low, low));
        _mm256_storeu_si256(line, words);
        let line = line.add(1);
        let words = _mm256_or_si256(_mm256_loadu_si256(line), _mm256_srlv_epi64(open_high, high));
        _mm256_storeu_si256(line, words);
    }
}
