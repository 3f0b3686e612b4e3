//! Reproduces the time-limited Bloom filter's paper, and measures `timebloom` beside other windowed filters.
//!
//! A [`run()`] goes from left to right: an [`Experiment`] puts streams through filters, writes what it saw as CSV, and
//! comes back as a [`Section`]: figures, tables, findings, and checks of what is claimed. Sections become one page of
//! HTML that needs nothing else, and the figures and tables of the documentation.
//!
//! Everything but times is the same for the same seed.

pub mod aging;
pub mod baselines;
pub mod chart;
pub mod compare;
mod comparison;
mod error;
mod experiment;
pub mod memory;
pub mod numbers;
mod output;
pub mod paper;
mod parallel;
mod report;
mod run;
mod section;
mod steady;
pub mod stress;
mod table;
pub mod tail;

pub use error::Error;
pub use experiment::{Context, Experiment};
pub use output::Output;
pub use run::{Options, run};
pub use section::{Check, Section};
pub use table::{Table, escape};

use timebloom::Policy;

/// A policy's name in files.
pub fn policy_name(policy: Policy) -> &'static str {
    match policy {
        Policy::Guarded => "guarded",
        _ => "paper",
    }
}
