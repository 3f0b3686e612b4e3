//! A filter's proportions.
//!
//! Symbols: `k` = `hashes`, `l` = `aging_slices`, a load `a` = items a bit of a full slice.

use super::run::{worst_case_fills, worst_case_rate};
use crate::hash::{MAX_HASHES, wide_product};

/// The proportions of a filter: what the planner decides from the target rate.
///
/// ```
/// use timebloom::Planner;
///
/// let plan = Planner::new(0.01).plan()?;
/// assert!(plan.worst_case_rate() <= 0.01);
/// assert!(plan.bits_per_item() < 21.0);
/// // an item overstays its window by at most this share of it
/// assert_eq!(plan.slack(), 1.0 / 31.0);
/// # Ok::<(), timebloom::PlanError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub(super) rate: f64,
    /// In `1..=MAX_HASHES`.
    pub(super) hashes: usize,
    /// In `1..=MAX_AGING_SLICES`.
    pub(super) aging_slices: usize,
    pub(super) full_load: f64,
    pub(super) target_load: f64,
    /// See [`crowding`].
    pub(super) crowding: f64,
    /// See [`reciprocal`].
    pub(super) aging_reciprocal: u64,
}

impl Plan {
    /// The most hash functions a plan may have.
    pub const MAX_HASHES: u32 = MAX_HASHES;
    /// The most aging slices a plan may have.
    pub const MAX_AGING_SLICES: u32 = 1_024;
    /// The smallest plannable rate: below it, collisions of the 64-bit hash would be felt.
    pub const MIN_RATE: f64 = 1e-12;
    /// Rates must stay below this one.
    pub const MAX_RATE: f64 = 0.5;
    /// A plan that needs more than this is refused: it is a mistake in `k` or `l`.
    pub const MAX_BITS_PER_ITEM: f64 = 4_096.0;

    /// The target false positive rate, in `MIN_RATE..MAX_RATE`.
    pub fn false_positive_rate(&self) -> f64 {
        self.rate
    }

    /// Hash functions (k): an item occupies this many consecutive slices. In `1..=MAX_HASHES`.
    pub fn hashes(&self) -> usize {
        self.hashes
    }

    /// Aging slices (l): the window is divided into this many generations. In `1..=MAX_AGING_SLICES`.
    pub fn aging_slices(&self) -> usize {
        self.aging_slices
    }

    /// `span / l`, in whole numbers.
    pub(crate) fn share_of(&self, span: u64) -> u64 {
        // every shift asks several times, and dividing takes some processors forty steps
        let (_, share) = wide_product(span, self.aging_reciprocal);
        let left = span - share * self.aging_slices as u64;
        share + u64::from(left >= self.aging_slices as u64)
    }

    /// Slices at a constant rate (k + l).
    pub fn base_slices(&self) -> usize {
        self.hashes + self.aging_slices
    }

    /// Items a bit at which a full slice takes the worst-case rate to exactly the target.
    pub fn full_load(&self) -> f64 {
        self.full_load
    }

    /// Items a bit that slices are sized for: somewhat under [`full_load`](Self::full_load), so that an uneven stream
    /// stays within the target.
    pub fn target_load(&self) -> f64 {
        self.target_load
    }

    /// Bits per item in the window, at a constant rate, before rounding and bookkeeping.
    pub fn bits_per_item(&self) -> f64 {
        bits_per_item(self.hashes, self.aging_slices, self.target_load)
    }

    /// The rate just before a shift, at a constant rate of insertions: the highest it gets in steady state.
    pub fn worst_case_rate(&self) -> f64 {
        self.crowded(worst_case_rate(self.hashes, self.aging_slices, self.target_load))
    }

    /// How many times more often a query errs than [`run_probability`](crate::run_probability) says from the fills: at
    /// least 1. That one takes slices as independent; ours keep the bits of an item close together, eight slices to a
    /// cache line, and where one of them is crowded its neighbours tend to be. True to about two percent when all slices
    /// share their lines, and on the safe side when they do not.
    pub fn crowding(&self) -> f64 {
        self.crowding
    }

    /// The false positive rate of slices that would have this one if their bits were independent.
    pub(crate) fn crowded(&self, independent: f64) -> f64 {
        (self.crowding * independent).min(1.0)
    }

    /// How long an item may overstay, as a share of the window: 1/l.
    pub fn slack(&self) -> f64 {
        1.0 / self.aging_slices as f64
    }

    /// How many slices a query for an item never inserted looks at, on average, just before a shift.
    pub fn probes_per_miss(&self) -> f64 {
        expected_probes(self.hashes, &worst_case_fills(self.hashes, self.aging_slices, self.target_load))
    }
}

/// 2^64 divided by a number, or a little less: a product with it is at most one short of a quotient.
pub(super) fn reciprocal(divisor: usize) -> u64 {
    u64::MAX / divisor as u64
}

pub(super) fn bits_per_item(hashes: usize, aging_slices: usize, load: f64) -> f64 {
    let (k, l) = (hashes as f64, aging_slices as f64);
    k * (k + l) / (l * load)
}

/// Expected probes of the paper's query for an absent item: from base `b` with `p` matches carried from above, climb
/// while slices match; a miss at slice `f` restarts at `f - k`, carrying the matches of this climb.
fn expected_probes(hashes: usize, fills: &[f64]) -> f64 {
    let bases = fills.len() + 1 - hashes;
    let mut expected = vec![0.0; bases * hashes];
    for base in 0..bases {
        for carried in 0..hashes {
            let mut reach = 1.0;
            let mut probes = 0.0;
            for climb in 0..hashes - carried {
                let fill = fills[base + climb];
                let onward = (base + climb).checked_sub(hashes);
                let restart = onward.map_or(0.0, |next| expected[next * hashes + climb]);
                probes += reach * (1.0 + (1.0 - fill) * restart);
                reach *= fill;
            }
            expected[base * hashes + carried] = probes;
        }
    }
    expected[(bases - 1) * hashes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_quotients() {
        for aging_slices in 1..=Plan::MAX_AGING_SLICES {
            let l = aging_slices as usize;
            let plan = Plan {
                rate: 0.01,
                hashes: 9,
                aging_slices: l,
                full_load: 0.5,
                target_load: 0.5,
                crowding: 1.0,
                aging_reciprocal: reciprocal(l),
            };
            let l = u64::from(aging_slices);
            for quotient in [0, 1, 1_000_000_007, u64::MAX / l] {
                let first = quotient * l;
                for span in [first, first + (l - 1).min(u64::MAX - first), first.saturating_sub(1)] {
                    assert_eq!(plan.share_of(span), span / l, "{span} / {l}");
                }
            }
        }
    }

    #[test]
    fn probes_are_those_of_the_algorithm() {
        // one slice of one function: always exactly one probe
        assert_eq!(expected_probes(1, &[0.3]), 1.0);
        // two functions, two slices: the second only when the first matched
        assert!((expected_probes(2, &[0.3, 0.9]) - 1.3).abs() < 1e-15);
    }
}
