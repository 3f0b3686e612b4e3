//! What a run found, for people and for programs.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::filters::{Kind, Mode};
use crate::measure::{Comparison, Measured, Operation, Timing};

/// What the numbers mean, once.
pub fn header() {
    println!(
        "Nanoseconds an operation, keys of 16 bytes: the tenth percentile of chunks, and for insertions also the mean with\n\
         all shifts, in processor time. Ratios are to fastbloom, which cannot forget, one key a call, with rapidhash: like\n\
         ours, a hash that stays the same when filters are stored. Bits: all bytes, for each item in the window. False\n\
         positives are counted where the rate is highest. fastbloom-rotating holds up to two windows."
    );
}

/// One window and rate.
pub fn table(result: &Comparison) {
    println!("\nwindow of {} items, rate {}", grouped(result.window), result.eps);
    println!(
        "  {:<18} {:<7} {:>7} {:>7} {:>7} {:>7}  {:>7} {:>6} {:>6} {:>6}  {:>7} {:>9}",
        "filter", "mode", "insert", "mean", "hit", "miss", "/insert", "/mean", "/hit", "/miss", "bits", "false pos"
    );
    for measured in &result.filters {
        for mode in [Mode::Single, Mode::Batch16] {
            let Some([insert, hit, miss]) = row(measured, mode) else { continue };
            let ratio = |timing: &Timing| low_ratio(result, timing).map_or("-".into(), |ratio| format!("{ratio:.2}"));
            println!(
                "  {:<18} {:<7} {:>7.1} {:>7.1} {:>7.1} {:>7.1}  {:>7} {:>6} {:>6} {:>6}  {:>7.2} {:>9.6}",
                measured.kind.name(),
                mode.name(),
                insert.low,
                insert.mean,
                hit.low,
                miss.low,
                ratio(insert),
                mean_ratio(result, insert).map_or("-".into(), |ratio| format!("{ratio:.2}")),
                ratio(hit),
                ratio(miss),
                measured.bits_per_item,
                measured.false_positive_rate,
            );
        }
    }
    for (kind, reason) in &result.left_out {
        println!("  {:<18} left out: {reason}", kind.name());
    }
    for measured in &result.filters {
        if let Some(pauses) = measured.pauses {
            let (name, other) = (measured.kind.name(), micros(pauses.other));
            let shifts = pauses.shift.map_or(String::new(), |shift| format!(", {:.1} us among shifts", micros(shift)));
            println!("  {name}: the longest insertion of a window took {other:.1} us{shifts}");
        }
    }
}

fn row(measured: &Measured, mode: Mode) -> Option<[&Timing; 3]> {
    let [insert, hit, miss] = Operation::ALL.map(|operation| measured.timing(operation, mode));
    Some([insert?, hit?, miss?])
}

fn yardstick(result: &Comparison, operation: Operation) -> Option<&Timing> {
    result.filter(Kind::FastBloom)?.timing(operation, Mode::Single)
}

fn low_ratio(result: &Comparison, timing: &Timing) -> Option<f64> {
    Some(timing.low / yardstick(result, timing.operation)?.low)
}

fn mean_ratio(result: &Comparison, timing: &Timing) -> Option<f64> {
    Some(timing.mean / yardstick(result, timing.operation)?.mean)
}

/// The time windows at a rate of 0.01 that we measure ourselves by.
const AIM_WINDOWS: [u64; 3] = [10_000, 1_000_000, 50_000_000];

/// The ratios to fastbloom we aim for there, at most.
const AIMS: [(&str, Operation, Mode, [f64; 3]); 4] = [
    ("insert, mean", Operation::Insert, Mode::Single, [0.85, 0.65, 0.75]),
    ("hit", Operation::Hit, Mode::Single, [1.4, 1.35, 1.4]),
    ("miss", Operation::Miss, Mode::Single, [1.05, 1.2, 1.6]),
    ("hit, batch16", Operation::Hit, Mode::Batch16, [1.3, 1.0, 0.6]),
];

/// Compares with what we aim for.
pub fn aims(results: &[Comparison]) {
    println!("\ntimebloom-time at a rate of 0.01: ratios to fastbloom, and what we aim for at most");
    print!("  {:<14}", "");
    for window in AIM_WINDOWS {
        print!(" {:>22}", grouped(window));
    }
    println!();
    for (name, operation, mode, limits) in AIMS {
        print!("  {name:<14}");
        for (window, limit) in AIM_WINDOWS.into_iter().zip(limits) {
            let result = results.iter().find(|result| result.window == window && result.eps == 0.01);
            let ratio = result.and_then(|result| {
                let timing = result.filter(Kind::TimeBloom)?.timing(operation, mode)?;
                if operation == Operation::Insert { mean_ratio(result, timing) } else { low_ratio(result, timing) }
            });
            let cell = ratio.map_or("not measured".into(), |ratio| {
                format!("{ratio:.2} of {limit:.2}, {}", if ratio <= limit { "met" } else { "not met" })
            });
            print!(" {cell:>22}");
        }
        println!();
    }
}

/// Writes `peers.json` into the target directory.
pub fn write_json(results: &[Comparison]) -> std::io::Result<()> {
    let mut rows = Vec::new();
    for result in results {
        for measured in &result.filters {
            rows.extend(measured.timings.iter().map(|timing| json_row(result, measured, timing)));
        }
    }
    write("peers.json", &Value::from(rows))
}

fn micros(pause: Duration) -> f64 {
    pause.as_secs_f64() * 1e6
}

fn json_row(result: &Comparison, measured: &Measured, timing: &Timing) -> Value {
    json!({
        "filter": measured.kind.name(),
        "eps": result.eps,
        "window": result.window,
        "op": timing.operation.name(),
        "mode": timing.mode.name(),
        "ns": timing.low,
        "mean_ns": timing.mean,
        "ratio_to_fastbloom": low_ratio(result, timing),
        "mean_ratio_to_fastbloom": mean_ratio(result, timing),
        "bits_per_item": measured.bits_per_item,
        "false_positive_rate": measured.false_positive_rate,
        "worst_shift_us": measured.pauses.and_then(|pauses| pauses.shift).map(micros),
        "worst_other_us": measured.pauses.map(|pauses| micros(pauses.other)),
    })
}

/// Writes a file into the target directory and says where.
pub fn write(name: &str, value: &Value) -> std::io::Result<()> {
    let path = target_directory()?.join(name);
    std::fs::write(&path, format!("{value:#}\n"))?;
    println!("\nwritten: {}", path.display());
    Ok(())
}

fn target_directory() -> std::io::Result<PathBuf> {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let executable = std::env::current_exe()?; // target/release/deps/peers-...
    let around = executable.ancestors().nth(3).map(PathBuf::from);
    chosen.or(around).ok_or_else(|| std::io::Error::other("there is no target directory around the benchmark"))
}

/// `1000000` as `1,000,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
