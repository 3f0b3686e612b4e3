//! What the tests of the baselines share.

use super::{Windowed, key};

/// Keys with numbers from here on are never inserted.
pub(super) const ABSENT: u64 = 1 << 40;

/// Inserts the items of `numbers`, each at the time that is its number.
pub(super) fn insert_numbered(filter: &mut impl Windowed, numbers: std::ops::Range<u64>) {
    for number in numbers {
        filter.insert(&key(number), number);
    }
}

/// How many of the items are reported at `now`.
pub(super) fn reported(filter: &impl Windowed, numbers: std::ops::Range<u64>, now: u64) -> u64 {
    numbers.filter(|&number| filter.contains(&key(number), now)).count() as u64
}

/// How many of so many absent items are reported at `now`.
pub(super) fn reported_absent(filter: &impl Windowed, queries: u64, now: u64) -> u64 {
    reported(filter, ABSENT..ABSENT + queries, now)
}

/// Runs a count window of `items` over `windows` windows, and returns how often an item of the window was not reported.
/// All items are asked for at the end of every eleventh of a window.
pub(super) fn missed_in_count_window(filter: &mut impl Windowed, items: u64, windows: u64) -> u64 {
    let mut missed = 0;
    for number in 0..items * windows {
        filter.insert(&key(number), number);
        if number % (items / 11) == 0 {
            let first = (number + 1).saturating_sub(items);
            missed += number + 1 - first - reported(filter, first..number + 1, number);
        }
    }
    missed
}
