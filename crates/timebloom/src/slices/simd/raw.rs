//! All unsafe code of the crate: calls of functions for certain processors, and memory that is read and written by the
//! vector.

#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::super::long::{Found, Long};
use super::super::panel::{MAX_WIDTH, Panel};
use super::super::query::AT_ONCE;
use super::super::wide::Wide;
use crate::hash::ItemHash;

/// Whether this machine has what the functions below need.
#[inline]
pub(in crate::slices) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("popcnt")
}

/// Functions that may be called once [`available`] was seen to be true, from those that need its features.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $function:path;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub(in crate::slices) fn $name($($argument: $type),*) $(-> $result)? {
            debug_assert!(available(), "checked by the caller");
            // SAFETY: the caller has seen that the features are there
            unsafe { $function($($argument),*) }
        }
    )*};
}

calls! {
    /// Which of the first 64 slices have the item's bit.
    matches(panels: &[Panel], hash: ItemHash) -> u64 = super::read::matches;
    /// The same for several items: adds to what was found.
    matches_each(panels: &[Panel], hashes: &[ItemHash], found: &mut [u64; AT_ONCE]) = super::each::matches_each;
    /// Which slices of a long row have the item's bit.
    matches_long(panels: &[Panel], long: &Long, hash: ItemHash) -> Found = super::read::matches_long;
    /// Which slices of a panel have the item's bit, youngest lowest.
    read(panel: &Panel, hash: ItemHash) -> u32 = super::read::read;
    /// Which items have a run among what was found `inside`.
    have_runs(found: &[u64; AT_ONCE], inside: u64, length: u32) -> [bool; AT_ONCE] = super::read::have_runs;

    /// Whether some `length` consecutive slices of a wide row have the item's bit.
    has_run_in_wide(panels: &[Panel], row: &Wide, hash: ItemHash, length: u32) -> bool = super::wide::has_run::<true>;
    /// The same where some panels have fields of their own.
    has_run_in_low(panels: &[Panel], row: &Wide, hash: ItemHash, length: u32) -> bool = super::wide::has_run::<false>;
    /// [`matches`] for a wide row.
    matches_in_wide(panels: &[Panel], row: &Wide, hash: ItemHash) -> u64 = super::wide::matches::<true>;
    /// The same where some panels have fields of their own.
    matches_in_low(panels: &[Panel], row: &Wide, hash: ItemHash) -> u64 = super::wide::matches::<false>;
    /// [`matches_each`] for a wide row.
    matches_each_in_wide(panels: &[Panel], row: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE])
        = super::wide::matches_each::<true>;
    /// The same where some panels have fields of their own.
    matches_each_in_low(panels: &[Panel], row: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE])
        = super::wide::matches_each::<false>;
    /// [`matches_each_in_wide`] for a row that is too large for the nearer caches.
    matches_each_in_far(panels: &[Panel], row: &Wide, hashes: &[ItemHash], found: &mut [u64; AT_ONCE])
        = super::wide::matches_each_in_far;

    /// Sets the item's bit in every slice that takes insertions.
    set(panels: &mut [Panel], hash: ItemHash) = super::write::set;
    /// The same for several items.
    set_all(panels: &mut [Panel], hashes: &[ItemHash]) = super::each::set_all;
    /// [`set`] for a wide row.
    set_in_wide(panels: &mut [Panel], hash: ItemHash) = super::write::set_in_wide::<true>;
    /// The same where some panels have fields of their own.
    set_in_low(panels: &mut [Panel], hash: ItemHash) = super::write::set_in_wide::<false>;
    /// [`set_in_wide`] for several items.
    set_all_in_wide(panels: &mut [Panel], hashes: &[ItemHash]) = super::write::set_all_in_wide::<true>;
    /// The same where some panels have fields of their own.
    set_all_in_low(panels: &mut [Panel], hashes: &[ItemHash]) = super::write::set_all_in_wide::<false>;

    /// Tells whether each item, before it is set, has some `length` of the slices that are `inside`, one after the other.
    check_and_set(panels: &mut [Panel], hashes: &[ItemHash], inside: u64, length: u32) -> [bool; AT_ONCE]
        = super::each::check_and_set;
    /// The same, and sets only those that have none.
    set_if_new(panels: &mut [Panel], hashes: &[ItemHash], inside: u64, length: u32) -> [bool; AT_ONCE]
        = super::each::set_if_new;

    /// Set bits of every `step`-th word, from word `first` on.
    count_ones(words: &[u64], first: usize, step: usize) -> u64 = super::count::ones;
    /// Set bits of each of so many interleaved lanes.
    count_lanes(words: &[u64], width: usize) -> [u32; MAX_WIDTH] = super::count::lanes;
}

/// Asks for the lines of all items in these panels, so that they arrive while others are worked on.
#[inline]
pub(in crate::slices) fn prefetch(panels: &[Panel], hashes: &[ItemHash]) {
    for panel in panels {
        let lines = hashes.iter().map(|&hash| Line::of(panel, panel.line(hash)));
        if panel.is_remote() { lines.for_each(Line::prefetch::<true>) } else { lines.for_each(Line::prefetch::<false>) }
    }
}

/// A line of a panel, to read.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    words: *const u64,
    panel: PhantomData<&'a Panel>,
}

impl<'a> Line<'a> {
    /// A line of a panel of any width; its number is below that of the lines.
    #[inline]
    pub(super) fn of(panel: &'a Panel, line: usize) -> Self {
        debug_assert!(has_whole_vectors(panel, line), "spare words are behind the last line");
        // SAFETY: the lines are behind the padding, and this is one of them
        let words = unsafe { first(panel).add(line * panel.width()) };
        Line { words, panel: PhantomData }
    }

    /// A line of a panel of eight; its number is below that of the lines.
    #[inline]
    pub(super) fn of_eight(panel: &'a Panel, line: usize) -> Self {
        debug_assert!(panel.width() == MAX_WIDTH && has_whole_vectors(panel, line), "I7: a panel has all its lines");
        // SAFETY: as above; lines have eight words each
        let words = unsafe { first(panel).cast::<[u64; MAX_WIDTH]>().add(line).cast() };
        Line { words, panel: PhantomData }
    }

    /// Asks for it, so that it arrives while others are worked on. Lines that are in no cache go to the second one only: more
    /// of them can be on their way to that.
    #[inline]
    pub(super) fn prefetch<const REMOTE: bool>(self) {
        let words = self.words.cast();
        // SAFETY: this has no effect but on time
        unsafe { if REMOTE { _mm_prefetch::<_MM_HINT_T1>(words) } else { _mm_prefetch::<_MM_HINT_T0>(words) } };
    }

    /// Its first four words: some are of the next line if the panel has fewer lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn low(self) -> __m256i {
        // SAFETY: behind the last line there are as many words as make its vectors whole; unaligned load
        unsafe { _mm256_loadu_si256(self.words.cast()) }
    }

    /// The next four, of a panel of more than four lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn high(self) -> __m256i {
        // SAFETY: as above
        unsafe { _mm256_loadu_si256(self.words.add(4).cast()) }
    }
}

/// A line of a panel, to write to.
pub(super) struct LineMut<'a> {
    words: *mut u64,
    panel: PhantomData<&'a mut Panel>,
}

impl<'a> LineMut<'a> {
    /// A line of a panel of any width; its number is below that of the lines.
    #[inline]
    pub(super) fn of(panel: &'a mut Panel, line: usize) -> Self {
        debug_assert!(has_whole_vectors(panel, line), "spare words are behind the last line");
        let word = line * panel.width();
        // SAFETY: the lines are behind the padding, and this is one of them
        let words = unsafe { first_mut(panel).add(word) };
        LineMut { words, panel: PhantomData }
    }

    /// A line of a panel of eight; its number is below that of the lines.
    #[inline]
    pub(super) fn of_eight(panel: &'a mut Panel, line: usize) -> Self {
        debug_assert!(panel.width() == MAX_WIDTH && has_whole_vectors(panel, line), "I7: a panel has all its lines");
        // SAFETY: as above; lines have eight words each
        let words = unsafe { first_mut(panel).cast::<[u64; MAX_WIDTH]>().add(line).cast() };
        LineMut { words, panel: PhantomData }
    }

    /// The same line, to read.
    #[inline]
    pub(super) fn as_line(&self) -> Line<'_> {
        Line { words: self.words, panel: PhantomData }
    }

    /// Sets bits of the first four words. Those of the next line stay as they are if none of theirs are among the bits.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn set_low(&mut self, bits: __m256i) {
        // SAFETY: behind the last line there are as many words as make its vectors whole, borrowed with the panel
        unsafe { set_in(self.words.cast(), bits) };
    }

    /// The same for the next four, of a panel of more than four lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn set_high(&mut self, bits: __m256i) {
        // SAFETY: as above
        unsafe { set_in(self.words.add(4).cast(), bits) };
    }
}

/// Sets bits of four words.
///
/// # Safety
///
/// The words can be read and written.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn set_in(words: *mut __m256i, bits: __m256i) {
    // SAFETY: the caller's promise; unaligned load and store
    unsafe { _mm256_storeu_si256(words, _mm256_or_si256(_mm256_loadu_si256(words), bits)) };
}

/// The first word of the first line.
#[inline]
fn first(panel: &Panel) -> *const u64 {
    // SAFETY: the padding is part of the words
    unsafe { panel.words.as_ptr().byte_add(panel.padding_bytes.into()) }
}

/// The same, to write to.
#[inline]
fn first_mut(panel: &mut Panel) -> *mut u64 {
    let padding = panel.padding_bytes.into();
    // SAFETY: as above
    unsafe { panel.words.as_mut_ptr().byte_add(padding) }
}

fn has_whole_vectors(panel: &Panel, line: usize) -> bool {
    panel.padding() + line * panel.width() + panel.width().next_multiple_of(4) <= panel.words.len()
}

/// Thirty-two bytes as a vector.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn vector<T: Plain>(bytes: &T) -> __m256i {
    const { assert!(size_of::<T>() == size_of::<__m256i>()) };
    // SAFETY: so many readable bytes, each of which may be anything; unaligned load
    unsafe { _mm256_loadu_si256(std::ptr::from_ref(bytes).cast()) }
}

/// Numbers without gaps between them.
pub(super) trait Plain {}

impl Plain for [u64; 4] {}
impl Plain for [[u8; 16]; 2] {}
