//! What tests, examples and the evaluation share: streams with known rates, clocks that behave badly, exact models of
//! windows, what a filter truly holds, and measurements of a filter that runs through a stream.

mod confidence;
mod held;
mod measure;
mod model;
mod proportions;
mod scenario;
mod wander;

pub use confidence::{fewest_events, most_events};
pub use held::{Row, oldest_slice};
pub use measure::{Measured, count_rate_from_fills, measure, rate_from_fills};
pub use model::{ExactCount, ExactWindow};
pub use proportions::{Choice, Proportions};
pub use scenario::{Arrivals, Scenario};
pub use wander::Wander;
