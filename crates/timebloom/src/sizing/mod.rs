//! How large a filter must be, and how often it errs.
//!
//! - [`run`]: the exact probability of a false positive, from the fills of the slices.
//! - [`plan`]: from a target rate to hash functions, aging slices and loads; planned once, then cached.
//! - [`levels`]: the pairs that the paper's authors publish.

pub(crate) mod levels;
pub(crate) mod plan;
pub(crate) mod run;

pub use levels::{LEVEL_RATES, Level, levels};
pub use plan::{Plan, PlanError, Planner};
pub(crate) use run::Runs;
pub use run::{run_probability, worst_case_rate};
