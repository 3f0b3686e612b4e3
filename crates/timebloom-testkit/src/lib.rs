//! What tests, examples and the evaluation share: streams with known rates, an exact model of a window, measurements of a
//! filter that runs through a stream, and the generated tables of the documentation.

mod confidence;
mod hostile;
mod levels_table;
mod measure;
mod memory;
mod model;
mod scenario;

pub use confidence::at_most_with_confidence;
pub use hostile::{exercise_count, exercise_time, head_bytes, reseal};
pub use levels_table::levels_table;
pub use measure::{Measured, measure, rate_from_fills};
pub use memory::map_bytes;
pub use model::ExactWindow;
pub use scenario::{Arrivals, Scenario};
