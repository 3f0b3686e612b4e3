//! What tests, examples and the evaluation share: streams with known rates, clocks that behave badly, exact models of
//! windows, what a filter truly holds, measurements of a filter that runs through a stream, and the generated tables of
//! the documentation.

mod confidence;
mod held;
mod hostile;
mod levels_table;
mod measure;
mod memory;
mod model;
mod proportions;
mod scenario;
mod wander;

pub use confidence::{at_least_with_confidence, at_most_with_confidence};
pub use held::{Row, oldest_slice};
pub use hostile::{exercise_count, exercise_time, head_bytes, reseal};
pub use levels_table::levels_table;
pub use measure::{Measured, count_rate_from_fills, measure, rate_from_fills};
pub use memory::map_bytes;
pub use model::{ExactCount, ExactWindow};
pub use proportions::{Choice, Proportions};
pub use scenario::{Arrivals, Scenario};
pub use wander::Wander;
