//! What tests, examples and the evaluation share: streams with known rates, an exact model of a window, and measurements
//! of a filter that runs through a stream.

mod confidence;
mod measure;
mod model;
mod scenario;

pub use confidence::at_most_with_confidence;
pub use measure::{Measured, measure, rate_from_fills};
pub use model::ExactWindow;
pub use scenario::{Arrivals, Scenario};
