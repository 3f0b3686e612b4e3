//! Tables of the comparison: one for each kind of window and rate, one for changes of the rate, one for times.

use super::of;
use crate::compare::Row;
use crate::numbers::{percent, rate, significant};
use crate::table::Table;

const RATES: [f64; 2] = [0.01, 0.001];

pub(super) fn all(rows: &[Row]) -> Vec<Table> {
    let mut tables = Vec::new();
    for eps in RATES {
        tables.push(steady(rows, "time", eps));
        tables.push(steady(rows, "count", eps));
    }
    for eps in RATES {
        tables.push(varying(rows, eps));
    }
    tables.push(tenfold(rows));
    tables.push(times(rows));
    tables
}

/// A share that is often exactly nothing.
fn share(share: f64) -> String {
    if share == 0.0 { "0".into() } else { percent(share) }
}

/// A time past the window; nothing is known of a filter that reports everything.
fn past(time: Option<f64>) -> String {
    time.map_or("-".into(), share)
}

fn steady(rows: &[Row], window: &str, eps: f64) -> Table {
    let mut table = Table::new(
        &format!("compare-{window}-{}", rate(eps)),
        &format!("A steady stream, {window} window, eps {}", rate(eps)),
        "bits: all memory for each item in the window. false positives: in eps; worst: in the worst twentieth. stale: how \
         long an expired item is reported on average, as a share of the window; gone: after which it is reported no more \
         often than chance.",
        &["filter", "after", "bits", "false positives", "worst", "missed", "stale", "gone"],
    );
    for row in of(rows, window, "steady", eps) {
        table.push(vec![
            row.filter.into(),
            row.source.into(),
            format!("{:.1}", row.bits_per_item),
            format!("{:.2}", row.false_positive_rate / row.eps),
            format!("{:.2}", row.worst_false_positive_rate / row.eps),
            share(row.false_negative_rate),
            past(row.staleness),
            past(row.staleness_max),
        ]);
    }
    table
}

fn varying(rows: &[Row], eps: f64) -> Table {
    let mut table = Table::new(
        &format!("compare-varying-{}", rate(eps)),
        &format!("Varying rates, time window, eps {}", rate(eps)),
        "Poisson arrivals, and a rate that swings tenfold over four windows. Filters were told the highest rate.",
        &["filter", "Poisson: bits", "worst rate", "missed", "varying: bits", "worst rate", "missed", "gone"],
    );
    for row in of(rows, "time", "Poisson", eps) {
        let Some(varying) = of(rows, "time", "varying tenfold", eps).find(|other| other.filter == row.filter) else {
            continue;
        };
        table.push(vec![
            row.filter.into(),
            format!("{:.1}", row.bits_per_item),
            format!("{:.2}", row.worst_false_positive_rate / row.eps),
            share(row.false_negative_rate),
            format!("{:.1}", varying.bits_per_item),
            format!("{:.2}", varying.worst_false_positive_rate / row.eps),
            share(varying.false_negative_rate),
            past(varying.staleness_max),
        ]);
    }
    table
}

fn tenfold(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "compare-tenfold",
        "When the rate changes tenfold at once, time window, eps 0.01",
        "Measured from the change on. Filters were told the rate before it. worst: the highest false positive rate of a \
         twentieth, in eps. missed: the share of items in the window that are not reported. gone: how many windows past \
         its time an item is reported more often than chance.",
        &["filter", "up: worst rate", "missed", "bits", "down: worst rate", "missed", "bits", "gone"],
    );
    for up in of(rows, "time", "tenfold up", 0.01) {
        let Some(down) = of(rows, "time", "tenfold down", 0.01).find(|other| other.filter == up.filter) else {
            continue;
        };
        let mut cells = vec![up.filter.to_owned()];
        for row in [up, down] {
            cells.push(significant(row.worst_false_positive_rate / row.eps));
            cells.push(share(row.false_negative_rate));
            cells.push(format!("{:.1}", row.bits_per_item));
        }
        cells.push(down.staleness_max.map_or("-".into(), significant));
        table.push(cells);
    }
    table
}

fn times(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "compare-times",
        "Nanoseconds an operation, time window",
        "On the machine of this run; others will differ. Times are the only numbers here that change from run to run.",
        &["filter", "insert, eps 0.01", "hit", "miss", "insert, eps 0.001", "hit", "miss"],
    );
    for row in of(rows, "time", "steady", 0.01) {
        let Some(fine) = of(rows, "time", "steady", 0.001).find(|other| other.filter == row.filter) else { continue };
        let mut cells = vec![row.filter.to_owned()];
        cells.extend(
            [row.insert_ns, row.hit_ns, row.miss_ns, fine.insert_ns, fine.hit_ns, fine.miss_ns]
                .map(|nanoseconds| format!("{nanoseconds:.0}")),
        );
        table.push(cells);
    }
    table
}
