//! Building filters: what can be chosen, and what is checked before a filter exists.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::count_bloom::CountBloom;
use crate::error::BuildError;
use crate::hash::random_seed;
use crate::policy::{OnFull, Policy};
use crate::sharded::Sharded;
use crate::sizing::Planner;
use crate::time_bloom::TimeBloom;
use crate::timestamp::saturating_nanos;
use crate::window::guarded::MIN_HASHES;
use crate::window::{Config, Window};

/// The false positive rate of a filter that is not told another.
pub const DEFAULT_FALSE_POSITIVE_RATE: f64 = 0.01;

/// Builds a [`TimeBloom`]; see [`TimeBloom::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct TimeBloomBuilder {
    span: Duration,
    planner: Planner,
    expected_items: u64,
    seed: Option<u64>,
    policy: Policy,
    max_bytes: Option<u64>,
    on_full: OnFull,
}

impl TimeBloomBuilder {
    pub(crate) fn new(span: Duration) -> Self {
        TimeBloomBuilder {
            span,
            planner: Planner::new(DEFAULT_FALSE_POSITIVE_RATE),
            expected_items: 0,
            seed: None,
            policy: Policy::default(),
            max_bytes: None,
            on_full: OnFull::default(),
        }
    }

    /// The highest chance that an item never inserted is reported, in `1e-12..0.5`. Default: 0.01.
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.planner = self.planner.false_positive_rate(rate);
        self
    }

    /// How many items are expected per span: a hint for the first slices, never a limit. Default: unknown.
    ///
    /// The first insertion opens slices for that rate, of gigabytes if need be. Too high a hint wastes memory for a window
    /// and a half; too low a one costs little.
    pub fn expected_items(mut self, per_span: u64) -> Self {
        self.expected_items = per_span;
        self
    }

    /// Uses exactly this many hash functions (k), 1 to 64, at least 3 with [`Policy::Guarded`], and aging slices (l), 1 to
    /// 1,024, instead of planning them. The rate must be within their reach.
    pub fn hashes_and_aging(mut self, hashes: u32, aging_slices: u32) -> Self {
        self.planner = self.planner.hashes_and_aging(hashes, aging_slices);
        self
    }

    /// Uses one of the published pairs for the rate, 0 for the fewest slices and up to 5: see [`levels`](crate::levels).
    pub fn level(mut self, level: u32) -> Self {
        self.planner = self.planner.level(level);
        self
    }

    /// Plans with at most this many aging slices, 1 to 1,024: the overstay of an item is `span / l`. Default: as many as
    /// [`Planner::new`](crate::Planner::new) says, and at most 31 with [`Policy::Paper`].
    pub fn max_aging_slices(mut self, limit: u32) -> Self {
        self.planner = self.planner.max_aging_slices(limit);
        self
    }

    /// Plans with exactly this many aging slices, 1 to 1,024: the overstay of an item, and the precision of answers about
    /// shorter windows, is `span / l`.
    pub fn aging_slices(mut self, aging_slices: u32) -> Self {
        self.planner = self.planner.aging_slices(aging_slices);
        self
    }

    /// How slices are sized. Default: [`Policy::Guarded`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The seed of the hash function. Default: random, so that nobody can prepare items that collide.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The most memory the filter may take, everything counted; never exceeded. At least what `k + l` of the smallest slices
    /// take, some 1,400 bytes as planned for the default rate: the error of `build` says how much. Default: no limit.
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }

    /// What happens to insertions at the memory limit. Default: [`OnFull::Reject`].
    pub fn on_full(mut self, on_full: OnFull) -> Self {
        self.on_full = on_full;
        self
    }

    /// The filter, empty.
    pub fn build(&self) -> Result<TimeBloom, BuildError> {
        let span = saturating_nanos(self.span);
        if !(Config::MIN_SPAN..=Config::MAX_SPAN).contains(&span) {
            return Err(BuildError::Span { got: self.span });
        }
        let plan = match self.policy {
            Policy::Paper => self.planner.half_full().shared()?,
            Policy::Guarded => self.planner.shared()?,
        };
        if self.policy == Policy::Guarded && plan.hashes() < MIN_HASHES {
            return Err(BuildError::TooFewHashes { got: plan.hashes(), min: MIN_HASHES });
        }
        let config = Config {
            plan,
            seed: self.seed.unwrap_or_else(random_seed),
            span,
            expected_items: self.expected_items,
            max_bytes: self.max_bytes.and_then(NonZeroU64::new),
            policy: self.policy,
            on_full: self.on_full,
        };
        if let Some(got) = self.max_bytes {
            let min = config.min_bytes();
            if got < min {
                return Err(BuildError::MaxBytes { got, min });
            }
        }
        Ok(TimeBloom::from_window(Window::new(config)))
    }

    /// The filter for many threads, empty, in 1 to [`MAX_SHARDS`](crate::MAX_SHARDS) parts with a lock each;
    /// [`default_shards`](crate::default_shards) suits most. All have the same seed, and equal parts of the expected items
    /// and of the memory limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{BuildError, TimeBloom};
    ///
    /// let builder = TimeBloom::builder(Duration::from_secs(60)).max_bytes(1 << 20);
    /// let filter = builder.build_sharded(16)?;
    /// assert_eq!((filter.shards(), filter.max_bytes()), (16, Some(1 << 20)));
    /// // a megabyte cannot be divided into parts that are too small to work
    /// assert!(matches!(builder.build_sharded(4_096), Err(BuildError::MaxBytes { got: 1_048_576, min }) if min > 1 << 20));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn build_sharded(&self, shards: usize) -> Result<Sharded<TimeBloom>, BuildError> {
        Sharded::build(shards, self.expected_items, self.max_bytes, |expected_items, max_bytes| {
            TimeBloomBuilder { expected_items, max_bytes, ..self.clone() }.build()
        })
    }
}

/// Builds a [`CountBloom`]; see [`CountBloom::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct CountBloomBuilder {
    capacity: u64,
    planner: Planner,
    seed: Option<u64>,
}

impl CountBloomBuilder {
    pub(crate) fn new(capacity: u64) -> Self {
        CountBloomBuilder { capacity, planner: Planner::new(DEFAULT_FALSE_POSITIVE_RATE), seed: None }
    }

    /// The highest chance that an item never inserted is reported, in `1e-12..0.5`. Default: 0.01.
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.planner = self.planner.false_positive_rate(rate);
        self
    }

    /// Uses exactly this many hash functions (k) and aging slices (l) instead of planning them.
    pub fn hashes_and_aging(mut self, hashes: u32, aging_slices: u32) -> Self {
        self.planner = self.planner.hashes_and_aging(hashes, aging_slices);
        self
    }

    /// Uses one of the published pairs for the rate: see [`levels`](crate::levels).
    pub fn level(mut self, level: u32) -> Self {
        self.planner = self.planner.level(level);
        self
    }

    /// Plans with exactly this many aging slices: an item overstays by at most `capacity / l` insertions.
    pub fn aging_slices(mut self, aging_slices: u32) -> Self {
        self.planner = self.planner.aging_slices(aging_slices);
        self
    }

    /// Plans with at most this many aging slices: an item overstays by at most `capacity / l` insertions. Default:
    /// as many as [`Planner::new`](crate::Planner::new) says.
    pub fn max_aging_slices(mut self, limit: u32) -> Self {
        self.planner = self.planner.max_aging_slices(limit);
        self
    }

    /// The seed of the hash function. Default: random, so that nobody can prepare items that collide.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The filter, empty.
    pub fn build(&self) -> Result<CountBloom, BuildError> {
        CountBloom::with_plan(self.capacity, self.planner.shared()?, self.seed.unwrap_or_else(random_seed))
    }
}
