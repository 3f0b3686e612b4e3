//! The look-ahead that sizes a new slice (paper, eq. 7).
//!
//! Symbols: `k` slices receive; slice `i` of them receives in `k - i` more generations, the open one included.

use crate::num::{larger, smaller};

/// What the receiving slices can still take, in items: `rooms[i]` for slice `i`.
pub(super) type Rooms<'a> = &'a [f64];

/// The capacity that a new slice 0 needs so that it is not what limits generations of `target` items.
///
/// `rooms` are those of slices `1..k`, which limit the generations to come: of these, find the slice `j` that allows the
/// fewest insertions per shift until it stops receiving. While that is less than the target, the new slice needs room
/// for just these; then slice `j` is out of the way, and the same holds from there on, until the target is the limit.
/// `share` divides a room by a number of shifts, with the rounding of the policy.
pub(super) fn next_capacity(rooms: Rooms, target: f64, share: impl Fn(f64, f64) -> f64) -> f64 {
    let mut limit = rooms.len() + 1; // the position where the walk stands, from k down
    let mut spent = 0.0; // insertions until a slice now at `limit` has stopped receiving
    loop {
        let tightest = (1..limit)
            .map(|i| (share((rooms[i - 1] - spent).max(0.0), (limit - i) as f64), i))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        match tightest {
            Some((per_shift, j)) if target > per_shift => {
                spent += per_shift * (limit - j) as f64;
                limit = j;
            }
            _ => return spent + limit as f64 * target,
        }
    }
}

/// Insertions until one of the receiving slices is in the way of the generations after this one (paper, eq. 4 and 5):
/// `g = min u_i`, `u_i` the room of slice `i` shared among its `k - i` generations.
pub(super) fn generation_size(rooms: Rooms, share: impl Fn(f64, f64) -> f64) -> f64 {
    let k = rooms.len();
    rooms.iter().enumerate().map(|(i, &room)| share(larger(room, 0.0), (k - i) as f64)).fold(f64::INFINITY, smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(room: f64, shifts: f64) -> f64 {
        room / shifts
    }

    #[test]
    fn a_steady_row_asks_for_k_generations() {
        // k = 4, generations of 10: slice i has room for 4 - i of them
        assert_eq!(next_capacity(&[30.0, 20.0, 10.0], 10.0, exactly), 40.0);
        assert_eq!(generation_size(&[40.0, 30.0, 20.0, 10.0], exactly), 10.0);
    }

    #[test]
    fn tight_slices_limit_the_first_generations_only() {
        // slice 3 has room for 4 more: one generation of 4; then slice 2, with 20 - 4 left, allows one of 16
        assert_eq!(next_capacity(&[90.0, 20.0, 4.0], 50.0, exactly), 4.0 + 16.0 + 50.0 * 2.0);
        // roomy slices never limit: k generations of the target
        assert_eq!(next_capacity(&[900.0, 900.0, 900.0], 50.0, exactly), 200.0);
    }

    #[test]
    fn one_function_needs_one_generation() {
        assert_eq!(next_capacity(&[], 7.0, exactly), 7.0);
        assert_eq!(generation_size(&[7.0], exactly), 7.0);
    }
}
