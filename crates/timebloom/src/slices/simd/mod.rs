//! AVX2 and BMI2 versions of what [`super::probe`] and [`super::query`] do, bit for bit the same.
//!
//! - [`raw`] has all the unsafe code of the crate: the calls into the others, which need [`available`], and the memory of
//!   lines.
//! - [`bits`] makes the words with an item's bits.
//! - [`read`] and [`write`] are for one item in rows of any panels, [`wide`] for rows of wide ones.
//! - [`each`] is for several items, one panel after the other.
//! - [`count`] counts set bits.

mod bits;
mod count;
mod each;
mod raw;
mod read;
mod wide;
mod write;

pub(super) use raw::{
    available, check_and_set, count_lanes, count_ones, has_run_in_wide, have_runs, matches, matches_each,
    matches_each_in_far, matches_each_in_wide, matches_in_wide, matches_long, prefetch, read, set, set_all,
    set_all_in_wide, set_if_new, set_in_wide,
};
