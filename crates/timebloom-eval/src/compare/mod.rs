//! Every filter of [`baselines`](crate::baselines) on the same streams: what it takes, how often it is wrong, how long it
//! clings to what has left the window, and how fast it is.
//!
//! `stream` makes the streams, `filters` lists the filters, `rates` runs one filter through one stream, `timing` takes times
//! in a pass of its own, `interval` says how sure a measured share is.
//!
//! Filters are told beforehand what the most items in a window will be, and are sized by their own formulas for that. On
//! streams whose rate changes tenfold, they are told what it was before the change. Ours in time windows need not be told.

mod filters;
mod interval;
mod rates;
mod stream;
mod timing;

use serde::Serialize;

pub use filters::{Filter, Promise};
pub use interval::Share;
pub use stream::{Stream, StreamKind, WindowKind};

/// What to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Smaller windows and fewer queries: seconds instead of minutes.
    pub quick: bool,
    /// What streams, keys and the choice of queries depend on. Everything but the times of a run follows from it.
    pub seed: u64,
}

/// The target rates.
pub const RATES: [f64; 2] = [0.01, 0.001];

/// One filter on one stream.
///
/// All rates are shares of queries. Intervals are 99% Wilson intervals: one in a hundred true values is outside. The worst
/// of several parts of a stream is a little above the truth, since it is chosen among them: its interval says by how much.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The filter's name.
    pub filter: &'static str,
    /// The paper or crate that it follows.
    pub source: &'static str,
    /// `count` or `time`.
    pub window_kind: &'static str,
    /// The stream's name.
    pub stream: &'static str,
    /// The target false positive rate.
    pub eps: f64,
    /// The most items in a window that the filter was told to expect.
    pub expected_items: u64,
    /// Items in the window, on average.
    pub items: f64,
    /// All bits for each item in the window, on average over the measured part of the stream.
    pub bits_per_item: f64,
    /// The same, without what could be kept on disk.
    pub resident_bits_per_item: f64,
    /// The highest of all.
    pub worst_bits_per_item: f64,
    /// The same at the end of the stream.
    pub bits_per_item_after: f64,
    /// The highest amount of memory, in bytes.
    pub peak_bytes: u64,
    /// The share of keys never inserted that are reported.
    pub false_positive_rate: f64,
    /// The lower end of its interval.
    pub false_positive_low: f64,
    /// The upper end of its interval.
    pub false_positive_high: f64,
    /// The same in the worst twentieth of the measured part.
    pub worst_false_positive_rate: f64,
    /// The lower end of its interval.
    pub worst_false_positive_low: f64,
    /// The upper end of its interval.
    pub worst_false_positive_high: f64,
    /// The share of items in the window that are not reported.
    pub false_negative_rate: f64,
    /// The upper end of its interval.
    pub false_negative_high: f64,
    /// The same in the worst twentieth of the measured part.
    pub worst_false_negative_rate: f64,
    /// Queries for keys never inserted.
    pub absent_queries: u64,
    /// Queries for items in the window.
    pub present_queries: u64,
    /// How long an item is reported after it has left the window, on average, as a share of the window. Reports that are as
    /// frequent as those of keys never inserted do not count; `None` when most of those are reported.
    pub staleness: Option<f64>,
    /// The age past the window, as a share of it, after which reports are no more frequent than those.
    pub staleness_max: Option<f64>,
    /// The window that the times below were taken at, in items.
    pub timed_items: u64,
    /// Nanoseconds for an insertion, at the tenth percentile of chunks.
    pub insert_ns: f64,
    /// Nanoseconds for a query about an item that is reported.
    pub hit_ns: f64,
    /// Nanoseconds for a query about a key never inserted.
    pub miss_ns: f64,
    /// Whether the filter promises to report every item in the window on such a stream.
    pub promises_window: bool,
}

/// Runs every filter on every stream at every rate, and returns a row for each.
///
/// `progress` is told what is being done and which share of all is done.
pub fn run(options: &Options, progress: &mut dyn FnMut(&str, f64)) -> Vec<Row> {
    // a third of the work, more or less
    const TIMING_SHARE: f64 = 0.3;
    let times = timing::measure(options, &mut |what, done| progress(what, TIMING_SHARE * done));
    let effort = rates::Effort::of(options);
    let plan: Vec<(StreamKind, Filter)> = StreamKind::ALL
        .into_iter()
        .flat_map(|kind| Filter::on(kind.window_kind()).map(move |filter| (kind, filter)))
        .collect();
    let total = (plan.len() * RATES.len()) as f64;
    let mut rows = Vec::new();
    let mut stream = Stream::new(StreamKind::ALL[0], effort.items, options.seed);
    for (kind, filter) in plan {
        if stream.kind != kind {
            stream = Stream::new(kind, effort.items, options.seed);
        }
        for eps in RATES {
            let what = format!("{} on {}, rate {eps}", filter.name(), kind.name());
            progress(&what, TIMING_SHARE + (1.0 - TIMING_SHARE) * rows.len() as f64 / total);
            let mut row = rates::measure(filter, &stream, eps, &effort);
            let timed = times.of(filter, kind.window_kind(), eps);
            row.timed_items = timed.items;
            (row.insert_ns, row.hit_ns, row.miss_ns) = (timed.insert, timed.hit, timed.miss);
            rows.push(row);
        }
    }
    progress("done", 1.0);
    rows
}
