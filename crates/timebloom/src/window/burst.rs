//! A burst: what fills a generation in next to no time.

use super::Window;
use super::guarded::Row;
use super::shift::{Observed, Opening, Sizes};

/// A burst is what fills a generation in less than this share of its time.
const LONGEST: f64 = 0.125;

/// The part of what is left of the allowed rate that a burst may spend before it must have outgrown what was foreseen.
const SHARE: f64 = 0.2;

/// Less than this share of the allowed rate is not enough for a burst.
const LEAST: f64 = 0.01;

/// Slices for a burst have room for so many times what was seen of it.
const GROWTH: f64 = 5.0;

/// They have more where it takes little. In any filter: for so many times what was seen, up to so many items.
const SMALL_GROWTH: f64 = 14.0;
const SMALL_ITEMS: f64 = 1_300.0;

/// In one that holds many items: for so many times what was seen, up to so many items, and up to so many times what the
/// window held before or is expected to.
const MOST_GROWTH: f64 = 80.0;
const MOST_ITEMS: f64 = 16_384.0;
const TIMES_WINDOW: f64 = 6.0;

/// `k` new slices of one size for a burst: all its items go into one generation, until it has spent its part of the
/// allowed rate or its time. That takes half of the bits that slices for several generations would.
///
/// `None` if there is no burst, if these would not take much more than was seen of it, or if the row has spent nearly all
/// of the rate: the slices would have to be huge.
pub(super) fn opening(window: &Window, observed: &Observed, row: &Row<'_>) -> Option<Opening> {
    let config = &window.config;
    if observed.elapsed as f64 >= LONGEST * config.target_shift_interval() as f64 {
        return None;
    }
    let rate = row.rate;
    let left = (config.rate_limit() - rate) * SHARE;
    if left < LEAST * config.plan.false_positive_rate() {
        return None;
    }
    let k = config.plan.hashes() as f64;
    // all fills the same: F is their product
    let fill = libm::pow(left / config.plan.crowding(), 1.0 / k).min(0.5);
    let load = -libm::log(1.0 - fill);
    let seen = observed.items as f64;
    let held = window.slices.items_in(window.slices.len()).saturating_sub(observed.items);
    let held = held.max(config.expected_items) as f64;
    // what is little for this filter is cheap to overrate, and fewer slices are quicker to look at
    let little_for_any = SMALL_ITEMS.min(SMALL_GROWTH * seen);
    let little_for_this = MOST_ITEMS.min(MOST_GROWTH * seen).min(TIMES_WINDOW * held);
    let items = (GROWTH * seen).max(little_for_any.max(little_for_this).min(observed.current));
    let slices = vec![config.slice_bits(items / load); config.plan.hashes()];
    let wanted = config.generation_size(2.0 * items);
    let forecast = row.forecast(&config.plan, &slices);
    let generation_size = forecast.insertions_within(rate + left, wanted).max(1);
    let is_worthwhile = generation_size > 2 * observed.items;
    is_worthwhile.then_some(Opening { slices: Sizes::Many(slices), generation_size, rate: None })
}
