//! Pictures of the comparison: a bar for each filter.

use super::{OURS, of};
use crate::chart::{Axis, Bar, Bars, Colour, Figure, Level};
use crate::compare::Row;
use crate::numbers::{percent, significant};

const EPS: f64 = 0.01;

pub(super) fn all(rows: &[Row]) -> Vec<Figure> {
    let bits = bars(rows, "steady", |row| row.bits_per_item, |bits| format!("{bits:.1}"));
    let miss = bars(rows, "steady", |row| row.miss_ns, |nanoseconds| format!("{nanoseconds:.0}"));
    let insert = bars(rows, "steady", |row| row.insert_ns, |nanoseconds| format!("{nanoseconds:.0}"));
    let errors = bars(rows, "tenfold up", |row| row.worst_false_positive_rate / row.eps, significant);
    let missed = bars(
        rows,
        "tenfold up",
        |row| row.false_negative_rate,
        |share| {
            if share == 0.0 { "none".into() } else { percent(share) }
        },
    );
    let stale = bars(rows, "tenfold down", |row| row.staleness_max.unwrap_or(f64::NAN), significant);
    vec![
        Figure::of_bars(
            "compare-bits",
            "Memory on a steady stream",
            "All memory, for each item in the window. eps 0.01, time window; the axis is logarithmic.",
            logarithmic("bits per item", bits, vec![]),
        ),
        Figure::of_bars(
            "compare-errors-up",
            "False positives when the rate rises tenfold",
            "The worst twentieth after the change, in multiples of the target. Those told a rate that is wrong now err \
             more, or forget.",
            logarithmic("rate / eps", errors, vec![Level::new("eps", 1.0)]),
        ),
        Figure::of_bars(
            "compare-missed-up",
            "Items missed when the rate rises tenfold",
            "The share of items in the window that are not reported, after the change.",
            linear("share of the window", missed),
        ),
        Figure::of_bars(
            "compare-stale-down",
            "Staleness when the rate falls tenfold",
            "How many windows past its time an item is reported more often than chance; the axis is logarithmic.",
            logarithmic("windows", stale, vec![]),
        ),
        Figure::of_bars(
            "compare-miss",
            "Time for a query that finds nothing",
            "Nanoseconds, on the machine of this run; the axis is logarithmic.",
            logarithmic("ns", miss, vec![]),
        ),
        Figure::of_bars(
            "compare-insert",
            "Time for an insertion",
            "Nanoseconds, on the machine of this run; the axis is logarithmic.",
            logarithmic("ns", insert, vec![]),
        ),
    ]
}

fn bars(rows: &[Row], stream: &str, value: fn(&Row) -> f64, text: fn(f64) -> String) -> Vec<Bar> {
    let bar = |row: &Row| Bar {
        name: row.filter.into(),
        // what is not known has no bar
        value: if value(row).is_finite() { value(row) } else { 0.0 },
        text: text(value(row)),
        colour: match row.filter {
            OURS => Colour::GUARDED,
            "TimeBloom, paper's rules" => Colour::PAPER,
            _ => Colour::PRINTED,
        },
    };
    of(rows, "time", stream, EPS).map(bar).collect()
}

fn logarithmic(name: &str, bars: Vec<Bar>, levels: Vec<Level>) -> Bars {
    let values = || bars.iter().map(|bar| bar.value).filter(|value| *value > 0.0);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let axis = if high > 0.0 { Axis::log(name, low * 0.8, high) } else { Axis::linear(name, 0.0, 1.0) };
    Bars { axis, bars, levels }
}

fn linear(name: &str, bars: Vec<Bar>) -> Bars {
    Bars { axis: Axis::from_zero(name, bars.iter().map(|bar| bar.value)), bars, levels: vec![] }
}
