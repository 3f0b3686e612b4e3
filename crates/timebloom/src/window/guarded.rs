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
use super::shift::{Observed, Opening};
use super::{Config, Window, rate_of};
use crate::num::{ceil_u64, floor_u64};
use crate::policy::OnFull;
use crate::slices::Slices;

/// A generation is predicted to end at no more than this share of the allowed rate.
const RATE_SHARE: f64 = 0.995;

/// A generation that would be cut below this share of what the slices have room for is not worth a slice.
const WORTHWHILE: f64 = 0.5;

/// Slices cannot follow the rate when a generation takes less than this share of the target ...
const LAGGING: f64 = 0.5;
/// ... which only matters when the row has spent more than this share of the allowed rate, in proportion to the part of
/// the window that it covers.
const SPENT: f64 = 0.6;

/// A burst may look this many times larger than what was seen of it.
const BURST: f64 = 4.0;

/// Fewer hash functions than this cannot follow a stream that speeds up: what one slice adds to the rate falls too slowly
/// with its size.
pub(crate) const MIN_HASHES: usize = 3;

/// The slice that follows a generation, or a fresh start when one slice cannot keep up.
pub(super) fn next(window: &Window, observed: &Observed) -> Opening {
    let config = &window.config;
    let target = target_generation(config, observed.smoothed);
    if window.slices.is_empty() {
        return fresh(window, target, 1.0);
    }
    let early = observed.elapsed < config.target_shift_interval();
    let thrift = if early { thrift(window) } else { 1.0 };
    let opening = one_slice(window, target, thrift);
    if config.on_full == OnFull::Reject && window.over_limit(&opening).is_some() {
        // it will be rejected: do not think about it any longer, floods are when this happens
        return opening;
    }
    let wanted = opening.generation_size;
    let forecast = Forecast::after_opening(window, &opening.slices);
    let rate = forecast.rate_after(wanted);
    let covered = window.clock.nanos_since(window.oldest_bound) as f64 / config.span as f64;
    let spent = rate / config.plan.false_positive_rate();
    let lagging = (wanted as f64) < LAGGING * target && spent > SPENT * covered.min(1.0);
    let limit = config.rate_limit();
    let allowed = if rate <= limit { wanted } else { forecast.insertions_within(limit, wanted) };
    let one_slice = Opening { generation_size: allowed, ..opening };
    if !lagging && allowed >= 1 && allowed as f64 >= WORTHWHILE * target.min(wanted as f64) {
        return one_slice;
    }
    let burst = observed.current.min(BURST * observed.items as f64);
    let fresh = fresh(window, target_generation(config, observed.smoothed.max(burst)), thrift);
    // under a memory limit a short generation is better than none
    if allowed >= 1 && window.over_limit(&fresh).is_some() { one_slice } else { fresh }
}

/// How much less than usual new slices may be filled, in `(0, 1]`, when generations end early: `k` of them at the load
/// `thrift * a_c` add half of what is left of the allowed rate.
fn thrift(window: &Window) -> f64 {
    let plan = &window.config.plan;
    let spent = rate_of(&window.slices, window.slices.len());
    let left = (window.config.rate_limit() - spent) / plan.false_positive_rate();
    // at the load a_c each of the k + l slices adds its share of the rate, and F grows with the k-th power of the load
    let shares = left * plan.base_slices() as f64 / plan.hashes() as f64;
    libm::pow((0.5 * shares).clamp(1e-3, 1.0), 1.0 / plan.hashes() as f64)
}

/// `k` new slices, the youngest the largest, so that they take `k` generations of `target` items from here.
fn fresh(window: &Window, target: f64, thrift: f64) -> Opening {
    let config = &window.config;
    let plan = &config.plan;
    let wanted = config.generation_size(target * plan.full_load() / plan.target_load());
    let mut scale = 1.0;
    loop {
        let load = thrift * plan.target_load() / scale;
        let size = |receives: usize| config.slice_bits(receives as f64 * target / load);
        let slices: Vec<u64> = (1..=plan.hashes()).rev().map(size).collect();
        let allowed = Forecast::after_opening(window, &slices).insertions_within(config.rate_limit(), wanted);
        // each doubling lowers what the new slices add; the old ones alone are within the limit
        if allowed as f64 >= WORTHWHILE * wanted as f64 || scale >= 16.0 {
            return Opening { slices, generation_size: allowed.max(1) };
        }
        scale *= 2.0;
    }
}

/// One slice by the look-ahead, and the generation that the receiving slices have room for.
fn one_slice(window: &Window, target: f64, thrift: f64) -> Opening {
    let plan = &window.config.plan;
    let slices = &window.slices;
    // F grows with the number of slices and with the k-th power of the load
    let crowd = (slices.len() + 1 - slices.hashes()) as f64 / plan.aging_slices() as f64;
    let full_load = thrift * plan.full_load() * libm::pow(crowd.clamp(1.0, 4.0), -1.0 / slices.hashes() as f64);
    let headroom = plan.full_load() / plan.target_load();
    let room = |position| {
        let figures = slices.figures(position);
        figures.bits as f64 * full_load - figures.items as f64
    };
    // after the shift, the slice now at position i is at i + 1; the last of the k stops receiving
    let mut rooms: Vec<f64> = (0..slices.hashes() - 1).map(room).collect();
    let bits = window.config.slice_bits(next_capacity(&rooms, headroom * target, share) / full_load);
    rooms.insert(0, bits as f64 * full_load);
    // a slice shares its room among its generations, or keeps the target for the later ones and gives this one the rest
    let later = |(i, room): (usize, &f64)| room - (rooms.len() - 1 - i) as f64 * target;
    let uneven = rooms.iter().enumerate().map(later).fold(f64::INFINITY, f64::min);
    let generation_size = window.config.generation_size(generation_size(&rooms, share).max(uneven));
    Opening { slices: vec![bits], generation_size }
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
