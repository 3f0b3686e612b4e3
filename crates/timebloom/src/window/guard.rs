//! Predicting the false positive rate at the end of a generation.

use crate::sizing::{Plan, Runs};
use crate::slices::Receiving;

/// The row as it stands when a generation begins: what it will look like after `n` insertions, and how often it errs
/// then.
#[derive(Debug)]
pub(super) struct Forecast<'a> {
    plan: &'a Plan,
    /// The runs in the slices that aged before.
    aging: &'a Runs,
    /// The slices that stop receiving, youngest first.
    closed: &'a [Receiving],
    /// The slices that receive: new ones, and behind them those that did before, youngest first.
    new: &'a [u64],
    still: &'a [Receiving],
}

/// A forecast allows each receiving slice to fill this many standard deviations faster than expected. All of them at
/// once: for the rate that is `sqrt(k)` times as many.
const DEVIATIONS: f64 = 1.5;

impl<'a> Forecast<'a> {
    /// The row after `new` slices, youngest first, are opened in front of those that receive by now. `aging` has the runs in
    /// the others.
    pub(super) fn after_opening(plan: &'a Plan, new: &'a [u64], receiving: &'a [Receiving], aging: &'a Runs) -> Self {
        let (still, closed) = receiving.split_at(plan.hashes().saturating_sub(new.len()).min(receiving.len()));
        Forecast { plan, aging, closed, new, still }
    }

    /// The rate after `items` further insertions.
    pub(super) fn rate_after(&self, items: u64) -> f64 {
        let mut runs = self.aging.clone();
        runs.extend(self.closed.iter().rev().map(|slice| slice.fill));
        let new = self.new.iter().map(|&bits| Receiving { bits: bits as f64, ..Receiving::default() });
        let receiving = self.still.iter().rev().copied().chain(new.rev());
        runs.extend(receiving.map(|slice| fill_after(&slice, items as f64)));
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

fn fill_after(slice: &Receiving, items: f64) -> f64 {
    // of a slice that was counted, what it has is known; otherwise all its items are a matter of chance
    let (fill, before) = if slice.is_counted { (slice.fill, 0.0) } else { (0.0, slice.items) };
    let load = (before + items) / slice.bits;
    let clear = 1.0 - fill;
    let hit = one_minus_exp(load); // chance that a given bit is chosen
    let expected = clear * hit;
    let deviation = (expected * (1.0 - hit) / slice.bits).sqrt();
    // no insertion sets more than one bit
    fill + (expected + DEVIATIONS * deviation).min(load).min(clear)
}

/// `1 - exp(-x)`, or a little more.
fn one_minus_exp(x: f64) -> f64 {
    if x < 0.1 {
        // the next term of the series is negative
        return x * (1.0 - x * (0.5 - x / 6.0));
    }
    1.0 - libm::exp(-x)
}
