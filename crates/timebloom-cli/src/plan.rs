//! `timebloom plan`: what a filter will cost, before there is one.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use timebloom::{CountBloom, Plan, Planner, TimeBloom};

use crate::args::PlanArgs;
use crate::duration;
use crate::error::Error;
use crate::paint::{Paint, print};
use crate::sample::{self, Sample};
use crate::size::{group, show};

/// Numbers of aging slices that a table of alternatives tries.
const ALTERNATIVES: [u32; 7] = [4, 8, 16, 31, 64, 128, 256];

/// Reads `5000`, `20k`, `300/m` or `2M/d`, as items a second.
pub(crate) fn parse_rate(text: &str) -> Result<f64, String> {
    let bad = || format!("`{text}` is not a rate: write items a second, such as 5000 or 20k, or 300/m, 1M/h, 2M/d");
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(bad()),
    };
    let (digits, factor) = match number.char_indices().last() {
        Some((at, 'k' | 'K')) => (&number[..at], 1e3),
        Some((at, 'M')) => (&number[..at], 1e6),
        Some((at, 'G')) => (&number[..at], 1e9),
        _ => (number, 1.0),
    };
    let number: f64 = digits.parse().map_err(|_| bad())?;
    let rate = number * factor / seconds;
    if rate.is_finite() && rate > 0.0 && rate <= 1e15 { Ok(rate) } else { Err(bad()) }
}

pub(crate) fn run(args: &PlanArgs) -> Result<ExitCode, Error> {
    let report = Report::new(args)?;
    if args.json {
        print(&format!("{:#}\n", report.to_json()))?;
    } else {
        print(&report.to_text(Paint::for_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything that is known about a filter to be.
struct Report {
    plan: Plan,
    alternatives: Vec<Plan>,
    window: Option<Duration>,
    sample: Option<Sample>,
    /// Items in the window.
    items: f64,
    key_bytes: u64,
}

impl Report {
    fn new(args: &PlanArgs) -> Result<Self, Error> {
        let plan = Planner::new(args.error).plan()?;
        // a window or a number that no filter can have is refused here as it is there
        match (args.window, args.last) {
            (Some(window), _) => drop(TimeBloom::builder(window).false_positive_rate(args.error).build()?),
            (None, last) => {
                drop(CountBloom::builder(last.unwrap_or_default()).false_positive_rate(args.error).build()?);
            }
        }
        let mut sample = None;
        let items = match (args.window, args.last, args.rate, &args.sample) {
            (Some(window), _, Some(rate), _) => rate * window.as_secs_f64(),
            (Some(window), _, None, Some(input)) => {
                let found = sample.insert(sample::read(args, input, window)?);
                (found.rate() * window.as_secs_f64()).max(found.peak as f64)
            }
            (_, Some(last), ..) => last as f64,
            _ => return Err(Error::Usage("the rate is needed: --rate, or a --sample to learn it from".to_owned())),
        };
        let mut alternatives: Vec<Plan> = Vec::new();
        for limit in ALTERNATIVES {
            // not every rate can be had with few slices
            if let Ok(other) = Planner::new(args.error).aging_slices(limit).plan() {
                alternatives.push(other);
            }
        }
        let key_bytes = sample.map_or(args.key_bytes, |sample| sample.key_bytes);
        Ok(Report { plan, alternatives, window: args.window, sample, items, key_bytes })
    }

    /// The share of an expired item's neighbours that agree by chance: how its tail falls with each step.
    fn tail(&self) -> f64 {
        1.0 - (-self.plan.target_load()).exp()
    }

    /// What a filter of these proportions takes when its window is full, everything counted: slices are whole words, and
    /// `FORMAT.md` says what comes besides.
    fn bytes(&self, plan: &Plan) -> u64 {
        let slices = plan.base_slices() as u64;
        let words = whole(self.items * plan.bits_per_item() / 64.0 / slices as f64).max(1);
        280 + slices * 12 + slices.div_ceil(8) * 48 + words * slices * 8
    }

    fn bits_per_item(&self, plan: &Plan) -> f64 {
        8.0 * self.bytes(plan) as f64 / self.items.max(1.0)
    }

    /// How long an item may overstay, in the unit of the window.
    fn overstay(&self, plan: &Plan) -> String {
        match self.window {
            Some(window) => duration::show(window.div_f64(plan.aging_slices() as f64)),
            None => format!("{} items", group(whole(self.items * plan.slack()))),
        }
    }

    /// An exact store with expiry, in a server: entries in two dictionaries, the value, and the key.
    fn set_nx_bytes(&self) -> u64 {
        whole(self.items * (88.0 + rounded(self.key_bytes + 4)))
    }

    /// A hash map from keys to times, in a process: the key and its place in a table that is two thirds full.
    fn map_bytes(&self) -> u64 {
        whole(self.items * (25.0 / 0.66 + rounded(self.key_bytes + 8)))
    }

    fn to_json(&self) -> Value {
        let describe = |plan: &Plan| {
            json!({
                "hashes": plan.hashes(),
                "aging_slices": plan.aging_slices(),
                "bits_per_item": self.bits_per_item(plan),
                "bytes": self.bytes(plan),
                "overstay_share": plan.slack(),
                "overstay_ms": self.window.map(|window| window.as_secs_f64() * 1e3 * plan.slack()),
                "probes_per_miss": plan.probes_per_miss(),
                "worst_case_rate": plan.worst_case_rate(),
            })
        };
        let sample = self.sample.map(|sample| {
            json!({
                "lines": sample.lines,
                "items": sample.items,
                "seconds": sample.span.as_secs_f64(),
                "items_per_second": sample.rate(),
                "peak_items_in_window": (sample.peak > 0).then_some(sample.peak),
            })
        });
        json!({
            "error": self.plan.false_positive_rate(),
            "window_ms": self.window.map(|window| window.as_secs_f64() * 1e3),
            "items_in_window": whole(self.items),
            "key_bytes": self.key_bytes,
            "sample": sample,
            "plan": describe(&self.plan),
            "tail_per_step": self.tail(),
            "alternatives": self.alternatives.iter().map(describe).collect::<Vec<_>>(),
            "set_nx_ex_bytes": self.set_nx_bytes(),
            "hash_map_bytes": self.map_bytes(),
        })
    }

    fn to_text(&self, paint: Paint) -> String {
        let plan = &self.plan;
        let mut text = String::new();
        let window = self.window.map_or("no time limit".to_owned(), duration::show);
        let items = group(whole(self.items));
        let error = plan.false_positive_rate();
        let heading = format!("window {window}, {items} items in it, error {error}");
        add(&mut text, &paint.bold(&heading));
        if let Some(sample) = self.sample {
            let (lines, new, seconds) = (group(sample.lines), group(sample.items), sample.span.as_secs_f64());
            let line = format!("from a sample of {lines} lines in {seconds:.1} s, {new} of them new: ");
            let _ = write!(text, "{line}{:.1} items/s", sample.rate());
            let peak =
                if sample.peak > 0 { format!(", at most {} in a window", group(sample.peak)) } else { String::new() };
            add(&mut text, &peak);
        }
        add(&mut text, "");
        let mut row = |name: &str, value: String| add(&mut text, &format!("{name:<22}{value}"));
        row("memory", paint.green(&show(self.bytes(plan))));
        row("bits per item", format!("{:.1}", self.bits_per_item(plan)));
        row("hash functions (k)", plan.hashes().to_string());
        row("aging slices (l)", plan.aging_slices().to_string());
        row("overstay", format!("up to {}, 1/{} of the window", self.overstay(plan), plan.aging_slices()));
        let tail = self.tail();
        let chances: Vec<_> = (1..=4).map(|steps| format!("{:.0} %", 100.0 * tail.powi(steps))).collect();
        row("still reported", format!("{} after 1, 2, 3, 4 times that", chances.join(", ")));
        row("probes for a new item", format!("{:.1}", plan.probes_per_miss()));
        row("false positives", format!("{:.6} at worst, at a steady rate", plan.worst_case_rate()));

        add(&mut text, "");
        add(&mut text, &paint.bold("alternatives"));
        add(&mut text, &paint.dim("   l   k   bits/item      memory      overstay   probes"));
        for other in &self.alternatives {
            let mark = if other.aging_slices() == plan.aging_slices() { " <" } else { "" };
            let line = format!(
                "{:>4}{:>4}{:>12.1} {:>11} {:>13} {:>8.1}{mark}",
                other.aging_slices(),
                other.hashes(),
                self.bits_per_item(other),
                show(self.bytes(other)),
                self.overstay(other),
                other.probes_per_miss(),
            );
            add(&mut text, &line);
        }

        add(&mut text, "");
        add(&mut text, &paint.bold(&format!("the same, exactly, with keys of {} bytes", self.key_bytes)));
        let ours = self.bytes(plan) as f64;
        for (name, bytes) in [("SET key 1 NX EX", self.set_nx_bytes()), ("hash map with times", self.map_bytes())] {
            let times = bytes as f64 / ours;
            let digits = usize::from(times < 10.0);
            add(&mut text, &format!("{name:<22}about {}, {times:.digits$} times as much", show(bytes)));
        }
        text
    }
}

fn add(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Allocators hand out multiples of 16 bytes.
fn rounded(bytes: u64) -> f64 {
    bytes.next_multiple_of(16) as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts are positive, and float casts saturate
fn whole(number: f64) -> u64 {
    number.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units() {
        for (text, rate) in [("5000", 5_000.0), ("20k", 20_000.0), ("300/m", 5.0), ("36M/h", 10_000.0), ("0.5/s", 0.5)]
        {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        for text in ["", "k", "/s", "5/w", "-1", "0", "NaN", "inf", "1e300", "5 /s"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
