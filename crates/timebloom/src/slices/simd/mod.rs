//! AVX2 and BMI2 versions of what [`super::probe`] and [`super::query`] do, bit for bit the same.
//!
//! - [`raw`] has all the unsafe code of the crate: the calls into the others, which need [`available`], and the memory of
//!   lines.
//! - [`bits`] makes the words with an item's bits.
//! - [`read`] and [`write`] are for one item in rows of any panels, [`wide`] for rows of wide ones.
//! - [`each`] is for several items, one panel after the other.
//! - [`count`] counts set bits.
//!
//! What single insertions and queries call is `#[inline]`, and what batches do in wide rows, large functions too: they are
//! compiled anew into each crate that calls them, where they can be called directly. What a crate only exports is called
//! through a table, and a processor that does not foresee such calls, as those that hold them back for safety, takes twice
//! as long for an insertion. Those away from the short way are `#[cold]` as well, so that they are compiled there but put
//! into no other. [`each`] is one call for sixteen items, and stays where it is.

mod bits;
mod count;
mod each;
mod raw;
mod read;
mod wide;
mod write;

pub(super) use raw::{
    available, check_and_set, count_lanes, count_ones, has_run_in_low, has_run_in_wide, have_runs, matches,
    matches_each, matches_each_in_far, matches_each_in_low, matches_each_in_wide, matches_in_low, matches_in_wide,
    matches_long, prefetch, read, set, set_all, set_all_in_low, set_all_in_wide, set_if_new, set_in_low, set_in_wide,
};
