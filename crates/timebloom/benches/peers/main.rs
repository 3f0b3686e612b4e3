//! How fast and how small the filters are beside their peers, in one process and in turns.
//!
//! `cargo bench -p timebloom --bench peers -- --help` says what can be chosen. The way through the files: `options` says
//! what to run, `workload` makes keys and times, `filters` puts one face on everything under test, `measure` takes the
//! times by the stopwatch in `clock`, `report` prints them and writes them down. `small` is a run of its own, about filters
//! of few items, and `curve` draws how costs grow with the window.

mod clock;
mod curve;
mod filters;
mod measure;
mod options;
mod others;
mod ours;
mod report;
mod small;
mod workload;

use std::process::ExitCode;

use options::{Options, Request, Run};

fn main() -> ExitCode {
    match Request::from_arguments(std::env::args().skip(1)) {
        Ok(Request::Help) => println!("{}", options::HELP),
        Ok(Request::NotABenchmark) => eprintln!("peers: nothing to test; measure with `cargo bench --bench peers`"),
        Ok(Request::Measure(options)) => {
            if let Err(error) = measure_and_report(&options) {
                eprintln!("peers: {error}");
                return ExitCode::FAILURE;
            }
        }
        Err(wrong) => {
            eprintln!("peers: {wrong}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn measure_and_report(options: &Options) -> std::io::Result<()> {
    if options.run == Run::Small {
        return small::run();
    }
    report::header();
    let mut results = Vec::new();
    for &window in &options.windows {
        for &eps in &options.rates {
            let result = measure::measure(window, eps, options);
            report::table(&result);
            results.push(result);
        }
    }
    if options.run == Run::Curve {
        return curve::draw(&results);
    }
    report::aims(&results);
    report::write_json(&results)
}
