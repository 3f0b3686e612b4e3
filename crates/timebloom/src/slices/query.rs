//! Looking for an item: a run of `hashes` consecutive slices that all have its bit.

use std::ops::{Range, RangeInclusive};

use super::probe::read;
use super::way::Way;
use super::{Slices, long};
use crate::hash::ItemHash;
use crate::timestamp::Timestamp;

/// Items that are looked up together.
pub(crate) const AT_ONCE: usize = 16;

impl Slices {
    /// Whether some `hashes` consecutive slices of those that saw an insertion at `oldest` or later all have the item's
    /// bit.
    #[inline]
    pub(crate) fn has_run_since(&self, hash: ItemHash, oldest: Timestamp) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Way::Wide(wide) = &self.way
            && self.are_all_since(oldest)
        {
            return super::simd::has_run_in_wide(&self.panels, wide, hash, self.hashes.into());
        }
        self.has_any_run_since(hash, oldest)
    }

    /// [`has_run_since`](Self::has_run_since) for any row. Away from the shortest way.
    #[cold]
    #[inline]
    fn has_any_run_since(&self, hash: ItemHash, oldest: Timestamp) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Way::Low(wide) = &self.way
            && self.are_all_since(oldest)
        {
            return super::simd::has_run_in_low(&self.panels, wide, hash, self.hashes.into());
        }
        let live = self.since(oldest);
        self.prefetch_many(hash, live);
        self.has_run(hash, 0..live)
    }

    /// [`has_run_since`](Self::has_run_since) for an item whose memory was asked for before.
    #[inline]
    pub(crate) fn has_awaited_run_since(&self, hash: ItemHash, oldest: Timestamp) -> bool {
        match self.way {
            Way::Wide(_) if self.are_all_since(oldest) => self.has_run_since(hash, oldest),
            _ => self.has_run(hash, 0..self.since(oldest)),
        }
    }

    /// Whether some `hashes` consecutive slices within `range` all have the item's bit.
    #[inline]
    pub(crate) fn has_run(&self, hash: ItemHash, range: Range<usize>) -> bool {
        if range.len() < self.hashes() {
            return false;
        }
        if range.end > 64 {
            return self.has_long_run(hash, range);
        }
        let inside = (u64::MAX >> (64 - range.len())) << range.start;
        is_run_in(self.true_matches(hash, range.end) & inside, self.hashes.into())
    }

    /// [`has_run`](Self::has_run) in the first `live` slices, for up to [`AT_ONCE`] items.
    #[inline]
    pub(crate) fn has_runs(&self, hashes: &[ItemHash], live: usize) -> [bool; AT_ONCE] {
        let mut answers = [false; AT_ONCE];
        if !(self.hashes()..=64).contains(&live) || self.clearing.is_some() {
            for (answer, &hash) in answers.iter_mut().zip(hashes) {
                *answer = self.has_run(hash, 0..live);
            }
            return answers;
        }
        let mut found = [0; AT_ONCE];
        self.matches_each(hashes, live, &mut found);
        let inside = u64::MAX >> (64 - live);
        #[cfg(target_arch = "x86_64")]
        if super::probe::is_fast() {
            return super::simd::have_runs(&found, inside, self.hashes.into());
        }
        have_runs(&found, inside, self.hashes.into())
    }

    /// [`matches`](Self::matches) without what is left of an earlier slice.
    #[inline]
    fn true_matches(&self, hash: ItemHash, live: usize) -> u64 {
        let found = self.matches(hash, live);
        if self.clearing.is_none() {
            return found;
        }
        match self.stale_position(hash) {
            Some(position) if position < 64 => found & !(1 << position),
            _ => found,
        }
    }

    /// The same for rows of more than 64 slices: those of a stream whose rate has just jumped.
    #[cold]
    fn has_long_run(&self, hash: ItemHash, range: Range<usize>) -> bool {
        if let Way::Long(long) = &self.way {
            let mut found = self.matches_long(long, hash);
            if let Some(position) = self.stale_position(hash) {
                found[position / 64] &= !(1 << (position % 64));
            }
            long::within(&mut found, range);
            return long::has_run(&found, self.hashes.into());
        }
        let mut matched = 0;
        self.each_match(hash, |position, is_set| {
            matched = if is_set && position >= range.start { matched + 1 } else { 0 };
            matched < self.hashes() && position + 1 < range.end
        });
        matched >= self.hashes()
    }

    /// Where the youngest run within the first `live` slices ends: the positions of its oldest slice. There are several
    /// when more than `hashes` slices in a row have the bit; neighbours often do by chance, and which of them the item
    /// entered cannot be told.
    pub(crate) fn youngest_run(&self, hash: ItemHash, live: usize) -> Option<RangeInclusive<usize>> {
        let (mut matched, mut end) = (0, 0);
        self.each_match(hash, |position, is_set| {
            let is_set = is_set && position < live;
            if is_set {
                (matched, end) = (matched + 1, position + 1);
            } else if matched < self.hashes() {
                matched = 0;
            }
            is_set || matched < self.hashes() && position < live
        });
        (matched >= self.hashes()).then(|| end - 1 - (matched - self.hashes())..=end - 1)
    }

    /// Tells of each slice, youngest first, whether it has the item's bit, for as long as `go_on` says so.
    fn each_match(&self, hash: ItemHash, mut go_on: impl FnMut(usize, bool) -> bool) {
        // what each panel has, that of the next slice lowest; on the stack unless there are very many
        let mut few = [(0, 0); 128];
        let mut many;
        let found: &mut [(u16, u32)] = match few.get_mut(..self.panels.len()) {
            Some(few) => few,
            None => {
                many = vec![(0, 0); self.panels.len()];
                &mut many
            }
        };
        for (place, panel) in found.iter_mut().zip(&self.panels) {
            *place = (panel.id(), read(panel, hash));
        }
        let stale = if self.clearing.is_some() { self.stale_position(hash) } else { None };
        let mut last = 0;
        for (position, slot) in self.row.iter().rev().enumerate() {
            // panels stand in order of their youngest slice: mostly the same one again, or the next
            let place = (last..found.len()).chain(0..last).find(|&place| found[place].0 == slot.panel);
            last = place.expect("I7: every slice has a panel");
            let bits = &mut found[last].1;
            let is_set = *bits & 1 == 1 && stale != Some(position);
            *bits >>= 1;
            if !go_on(position, is_set) {
                return;
            }
        }
    }
}

/// Which of these have a run of `length` set bits among those `inside`.
#[inline(always)] // with the instructions of the caller
pub(super) fn have_runs(found: &[u64; AT_ONCE], inside: u64, length: u32) -> [bool; AT_ONCE] {
    let mut answers = [false; AT_ONCE];
    let each = answers.iter_mut().zip(found);
    match more_than_eight(length) {
        Some(more) => {
            for (answer, found) in each {
                *answer = runs_of_eight_and(more, found & inside) != 0;
            }
        }
        None => {
            for (answer, found) in each {
                *answer = has_any_run(found & inside, length);
            }
        }
    }
    answers
}

/// Whether there is a run of `length` set bits.
#[inline]
pub(super) fn is_run_in(bits: u64, length: u32) -> bool {
    match more_than_eight(length) {
        Some(more) => runs_of_eight_and(more, bits) != 0,
        None => has_any_run(bits, length),
    }
}

/// How many more than eight a run has that is eight to sixteen long, as the error rates take that are asked for most.
#[inline]
fn more_than_eight(length: u32) -> Option<u32> {
    let more = length.wrapping_sub(8);
    (more <= 8).then_some(more)
}

/// Where runs of eight set bits and so many more begin, up to eight.
#[inline]
fn runs_of_eight_and(more: u32, bits: u64) -> u64 {
    // after each step, bit `i` says that so many bits are set from there on
    let two = bits & bits >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    eight & eight >> more
}

/// Whether there is a run of any length. Away from the short way.
#[inline(never)]
fn has_any_run(bits: u64, length: u32) -> bool {
    let (mut runs, mut have) = (bits, 1);
    while have * 2 < length {
        runs &= runs >> have;
        have *= 2;
    }
    runs & runs >> (length - have) != 0
}
