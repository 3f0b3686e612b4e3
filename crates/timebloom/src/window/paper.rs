//! [`crate::Policy::Paper`]: the equations as published.
//!
//! The paper leaves the rounding open. With everything rounded down a filter settles one slice above `k + l`, or stops
//! growing, or allows no insertion at all; so capacities are whole items, divisions round up, and the target generation
//! gets one item of slack. Then it settles at exactly `k + l` slices.

use std::f64::consts::LN_2;

use super::resize::{generation_size, next_capacity};
use super::shift::{Observed, Opening, Sizes};
use super::{Config, Window};
use crate::num::ceil_u64;
use crate::slices::Slices;

/// The `k + l` equal slices that a filter starts with.
pub(super) fn first(config: &Config) -> Opening {
    let plan = &config.plan;
    let (k, l) = (plan.hashes() as f64, plan.aging_slices() as f64);
    let bits = slice_bits(config.expected_items as f64 * k / l, config);
    let rooms = vec![capacity(bits); plan.hashes()];
    Opening { slices: Sizes::Many(vec![bits; plan.base_slices()]), generation_size: generation(&rooms), rate: None }
}

/// The slice that follows a generation, and how many insertions come before the next shift.
pub(super) fn next(window: &Window, observed: &Observed) -> Opening {
    let slices = &window.slices;
    // after the shift, the slice now at position i is at i + 1; the last of the k stops receiving
    let mut rooms: Vec<f64> = (0..slices.hashes() - 1).map(|position| room(slices, position)).collect();
    // paper, eq. 6: tg = g * span / (t_s * l); in integers, since a rounded quotient would not settle
    let plan = &window.config.plan;
    let target = (u128::from(observed.items) * u128::from(window.config.span))
        .div_ceil(u128::from(observed.elapsed) * plan.aging_slices() as u128);
    let target = target as f64 + 1.0;
    let bits = slice_bits(next_capacity(&rooms, target, share), &window.config);
    rooms.insert(0, capacity(bits));
    Opening { slices: Sizes::One([bits]), generation_size: generation(&rooms), rate: None }
}

fn generation(rooms: &[f64]) -> u64 {
    ceil_u64(generation_size(rooms, share)).clamp(1, Slices::MAX_ITEMS / rooms.len() as u64)
}

fn room(slices: &Slices, position: usize) -> f64 {
    capacity(slices.bits_of(position)) - slices.items_of(position) as f64
}

/// Items that fill half of a slice.
fn capacity(bits: u64) -> f64 {
    libm::floor(bits as f64 * LN_2)
}

/// paper, eq. 8: m_0 = ceil(c_0 / ln 2), in whole words.
fn slice_bits(capacity: f64, config: &Config) -> u64 {
    ceil_u64(capacity / LN_2 / 64.0).saturating_mul(64).clamp(config.min_slice_bits(), config.max_slice_bits())
}

fn share(room: f64, shifts: f64) -> f64 {
    libm::ceil(room / shifts)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Policy, TimeBloom, Timestamp};

    /// The generation that a new filter has open began at no time yet: an item at the first moment there is must not make it
    /// look over at the second.
    #[test]
    fn a_first_item_at_the_beginning_of_time_ends_no_generation() {
        let builder = TimeBloom::builder(Duration::from_secs(60)).expected_items(1_000).policy(Policy::Paper).seed(1);
        let mut filter = builder.build().unwrap();
        for seconds in 0..5 {
            let now = Timestamp::from_secs(seconds);
            let before = filter.counts().shifts;
            filter.insert_at(seconds.to_le_bytes(), now).unwrap();
            assert_eq!(filter.validate(), Ok(()));
            assert_eq!(filter.counts().shifts, before, "at {now:?}");
            assert_eq!(filter.counts().inserted, seconds + 1);
        }
    }
}
