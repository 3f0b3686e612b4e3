//! A picture for each stream: slices, memory, errors and staleness, one above the other.

use timebloom::Policy;
use timebloom_testkit::Scenario;

use super::course::{AGING_SLICES, Course, EPS, Look};
use crate::chart::{Axis, Colour, Figure, Level, Panel, Series};

const PANEL_HEIGHT: u32 = 150;

pub(super) fn all(courses: &[Course], seed: u64) -> Vec<Figure> {
    Scenario::ALL
        .into_iter()
        .map(|scenario| {
            let of = |policy| {
                courses.iter().find(|course| {
                    let setting = &course.setting;
                    setting.scenario == scenario && setting.policy == policy && setting.seed == seed
                })
            };
            figure(scenario, of(Policy::Guarded), of(Policy::Paper))
        })
        .collect()
}

/// What a stream does, in a sentence.
fn story(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::Steady => "One item every 0.1 s.",
        Scenario::Poisson => "Independent arrivals, ten a second on average.",
        Scenario::Jump { factor } if factor > 1.0 => "After three windows the rate is multiplied, once.",
        Scenario::Jump { .. } => "After three windows the rate falls, once.",
        Scenario::Sine { .. } => "The rate swings by a factor of ten over four windows.",
        Scenario::Day { .. } => "Independent arrivals, at a rate that swings over 24 windows.",
        Scenario::Bursts => {
            "Half a window's items within a hundredth of a window, every two windows; little in between."
        }
        Scenario::Idle => "Three windows, then ten of silence, then on as before.",
        Scenario::Trickle => "A hundredth of the expected rate.",
        Scenario::Doubling => "The rate doubles every span / l, from a hundredth to a hundredfold.",
        Scenario::Chaos => "Every span / l another rate, from a hundredth to a hundredfold.",
    }
}

fn figure(scenario: Scenario, guarded: Option<&Course>, paper: Option<&Course>) -> Figure {
    let both = [("guarded", Colour::GUARDED, guarded), ("paper's rules", Colour::PAPER, paper)];
    let looks = |course: Option<&Course>| course.map_or(vec![], |course| course.looks.clone());
    let all: Vec<Look> = both.iter().flat_map(|(_, _, course)| looks(*course)).collect();
    let end = all.iter().map(|look| look.time_spans).fold(0.0, f64::max);
    let time = |name: &str| Axis::linear(name, 0.0, end).labels(8);
    let series = |value: fn(&Look) -> f64| -> Vec<Series> {
        both.iter()
            .map(|(name, colour, course)| {
                let points = looks(*course).iter().map(|look| (look.time_spans, value(look))).collect();
                Series::line(*name, *colour, points)
            })
            .collect()
    };
    let values = |value: fn(&Look) -> f64| all.iter().map(value).collect::<Vec<_>>();
    let positive =
        |value: fn(&Look) -> f64| values(value).into_iter().filter(|value| *value > 0.0).fold(f64::MAX, f64::min);
    let highest = |value: fn(&Look) -> f64| values(value).into_iter().fold(0.0, f64::max);
    let slices: fn(&Look) -> f64 = |look| look.slices as f64;
    let kibibytes: fn(&Look) -> f64 = |look| look.memory_bytes as f64 / 1024.0;
    let rate: fn(&Look) -> f64 = |look| look.rate / EPS;
    let overstay: fn(&Look) -> f64 = |look| look.overstay_spans;
    let bound = 1.0 / f64::from(AGING_SLICES);
    let panel = |x: &str, y: Axis, value, levels| Panel { x: time(x), y, series: series(value), levels };
    let panels = vec![
        panel("", Axis::from_zero("slices", values(slices)).labels(4), slices, vec![]),
        panel("", Axis::log("memory, KiB", positive(kibibytes), highest(kibibytes)).labels(4), kibibytes, vec![]),
        panel(
            "",
            Axis::from_zero("false positive rate / eps", values(rate).into_iter().chain([1.2])).labels(4),
            rate,
            vec![Level::new("eps", 1.0)],
        ),
        panel(
            "time, in windows",
            Axis::log("held past the window, in windows", 0.001, highest(overstay).max(0.1)).labels(4),
            overstay,
            vec![Level::new("1 / l", bound)],
        ),
    ];
    let name = scenario.name();
    let id = format!("stress-{}", name.to_lowercase().replace(' ', "-"));
    Figure::of_panels(id, format!("Stream: {name}"), story(scenario), panels, PANEL_HEIGHT)
}
