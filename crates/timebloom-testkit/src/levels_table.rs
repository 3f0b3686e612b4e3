//! The table of docs/levels.md: the published (k, l) pairs at the published fill of one half, and as planned here.
//!
//! Symbols: `k` = hashes, `l` = aging slices, `eps` the target rate; a load is items a bit of a full slice.

use std::f64::consts::LN_2;

use timebloom::{LEVEL_RATES, Plan, PlanError, Planner, levels, worst_case_rate};

const HEAD: &str = "\
| eps | level | k | l | bits at half fill | rate/eps at half fill | bits | rate/eps | overstay | probes per miss |
|---|---|---|---|---|---|---|---|---|---|
";

/// The Markdown table, with a newline at its end: for each rate the published pairs, and the pair that is planned when
/// none is asked for.
pub fn levels_table() -> Result<String, PlanError> {
    let mut table = String::from(HEAD);
    for eps in LEVEL_RATES {
        for (number, level) in levels(eps).iter().enumerate() {
            let plan = Planner::new(eps).hashes_and_aging(level.hashes, level.aging_slices).plan()?;
            table += &row(&number.to_string(), &at_half_fill(&plan), &plan);
        }
        table += &row("planned", "- | -", &Planner::new(eps).plan()?);
    }
    Ok(table)
}

/// Bits for each item in the window and the rate just before a shift, when a full slice has half of its bits set.
fn at_half_fill(plan: &Plan) -> String {
    let (k, l) = (plan.hashes(), plan.aging_slices());
    // half full is ln 2 items a bit, and the bits per item are k (k + l) / (l load)
    let bits = (k * (k + l)) as f64 / (l as f64 * LN_2);
    let rate = worst_case_rate(k, l, LN_2) / plan.false_positive_rate();
    format!("{bits:.1} | {rate:.3}")
}

fn row(level: &str, at_half_fill: &str, plan: &Plan) -> String {
    let (k, l, eps) = (plan.hashes(), plan.aging_slices(), plan.false_positive_rate());
    format!(
        "| {eps} | {level} | {k} | {l} | {at_half_fill} | {:.1} | {:.3} | {:.1}% | {:.1} |\n",
        plan.bits_per_item(),
        plan.worst_case_rate() / eps,
        plan.slack() * 100.0,
        plan.probes_per_miss(),
    )
}
