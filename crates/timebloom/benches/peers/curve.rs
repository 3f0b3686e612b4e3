//! How time and memory grow with the window, as a picture for the documentation.

use std::error::Error;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::filters::{Kind, Mode};
use crate::measure::{Comparison, Operation};

const SIZE: (u32, u32) = (900, 860);

/// A line of the upper chart: its name, what it shows of a comparison, and its colour.
type Line = (&'static str, fn(&Comparison) -> Option<f64>, RGBColor);

const LINES: [Line; 6] = [
    ("insert, mean with all shifts", |result| mean(result, Kind::TimeBloom), RGBColor(31, 119, 180)),
    ("hit", |result| low(result, Kind::TimeBloom, Operation::Hit, Mode::Single), RGBColor(214, 39, 40)),
    ("miss", |result| low(result, Kind::TimeBloom, Operation::Miss, Mode::Single), RGBColor(255, 127, 14)),
    (
        "hit, batches of 16",
        |result| low(result, Kind::TimeBloom, Operation::Hit, Mode::Batch16),
        RGBColor(148, 103, 189),
    ),
    ("fastbloom insert", |result| mean(result, Kind::FastBloom), RGBColor(170, 200, 225)),
    ("fastbloom hit", |result| low(result, Kind::FastBloom, Operation::Hit, Mode::Single), RGBColor(235, 170, 170)),
];

fn low(result: &Comparison, kind: Kind, operation: Operation, mode: Mode) -> Option<f64> {
    Some(result.filter(kind)?.timing(operation, mode)?.low)
}

fn mean(result: &Comparison, kind: Kind) -> Option<f64> {
    Some(result.filter(kind)?.timing(Operation::Insert, Mode::Single)?.mean)
}

/// Draws both charts into the documentation.
pub fn draw(results: &[Comparison]) -> io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cost-by-window.svg");
    draw_into(&path, results).map_err(|error| io::Error::other(error.to_string()))?;
    println!("\nwritten: {}", path.display());
    Ok(())
}

fn draw_into(path: &PathBuf, results: &[Comparison]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (upper, lower) = root.split_vertically(540);
    times(&upper, results)?;
    bits(&lower, results)?;
    root.present()?;
    Ok(())
}

fn windows(results: &[Comparison]) -> Range<f64> {
    let all = || results.iter().map(|result| result.window as f64);
    all().fold(f64::INFINITY, f64::min)..all().fold(0.0, f64::max)
}

fn times(area: &DrawingArea<SVGBackend, Shift>, results: &[Comparison]) -> Result<(), Box<dyn Error>> {
    let range = windows(results);
    let mut chart = ChartBuilder::on(area)
        .caption("Nanoseconds an operation, 16-byte keys, rate 0.01", ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(range.log_scale(), (4.0..1_000.0).log_scale())?;
    chart.configure_mesh().x_desc("items in the window").y_desc("ns").x_label_formatter(&|x| power(*x)).draw()?;
    // where the filter outgrows a cache
    for (name, bytes) in caches() {
        let fits = |result: &&Comparison| {
            let bits = result.filter(Kind::TimeBloom).map_or(0.0, |ours| ours.bits_per_item);
            bits / 8.0 * result.window as f64 <= bytes
        };
        let Some(last) = results.iter().rfind(fits) else { continue };
        let bits = last.filter(Kind::TimeBloom).map_or(1.0, |ours| ours.bits_per_item);
        let window = bytes * 8.0 / bits;
        let line = [(window, 4.0), (window, 1_000.0)];
        chart.draw_series(LineSeries::new(line, RGBColor(150, 150, 150)))?;
        let text = Text::new(format!("{name}: {} KiB", bytes / 1_024.0), (window * 1.05, 850.0), ("sans-serif", 13));
        chart.draw_series([text])?;
    }
    for (name, value, colour) in LINES {
        let points: Vec<(f64, f64)> =
            results.iter().filter_map(|result| Some((result.window as f64, value(result)?))).collect();
        chart
            .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    let position = SeriesLabelPosition::MiddleLeft;
    chart.configure_series_labels().position(position).background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
    Ok(())
}

fn bits(area: &DrawingArea<SVGBackend, Shift>, results: &[Comparison]) -> Result<(), Box<dyn Error>> {
    let mut chart = ChartBuilder::on(area)
        .caption("Bits of memory an item in the window, everything counted", ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(windows(results).log_scale(), 0.0..36.0)?;
    chart.configure_mesh().x_desc("items in the window").y_desc("bits").x_label_formatter(&|x| power(*x)).draw()?;
    for (kind, colour) in [(Kind::TimeBloom, RGBColor(31, 119, 180)), (Kind::FastBloom, RGBColor(170, 200, 225))] {
        let points: Vec<(f64, f64)> = results
            .iter()
            .filter_map(|result| Some((result.window as f64, result.filter(kind)?.bits_per_item)))
            .collect();
        chart
            .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
            .label(kind.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

/// `1000` as `10^3`; between powers nothing.
fn power(number: f64) -> String {
    let exponent = number.log10();
    if (exponent - exponent.round()).abs() < 1e-6 { format!("10^{exponent:.0}") } else { String::new() }
}

/// The data caches of this machine, as the kernel tells them.
fn caches() -> Vec<(String, f64)> {
    let read = |index: u32, file: &str| {
        std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}"))
            .map(|text| text.trim().to_owned())
    };
    let cache = |index: u32| {
        let (level, kind, size) = (read(index, "level").ok()?, read(index, "type").ok()?, read(index, "size").ok()?);
        let kibibytes: f64 = size.strip_suffix('K')?.parse().ok()?;
        (kind != "Instruction").then(|| (format!("L{level}"), kibibytes * 1_024.0))
    };
    (0..8).filter_map(cache).collect()
}
