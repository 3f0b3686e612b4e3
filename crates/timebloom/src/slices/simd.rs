//! AVX2 and BMI2 versions of what [`super::probe`] does, bit for bit the same. The only unsafe code of the crate.

#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ptr;

use super::long::{Found, Long};
use super::panel::{MAX_WIDTH, Panel, shared_fields};
use super::probe::count_lanes_portably;
use super::query::{self, AT_ONCE, is_run_in};
use super::wide::{Four, Wide};
use crate::hash::ItemHash;

/// Whether this machine has what the functions below need.
#[inline]
pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("popcnt")
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
pub(super) fn matches_long(panels: &[Panel], long: &Long, hash: ItemHash) -> Found {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { matches_long_avx2(panels, long, hash) }
}

/// See [`super::probe`]. Needs [`available`].
#[inline]
pub(super) fn read(panel: &Panel, hash: ItemHash) -> u32 {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { read_line(panel, hash, shared_fields(hash)) }
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

/// Whether some `length` consecutive ones of the first `live` slices of a wide row have the item's bit. Needs
/// [`available`].
#[inline]
pub(super) fn has_run_in_wide(panels: &[Panel], wide: &Wide, hash: ItemHash, live: usize, length: u32) -> bool {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { has_run_in_wide_avx2(panels, wide, hash, live, length) }
}

/// [`matches_each`] for a wide row. Bits behind the last slice mean nothing. Needs [`available`].
#[inline]
pub(super) fn matches_each_in_wide(panels: &[Panel], wide: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { matches_each_in_wide_avx2(panels, wide, hashes, found) }
}

/// The same for a row that is too large for the nearer caches.
#[inline]
pub(super) fn matches_each_in_far(panels: &[Panel], wide: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { matches_each_in_far_avx2(panels, wide, hashes, found) }
}

/// See [`super::query`]. Needs [`available`].
#[inline]
pub(super) fn have_runs(found: &[u64; AT_ONCE], length: u32) -> [bool; AT_ONCE] {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { have_runs_avx2(found, length) }
}

/// [`set`] for a wide row. Needs [`available`].
#[inline]
pub(super) fn set_in_wide(panels: &mut [Panel], hash: ItemHash) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { set_in_wide_avx2(panels, hash) }
}

/// The same for several items.
#[inline]
pub(super) fn set_all_in_wide(panels: &mut [Panel], hashes: &[ItemHash]) {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { set_all_in_wide_avx2(panels, hashes) }
}

/// See [`super::probe`]. Needs [`available`].
#[inline]
pub(super) fn count_ones(words: &[u64], first: usize, step: usize) -> u64 {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { count_ones_popcnt(words, first, step) }
}

/// See [`super::probe`]. Needs [`available`].
#[inline]
pub(super) fn count_lanes(words: &[u64], width: usize) -> [u32; MAX_WIDTH] {
    debug_assert!(available(), "checked by the caller");
    // SAFETY: the caller has seen that the features are there
    unsafe { count_lanes_popcnt(words, width) }
}

/// Asks for the lines of all items in these panels, so that they arrive while others are worked on.
#[inline]
pub(super) fn prefetch(panels: &[Panel], hashes: &[ItemHash]) {
    for panel in panels {
        for &hash in hashes {
            // SAFETY: prefetching has no effect but on time
            unsafe { _mm_prefetch::<_MM_HINT_T0>(any_line(panel, panel.line(hash)).cast()) };
        }
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn matches_avx2(panels: &[Panel], hash: ItemHash) -> u64 {
    let shared = shared_fields(hash);
    let bits = bits_of(shared);
    panels.iter().fold(0, |found, panel| found | matches_in_one(panel, hash, shared, bits))
}

/// Which of the first 64 slices have the item's bit, of those of a panel.
#[target_feature(enable = "avx2,bmi2")]
fn matches_in_one(panel: &Panel, hash: ItemHash, shared: u64, bits: Bits) -> u64 {
    if !panel.shares_fields() {
        return _pdep_u64(read_line(panel, hash, shared).into(), panel.ages);
    }
    if panel.width() == MAX_WIDTH {
        return panel.ages & !missing_of_one(panel, halves_in(panel, hash, bits));
    }
    let lanes = !missing_in_narrow(panel, panel.line(hash), panel.by_lane(shared));
    // those after the oldest slice have no place to go to
    _pdep_u64((lanes >> panel.lane(0)).into(), panel.ages)
}

/// One bit per lane of a line of a panel of fewer than eight: whether it lacks the item's bit. Those above the last lane
/// mean nothing. The fields come in the order of the lanes.
#[target_feature(enable = "avx2")]
fn missing_in_narrow(panel: &Panel, line: usize, fields: u64) -> u8 {
    let is_long = panel.width() > 4;
    // SAFETY: behind the last line there are as many words as make its vectors whole; unaligned loads
    unsafe {
        let line = any_line(panel, line).cast::<__m256i>();
        let low = missing_of_four(_mm256_and_si256(_mm256_loadu_si256(line), bits_of_four(fields)));
        if !is_long {
            return low;
        }
        let high = _mm256_and_si256(_mm256_loadu_si256(line.add(1)), bits_of_four(fields >> 32));
        low | missing_of_four(high) << 4
    }
}

/// One bit per word: whether it is 0.
#[target_feature(enable = "avx2")]
fn missing_of_four(words: __m256i) -> u8 {
    let missing = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // four bits
    let lanes = _mm256_movemask_pd(_mm256_castsi256_pd(missing)) as u8;
    lanes
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn matches_long_avx2(panels: &[Panel], long: &Long, hash: ItemHash) -> Found {
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
        missing_in_line8(panel, line, bits_of(fields))
    } else {
        missing_in_narrow(panel, line, fields)
    };
    let lanes = !missing;
    u32::from(from_youngest(panel, lanes)) & ((1 << panel.live()) - 1)
}

/// The bits of lanes, that of the youngest slice lowest.
#[inline]
fn from_youngest(panel: &Panel, lanes: u8) -> u8 {
    lanes.rotate_right(panel.youngest().wrapping_sub(panel.base()).into())
}

/// One bit per lane of a line of a panel of eight: whether it lacks the item's bit.
#[target_feature(enable = "avx2")]
fn missing_in_line8(panel: &Panel, line: usize, bits: Bits) -> u8 {
    // SAFETY: a line of this panel
    let halves = unsafe { halves(line8(panel, line).cast(), bits) };
    #[allow(clippy::cast_possible_truncation)] // eight bits
    let missing = zeros(_mm256_permute4x64_epi64::<0b11_01_10_00>(halves)) as u8;
    missing
}

/// The item's bits in a line of a panel of eight, each word half as long: 0, or something else. They come as those of lanes
/// 0, 1, 4, 5, 2, 3, 6, 7.
///
/// # Safety
///
/// A line can be read there.
#[target_feature(enable = "avx2")]
unsafe fn halves(line: *const __m256i, bits: Bits) -> __m256i {
    // SAFETY: the caller's promise: 64 readable bytes; unaligned loads
    let (low, high) = unsafe { (_mm256_loadu_si256(line), _mm256_loadu_si256(line.add(1))) };
    _mm256_packs_epi32(_mm256_and_si256(low, bits.low), _mm256_and_si256(high, bits.high))
}

/// One bit for each of eight numbers: whether it is 0.
#[target_feature(enable = "avx2")]
fn zeros(numbers: __m256i) -> u32 {
    let zeros = _mm256_cmpeq_epi32(numbers, _mm256_setzero_si256());
    _mm256_movemask_ps(_mm256_castsi256_ps(zeros)).cast_unsigned()
}

/// Which slices of a wide row lack the item's bit.
#[target_feature(enable = "avx2,bmi2")]
fn missing_in_wide(panels: &[Panel], wide: &Wide, hash: ItemHash) -> u64 {
    let bits = bits_of(shared_fields(hash));
    let mut missing = 0;
    let (fours, rest) = panels.as_chunks::<4>();
    for (panels, four) in fours.iter().zip(&wide.fours) {
        missing |= missing_of_four_panels(panels.each_ref().map(|panel| halves_in(panel, hash, bits)), four);
    }
    for panel in rest {
        missing |= missing_of_one(panel, halves_in(panel, hash, bits));
    }
    missing
}

/// The same for a row of four panels or more, up to seven: without loops.
#[target_feature(enable = "avx2,bmi2")]
fn missing_in_some<const PANELS: usize>(panels: &[Panel; PANELS], wide: &Wide, hash: ItemHash) -> u64 {
    let bits = bits_of(shared_fields(hash));
    missing_of_some(panels, wide, panels.each_ref().map(|panel| halves_in(panel, hash, bits)))
}

/// The same, given what their lines have.
#[target_feature(enable = "avx2,bmi2")]
fn missing_of_some<const PANELS: usize>(panels: &[Panel; PANELS], wide: &Wide, halves: [__m256i; PANELS]) -> u64 {
    const { assert!(PANELS >= 4 && PANELS < 8) };
    let mut missing = missing_of_four_panels([halves[0], halves[1], halves[2], halves[3]], &wide.fours[0]);
    for place in 4..PANELS {
        missing |= missing_of_one(&panels[place], halves[place]);
    }
    missing
}

/// [`halves`] of the item's line in a panel of eight.
#[target_feature(enable = "avx2")]
fn halves_in(panel: &Panel, hash: ItemHash, bits: Bits) -> __m256i {
    // SAFETY: a line of this panel
    unsafe { halves(line8(panel, panel.line(hash)).cast(), bits) }
}

/// Which slices of four panels of a wide row lack the item's bit, given what their lines have.
#[target_feature(enable = "avx2,bmi2")]
fn missing_of_four_panels([a, b, c, d]: [__m256i; 4], four: &Four) -> u64 {
    // words that are half as long become a quarter, then a byte, and stay 0 or something else. They come as `Four` says
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    // SAFETY: 32 readable bytes; unaligned load
    let by_age = unsafe { _mm256_loadu_si256(four.by_age.as_ptr().cast()) };
    let missing = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(bytes, by_age), _mm256_setzero_si256());
    let missing = _mm256_movemask_epi8(missing).cast_unsigned();
    _pdep_u64(missing.into(), four.ages[0]) | _pdep_u64((missing >> 16).into(), four.ages[1])
}

/// Which slices of a panel of eight lack the item's bit, given what its line has.
#[target_feature(enable = "avx2,bmi2")]
fn missing_of_one(panel: &Panel, halves: __m256i) -> u64 {
    let order = BY_SEAT[usize::from(panel.youngest())].as_ptr().cast();
    // SAFETY: 32 readable bytes; unaligned load
    let order = unsafe { _mm256_loadu_si256(order) };
    let missing = zeros(_mm256_permutevar8x32_epi32(halves, order));
    // lanes without a slice have no place to go to
    _pdep_u64(missing.into(), panel.ages)
}

/// For each seat of the youngest slice, where the lanes of a panel of eight are among its [`halves`], that one first.
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

/// Panel by panel, so that what is known of one stays in registers, and the lines of all items are fetched at once.
#[target_feature(enable = "avx2,bmi2")]
fn matches_each_avx2(panels: &[Panel], hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    let mut shared = [0; AT_ONCE];
    for (shared, &hash) in shared.iter_mut().zip(hashes) {
        *shared = shared_fields(hash);
    }
    for panel in panels {
        for ((&hash, shared), found) in hashes.iter().zip(shared).zip(&mut *found) {
            *found |= matches_in_one(panel, hash, shared, bits_of(shared));
        }
    }
}

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
fn has_run_in_wide_avx2(panels: &[Panel], wide: &Wide, hash: ItemHash, live: usize, length: u32) -> bool {
    match Row::of(panels) {
        Row::Five(panels) => has_run_within(!missing_in_some(panels, wide, hash), live, length),
        Row::Four(_) | Row::Six(_) | Row::Other => has_run_in_more(panels, wide, hash, live, length),
    }
}

/// Away from the short way.
#[target_feature(enable = "avx2,bmi2")]
#[inline(never)]
fn has_run_in_more(panels: &[Panel], wide: &Wide, hash: ItemHash, live: usize, length: u32) -> bool {
    let missing = match Row::of(panels) {
        Row::Four(panels) => missing_in_some(panels, wide, hash),
        Row::Six(panels) => missing_in_some(panels, wide, hash),
        Row::Five(_) | Row::Other => missing_in_wide(panels, wide, hash),
    };
    has_run_within(!missing, live, length)
}

/// Whether there is a run of `length` among the first `live` bits.
#[target_feature(enable = "bmi2")]
fn has_run_within(found: u64, live: usize, length: u32) -> bool {
    #[allow(clippy::cast_possible_truncation)] // at most 64
    let live = live as u32;
    is_run_in(_bzhi_u64(found, live), length)
}

#[target_feature(enable = "avx2,bmi2")]
fn matches_each_in_wide_avx2(panels: &[Panel], wide: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    let items = found.iter_mut().zip(hashes);
    match Row::of(panels) {
        Row::Four(panels) => items.for_each(|(found, &hash)| *found = !missing_in_some(panels, wide, hash)),
        Row::Five(panels) => items.for_each(|(found, &hash)| *found = !missing_in_some(panels, wide, hash)),
        Row::Six(panels) => items.for_each(|(found, &hash)| *found = !missing_in_some(panels, wide, hash)),
        Row::Other => items.for_each(|(found, &hash)| *found = !missing_in_wide(panels, wide, hash)),
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn matches_each_in_far_avx2(panels: &[Panel], wide: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) {
    match Row::of(panels) {
        Row::Four(panels) => matches_each_in_some(panels, wide, hashes, found),
        Row::Five(panels) => matches_each_in_some(panels, wide, hashes, found),
        Row::Six(panels) => matches_each_in_some(panels, wide, hashes, found),
        Row::Other => {
            prefetch(panels, hashes);
            matches_each_in_wide_avx2(panels, wide, hashes, found);
        }
    }
}

/// First asks for the lines of all items, and remembers where they are.
#[target_feature(enable = "avx2,bmi2")]
fn matches_each_in_some<const PANELS: usize>(
    panels: &[Panel; PANELS],
    wide: &Wide,
    hashes: &[ItemHash],
    found: &mut [u64; AT_ONCE],
) {
    let mut lines = [[ptr::null::<__m256i>(); PANELS]; AT_ONCE];
    let firsts = panels.each_ref().map(|panel| line8(panel, 0).cast::<[u64; MAX_WIDTH]>());
    for (lines, &hash) in lines.iter_mut().zip(hashes) {
        for place in 0..PANELS {
            // SAFETY: a line of this panel; and prefetching has no effect but on time
            unsafe {
                let line = firsts[place].add(panels[place].line(hash));
                _mm_prefetch::<_MM_HINT_T0>(line.cast());
                lines[place] = line.cast();
            }
        }
    }
    for ((found, lines), &hash) in found.iter_mut().zip(&lines).zip(hashes) {
        let bits = bits_of(shared_fields(hash));
        // SAFETY: the lines of these panels
        *found = !missing_of_some(panels, wide, lines.map(|line| unsafe { halves(line, bits) }));
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn have_runs_avx2(found: &[u64; AT_ONCE], length: u32) -> [bool; AT_ONCE] {
    query::have_runs(found, length)
}

#[target_feature(enable = "avx2,bmi2")]
fn set_in_wide_avx2(panels: &mut [Panel], hash: ItemHash) {
    match only_two(panels) {
        Some(two) => set_in_each(two, hash),
        None => set_avx2(panels, hash),
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn set_all_in_wide_avx2(panels: &mut [Panel], hashes: &[ItemHash]) {
    match only_two(panels) {
        Some(two) => hashes.iter().for_each(|&hash| set_in_each(two, hash)),
        None => hashes.iter().for_each(|&hash| set_avx2(panels, hash)),
    }
}

/// The first two panels, if no more of them than these take insertions: as in most wide rows.
#[inline]
fn only_two(panels: &mut [Panel]) -> Option<&mut [Panel; 2]> {
    match panels {
        [_, _, third, ..] if third.open() == 0 => panels.first_chunk_mut(),
        _ => None,
    }
}

/// Sets an item's bits in two wide panels: their number is known, so that there is no loop.
#[target_feature(enable = "avx2,bmi2")]
fn set_in_each(panels: &mut [Panel; 2], hash: ItemHash) {
    let bits = bits_of(shared_fields(hash));
    for panel in panels {
        let line = panel.line(hash);
        write_line8(panel, line, bits);
    }
}

/// The words of a line of a panel of any width: as many as make its vectors whole.
#[inline]
fn any_line(panel: &Panel, line: usize) -> *const u64 {
    debug_assert!(has_whole_vectors(panel, line), "spare words are behind the last line");
    // SAFETY: the line is below the number of lines, and these are behind the padding
    unsafe { panel.words.as_ptr().byte_add(panel.padding_bytes.into()).add(line * panel.width()) }
}

/// The same, to write to.
#[inline]
fn any_line_mut(panel: &mut Panel, line: usize) -> *mut u64 {
    debug_assert!(has_whole_vectors(panel, line), "spare words are behind the last line");
    let (padding, word) = (panel.padding_bytes.into(), line * panel.width());
    // SAFETY: as above
    unsafe { panel.words.as_mut_ptr().byte_add(padding).add(word) }
}

fn has_whole_vectors(panel: &Panel, line: usize) -> bool {
    panel.padding() + line * panel.width() + panel.width().next_multiple_of(4) <= panel.words.len()
}

/// The eight words of a line of a panel of eight.
#[inline]
fn line8(panel: &Panel, line: usize) -> *const u64 {
    debug_assert!(panel.padding() + (line + 1) * MAX_WIDTH <= panel.words.len(), "I7: a panel has all its lines");
    // SAFETY: the line is below the number of lines, and a panel of eight lanes has eight words for each, behind the
    // padding
    unsafe { panel.words.as_ptr().byte_add(panel.padding_bytes.into()).cast::<[u64; MAX_WIDTH]>().add(line).cast() }
}

/// The same, to write to.
#[inline]
fn line8_mut(panel: &mut Panel, line: usize) -> *mut u64 {
    debug_assert!(panel.padding() + (line + 1) * MAX_WIDTH <= panel.words.len(), "I7: a panel has all its lines");
    let padding = panel.padding_bytes.into();
    // SAFETY: as above
    unsafe { panel.words.as_mut_ptr().byte_add(padding).cast::<[u64; MAX_WIDTH]>().add(line).cast() }
}

/// A word for each of eight lanes: with the one bit that is the item's, or a mask.
#[derive(Clone, Copy)]
struct Bits {
    /// Lanes 0 to 3.
    low: __m256i,
    /// Lanes 4 to 7.
    high: __m256i,
}

/// The bits that an item's fields name.
#[target_feature(enable = "avx2")]
fn bits_of(fields: u64) -> Bits {
    let places = places(fields);
    Bits { low: bits_at(places), high: bits_at(_mm_shuffle_epi32::<1>(places)) }
}

/// The bits that the first four of an item's fields name.
#[target_feature(enable = "avx2")]
fn bits_of_four(fields: u64) -> __m256i {
    bits_at(places(fields))
}

/// What an item's fields say: six bits of each.
#[target_feature(enable = "avx2")]
fn places(fields: u64) -> __m128i {
    _mm_cvtsi64_si128((fields & 0x3f3f_3f3f_3f3f_3f3f).cast_signed())
}

/// A word for each of the first four bytes, with the one bit that it names, counted from the highest.
#[target_feature(enable = "avx2")]
fn bits_at(places: __m128i) -> __m256i {
    _mm256_srlv_epi64(_mm256_set1_epi64x(i64::MIN), _mm256_cvtepu8_epi64(places))
}

#[target_feature(enable = "avx2,bmi2")]
#[inline(never)] // away from the short way
fn set_avx2(panels: &mut [Panel], hash: ItemHash) {
    let shared = shared_fields(hash);
    let bits = bits_of(shared);
    for panel in panels {
        if panel.open() == 0 {
            // panels stand in order of their youngest slice
            break;
        }
        if panel.is_wide() {
            let line = panel.line(hash);
            write_line8(panel, line, bits);
        } else {
            write_line(panel, hash, shared);
        }
    }
}

/// For each set of lanes, a bit each, a word for each lane: all ones if it is one of them, otherwise 0.
static LANES: [[u64; MAX_WIDTH]; 256] = {
    let mut words = [[0; MAX_WIDTH]; 256];
    let mut lanes = 0;
    while lanes < 256 {
        let mut lane = 0;
        while lane < MAX_WIDTH {
            if lanes >> lane & 1 == 1 {
                words[lanes][lane] = u64::MAX;
            }
            lane += 1;
        }
        lanes += 1;
    }
    words
};

/// Sets an item's bits in the lanes of a panel of eight that take insertions.
#[target_feature(enable = "avx2")]
fn write_line8(panel: &mut Panel, line: usize, bits: Bits) {
    let open = open_words(panel);
    let line = line8_mut(panel, line).cast::<__m256i>();
    // SAFETY: a line has 64 writable bytes, borrowed with the panel; unaligned loads and stores
    unsafe {
        set_in(line, _mm256_and_si256(bits.low, open.low));
        set_in(line.add(1), _mm256_and_si256(bits.high, open.high));
    }
}

/// Sets an item's bits in the lanes of a panel of any width that take insertions. `shared` are the fields of panels that
/// share them.
#[target_feature(enable = "avx2")]
fn write_line(panel: &mut Panel, hash: ItemHash, shared: u64) {
    let fields = panel.by_lane(panel.fields(hash, shared));
    let (line, open) = (panel.line(hash), open_words(panel));
    let is_long = panel.width() > 4;
    let line = any_line_mut(panel, line).cast::<__m256i>();
    // SAFETY: behind the last line there are as many words as make its vectors whole, borrowed with the panel; no lane
    // above the last is open, so that other words stay as they are
    unsafe {
        set_in(line, _mm256_and_si256(bits_of_four(fields), open.low));
        if is_long {
            set_in(line.add(1), _mm256_and_si256(bits_of_four(fields >> 32), open.high));
        }
    }
}

/// Sets bits of four words.
///
/// # Safety
///
/// The words can be read and written.
#[target_feature(enable = "avx2")]
unsafe fn set_in(words: *mut __m256i, bits: __m256i) {
    // SAFETY: the caller's promise; unaligned load and store
    unsafe { _mm256_storeu_si256(words, _mm256_or_si256(_mm256_loadu_si256(words), bits)) };
}

/// A word for each lane: all ones if it takes insertions, otherwise 0.
#[target_feature(enable = "avx2")]
fn open_words(panel: &Panel) -> Bits {
    let words = LANES[usize::from(panel.open())].as_ptr().cast::<__m256i>();
    // SAFETY: eight readable words; unaligned loads
    unsafe { Bits { low: _mm256_loadu_si256(words), high: _mm256_loadu_si256(words.add(1)) } }
}

#[target_feature(enable = "popcnt")]
fn count_lanes_popcnt(words: &[u64], width: usize) -> [u32; MAX_WIDTH] {
    count_lanes_portably(words, width)
}

#[target_feature(enable = "popcnt")]
fn count_ones_popcnt(words: &[u64], first: usize, step: usize) -> u64 {
    words[first.min(words.len())..].chunks(step).map(|words| u64::from(words[0].count_ones())).sum()
}
