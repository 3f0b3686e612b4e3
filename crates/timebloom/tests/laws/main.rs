//! The guarantees as laws: random operations, clocks and proportions against exact models. One file per family of laws.
//!
//! Everything is seeded, so a run always sees the same histories. A statistical law says in a comment how many trials it
//! makes and how likely a correct filter would have failed it when the seeds were drawn.

mod answers;
mod count;
mod figures;
mod forgets;
mod history;
mod keeps;
mod limit;
mod rates;
mod time;
mod verdicts;
