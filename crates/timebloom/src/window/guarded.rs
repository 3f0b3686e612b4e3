//! [`crate::Policy::Guarded`]: the paper's look-ahead, with the false positive rate predicted before every generation.
//!
//! A generation is never allowed more insertions than keep the predicted rate within the target. What remains is to
//! spend that budget well, since slices that are full stay for a whole window:
//!
//! - At a steady rate one slice per shift, sized for the load that leaves some headroom, is all there is to it.
//! - When the stream speeds up, generations fill before their time and slices multiply. More slices mean more chances of
//!   a run, so each may be filled a little less. The same holds when the rate is nearly spent: what is left must do until
//!   old slices expire.
//! - When it speeds up faster than slices can follow one by one, or the row is nearly exhausted, start fresh: `k` new
//!   slices at once, of the size the new rate asks for. The old ones only age from there on.
//!
//! Symbols: `a_c` = `full_load`, the items a bit at which a steady filter errs exactly as often as allowed; `a_t` =
//! `target_load`, what slices are sized for; `h = a_c / a_t` the headroom between them; `tg` the target generation.

use super::guard::Forecast;
use super::resize::{generation_size, next_capacity};
use super::shift::{Observed, Opening, STEADY_INTERVALS, Sizes};
use super::{Config, Window};
use crate::hash::MAX_FUNCTIONS;
use crate::num::{ceil_u64, floor_u64};
use crate::policy::OnFull;
use crate::sizing::{Plan, Runs};
use crate::slices::{Receiving, Slices};

/// A generation is predicted to end at no more than this share of the allowed rate.
const RATE_SHARE: f64 = 0.995;

/// A generation that would be cut below this share of what the slices have room for is not worth a slice.
const WORTHWHILE: f64 = 0.5;

/// Slices cannot follow the rate when a generation takes less than this share of the target ...
const LAGGING: f64 = 0.5;
/// ... which only matters when the row has spent more than this share of the allowed rate, in proportion to the part of
/// the window that it covers.
const SPENT: f64 = 0.6;

/// The stream speeds up when generations end before this share of their time; otherwise that is chance.
const EARLY: f64 = 0.95;

/// How far the steady rate is behind, in generations: its half-life over the logarithm of 2.
const STEADY_LAG: f64 = STEADY_INTERVALS / std::f64::consts::LN_2;

/// A stream whose rate is further from the mean of its window than this has jumped.
const MAX_DRIFT: f64 = 0.3;

/// From this share of the allowed rate on, new slices get larger.
const RELAXED: f64 = 0.92;
/// ... by this times what is spent beyond it.
const PRESSURE: f64 = 2.0;

/// A generation may take as many standard deviations more than the target as this, if the rate allows it.
const CHANCE: f64 = 3.0;

/// Slices are as many standard deviations of their items larger than the target asks for.
const UNEVEN: f64 = 0.5;

/// A burst may look this many times larger than what was seen of it.
const BURST: f64 = 4.0;

/// A burst is what fills a generation in less than this share of its time.
const BURST_TIME: f64 = 0.125;

/// The part of what is left of the allowed rate that a burst may spend before it must have outgrown what was foreseen.
const BURST_SHARE: f64 = 0.2;

/// Less than this share of the allowed rate is not enough for a burst.
const BURST_LEAST: f64 = 0.01;

/// Slices for a burst have room for so many times what was seen of it.
const BURST_GROWTH: f64 = 5.0;

/// Items that a burst is expected to have, once it is one: slices for these are small in any case.
const BURST_ITEMS: f64 = 16_384.0;

/// Fewer hash functions than this cannot follow a stream that speeds up: what one slice adds to the rate falls too slowly
/// with its size.
pub(crate) const MIN_HASHES: usize = 3;

/// The row as a generation ends.
pub(super) struct Row<'a> {
    /// The runs in the slices that only age.
    pub(super) aging: &'a Runs,
    /// The slices that receive.
    pub(super) receiving: &'a [Receiving],
    /// The false positive rate of all.
    pub(super) rate: f64,
}

impl<'a> Row<'a> {
    /// What is to be expected when these slices are opened.
    fn forecast(&self, plan: &'a Plan, new: &'a [u64]) -> Forecast<'a> {
        Forecast::after_opening(plan, new, self.receiving, self.aging.clone())
    }
}

/// The slice that follows a generation, or a fresh start when one slice cannot keep up.
pub(super) fn next(window: &Window, observed: &Observed, row: &Row<'_>) -> Opening {
    let config = &window.config;
    let rate = row.rate;
    let drift = drift(window, observed.steady);
    let target = target_generation(config, observed.steady * (1.0 + drift * STEADY_LAG));
    if window.slices.is_empty() {
        return fresh(window, target, 1.0, row);
    }
    let early = (observed.elapsed as f64) < EARLY * config.target_shift_interval() as f64;
    let thrift = if early { thrift(config, rate) } else { 1.0 };
    let pressure = 1.0 + PRESSURE * (rate / config.plan.false_positive_rate() - RELAXED).max(0.0);
    let opening =
        one_slice(window, row, target, thrift, early, pressure * (1.0 + drift * 0.5 * config.plan.hashes() as f64));
    if config.on_full == OnFull::Reject && window.over_limit(&opening).is_some() {
        // it will be rejected: do not think about it any longer, floods are when this happens
        return opening;
    }
    let wanted = opening.generation_size;
    let forecast = row.forecast(&config.plan, opening.slices.as_slice());
    let predicted = forecast.rate_after(wanted);
    let covered = window.clock.nanos_since(window.oldest_bound) as f64 / config.span as f64;
    let spent = predicted / config.plan.false_positive_rate();
    let lagging = (wanted as f64) < LAGGING * target && spent > SPENT * covered.min(1.0);
    let limit = config.rate_limit();
    let allowed = if predicted <= limit { wanted } else { forecast.insertions_within(limit, wanted) };
    let one_slice = Opening { generation_size: allowed, ..opening };
    if !lagging && allowed >= 1 && allowed as f64 >= WORTHWHILE * target.min(wanted as f64) {
        return one_slice;
    }
    if (observed.elapsed as f64) < BURST_TIME * config.target_shift_interval() as f64 {
        let burst = burst(config, observed, row);
        let is_worthwhile = |burst: &Opening| burst.generation_size > 2 * observed.items;
        if let Some(burst) = burst.filter(|burst| is_worthwhile(burst) && window.over_limit(burst).is_none()) {
            return burst;
        }
    }
    let burst = observed.current.min(BURST * observed.items as f64);
    let fresh = fresh(window, target_generation(config, observed.smoothed.max(burst)), thrift, row);
    // under a memory limit a short generation is better than none
    if allowed >= 1 && window.over_limit(&fresh).is_some() { one_slice } else { fresh }
}

/// How much faster a steady stream gets from one generation to the next, as a share of its rate; 0 if it slows down.
///
/// The steady rate is that of a few generations ago, the mean of the window that of half a window ago. What lies between
/// the two is drift, as far as it is not chance; if it is much, the stream has jumped.
fn drift(window: &Window, steady: f64) -> f64 {
    let aging_slices = window.config.plan.aging_slices() as f64;
    let apart = 0.5 * aging_slices - STEADY_LAG;
    if apart < STEADY_LAG || window.clock.nanos_since(window.oldest_bound) < window.config.span {
        return 0.0;
    }
    let mean = window.slices.items_in(window.slices.len()) as f64 / aging_slices;
    let off = steady / mean - 1.0;
    if off > MAX_DRIFT || off.is_nan() {
        return 0.0;
    }
    let chance = 0.6 / steady.sqrt();
    (off - chance).max(0.0) / apart
}

/// How much less than usual new slices may be filled, in `(0, 1]`, when generations end early: `k` of them at the load
/// `thrift * a_c` add half of what is left of the allowed rate.
fn thrift(config: &Config, spent: f64) -> f64 {
    let plan = &config.plan;
    let left = (config.rate_limit() - spent) / plan.false_positive_rate();
    // at the load a_c each of the k + l slices adds its share of the rate, and F grows with the k-th power of the load
    let shares = left * plan.base_slices() as f64 / plan.hashes() as f64;
    libm::pow((0.5 * shares).clamp(1e-3, 1.0), 1.0 / plan.hashes() as f64)
}

/// `k` new slices, the youngest the largest, so that they take `k` generations of `target` items from here.
fn fresh(window: &Window, target: f64, thrift: f64, row: &Row<'_>) -> Opening {
    let config = &window.config;
    let plan = &config.plan;
    let wanted = config.generation_size(target * plan.full_load() / plan.target_load());
    let mut scale = 1.0;
    loop {
        let load = thrift * plan.target_load() / scale;
        let size = |receives: usize| config.slice_bits(receives as f64 * target / load);
        let slices: Vec<u64> = (1..=plan.hashes()).rev().map(size).collect();
        let allowed = row.forecast(plan, &slices).insertions_within(config.rate_limit(), wanted);
        // each doubling lowers what the new slices add; the old ones alone are within the limit
        if allowed as f64 >= WORTHWHILE * wanted as f64 || scale >= 16.0 {
            return Opening { slices: Sizes::Many(slices), generation_size: allowed.max(1) };
        }
        scale *= 2.0;
    }
}

/// One slice by the look-ahead, and the generation that the receiving slices have room for.
fn one_slice(window: &Window, row: &Row<'_>, target: f64, thrift: f64, early: bool, pressure: f64) -> Opening {
    let plan = &window.config.plan;
    let slices = &window.slices;
    // F grows with the number of slices and with the k-th power of the load
    let crowd = (slices.len() + 1 - slices.hashes()) as f64 / plan.aging_slices() as f64;
    let full_load = thrift * plan.full_load() * libm::pow(crowd.clamp(1.0, 4.0), -1.0 / slices.hashes() as f64);
    let headroom = plan.full_load() / plan.target_load();
    // after the shift, the slice now at position i is at i + 1; the last of the k stops receiving
    let mut rooms = [0.0; MAX_FUNCTIONS];
    let rooms = &mut rooms[..slices.hashes()];
    for (place, slice) in rooms[1..].iter_mut().zip(row.receiving) {
        *place = slice.bits * full_load - slice.items;
    }
    // the slices of an uneven stream get more than their share as often as less
    let margin = UNEVEN / (slices.hashes() as f64 * target).sqrt();
    let generation = (headroom + margin) * target;
    // a steady stream is not held up by slices that turned out too small: the others make up for them
    let capacity = if early { next_capacity(&rooms[1..], generation, share) } else { rooms.len() as f64 * generation };
    let wanted = capacity / full_load * pressure;
    let bits = lane_bits(window, wanted, target);
    rooms[0] = bits as f64 * full_load;
    // a slice shares its room among its generations, or keeps the target for the later ones and gives this one the rest
    let later = |(i, room): (usize, &f64)| room - (rooms.len() - 1 - i) as f64 * target;
    let uneven = rooms.iter().enumerate().map(later).fold(f64::INFINITY, f64::min);
    // chance may bring more than the target: time, not room, should end the generations of a steady stream
    let by_chance = if early { 0.0 } else { target + CHANCE * target.sqrt() };
    let generation_size = window.config.generation_size(generation_size(rooms, share).max(uneven).max(by_chance));
    Opening { slices: Sizes::One([bits]), generation_size }
}

/// The size of a new slice for which `wanted` bits would be right: that of a lane in which one has gone, if there is one
/// that nearly fits.
fn lane_bits(window: &Window, wanted: f64, target: f64) -> u64 {
    // as far as the rate can be known
    let noise = 1.0 / target.sqrt();
    let slices = &window.slices;
    let bits = window.config.slice_bits(wanted);
    slices.fitting(bits, 0.985 - 0.25 * noise, 1.03 + 0.5 * noise, window.config.copying()).unwrap_or_else(|| {
        // while the rate rises, the next slices will be larger: make the panel that they can share
        let rises = wanted > (1.01 + noise) * slices.bits_of(0) as f64;
        if rises { window.config.slice_bits(1.02 * wanted) } else { bits }
    })
}

/// `k` new slices of one size for a burst: all its items go into one generation, until it has spent its part of the
/// allowed rate or its time. That takes half of the bits that slices for several generations would. `None` if the row has
/// spent nearly all of the rate: the slices would have to be huge.
fn burst(config: &Config, observed: &Observed, row: &Row<'_>) -> Option<Opening> {
    let rate = row.rate;
    let left = (config.rate_limit() - rate) * BURST_SHARE;
    if left < BURST_LEAST * config.plan.false_positive_rate() {
        return None;
    }
    let k = config.plan.hashes() as f64;
    // all fills the same: F is their product
    let fill = libm::pow(left / config.plan.crowding(), 1.0 / k).min(0.5);
    let load = -libm::log(1.0 - fill);
    let items = BURST_GROWTH * observed.items as f64;
    // a small one is cheap to overrate, and fewer slices are quicker to look at
    let items = items.max(BURST_ITEMS.min(16.0 * items)).min(observed.current.max(items));
    let slices = vec![config.slice_bits(items / load); config.plan.hashes()];
    let wanted = config.generation_size(2.0 * items);
    let forecast = row.forecast(&config.plan, &slices);
    let generation_size = forecast.insertions_within(rate + left, wanted).max(1);
    Some(Opening { slices: Sizes::Many(slices), generation_size })
}

/// The least target as a share of what fills a slice of 64 bits: the rest keeps a quiet filter at one word a slice even
/// when there are somewhat more slices than usual.
const ONE_WORD: f64 = 0.85;

/// What generations aim for: the rate, but no less than a slice of 64 bits is good for, and no more than the largest can
/// take.
fn target_generation(config: &Config, rate: f64) -> f64 {
    let plan = &config.plan;
    let per_bit = plan.target_load() / plan.hashes() as f64;
    let most = config.max_slice_bits() as f64 * per_bit;
    rate.max(ONE_WORD * 64.0 * per_bit).max(1.0).min(most)
}

fn share(room: f64, shifts: f64) -> f64 {
    room / shifts
}

impl Config {
    /// What a generation may be predicted to end at.
    fn rate_limit(&self) -> f64 {
        RATE_SHARE * self.plan.false_positive_rate()
    }

    /// A number of insertions: at least one, and no more than slices can count in all their generations.
    fn generation_size(&self, items: f64) -> u64 {
        floor_u64(items).clamp(1, Slices::MAX_ITEMS / self.plan.hashes() as u64)
    }

    /// A size in whole words, within the limits.
    fn slice_bits(&self, bits: f64) -> u64 {
        ceil_u64(bits / 64.0).saturating_mul(64).clamp(64, self.max_slice_bits())
    }
}
