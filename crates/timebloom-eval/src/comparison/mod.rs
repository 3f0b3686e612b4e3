//! Every approach the paper names, and what people use instead, beside ours: from rows to a section.

mod figures;
mod tables;

use timebloom_testkit::at_most_with_confidence;

use crate::compare::{self, Row};
use crate::error::Error;
use crate::experiment::Context;
use crate::numbers::{grouped, significant};
use crate::section::{Check, Section};

/// The name of our time window in rows.
const OURS: &str = "TimeBloom";
/// The chance that a rate within its target is taken for one above it.
const FALSE_ALARM: f64 = 1e-9;

/// Runs all filters on all streams and writes `compare.csv`.
pub(crate) fn experiment(context: &Context<'_>, progress: &mut dyn FnMut(f64)) -> Result<Section, Error> {
    let options = compare::Options { quick: context.quick, seed: context.seed };
    let rows = compare::run(&options, &mut |_, share| progress(share));
    context.output.csv("compare.csv", &rows)?;
    Ok(Section {
        id: "compare".into(),
        title: "Beside other filters".into(),
        question:
            "What do the approaches that the paper names, and those people use instead, take and give on the same \
                   streams?"
                .into(),
        method: method(&rows),
        findings: findings(&rows),
        figures: figures::all(&rows),
        tables: tables::all(&rows),
        checks: checks(&rows),
    })
}

fn method(rows: &[Row]) -> String {
    let items = of(rows, "time", "steady", 0.01).next().map_or(0, |row| row.expected_items);
    let timed = rows.iter().map(|row| row.timed_items).max().unwrap_or(0);
    format!(
        "All filters get the same keys of 16 bytes at the same times, with {} items a window, and are asked the same \
         questions at the same moments. All but the time windows of this project are told the highest number of items in a \
         window beforehand and are sized by their own formulas; where the rate changes tenfold, they were told the one \
         before. Rates are given with 99% intervals in compare.csv. Times were taken in windows of {} items, in turns, the tenth percentile of \
         chunks. Except for fastbloom and the hash map, the others were written for this comparison after their papers: \
         their speed is that of plain code, not of what their authors could make of it.",
        grouped(items),
        grouped(timed)
    )
}

/// The rows of one stream and rate.
fn of<'a>(rows: &'a [Row], window: &'a str, stream: &'a str, eps: f64) -> impl Iterator<Item = &'a Row> + Clone {
    rows.iter()
        .filter(move |row| row.window_kind == window && row.stream == stream && (row.eps / eps - 1.0).abs() < 1e-9)
}

/// Whether more absent items were reported in the worst twentieth than chance explains at the target rate.
fn is_above_target(row: &Row) -> bool {
    let asked = row.absent_queries / 20;
    row.worst_false_positive_rate * asked as f64 > at_most_with_confidence(asked, row.eps, FALSE_ALARM) as f64
}

fn checks(rows: &[Row]) -> Vec<Check> {
    let promised: Vec<&Row> = rows.iter().filter(|row| row.promises_window).collect();
    let broken: Vec<String> = promised
        .iter()
        .filter(|row| row.false_negative_rate > 0.0)
        .map(|row| format!("{} on {}", row.filter, row.stream))
        .collect();
    let ours: Vec<&Row> = rows.iter().filter(|row| row.filter == OURS).collect();
    let above = ours.iter().filter(|row| is_above_target(row)).count();
    let worst = ours.iter().map(|row| row.worst_false_positive_rate / row.eps).fold(0.0, f64::max);
    vec![
        Check::new(
            broken.is_empty() && !promised.is_empty(),
            "Every filter that promises to report the whole window does",
            if broken.is_empty() {
                format!("{} filters and streams, none missed an item", promised.len())
            } else {
                broken.join(", ")
            },
        ),
        Check::new(
            above == 0 && !ours.is_empty(),
            "Ours is at or under its target in every twentieth of every stream",
            format!(
                "{} runs, at most {worst:.2} eps measured; chance of a false alarm {FALSE_ALARM:e} a twentieth",
                ours.len()
            ),
        ),
    ]
}

fn findings(rows: &[Row]) -> Vec<String> {
    let mut findings = Vec::new();
    let find = |stream, filter: &str| of(rows, "time", stream, 0.01).find(|row| row.filter == filter);
    let names = |rows: Vec<&Row>| rows.iter().map(|row| row.filter).collect::<Vec<_>>().join(", ");
    if let Some(ours) = find("steady", OURS) {
        let steady = of(rows, "time", "steady", 0.01);
        let fewer = steady.clone().filter(|row| row.bits_per_item < ours.bits_per_item).collect::<Vec<_>>();
        let honest: Vec<&Row> = fewer
            .iter()
            .copied()
            .filter(|row| row.false_negative_rate == 0.0 && row.false_positive_low <= row.eps)
            .collect();
        findings.push(format!(
            "On a steady stream at eps 0.01 ours takes {:.1} bits an item, all memory counted. {} take fewer{}.",
            ours.bits_per_item,
            if fewer.is_empty() { "None of the others".into() } else { names(fewer) },
            if honest.is_empty() {
                "; none of them keeps the window and the rate".to_owned()
            } else {
                format!("; of these, {} keep the whole window and the rate", names(honest))
            },
        ));
    }
    let up: Vec<&Row> = of(rows, "time", "tenfold up", 0.01).collect();
    let keeps = |row: &&&Row| row.false_negative_rate == 0.0 && !is_above_target(row);
    let kept: Vec<&Row> = up.iter().filter(keeps).copied().collect();
    findings.push(format!(
        "When the rate rises tenfold, {} of {} still report every item of the window at no more than the target rate: {}.",
        kept.len(),
        up.len(),
        names(kept)
    ));
    if let (Some(ours), Some(paper)) = (find("tenfold down", OURS), find("tenfold down", "TimeBloom, paper's rules")) {
        findings.push(format!(
            "When it falls tenfold, ours is done with an expired item after {} windows, the paper's rules after {}.",
            significant(ours.staleness_max.unwrap_or(f64::NAN)),
            significant(paper.staleness_max.unwrap_or(f64::NAN)),
        ));
    }
    findings
}
