//! Small filters: what shifts cost when a generation is a handful of items, and what a filter weighs that holds little.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use timebloom::{CountBloom, TimeBloom, Timestamp};
use timebloom_testkit::Scenario;

use crate::ours::SEED;
use crate::report::{grouped, write};
use crate::workload::{Key, SPAN, key};

/// Items in the window.
const WINDOWS: [u64; 5] = [64, 125, 250, 500, 1_000];
const RATES: [f64; 2] = [0.01, 0.001];

/// How many items filters are weighed with.
const WEIGHED: [u64; 4] = [0, 10, 100, 1_000];

/// Insertions of one stream, at least.
const INSERTIONS: u64 = 50_000;

/// Each stream is run so many times.
const ROUNDS: usize = 15;

pub fn run() -> std::io::Result<()> {
    let rows = RATES.into_iter().flat_map(|eps| {
        let mut rows = times(eps);
        rows.extend(weights(eps));
        rows
    });
    let rows: Vec<Value> = rows.collect();
    write("peers-small.json", &Value::from(rows))
}

/// A stream made in advance.
struct Arrivals {
    name: &'static str,
    items: Vec<(Key, Timestamp)>,
}

impl Arrivals {
    fn new(scenario: Scenario, name: &'static str, window: u64, aging_slices: usize) -> Self {
        let mut times = Vec::new();
        // a scenario lasts ten spans: several of them, one after the other
        let mut pass = 0;
        while (times.len() as u64) < INSERTIONS {
            let start = times.last().copied();
            let shift = start
                .map_or(Duration::ZERO, |last: Timestamp| last.saturating_since(timebloom_testkit::Arrivals::START));
            let stream = scenario.arrivals(window as f64, SPAN, aging_slices, SEED + pass);
            times.extend(stream.map(|time| time.saturating_add(shift)));
            pass += 1;
        }
        let items = (0..).map(key).zip(times).collect();
        Arrivals { name, items }
    }
}

/// Nanoseconds an insertion on average, all shifts included: the tenth percentile of several runs through a stream, which
/// leaves out what the machine does, beginning when the first two windows are over.
fn nanoseconds(mut insert: impl FnMut(usize, &[(Key, Timestamp)]), arrivals: &Arrivals, window: u64) -> f64 {
    let begin = usize::try_from(2 * window).expect("small");
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|round| {
            insert(round, &arrivals.items[..begin]);
            let measured = &arrivals.items[begin..];
            let start = Instant::now();
            insert(round, black_box(measured));
            start.elapsed().as_secs_f64() * 1e9 / measured.len() as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 10]
}

fn times(eps: f64) -> Vec<Value> {
    println!("\nrate {eps}: ns an insertion, all shifts included");
    println!("  {:>7} {:>14} {:>14} {:>14}", "window", "time, steady", "time, Poisson", "count");
    let mut rows = Vec::new();
    for window in WINDOWS {
        let fresh = time_window(eps);
        let mut line = Vec::new();
        for (scenario, name) in [(Scenario::Steady, "steady"), (Scenario::Poisson, "poisson")] {
            let arrivals = Arrivals::new(scenario, name, window, fresh.plan().aging_slices());
            let mut filters: Vec<TimeBloom> = vec![fresh.clone(); ROUNDS];
            let insert = |round: usize, items: &[(Key, Timestamp)]| {
                for (key, now) in items {
                    filters[round].insert_at(key, *now).expect("no memory limit");
                }
            };
            line.push(("timebloom-time", arrivals.name, nanoseconds(insert, &arrivals, window)));
        }
        let arrivals = Arrivals::new(Scenario::Steady, "steady", window, fresh.plan().aging_slices());
        let mut filters: Vec<CountBloom> = vec![count_window(window, eps); ROUNDS];
        let insert = |round: usize, items: &[(Key, Timestamp)]| {
            for (key, _) in items {
                filters[round].insert(key);
            }
        };
        line.push(("timebloom-count", arrivals.name, nanoseconds(insert, &arrivals, window)));
        println!("  {:>7} {:>14.1} {:>14.1} {:>14.1}", grouped(window), line[0].2, line[1].2, line[2].2);
        rows.extend(line.into_iter().map(|(filter, arrivals, mean_ns)| {
            json!({"filter": filter, "eps": eps, "window": window, "arrivals": arrivals, "mean_ns": mean_ns})
        }));
    }
    rows
}

fn weights(eps: f64) -> Vec<Value> {
    println!("\nrate {eps}: bytes of a filter, everything counted");
    println!("  {:>7} {:>14} {:>14} {:>14}", "items", "time, new", "time, steady", "count");
    let mut rows = Vec::new();
    for items in WEIGHED {
        // items that come evenly, the last of them at the end of a span
        let bytes_after = |spans: u64| {
            let mut filter = time_window(eps);
            let gap = SPAN / u32::try_from(items.max(1)).expect("few");
            let mut now = Timestamp::from_secs(1_700_000_000);
            for item in 0..items * spans {
                now = now.saturating_add(gap);
                filter.insert_at(key(item), now).expect("no memory limit");
            }
            filter.stats(now).memory_bytes
        };
        let (new, steady) = (bytes_after(1), bytes_after(5));
        let mut filter = count_window(items.max(1), eps);
        (0..3 * items).for_each(|item| filter.insert(key(item)));
        let count = filter.stats().memory_bytes;
        println!("  {:>7} {new:>14} {steady:>14} {count:>14}", grouped(items));
        rows.push(json!({"filter": "timebloom-time", "eps": eps, "items": items, "arrivals": "new", "bytes": new}));
        rows.push(
            json!({"filter": "timebloom-time", "eps": eps, "items": items, "arrivals": "steady", "bytes": steady}),
        );
        rows.push(
            json!({"filter": "timebloom-count", "eps": eps, "items": items, "arrivals": "steady", "bytes": count}),
        );
    }
    rows
}

fn time_window(eps: f64) -> TimeBloom {
    TimeBloom::builder(SPAN).false_positive_rate(eps).seed(SEED).build().expect("legal parameters")
}

fn count_window(window: u64, eps: f64) -> CountBloom {
    CountBloom::builder(window).false_positive_rate(eps).seed(SEED).build().expect("legal parameters")
}
