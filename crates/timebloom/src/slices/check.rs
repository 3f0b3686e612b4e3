//! Looking for items and inserting them, several at once.

use super::{AT_ONCE, Slices};
use crate::hash::ItemHash;
use crate::timestamp::Timestamp;

/// What becomes of an item that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// It is inserted anew.
    Refresh,
    /// It stays as it is.
    Keep,
}

impl Slices {
    /// Looks for up to [`AT_ONCE`] items, each before it is inserted and after all those before it are; tells which were in
    /// the first `live` slices. Unless there are none of these, insertions do not change how many there are. `newest` tells
    /// when the last insertion comes, given their number.
    ///
    /// `None`, and nothing is changed, where that is no faster than one by one.
    pub(crate) fn check_some(
        &mut self,
        hashes: &[ItemHash],
        live: usize,
        repeats: Repeats,
        newest: impl FnOnce(u64) -> Timestamp,
    ) -> Option<[bool; AT_ONCE]> {
        if !(self.hashes()..=64).contains(&live) || self.clearing.is_some() {
            return None;
        }
        let seen = self.set_each(hashes, u64::MAX >> (64 - live), repeats)?;
        let inserted = match repeats {
            Repeats::Refresh => hashes.len(),
            Repeats::Keep => seen[..hashes.len()].iter().filter(|&&seen| !seen).count(),
        };
        if inserted > 0 {
            self.newest = newest(inserted as u64);
            #[allow(clippy::cast_possible_truncation)] // at most AT_ONCE
            let inserted = inserted as u32;
            self.generation_items += inserted;
        }
        Some(seen)
    }
}
