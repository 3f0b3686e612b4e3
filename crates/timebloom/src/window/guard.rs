//! Predicting the false positive rate at the end of a generation.

use crate::num::larger;
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
        let mut chosen = Chosen::by(items as f64);
        runs.extend(self.still.iter().rev().map(|slice| fill_after(slice, &mut chosen)));
        let new = self.new.iter().map(|&bits| Receiving { bits: bits as f64, ..Receiving::default() });
        runs.extend(new.rev().map(|slice| fill_after(&slice, &mut chosen)));
        self.plan.crowded(runs.probability())
    }

    /// Whether the rate is certainly at most `limit` after `items` further insertions, when it is `rate` by now and no slice
    /// that aged before is fuller than `fullest`, of those next to the others. It takes little time, and does for slices
    /// that are nearly empty, as the smallest ones are: of others it says nothing.
    pub(super) fn is_surely_within(&self, limit: f64, items: u64, rate: f64, fullest: f64) -> bool {
        if self.still.first().is_none_or(|slice| !slice.is_counted) {
            return false;
        }
        let fullest = self.closed.iter().map(|slice| slice.fill).fold(fullest, larger);
        let new = self.new.iter().map(|&bits| items as f64 / bits as f64);
        let still = self.still.iter().map(|slice| most_after(slice, items as f64));
        // runs with some of the slices that receive, by the youngest of these; all others are there by now
        let (mut runs, mut beside) = (0.0, 1.0);
        for most in new.chain(still) {
            // a run that begins one slice later has one more of the others
            runs = (runs + beside) * most;
            beside *= fullest;
        }
        rate + self.plan.crowded(runs) <= limit
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

/// What a slice has for certain, and the items for which that is a matter of chance: all, unless it was counted.
fn known(slice: &Receiving) -> (f64, f64) {
    if slice.is_counted { (slice.fill, 0.0) } else { (0.0, slice.items) }
}

/// No insertion sets more than one bit.
fn most_after(slice: &Receiving, items: f64) -> f64 {
    let (fill, before) = known(slice);
    fill + (before + items) / slice.bits
}

/// How many items are to come, and the chance that one of them chooses a given bit: of slices of one size, the last that
/// was asked about.
struct Chosen {
    items: f64,
    bits: f64,
    chance: f64,
}

impl Chosen {
    fn by(items: f64) -> Self {
        Chosen { items, bits: f64::INFINITY, chance: 0.0 }
    }

    fn chance(&mut self, bits: f64) -> f64 {
        if self.bits != bits {
            (self.bits, self.chance) = (bits, one_minus_exp(self.items / bits));
        }
        self.chance
    }
}

fn fill_after(slice: &Receiving, chosen: &mut Chosen) -> f64 {
    let (fill, before) = known(slice);
    let load = (before + chosen.items) / slice.bits;
    let clear = 1.0 - fill;
    // chance that a given bit is chosen: by these items, or by those before
    let chosen = chosen.chance(slice.bits);
    let hit = if slice.is_counted { chosen } else { slice.fill + (1.0 - slice.fill) * chosen };
    let expected = clear * hit;
    let deviation = (expected * (1.0 - hit) / slice.bits).sqrt();
    // see `most_after`
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::Planner;

    /// Rows of all kinds: what is surely within the limit is.
    #[test]
    #[cfg_attr(miri, ignore = "arithmetic")]
    fn what_is_sure_is_so() {
        let plan = Planner::new(0.01).plan().unwrap();
        let hashes = plan.hashes();
        let mut random = fastrand::Rng::with_seed(1);
        let mut sure = 0;
        for _ in 0..20_000 {
            let most = random.f64();
            let mut fill = || most * random.f64();
            let aging_fills: Vec<f64> = (0..plan.aging_slices()).map(|_| fill()).collect();
            let receiving: Vec<Receiving> = (0..hashes)
                .map(|age| {
                    let (bits, fill) = (64.0 * (1 + age % 3) as f64, fill());
                    Receiving { bits, items: fill * bits, fill, is_counted: age % 2 == 0 }
                })
                .collect();
            let mut aging = Runs::new(hashes);
            aging.extend(aging_fills.iter().copied());
            let mut all = aging.clone();
            all.extend(receiving.iter().rev().map(|slice| slice.fill));
            let rate = plan.crowded(all.probability());
            let fullest = aging_fills[aging_fills.len() - hashes + 1..].iter().copied().fold(0.0, f64::max);
            let forecast = Forecast::after_opening(&plan, &[64], &receiving, &aging);
            let (limit, items) = (0.01, random.u64(..20));
            if forecast.is_surely_within(limit, items, rate, fullest) {
                sure += 1;
                let after = forecast.rate_after(items);
                assert!(after <= limit * (1.0 + 1e-12), "{after} after {items}");
            }
        }
        assert!((2_000..18_000).contains(&sure), "{sure}");
    }
}
