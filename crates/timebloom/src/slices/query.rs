//! Looking for an item: a run of `hashes` consecutive slices that all have its bit.

use std::ops::{Range, RangeInclusive};

use super::Slices;
use crate::hash::ItemHash;

impl Slices {
    /// Whether some `hashes` consecutive slices within `range` all have the item's bit.
    ///
    /// The paper's query: start `hashes` below the oldest slice and climb while bits are set. A clear bit at slice `f`
    /// rules out every run through `f`, so go on at `f - hashes`, and carry the matches just above `f - 1` along: they
    /// complete a run as soon as the new climb meets them.
    pub(crate) fn has_run(&self, hash: ItemHash, range: Range<usize>) -> bool {
        let hashes = self.hashes();
        if range.len() < hashes {
            return false;
        }
        let mut position = range.end - hashes;
        let mut carried = 0;
        let mut matched = 0;
        loop {
            if self.has_bit(hash, position) {
                matched += 1;
                position += 1;
                if carried + matched == hashes {
                    return true;
                }
            } else {
                match position.checked_sub(hashes) {
                    Some(next) if next >= range.start => position = next,
                    _ => return false,
                }
                carried = matched;
                matched = 0;
            }
        }
    }

    /// Where the youngest run within the first `live` slices ends: the positions of its oldest slice. There are several
    /// when more than `hashes` slices in a row have the bit; neighbours often do by chance, and which of them the item
    /// entered cannot be told.
    pub(crate) fn youngest_run(&self, hash: ItemHash, live: usize) -> Option<RangeInclusive<usize>> {
        let mut matched = 0;
        for position in 0..live {
            matched = if self.has_bit(hash, position) { matched + 1 } else { 0 };
            if matched == self.hashes() {
                let more = (position + 1..live).take_while(|&older| self.has_bit(hash, older)).count();
                return Some(position..=position + more);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    /// The query's definition, slice by slice.
    fn has_run_naively(slices: &Slices, hash: ItemHash, range: Range<usize>) -> bool {
        let hashes = slices.hashes();
        (range.start..(range.end + 1).saturating_sub(hashes))
            .any(|start| (start..start + hashes).all(|position| slices.has_bit(hash, position)))
    }

    #[test]
    fn jumping_finds_exactly_the_runs_there_are() {
        let mut slices = Slices::new(3);
        for position in 0..12 {
            slices.push(13 + position % 5);
        }
        for item in 0_u32..60 {
            slices.insert(ItemHash::new(item.to_le_bytes(), 1), Timestamp::MIN);
            if item % 7 == 0 {
                slices.close_generation();
                slices.push(20);
            }
        }
        let mut found = 0;
        for probe in 0_u32..if cfg!(miri) { 2 } else { 2_000 } {
            let hash = ItemHash::new(probe.to_le_bytes(), 1);
            for start in 0..slices.len() {
                for end in start..=slices.len() {
                    let expected = has_run_naively(&slices, hash, start..end);
                    assert_eq!(slices.has_run(hash, start..end), expected, "item {probe} in {start}..{end}");
                    found += u32::from(expected);
                }
            }
            let youngest = slices.youngest_run(hash, slices.len());
            let ends_run = |&end: &usize| has_run_naively(&slices, hash, end - 3..end);
            let expected = (3..=slices.len()).find(ends_run).map(|first| {
                let last = (first..=slices.len()).take_while(ends_run).last().expect("the first does");
                first - 1..=last - 1
            });
            assert_eq!(youngest, expected);
        }
        assert!(found > if cfg!(miri) { 0 } else { 1_000 }, "the test must see both answers; it saw {found} runs");
    }
}
