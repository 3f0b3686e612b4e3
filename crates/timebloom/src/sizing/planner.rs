//! From a target rate to a filter's proportions.
//!
//! Symbols: `k` = `hashes`, `l` = `aging_slices`, a load `a` = items a bit of a full slice, `F(k, l, a)` the worst-case
//! rate of [`worst_case_rate`], `eps` the target.

use std::collections::HashMap;
use std::f64::consts::LN_2;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::crowding::{LANES, crowding};
use super::levels::levels;
use super::plan::{Plan, bits_per_item, reciprocal};
use super::run::worst_case_rate;
use crate::num::floor_u32;

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// The rate is not in `Plan::MIN_RATE..Plan::MAX_RATE`.
    Rate {
        /// The rate that was asked for.
        got: f64,
    },
    /// The number of hash functions is not in `1..=Plan::MAX_HASHES`.
    Hashes {
        /// The number that was asked for.
        got: u32,
    },
    /// The number (or the limit on the number) of aging slices is not in `1..=Plan::MAX_AGING_SLICES`.
    AgingSlices {
        /// The number that was asked for.
        got: u32,
    },
    /// There is no such level for this rate.
    Level {
        /// The level that was asked for.
        got: u32,
        /// The rate it was asked for.
        rate: f64,
        /// How many levels that rate has.
        levels: usize,
    },
    /// With these `hashes` and `aging_slices` the rate takes more than `Plan::MAX_BITS_PER_ITEM`.
    Wasteful {
        /// What it would take.
        bits_per_item: f64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PlanError::Rate { got } => write!(
                f,
                "false positive rate {got} is not allowed: it must be at least {:e} and below {}",
                Plan::MIN_RATE,
                Plan::MAX_RATE
            ),
            PlanError::Hashes { got } => {
                write!(f, "{got} hash functions are not allowed: use 1 to {}", Plan::MAX_HASHES)
            }
            PlanError::AgingSlices { got } => {
                write!(f, "{got} aging slices are not allowed: use 1 to {}", Plan::MAX_AGING_SLICES)
            }
            PlanError::Level { got, rate, levels: 0 } => write!(
                f,
                "there is no level {got} for rate {rate}: levels exist for 0.1, 0.01, 0.001, 0.0001 and 0.00001"
            ),
            PlanError::Level { got, rate, levels } => {
                write!(f, "there is no level {got} for rate {rate}: use 0 to {}", levels - 1)
            }
            PlanError::Wasteful { bits_per_item } => write!(
                f,
                "these hash functions and aging slices take {bits_per_item:.0} bits an item; at most {} are allowed: \
                 use more hash functions or fewer aging slices",
                Plan::MAX_BITS_PER_ITEM
            ),
        }
    }
}

impl std::error::Error for PlanError {}

/// Which hash functions and aging slices the planner may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Choice {
    /// The fewest bits in few cache lines.
    Default,
    /// The fewest bits with at most this many aging slices.
    UpTo { aging_slices: u32 },
    /// The fewest bits with exactly this many aging slices.
    Exactly { aging_slices: u32 },
    /// The fewest bits with at most this many aging slices, when full slices are half full.
    HalfFull { aging_slices: u32 },
    /// Exactly these.
    Pair { hashes: u32, aging_slices: u32 },
    /// A published pair.
    Level(u32),
}

/// Asks for a [`Plan`]: the rate, and optionally the proportions.
///
/// A plan made once is remembered by the process, so asking again takes well under a microsecond.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Planner {
    rate: f64,
    choice: Choice,
}

impl Planner {
    /// Plans for this false positive rate, in `Plan::MIN_RATE..Plan::MAX_RATE`.
    ///
    /// Unless told otherwise, a plan has 40 slices in all, as many as fit five cache lines: that is what a query costs. It
    /// has eight more, and eight more again, if these save at least two percent of the bits. At 0.01 items overstay by 1/31
    /// of the window, and by less at lower rates.
    pub fn new(false_positive_rate: f64) -> Self {
        Planner { rate: false_positive_rate, choice: Choice::Default }
    }

    /// Replaces the rate and keeps the rest.
    pub fn false_positive_rate(self, rate: f64) -> Self {
        Planner { rate, ..self }
    }

    /// Chooses the plan with the fewest bits among those with at most `limit` aging slices. More of them mean fewer bits
    /// and a shorter overstay, and more slices to look at.
    pub fn max_aging_slices(self, limit: u32) -> Self {
        Planner { choice: Choice::UpTo { aging_slices: limit }, ..self }
    }

    /// Chooses the plan with the fewest bits among those with exactly this many aging slices: for a shorter overstay, and
    /// finer answers about shorter windows, than the cheapest plan gives.
    pub fn aging_slices(self, aging_slices: u32) -> Self {
        Planner { choice: Choice::Exactly { aging_slices }, ..self }
    }

    /// Plans for slices that are filled to one half, as the paper has it; a pair that was set stays.
    pub(crate) fn half_full(self) -> Self {
        match self.choice {
            Choice::Default => Planner { choice: Choice::HalfFull { aging_slices: HALF_FULL_AGING }, ..self },
            Choice::UpTo { aging_slices } => Planner { choice: Choice::HalfFull { aging_slices }, ..self },
            _ => self,
        }
    }

    /// Uses exactly this many hash functions (k) and aging slices (l).
    pub fn hashes_and_aging(self, hashes: u32, aging_slices: u32) -> Self {
        Planner { choice: Choice::Pair { hashes, aging_slices }, ..self }
    }

    /// Uses one of the published pairs: see [`levels`].
    pub fn level(self, level: u32) -> Self {
        Planner { choice: Choice::Level(level), ..self }
    }

    /// The plan, or why there is none.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.shared().map(|plan| *plan)
    }

    /// The plan, shared with every other filter of the same proportions.
    pub(crate) fn shared(&self) -> Result<Arc<Plan>, PlanError> {
        let key = (self.rate.to_bits(), self.choice);
        if let Some(plan) = cache().get(&key) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(self.compute()?);
        let mut cache = cache();
        if cache.len() >= CACHED_PLANS {
            cache.clear();
        }
        cache.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    fn compute(&self) -> Result<Plan, PlanError> {
        // written so that NaN is refused too
        if !(self.rate >= Plan::MIN_RATE && self.rate < Plan::MAX_RATE) {
            return Err(PlanError::Rate { got: self.rate });
        }
        match self.choice {
            Choice::Default => in_few_lines(self.rate),
            Choice::UpTo { aging_slices } => cheapest(self.rate, 1..=aging_slices, Load::Target),
            Choice::Exactly { aging_slices } => cheapest(self.rate, aging_slices..=aging_slices, Load::Target),
            Choice::HalfFull { aging_slices } => cheapest(self.rate, 1..=aging_slices, Load::Half),
            Choice::Pair { hashes, aging_slices } => pair(self.rate, hashes, aging_slices),
            Choice::Level(got) => {
                let levels = levels(self.rate);
                let chosen = usize::try_from(got).ok().and_then(|index| levels.get(index));
                let chosen = chosen.ok_or(PlanError::Level { got, rate: self.rate, levels: levels.len() })?;
                pair(self.rate, chosen.hashes, chosen.aging_slices)
            }
        }
    }
}

/// Plans that are remembered; a process that uses more rates than this plans some of them again.
const CACHED_PLANS: usize = 256;

type PlanCache = HashMap<(u64, Choice), Arc<Plan>>;

fn cache() -> std::sync::MutexGuard<'static, PlanCache> {
    static CACHE: OnceLock<Mutex<PlanCache>> = OnceLock::new();
    // a panic elsewhere cannot leave the map half-written: keep using it
    CACHE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Slices are sized for this share of the target rate; the rest absorbs rate changes.
const TARGET_SHARE: f64 = 0.95;

fn pair(rate: f64, hashes: u32, aging_slices: u32) -> Result<Plan, PlanError> {
    if !(1..=Plan::MAX_HASHES).contains(&hashes) {
        return Err(PlanError::Hashes { got: hashes });
    }
    if !(1..=Plan::MAX_AGING_SLICES).contains(&aging_slices) {
        return Err(PlanError::AgingSlices { got: aging_slices });
    }
    let (hashes, aging_slices) = (hashes as usize, aging_slices as usize);
    let target_load = load_for(TARGET_SHARE * rate, hashes, aging_slices, EXACT);
    let bits_per_item = bits_per_item(hashes, aging_slices, target_load);
    if bits_per_item > Plan::MAX_BITS_PER_ITEM {
        return Err(PlanError::Wasteful { bits_per_item });
    }
    let full_load = load_for(rate, hashes, aging_slices, EXACT);
    let crowding = crowding(hashes, target_load);
    let aging_reciprocal = reciprocal(aging_slices);
    Ok(Plan { rate, hashes, aging_slices, full_load, target_load, crowding, aging_reciprocal })
}

/// Fewer hash functions than this are used only when asked for: a time window cannot follow its stream with them.
const FEWEST_PLANNED: u32 = 3;

/// The most aging slices of half-full plans: an overstay of 3% of the window.
const HALF_FULL_AGING: u32 = 31;

/// Cache lines of the widest default plan: more slices than these hold are looked at one by one.
const MOST_LINES: usize = 7;

/// The pair with the fewest bits in five cache lines, or in more if that saves much.
fn in_few_lines(rate: f64) -> Result<Plan, PlanError> {
    let in_lines = |lines: usize| {
        let slices = LANES * lines;
        let bits = |hashes: usize| {
            let aging_slices = slices - hashes;
            bits_per_item(hashes, aging_slices, load_for(TARGET_SHARE * rate, hashes, aging_slices, ROUGH))
        };
        let mut hashes = FEWEST_PLANNED as usize;
        let mut fewest = bits(hashes);
        while hashes + 1 < slices {
            let next = bits(hashes + 1);
            // with too few functions for a low rate no load is small enough, and the bits have no end
            if next >= fewest && fewest.is_finite() {
                break;
            }
            (hashes, fewest) = (hashes + 1, next);
        }
        (fewest, hashes, slices - hashes)
    };
    let mut best = in_lines(5);
    for lines in 6..=MOST_LINES {
        let wider = in_lines(lines);
        if wider.0 > 0.98 * best.0 {
            break;
        }
        best = wider;
    }
    let small = |number: usize| u32::try_from(number).expect("below 64");
    pair(rate, small(best.1), small(best.2))
}

/// How full the slices of a plan are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Load {
    /// As full as the rate allows, less some headroom.
    Target,
    /// Half full, whatever the rate would allow.
    Half,
}

/// The pair with the fewest bits among those with this many aging slices.
fn cheapest(rate: f64, aging_slices: RangeInclusive<u32>, load: Load) -> Result<Plan, PlanError> {
    let (fewest, most) = (*aging_slices.start(), *aging_slices.end());
    for limit in [fewest, most] {
        if !(1..=Plan::MAX_AGING_SLICES).contains(&limit) {
            return Err(PlanError::AgingSlices { got: limit });
        }
    }
    let bits = |hashes: u32, aging_slices: u32| {
        let (k, l) = (hashes as usize, aging_slices as usize);
        let load = match load {
            Load::Target => load_for(TARGET_SHARE * rate, k, l, ROUGH),
            Load::Half if worst_case_rate(k, l, LN_2) > rate => return f64::INFINITY,
            Load::Half => LN_2,
        };
        bits_per_item(k, l, load)
    };
    let mut best = (f64::INFINITY, 1, most);
    // more aging slices mean fewer bits, though not at each single step: look at all small numbers, and at steps of a
    // sixteenth among the large ones
    let mut aging_slices = most;
    loop {
        // for a given l the bits fall, then rise with k: walk up from well below the best
        let mut hashes = floor_u32(libm::log2(1.0 / rate) / 2.0).max(FEWEST_PLANNED);
        let mut at_hashes = bits(hashes, aging_slices);
        while hashes < Plan::MAX_HASHES {
            let next = bits(hashes + 1, aging_slices);
            if next >= at_hashes && next.is_finite() {
                break;
            }
            (hashes, at_hashes) = (hashes + 1, next);
        }
        if at_hashes < best.0 {
            best = (at_hashes, hashes, aging_slices);
        }
        if aging_slices == fewest {
            return pair(rate, best.1, best.2);
        }
        aging_slices = (aging_slices - (aging_slices / 16).max(1)).max(fewest);
    }
}

/// Halvings of an interval that starts at 64: to 17 digits.
const EXACT: u32 = 60;
/// To three digits, for comparing pairs.
const ROUGH: u32 = 16;

/// The load that solves `F(k, l, load) = rate`, from below: the result never exceeds the rate.
fn load_for(rate: f64, hashes: usize, aging_slices: usize, halvings: u32) -> f64 {
    // F is 0 without load, and 1 to a double's precision at 64
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        if crowding(hashes, middle) * worst_case_rate(hashes, aging_slices, middle) <= rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

// arithmetic: under Miri it takes hours, and there is nothing to find
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::sizing::LEVEL_RATES;

    /// Whether planning for so many aging slices takes less than a minute where the test runs: under Miri, a few.
    fn affordable(aging_slices: &u32) -> bool {
        !cfg!(miri) || *aging_slices < 8
    }

    #[test]
    #[cfg_attr(miri, ignore = "plans for 32 aging slices take minutes there")]
    fn best_plans_are_the_known_ones() {
        // bits per item of independent slices at 0.85 of the rate, where they were computed elsewhere too
        for (rate, hashes, bits) in [(1e-2, 9, 20.4), (1e-3, 11, 28.1), (1e-4, 13, 36.5), (1e-5, 15, 45.5)] {
            let independent = |share: f64| {
                let load = load_for(share * rate, hashes, 32, EXACT);
                let crowded = load_for(share * rate * crowding(hashes, load), hashes, 32, EXACT);
                bits_per_item(hashes, 32, crowded)
            };
            assert!((independent(0.85) / bits - 1.0).abs() < 0.01, "at {rate}: {}", independent(0.85));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "plans for 36 aging slices take minutes there")]
    fn default_plans_fit_cache_lines() {
        for (rate, pair, most) in
            [(0.1, (7, 33), 13.3), (0.01, (9, 31), 20.9), (1e-3, (12, 36), 28.8), (1e-5, (16, 40), 48.0)]
        {
            let plan = Planner::new(rate).plan().expect("a legal rate");
            assert_eq!((plan.hashes(), plan.aging_slices()), pair, "at {rate}");
            assert!(plan.bits_per_item() < most, "at {rate}: {}", plan.bits_per_item());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "plans for 31 aging slices take minutes there")]
    fn half_full_plans_keep_their_rate() {
        for (rate, hashes) in [(0.1, 6), (1e-2, 10), (3e-3, 12), (1e-5, 20)] {
            let plan = Planner::new(rate).half_full().plan().expect("a legal rate");
            assert!(worst_case_rate(plan.hashes(), plan.aging_slices(), LN_2) <= rate, "{plan:?}");
            assert_eq!(plan.hashes(), hashes, "{plan:?}");
        }
        let request = Planner::new(0.01).hashes_and_aging(10, 25);
        assert_eq!(request.half_full(), request, "an explicit pair stays");
    }

    #[test]
    fn aging_slices_can_be_asked_for() {
        for aging_slices in [1, 100, Plan::MAX_AGING_SLICES].into_iter().filter(affordable) {
            let plan = Planner::new(0.001).aging_slices(aging_slices).plan().expect("legal");
            assert_eq!(plan.aging_slices(), aging_slices as usize);
            assert!(plan.worst_case_rate() <= 0.001);
        }
    }

    #[test]
    fn every_legal_rate_has_a_default_plan() {
        for rate in [Plan::MIN_RATE, 1e-11, 1e-10, 1e-9, 1e-6, 0.03, 0.4999] {
            let plan = Planner::new(rate).plan().expect("a legal rate");
            assert!(plan.worst_case_rate() <= rate && plan.bits_per_item() < 200.0, "{plan:?}");
        }
    }

    #[test]
    fn every_legal_rate_has_a_plan() {
        // hundreds of bisections: under Miri, of the cheap ones only
        for rate in if cfg!(miri) { vec![0.2, 0.4999] } else { vec![Plan::MIN_RATE, 1e-9, 0.003, 0.2, 0.4999] } {
            for limit in [1, 2, 7, 64, Plan::MAX_AGING_SLICES].into_iter().filter(affordable) {
                let plan = Planner::new(rate).max_aging_slices(limit).plan().expect("a legal rate and limit");
                assert!(plan.worst_case_rate() <= rate, "{plan:?}");
                assert!(plan.target_load() < plan.full_load(), "{plan:?}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "hundreds of plans take minutes there")]
    fn no_pair_within_the_limit_is_cheaper() {
        for (rate, limit) in [(0.3, 6), (0.01, 32), (1e-4, 20)] {
            let best = Planner::new(rate).max_aging_slices(limit).plan().expect("legal").bits_per_item();
            for aging_slices in 1..=limit {
                for hashes in FEWEST_PLANNED..=24 {
                    if let Ok(plan) = Planner::new(rate).hashes_and_aging(hashes, aging_slices).plan() {
                        // loads are compared to three digits
                        assert!(best <= plan.bits_per_item() * 1.002, "at {rate}: {plan:?} beats {best}");
                    }
                }
            }
        }
    }

    #[test]
    fn bad_requests_name_what_is_allowed() {
        for rate in [0.0, -1.0, 0.5, 1.0, f64::NAN, f64::INFINITY, 1e-13] {
            let error = Planner::new(rate).plan().expect_err("an illegal rate");
            assert!(error.to_string().contains("below 0.5"), "{error}");
        }
        let request = Planner::new(0.01);
        assert_eq!(request.hashes_and_aging(0, 5).plan(), Err(PlanError::Hashes { got: 0 }));
        assert_eq!(request.hashes_and_aging(65, 5).plan(), Err(PlanError::Hashes { got: 65 }));
        assert_eq!(request.hashes_and_aging(5, 0).plan(), Err(PlanError::AgingSlices { got: 0 }));
        assert_eq!(request.max_aging_slices(0).plan(), Err(PlanError::AgingSlices { got: 0 }));
        assert_eq!(request.level(6).plan(), Err(PlanError::Level { got: 6, rate: 0.01, levels: 6 }));
        let wasteful = Planner::new(1e-6).hashes_and_aging(1, 100).plan();
        assert!(matches!(wasteful, Err(PlanError::Wasteful { .. })), "{wasteful:?}");
    }

    #[test]
    fn most_published_pairs_exceed_their_rate_at_half_fill() {
        let exceeding = LEVEL_RATES
            .iter()
            .flat_map(|&rate| levels(rate).iter().map(move |level| (rate, level)))
            .map(|(rate, level)| worst_case_rate(level.hashes as usize, level.aging_slices as usize, LN_2) / rate);
        let ratios: Vec<f64> = exceeding.collect();
        assert_eq!(ratios.len(), 29);
        assert_eq!(ratios.iter().filter(|&&ratio| ratio > 1.0).count(), 27);
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        assert!((worst - 1.47).abs() < 0.01, "{worst}");
    }
}
