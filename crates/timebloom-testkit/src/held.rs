//! Telling an item that is truly held from one that is reported by chance.
//!
//! An insertion enters `hashes` consecutive slices, and is held for as long as the oldest of these is live. That slice is
//! at position `hashes - 1` right after the insertion, and keeps its number from then on.

use timebloom::{SliceStats, Timestamp};

/// The slices of a filter at one moment, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The youngest slice's number, if there are slices.
    youngest: Option<u64>,
    /// When the last item entered each slice, youngest first.
    newest: Vec<Option<Timestamp>>,
}

impl Row {
    /// The row of a filter, from its `slices()`.
    pub fn of(slices: impl Iterator<Item = SliceStats>) -> Self {
        let mut row = Row::default();
        for slice in slices {
            let youngest = *row.youngest.get_or_insert(slice.number);
            assert_eq!(slice.number + row.newest.len() as u64, youngest, "slices are numbered without gaps");
            row.newest.push(slice.newest);
        }
        row
    }

    /// When the last item entered slice `number`; `None` when the slice is gone (or never got an item).
    pub fn newest_in(&self, number: u64) -> Option<Timestamp> {
        let position = usize::try_from(self.youngest?.checked_sub(number)?).ok()?;
        self.newest.get(position).copied().flatten()
    }

    /// Whether an insertion whose oldest slice is `number` is held when the window starts at `horizon`.
    pub fn holds(&self, number: u64, horizon: Timestamp) -> bool {
        self.newest_in(number).is_some_and(|newest| newest >= horizon)
    }

    /// The lowest number that is held when the window starts at `horizon`: what has it or a higher one is held.
    pub fn lowest_held(&self, horizon: Timestamp) -> Option<u64> {
        let held = self.newest.iter().take_while(|newest| newest.is_some_and(|newest| newest >= horizon)).count();
        Some(self.youngest? + 1 - u64::try_from(held).ok().filter(|&held| held > 0)?)
    }
}

/// The number of the oldest slice that the insertion just made has entered. Cheap: looks at the youngest slice only.
pub fn oldest_slice(mut slices: impl Iterator<Item = SliceStats>, hashes: usize) -> u64 {
    let youngest = slices.next().expect("an insertion was made, so there are slices").number;
    youngest + 1 - hashes as u64
}
