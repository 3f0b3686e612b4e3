//! The paper's own experiments, with its rules and with ours.

mod bits;
pub mod course;
mod growth;
pub mod published;
mod rates;

use timebloom::{LEVEL_RATES, Policy, levels};

use course::{Course, Setting, Watch};

use crate::chart::{Axis, Colour, Series};
use crate::error::Error;
use crate::section::{Check, Section};
use crate::{Context, parallel};

/// What filters are told to expect, where 3,000 items come: too little and too much.
pub const CAPACITIES: [u64; 2] = [1_000, 10_000];

/// At small rates a run asks for up to a billion absent items: one pair each has to do, and the smallest capacity for the
/// smallest rate.
const ASKED_AT_SMALL: [u32; 2] = [17, 20];

/// Runs all filters and writes `paper.csv` and `paper-queries.csv`.
pub fn experiment(context: &Context<'_>, progress: &mut dyn FnMut(f64)) -> Result<Section, Error> {
    let settings = settings(context.quick);
    let courses = parallel::map(&settings, progress, |&setting| course::run(setting, watch(setting, context)));
    let courses: Vec<Course> = courses.into_iter().collect::<Result<_, _>>()?;
    context.output.csv("paper.csv", courses.iter().flat_map(Course::records))?;
    let mut section = Section {
        id: "paper".into(),
        title: "The paper's experiments".into(),
        question:
            "Does the filter behave as the paper says: does it return to k + l slices, find the right size for its \
                   slices, take 10 to 56 bits an item, keep its error rate, and never forget early?"
                .into(),
        method: method(context),
        ..Section::default()
    };
    growth::add(&courses, &mut section);
    bits::add(&courses, &mut section);
    rates::add(&courses, context, &mut section)?;
    add_false_negatives(&courses, &mut section);
    Ok(section)
}

fn method(context: &Context<'_>) -> String {
    let looks = if context.quick { "every twentieth insertion and before every shift" } else { "every insertion" };
    format!(
        "10,000 distinct items, one each 0.1 s, in a window of 300 s, into filters that were told to expect 1,000 or 10,000 \
         items a window where 3,000 come. All published pairs of k and l. Looked at after {looks}; {} runs. The \
         paper's rules are run by this engine, whose slices share cache lines, and rates are those of this engine.",
        settings(context.quick).len()
    )
}

fn settings(quick: bool) -> Vec<Setting> {
    let mut settings = Vec::new();
    for eps in LEVEL_RATES {
        for (number, level) in levels(eps).iter().enumerate() {
            // a quick run has all pairs where there are pictures of all, and two of the others
            if quick && eps < 0.1 && ![0, 3].contains(&number) {
                continue;
            }
            for capacity in CAPACITIES {
                for policy in [Policy::Paper, Policy::Guarded] {
                    let (hashes, aging_slices) = (level.hashes, level.aging_slices);
                    settings.push(Setting { policy, eps, hashes, aging_slices, capacity });
                }
            }
        }
    }
    // the longest first, so that no core is left with it at the end
    settings.sort_by(|one, other| one.eps.total_cmp(&other.eps));
    settings
}

fn watch(setting: Setting, context: &Context<'_>) -> Watch {
    let every = if context.quick { 20 } else { 1 };
    // 10^i * 10,000 in all for a rate of 10^-i
    let asked = match setting.eps {
        eps if eps > 2e-4 => true,
        eps if eps > 2e-5 => ASKED_AT_SMALL.contains(&setting.hashes),
        _ => ASKED_AT_SMALL.contains(&setting.hashes) && setting.capacity == CAPACITIES[0],
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 10 to 100,000
    let absent = (1.0 / setting.eps).round() as u32;
    let absent = match (asked, context.quick) {
        (false, _) => 0,
        (true, false) => absent,
        (true, true) => (absent * 20).min(2_000),
    };
    Watch { every, absent, seed: context.seed }
}

fn add_false_negatives(courses: &[Course], section: &mut Section) {
    let sum = |value: fn(&Course) -> u64| courses.iter().map(value).sum::<u64>();
    let (lost, looked_up) = (sum(|course| course.false_negatives), sum(|course| course.looked_up));
    section.findings.push(format!(
        "No false negatives: {lost} of {} look-ups of items in the window failed, with either policy. The paper says the \
         same of its own runs.",
        crate::numbers::grouped(looked_up)
    ));
    section.checks.push(Check::none(lost, looked_up, "No item of the window is ever missed", "look-ups"));
}

/// The courses of one policy, rate and capacity, in the order of their pairs.
fn of(courses: &[Course], policy: Policy, eps: f64, capacity: u64) -> Vec<&Course> {
    let mut found: Vec<&Course> = courses
        .iter()
        .filter(|course| {
            let setting = &course.setting;
            setting.policy == policy && (setting.eps / eps - 1.0).abs() < 1e-9 && setting.capacity == capacity
        })
        .collect();
    found.sort_by_key(|course| course.setting.hashes);
    found
}

fn insertions() -> Axis {
    Axis::linear("insertion", 0.0, f64::from(course::ITEMS))
}

/// A line for each course, through one value of its looks.
fn lines(courses: &[&Course], steps: bool, value: impl Fn(&course::Look) -> f64) -> Vec<Series> {
    let line = |(number, course): (usize, &&Course)| {
        let points = course.looks.iter().map(|look| (f64::from(look.insertion), value(look))).collect();
        let make = if steps { Series::steps } else { Series::line };
        make(course.setting.pair(), Colour::of_series(number), points)
    };
    courses.iter().enumerate().map(line).collect()
}

/// How a policy is called in titles.
fn title_of(policy: Policy) -> &'static str {
    match policy {
        Policy::Guarded => "guarded",
        _ => "paper's rules",
    }
}
