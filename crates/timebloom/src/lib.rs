//! The Bloom filter that forgets on time.

mod builder;
mod clock;
mod clocked;
mod count_bloom;
mod error;
mod hash;
mod num;
mod policy;
mod sizing;
mod slices;
mod stats;
mod time_bloom;
mod timestamp;
mod verdict;
mod window;

pub use builder::{CountBloomBuilder, DEFAULT_FALSE_POSITIVE_RATE, TimeBloomBuilder};
pub use clock::{Clock, CoarseClock, ManualClock, SystemClock};
pub use clocked::Clocked;
pub use count_bloom::CountBloom;
pub use error::{BuildError, Full};
pub use hash::ItemHash;
pub use policy::{OnFull, Policy};
pub use sizing::{LEVEL_RATES, Level, Plan, PlanError, Planner, levels, run_probability, worst_case_rate};
pub use stats::{SliceStats, Stats};
pub use time_bloom::TimeBloom;
pub use timestamp::Timestamp;
pub use verdict::{AgeRange, Verdict};
