//! How large a filter must be, and how often it errs.
//!
//! - [`run`]: the exact probability of a false positive, from the fills of the slices.
//! - [`crowding`]: how much more often slices err that share cache lines.
//! - [`plan`]: hash functions, aging slices and loads; [`planner`] finds them for a target rate, once, and remembers.
//! - [`levels`]: the pairs that the paper's authors publish.

mod crowding;
pub(crate) mod levels;
pub(crate) mod plan;
pub(crate) mod planner;
pub(crate) mod run;

pub use levels::{LEVEL_RATES, Level, levels};
pub use plan::Plan;
pub use planner::{PlanError, Planner};
pub(crate) use run::Runs;
pub use run::{run_probability, worst_case_rate};
