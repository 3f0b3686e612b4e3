//! The published (k, l) pairs at half fill and as planned here: prints the table of docs/levels.md.
//!
//! `cargo run --release -p timebloom --example levels`

fn main() -> Result<(), timebloom::PlanError> {
    print!("{}", timebloom_testkit::levels_table()?);
    Ok(())
}
