//! Predicting the false positive rate at the end of a generation.

use super::Window;
use crate::hash::MAX_FUNCTIONS;
use crate::sizing::{Plan, Runs};
use crate::slices::Slices;

/// The row as it stands when a generation begins: what it will look like after `n` insertions, and how often it errs
/// then.
#[derive(Debug)]
pub(super) struct Forecast<'a> {
    plan: &'a Plan,
    /// The runs in the slices that only age.
    aging: Runs,
    /// The slices that receive, youngest first.
    receiving: [Receiving; MAX_FUNCTIONS],
    /// How many these are.
    len: usize,
}

/// A slice that receives.
#[derive(Clone, Copy, Debug, Default)]
struct Receiving {
    bits: f64,
    /// The share of set bits, if it is known; those that `items` lead to come on top.
    fill: f64,
    items: f64,
}

/// A forecast allows each receiving slice to fill this many standard deviations faster than expected. All of them at
/// once: for the rate that is `sqrt(k)` times as many.
const DEVIATIONS: f64 = 1.5;

impl<'a> Forecast<'a> {
    /// The row after `new` slices, youngest first, are opened in front of it. `aging` has the runs in the slices that only
    /// age by now.
    pub(super) fn after_opening(window: &'a Window, new: &[u64], mut aging: Runs) -> Self {
        let slices = &window.slices;
        let hashes = slices.hashes();
        let still_receiving = hashes.saturating_sub(new.len()).min(slices.len());
        for position in (still_receiving..hashes.min(slices.len())).rev() {
            aging.push(slices.rough_fill(position));
        }
        let mut receiving = [Receiving::default(); MAX_FUNCTIONS];
        for (place, &bits) in receiving.iter_mut().zip(new) {
            place.bits = bits as f64;
        }
        for (place, position) in receiving[new.len()..].iter_mut().zip(0..still_receiving) {
            let bits = slices.bits_of(position);
            let is_counted = Slices::is_often_counted(bits);
            *place = Receiving {
                bits: bits as f64,
                fill: if is_counted { slices.rough_fill(position) } else { 0.0 },
                items: if is_counted { 0.0 } else { slices.items_of(position) as f64 },
            };
        }
        Forecast { plan: &window.config.plan, aging, receiving, len: new.len() + still_receiving }
    }

    /// The rate after `items` further insertions.
    pub(super) fn rate_after(&self, items: u64) -> f64 {
        let mut runs = self.aging.clone();
        for slice in self.receiving[..self.len].iter().rev() {
            runs.push(slice.fill_after(items as f64));
        }
        self.plan.crowded(runs.probability())
    }

    /// The most insertions, up to `wanted`, after which the rate is at most `limit`; 0 if there are none.
    pub(super) fn insertions_within(&self, limit: f64, wanted: u64) -> u64 {
        if self.rate_after(wanted) <= limit {
            return wanted;
        }
        let (mut safe, mut unsafe_) = (0, wanted);
        // to within an eighth: a generation slightly shorter than possible costs nothing
        while unsafe_ - safe > 1 + safe / 8 {
            let middle = safe + (unsafe_ - safe) / 2;
            if self.rate_after(middle) <= limit {
                safe = middle;
            } else {
                unsafe_ = middle;
            }
        }
        safe
    }
}

impl Receiving {
    fn fill_after(&self, items: f64) -> f64 {
        let load = (self.items + items) / self.bits;
        let clear = 1.0 - self.fill;
        let hit = one_minus_exp(load); // chance that a given bit is chosen
        let expected = clear * hit;
        let deviation = (expected * (1.0 - hit) / self.bits).sqrt();
        // no insertion sets more than one bit
        self.fill + (expected + DEVIATIONS * deviation).min(load).min(clear)
    }
}

/// `1 - exp(-x)`, or a little more.
fn one_minus_exp(x: f64) -> f64 {
    if x < 0.1 {
        // the next term of the series is negative
        return x * (1.0 - x * (0.5 - x / 6.0));
    }
    1.0 - libm::exp(-x)
}
