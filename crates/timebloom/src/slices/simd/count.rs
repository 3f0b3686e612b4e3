//! Set bits of slices.

use super::super::panel::MAX_WIDTH;
use super::super::probe::count_lanes_portably;

#[target_feature(enable = "popcnt")]
pub(super) fn lanes(words: &[u64], width: usize) -> [u32; MAX_WIDTH] {
    count_lanes_portably(words, width)
}

#[target_feature(enable = "popcnt")]
pub(super) fn ones(words: &[u64], first: usize, step: usize) -> u64 {
    if step == MAX_WIDTH && first < MAX_WIDTH {
        return words.as_chunks::<MAX_WIDTH>().0.iter().map(|line| u64::from(line[first].count_ones())).sum();
    }
    words[first.min(words.len())..].chunks(step).map(|words| u64::from(words[0].count_ones())).sum()
}
