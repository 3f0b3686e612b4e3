//! AVX2 and BMI2 versions of what [`super::probe`] does, bit for bit the same. The only unsafe code of the crate.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::panel::{MAX_WIDTH, Panel, shared_fields};
use super::query::{AT_ONCE, runs};
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
pub(super) fn matches_each(panels: &[Panel], hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { matches_each_avx2(panels, hashes, found) }
}

/// Whether some `length` consecutive slices have the item's bit. All panels have eight lanes and share their fields, and
/// there are at most 64 slices. Needs [`available`].
#[inline]
pub(super) fn has_wide_run(panels: &[Panel], hash: ItemHash, length: u32) -> bool {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { has_wide_run_avx2(panels, hash, length) }
}

/// [`set`] for such panels. Needs [`available`].
#[inline]
pub(super) fn set_wide(panels: &mut [Panel], hash: ItemHash) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { set_wide_avx2(panels, hash) }
}

/// Asks for the lines of all items in these panels, so that they arrive while others are worked on.
#[inline]
pub(super) fn prefetch(panels: &[Panel], hashes: &[ItemHash]) {
    for panel in panels {
        for &hash in hashes {
            let word = panel.padding() + panel.line(hash) * panel.width();
            // SAFETY: a line is inside the words of its panel; and prefetching has no effect but on time
            unsafe { _mm_prefetch::<_MM_HINT_T0>(panel.words.as_ptr().add(word).cast()) };
        }
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn matches_avx2(panels: &[Panel], hash: ItemHash) -> u64 {
    let fields = field_vectors(shared_fields(hash));
    let mut found = 0;
    for panel in panels {
        found |= if panel.is_wide() {
            by_age(panel, read_line8(panel, panel.line(hash), fields))
        } else {
            _pdep_u64(read_avx2(panel, hash).into(), panel.ages)
        };
    }
    found
}

#[target_feature(enable = "avx2")]
fn read_avx2(panel: &Panel, hash: ItemHash) -> u32 {
    if panel.width() < MAX_WIDTH {
        return panel.read(hash);
    }
    let spot = panel.spot(hash);
    let lanes = read_line8(panel, spot.line, field_vectors(spot.fields)) * 0x101 >> panel.youngest();
    lanes & ((1 << panel.live()) - 1)
}

/// One bit per lane of a line of a panel of eight: whether it has the bit that the lane's field names.
#[target_feature(enable = "avx2")]
fn read_line8(panel: &Panel, line: usize, fields: (__m256i, __m256i)) -> u32 {
    // shifting a word left by the field brings the bit to the top
    let line = line8(panel, line).cast::<__m256i>();
    // SAFETY: a line has 64 readable bytes; unaligned loads
    let (words_low, words_high) = unsafe { (_mm256_loadu_si256(line), _mm256_loadu_si256(line.add(1))) };
    let low = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_sllv_epi64(words_low, fields.0)));
    let high = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_sllv_epi64(words_high, fields.1)));
    (low | high << 4).cast_unsigned()
}

/// [`matches`] for panels of eight lanes that share their fields.
#[target_feature(enable = "avx2,bmi2")]
fn matches_wide(panels: &[Panel], hash: ItemHash) -> u64 {
    let fields = field_vectors(shared_fields(hash));
    let mut found = 0;
    for panel in panels {
        let lanes = read_line8(panel, panel.line(hash), fields);
        found |= by_age(panel, lanes);
    }
    found
}

/// The bits of eight lanes, put where their slices are in the row.
#[target_feature(enable = "bmi2")]
fn by_age(panel: &Panel, lanes: u32) -> u64 {
    // twice in a row: from the youngest on, all seats follow. Lanes without a slice come last, and have no place to go to
    _pdep_u64((lanes * 0x101 >> panel.youngest()).into(), panel.ages)
}

/// Panel by panel, so that what is known of one stays in registers, and the lines of all items are fetched at once.
#[target_feature(enable = "avx2,bmi2")]
fn matches_each_avx2(panels: &[Panel], hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    let six_bits = _mm256_set1_epi64x(63);
    let mut fields = [(six_bits, six_bits); AT_ONCE];
    for (fields, &hash) in fields.iter_mut().zip(hashes) {
        *fields = field_vectors(shared_fields(hash));
    }
    for panel in panels {
        if !panel.is_wide() {
            for (&hash, found) in hashes.iter().zip(&mut *found) {
                *found |= _pdep_u64(read_avx2(panel, hash).into(), panel.ages);
            }
            continue;
        }
        for ((&hash, &fields), found) in hashes.iter().zip(&fields).zip(&mut *found) {
            // they are below 64 already; where the compiler does not see that, it does much to get large shifts right
            let fields = (_mm256_and_si256(fields.0, six_bits), _mm256_and_si256(fields.1, six_bits));
            *found |= by_age(panel, read_line8(panel, panel.line(hash), fields));
        }
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn has_wide_run_avx2(panels: &[Panel], hash: ItemHash, length: u32) -> bool {
    runs(matches_wide(panels, hash), length) != 0
}

#[target_feature(enable = "avx2,bmi2")]
fn set_wide_avx2(panels: &mut [Panel], hash: ItemHash) {
    let fields = field_vectors(shared_fields(hash));
    for panel in panels {
        if panel.open() == 0 {
            break;
        }
        let line = panel.line(hash);
        write_line8(panel, line, fields);
    }
}

/// The eight words of a line of a panel of eight.
#[inline]
fn line8(panel: &Panel, line: usize) -> *const u64 {
    let word = panel.padding() + line * MAX_WIDTH;
    debug_assert!(word + MAX_WIDTH <= panel.words.len(), "I7: a panel has all its lines");
    // SAFETY: the line is below the number of lines, and a panel of eight lanes has eight words for each, behind the
    // padding
    unsafe { panel.words.as_ptr().add(word) }
}

/// The same, to write to.
#[inline]
fn line8_mut(panel: &mut Panel, line: usize) -> *mut u64 {
    let word = panel.padding() + line * MAX_WIDTH;
    debug_assert!(word + MAX_WIDTH <= panel.words.len(), "I7: a panel has all its lines");
    // SAFETY: as above
    unsafe { panel.words.as_mut_ptr().add(word) }
}

/// The fields of lanes 0 to 3 and of lanes 4 to 7, a word each.
#[target_feature(enable = "avx2")]
fn field_vectors(fields: u64) -> (__m256i, __m256i) {
    let bytes = _mm_and_si128(_mm_cvtsi64_si128(fields.cast_signed()), _mm_set1_epi8(63));
    (_mm256_cvtepu8_epi64(bytes), _mm256_cvtepu8_epi64(_mm_srli_epi64::<32>(bytes)))
}

#[target_feature(enable = "avx2,bmi2")]
fn set_avx2(panels: &mut [Panel], hash: ItemHash) {
    let fields = field_vectors(shared_fields(hash));
    for panel in panels {
        if panel.open() == 0 {
            // panels stand in order of their youngest slice
            break;
        }
        if panel.is_wide() {
            let line = panel.line(hash);
            write_line8(panel, line, fields);
        } else {
            panel.write(hash);
        }
    }
}

/// Sets the bits that the fields name in the lanes of a panel of eight that take insertions.
#[target_feature(enable = "avx2,bmi2")]
fn write_line8(panel: &mut Panel, line: usize, fields: (__m256i, __m256i)) {
    // a byte for each lane, 1 if it is open; then a word, with that bit on top
    let open = _mm_cvtsi64_si128(_pdep_u64(panel.open().into(), 0x0101_0101_0101_0101).cast_signed());
    let open_low = _mm256_slli_epi64(_mm256_cvtepu8_epi64(open), 63);
    let open_high = _mm256_slli_epi64(_mm256_cvtepu8_epi64(_mm_srli_si128(open, 4)), 63);
    let line = line8_mut(panel, line).cast::<__m256i>();
    // SAFETY: a line has 64 writable bytes, borrowed with the panel; unaligned loads and stores
    unsafe {
        let words = _mm256_or_si256(_mm256_loadu_si256(line), _mm256_srlv_epi64(open_low, fields.0));
        _mm256_storeu_si256(line, words);
        let line = line.add(1);
        let words = _mm256_or_si256(_mm256_loadu_si256(line), _mm256_srlv_epi64(open_high, fields.1));
        _mm256_storeu_si256(line, words);
    }
}
