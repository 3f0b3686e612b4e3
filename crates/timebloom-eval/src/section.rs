//! What an experiment has to say.

use crate::chart::Figure;
use crate::table::Table;

/// The outcome of one experiment: a chapter of the report.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The experiment's name on the command line.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What was asked.
    pub question: String,
    /// How it was measured.
    pub method: String,
    /// What came out, a sentence or two each.
    pub findings: Vec<String>,
    /// In the order they are shown.
    pub figures: Vec<Figure>,
    /// In the order they are shown.
    pub tables: Vec<Table>,
    /// What must hold.
    pub checks: Vec<Check>,
}

/// A claim, and whether the measurements bear it out.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What is claimed.
    pub claim: String,
    /// The numbers it was held against.
    pub evidence: String,
    /// Whether it holds.
    pub holds: bool,
}

impl Check {
    /// A claim that holds or does not.
    pub fn new(holds: bool, claim: impl Into<String>, evidence: impl Into<String>) -> Self {
        Check { claim: claim.into(), evidence: evidence.into(), holds }
    }

    /// That nothing of `tried` was among the `failures`.
    pub fn none(failures: u64, tried: u64, claim: impl Into<String>, what: &str) -> Self {
        let evidence = format!("{failures} in {} {what}", crate::numbers::grouped(tried));
        Check::new(failures == 0 && tried > 0, claim, evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_without_evidence_do_not_hold() {
        assert!(Check::none(0, 5, "nothing is lost", "look-ups").holds);
        assert!(!Check::none(1, 5, "nothing is lost", "look-ups").holds);
        assert!(!Check::none(0, 0, "nothing is lost", "look-ups").holds);
    }
}
