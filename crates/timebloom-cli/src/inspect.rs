//! `timebloom inspect`: what a saved filter holds.

use std::fs::File;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use timebloom::{OnFull, SliceStats, Stats, TimeBloom, Timestamp};

use crate::args::InspectArgs;
use crate::duration;
use crate::error::Error;
use crate::judge::Filter;
use crate::paint::{Paint, bar, print};
use crate::size::{group, show};
use crate::state::{self, StateError};
use crate::summary::filter_json;

/// Rows of the histogram.
const BINS: usize = 20;

const BAR: usize = 30;

pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode, Error> {
    let failed = |source| StateError::Read { path: args.state.clone(), source };
    let file = File::open(&args.state).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let filter = state::read(file, &args.state)?;
    // Seen from when the last item came: the clock on the wall may be another than the filter's.
    let now = filter.newest().unwrap_or(Timestamp::MIN);
    let view = View { stats: filter.stats(now), filter: &filter, now, bytes };
    if args.json {
        print(&format!("{:#}\n", view.to_json()))?;
    } else {
        print(&view.to_text(Paint::for_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

struct View<'a> {
    filter: &'a Filter,
    stats: Stats,
    now: Timestamp,
    /// The size of the file.
    bytes: u64,
}

impl View<'_> {
    fn slices(&self) -> Vec<SliceStats> {
        match self.filter {
            Filter::Time(filter) => filter.slices().collect(),
            Filter::Count(filter) => filter.slices().collect(),
        }
    }

    /// Items a second, over the generations that are held.
    fn rate(&self) -> Option<f64> {
        let Filter::Time(filter) = self.filter else { return None };
        let generations: Vec<_> = filter.generations().collect();
        // the oldest says only when it ended
        let oldest = generations.iter().filter_map(|generation| generation.newest).min()?;
        let seconds = self.now.saturating_since(oldest).as_secs_f64();
        let items: u64 = generations.iter().map(|generation| generation.items).sum();
        let before: u64 =
            generations.iter().filter(|generation| generation.newest == Some(oldest)).map(|old| old.items).sum();
        (seconds > 0.0).then(|| (items - before) as f64 / seconds)
    }

    fn age(&self, slice: &SliceStats) -> Option<u64> {
        let newest = slice.newest?;
        Some(match self.filter {
            Filter::Time(_) => u64::try_from(self.now.saturating_since(newest).as_millis()).unwrap_or(u64::MAX),
            Filter::Count(filter) => filter.inserted().saturating_sub(newest.as_nanos()),
        })
    }

    fn to_json(&self) -> Value {
        let slices: Vec<Value> = self
            .slices()
            .iter()
            .map(|slice| {
                json!({
                    "number": slice.number,
                    "bits": slice.bits,
                    "ones": slice.ones,
                    "fill": slice.fill(),
                    "age": self.age(slice),
                })
            })
            .collect();
        let arrivals: Vec<Value> = match self.filter {
            Filter::Time(filter) => histogram(filter, self.now)
                .iter()
                .map(|bin| json!({"from_age_ms": millis(bin.from_age), "to_age_ms": millis(bin.to_age), "items": bin.items}))
                .collect(),
            Filter::Count(_) => Vec::new(),
        };
        let mut view = filter_json(self.filter, &self.stats);
        let more = json!({
            "file_bytes": self.bytes,
            "newest_unix_ms": self.filter.newest().map(Timestamp::as_millis),
            "items_per_second": self.rate(),
            "slice": slices,
            "arrivals": arrivals,
        });
        if let (Value::Object(view), Value::Object(more)) = (&mut view, more) {
            view.extend(more);
        }
        view
    }

    fn to_text(&self, paint: Paint) -> String {
        let stats = &self.stats;
        let mut lines = Vec::new();
        let mut row = |name: &str, value: String| lines.push(format!("{name:<18}{value}"));
        let plan = match self.filter {
            Filter::Time(filter) => {
                row("window", duration::show(filter.span()));
                let newest = filter.slices().find_map(|slice| slice.newest);
                row("last item", newest.map_or("none".to_owned(), moment));
                if let Some(max) = filter.max_bytes() {
                    let policy = if filter.on_full() == OnFull::Shorten { "shorten" } else { "reject" };
                    row("memory limit", format!("{}, then {policy}", show(max)));
                }
                filter.plan()
            }
            Filter::Count(filter) => {
                row("window", format!("the last {} items", group(filter.capacity())));
                row("inserted", group(filter.inserted()));
                filter.plan()
            }
        };
        row("error", format!("{} (k = {}, l = {})", plan.false_positive_rate(), plan.hashes(), plan.aging_slices()));
        row("items in it", group(stats.items_in_window));
        if let Some(rate) = self.rate() {
            row("rate", format!("{rate:.1} items/s"));
        }
        let rates = (stats.false_positive_rate, stats.worst_false_positive_rate);
        row("false positives", format!("{:.6} estimated now, {:.6} at worst", rates.0, rates.1));
        let per_item = stats.bits_per_item().map_or(String::new(), |bits| format!(", {bits:.1} bits an item"));
        row("memory", format!("{}{per_item}; {} in the file", show(stats.memory_bytes as u64), show(self.bytes)));
        if stats.shortened + stats.rejected > 0 {
            row("at the limit", format!("{} slices shortened, {} items rejected", stats.shortened, stats.rejected));
        }

        let slices = self.slices();
        if slices.is_empty() {
            lines.push("no slices: nothing is in the window".to_owned());
        } else {
            lines.push(String::new());
            lines.push(paint.bold(&format!("{} slices, youngest first", slices.len())));
            let unit = if matches!(self.filter, Filter::Time(_)) { "age" } else { "items ago" };
            lines.push(paint.dim(&format!("{unit:>12}{:>15}{:>15}  fill", "bits set", "of")));
            for slice in &slices {
                let age = match (self.age(slice), self.filter) {
                    (None, _) => "-".to_owned(),
                    (Some(age), Filter::Time(_)) => duration::show(Duration::from_millis(age)),
                    (Some(age), Filter::Count(_)) => group(age),
                };
                let (ones, bits) = (group(slice.ones), group(slice.bits));
                let fill = paint.green(&bar(slice.fill(), BAR));
                lines.push(format!("{age:>12}{ones:>15}{bits:>15}  {fill} {:>3.0} %", 100.0 * slice.fill()));
            }
        }
        if let Filter::Time(filter) = self.filter {
            let bins = histogram(filter, self.now);
            let most = bins.iter().map(|bin| bin.items).fold(0.0, f64::max);
            if most > 0.0 {
                lines.push(String::new());
                lines.push(paint.bold("arrivals over the window, latest first"));
                for bin in &bins {
                    let age = duration::show(bin.to_age);
                    let drawn = paint.green(&bar(bin.items / most, BAR));
                    lines.push(format!("{:>12}  {drawn} {:.0}", format!("to {age}"), bin.items));
                }
            }
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

/// A part of the window, and how many items came in it.
struct Bin {
    from_age: Duration,
    to_age: Duration,
    items: f64,
}

/// Arrivals in equal parts of the window, latest first. Those of a generation are spread evenly over its time.
fn histogram(filter: &TimeBloom, now: Timestamp) -> Vec<Bin> {
    let width = filter.span().as_secs_f64() / BINS as f64;
    let edge = |index: usize| Duration::from_secs_f64(width * index as f64);
    let mut bins: Vec<Bin> =
        (0..BINS).map(|index| Bin { from_age: edge(index), to_age: edge(index + 1), items: 0.0 }).collect();
    let generations: Vec<_> = filter.generations().filter(|generation| generation.items > 0).collect();
    for (index, generation) in generations.iter().enumerate() {
        let Some(newest) = generation.newest else { continue };
        let end_age = now.saturating_since(newest).as_secs_f64();
        // it began when the one before it ended; of the oldest that is not known
        let before = generations.get(index + 1).and_then(|older| older.newest).unwrap_or(newest);
        let start_age = now.saturating_since(before).as_secs_f64().min(filter.span().as_secs_f64());
        let length = start_age - end_age;
        for bin in &mut bins {
            let (from, to) = (bin.from_age.as_secs_f64(), bin.to_age.as_secs_f64());
            let share = if length > 0.0 {
                ((start_age.min(to) - end_age.max(from)) / length).max(0.0)
            } else {
                f64::from(u8::from(end_age >= from && end_age < to))
            };
            bin.items += generation.items as f64 * share;
        }
    }
    bins
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A time for people.
fn moment(time: Timestamp) -> String {
    let text = jiff::Timestamp::from_nanosecond(i128::from(time.as_nanos())).map(|moment| format!("{moment:.3}"));
    text.unwrap_or_else(|_| format!("{} ms after 1970", time.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_drawn_where_they_came() {
        let mut filter = TimeBloom::builder(Duration::from_secs(100)).seed(1).build().expect("a fine window");
        let start = Timestamp::from_secs(1_700_000_000);
        // 10 a second for half of the window, then 40 a second
        let mut last = start;
        for step in 0..500_u32 {
            last = start.saturating_add(Duration::from_millis(100) * step);
            filter.insert_at(format!("slow-{step}"), last).expect("no limit");
        }
        for step in 0..2_000_u32 {
            last = start.saturating_add(Duration::from_secs(50) + Duration::from_millis(25) * step);
            filter.insert_at(format!("fast-{step}"), last).expect("no limit");
        }
        let bins = histogram(&filter, last);
        assert_eq!(bins.len(), BINS);
        for (index, bin) in bins.iter().enumerate() {
            let expected = if index < 10 { 200.0 } else { 50.0 };
            // the edge between the two rates may lie inside a generation
            let slack = if (8..=11).contains(&index) || index + 1 == BINS { 100.0 } else { 0.05 * expected };
            assert!((bin.items - expected).abs() <= slack, "bin {index}: {}, expected {expected}", bin.items);
        }
    }
}
