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
use super::shift::{Observed, Opening, Sizes};
use super::{Config, Window, burst, drift, lane};
use crate::hash::MAX_FUNCTIONS;
use crate::num::{ceil_u64, floor_u64, smaller};
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

/// Generations that took longer than this times what they should were followed by silence.
const MOST_LATE: f64 = 1.25;

/// Slices for generations of fewer items than this are one or two words, with room enough.
const FEW: f64 = 16.0;

/// From this share of the allowed rate on, new slices get larger.
const RELAXED: f64 = 0.92;
/// ... by this times what is spent beyond it. What they do shows a window later: with twice as much, sizes went up and down
/// around what a steady stream needs.
const PRESSURE: f64 = 1.0;

/// A generation may take as many standard deviations more than the target as this, if the rate allows it.
const CHANCE: f64 = 3.0;

/// Slices are as many standard deviations of their items larger than the target asks for.
const UNEVEN: f64 = 0.5;

/// A burst may look this many times larger than what was seen of it.
const BURST: f64 = 4.0;

/// How many sizes a fresh start has.
const SIZES: usize = 3;

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
    pub(super) fn forecast(&self, plan: &'a Plan, new: &'a [u64]) -> Forecast<'a> {
        Forecast::after_opening(plan, new, self.receiving, self.aging)
    }
}

/// The slice that follows a generation, or a fresh start when one slice cannot keep up.
pub(super) fn next(window: &Window, observed: &Observed, row: &Row<'_>) -> Opening {
    let config = &window.config;
    let rate = row.rate;
    let drift = drift::of(window, observed.steady);
    let target =
        target_generation(config, observed.steady * (1.0 + drift * drift::STEADY_LAG) * late(config, observed));
    if window.slices.is_empty() {
        return fresh(window, target, 1.0, row);
    }
    let early = (observed.elapsed as f64) < EARLY * config.target_shift_interval() as f64;
    let thrift = if early { thrift(config, rate) } else { 1.0 };
    let pressure = 1.0 + PRESSURE * (rate / config.plan.false_positive_rate() - RELAXED).max(0.0);
    let growth = 1.0 + drift * 0.5 * config.plan.hashes() as f64;
    let aim = Aim { target, thrift, early, surplus: pressure * growth, observed };
    let opening = one_slice(window, row, &aim);
    if config.on_full == OnFull::Reject && window.over_limit(&opening).is_some() {
        // it will be rejected: do not think about it any longer, floods are when this happens
        return opening;
    }
    let wanted = opening.generation_size;
    let forecast = row.forecast(&config.plan, opening.slices.as_slice());
    let limit = config.rate_limit();
    let is_short = (wanted as f64) < LAGGING * target;
    if !is_short && forecast.is_surely_within(limit, wanted, rate, window.slices.fullest_beside_receiving()) {
        return opening;
    }
    let predicted = forecast.rate_after(wanted);
    let covered = window.clock.nanos_since(window.oldest_bound) as f64 / config.span as f64;
    let spent = predicted / config.plan.false_positive_rate();
    let lagging = is_short && spent > SPENT * covered.min(1.0);
    let allowed = if predicted <= limit { wanted } else { forecast.insertions_within(limit, wanted) };
    let one_slice = Opening { generation_size: allowed, ..opening };
    if !lagging && allowed >= 1 && allowed as f64 >= WORTHWHILE * target.min(wanted as f64) {
        return one_slice;
    }
    let burst = burst::opening(window, observed, row).filter(|burst| window.over_limit(burst).is_none());
    if let Some(burst) = burst {
        return burst;
    }
    // a few items come close together by chance: two standard deviations of them are not believed
    let believed = ((observed.items as f64).sqrt() - 1.0).max(0.0);
    let burst = observed.current.min(BURST * believed * believed);
    let rate = observed.smoothed.max(burst);
    // the slices that follow should be of the same size: believe in what these are made for
    let fresh = Opening { rate: Some(rate), ..fresh(window, target_generation(config, rate), thrift, row) };
    // under a memory limit a short generation is better than none
    if allowed >= 1 && window.over_limit(&fresh).is_some() { one_slice } else { fresh }
}

/// How much longer than it should a generation takes: it ends with the first item after its time. Items that come many at
/// once, or are few, make that a matter of a few percent.
fn late(config: &Config, observed: &Observed) -> f64 {
    if observed.steady < FEW {
        return 1.0;
    }
    (observed.elapsed as f64 / config.target_shift_interval() as f64).clamp(1.0, MOST_LATE)
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

/// `k` new slices, the youngest the largest, so that they take `k` generations of `target` items from here. Of a few
/// sizes only, and so in a few panels.
fn fresh(window: &Window, target: f64, thrift: f64, row: &Row<'_>) -> Opening {
    let config = &window.config;
    let plan = &config.plan;
    let wanted = config.generation_size(target * plan.full_load() / plan.target_load());
    let alike = plan.hashes().div_ceil(SIZES);
    let mut scale = 1.0;
    loop {
        let load = thrift * plan.target_load() / scale;
        let size = |receives: usize| config.slice_bits(receives as f64 * target / load);
        let slices: Vec<u64> = (0..plan.hashes()).map(|age| size(plan.hashes() - age / alike * alike)).collect();
        let allowed = row.forecast(plan, &slices).insertions_within(config.rate_limit(), wanted);
        // each doubling lowers what the new slices add; the old ones alone are within the limit
        if allowed as f64 >= WORTHWHILE * wanted as f64 || scale >= 16.0 {
            return Opening { slices: Sizes::Many(slices), generation_size: allowed.max(1), rate: None };
        }
        scale *= 2.0;
    }
}

/// What the next slice should be good for.
struct Aim<'a> {
    /// Items of a generation.
    target: f64,
    /// How much less than usual it may be filled, in `(0, 1]`.
    thrift: f64,
    /// Whether generations end before their time.
    early: bool,
    /// How much larger than that it should be.
    surplus: f64,
    /// What is known of the rate.
    observed: &'a Observed,
}

/// One slice by the look-ahead, and the generation that the receiving slices have room for.
fn one_slice(window: &Window, row: &Row<'_>, aim: &Aim<'_>) -> Opening {
    let &Aim { target, thrift, early, surplus, observed } = aim;
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
    let wanted = capacity / full_load * surplus;
    let bits = lane::bits(window, wanted, target, observed);
    rooms[0] = bits as f64 * full_load;
    // a slice shares its room among its generations, or keeps the target for the later ones and gives this one the rest
    let later = |(i, room): (usize, &f64)| room - (rooms.len() - 1 - i) as f64 * target;
    let uneven = rooms.iter().enumerate().map(later).fold(f64::INFINITY, smaller);
    // chance may bring more than the target: time, not room, should end the generations of a steady stream
    let by_chance = if early { 0.0 } else { target + CHANCE * target.sqrt() };
    let generation_size = window.config.generation_size(generation_size(rooms, share).max(uneven).max(by_chance));
    Opening { slices: Sizes::One([bits]), generation_size, rate: None }
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
    pub(super) fn rate_limit(&self) -> f64 {
        RATE_SHARE * self.plan.false_positive_rate()
    }

    /// A number of insertions: at least one, and no more than slices can count in all their generations.
    pub(super) fn generation_size(&self, items: f64) -> u64 {
        floor_u64(items).clamp(1, Slices::MAX_ITEMS / self.plan.hashes() as u64)
    }

    /// A size in whole words, within the limits.
    pub(super) fn slice_bits(&self, bits: f64) -> u64 {
        ceil_u64(bits / 64.0).saturating_mul(64).clamp(64, self.max_slice_bits())
    }
}
