//! Streams whose rate changes, for both policies.

pub mod course;
mod figures;

use timebloom::Policy;
use timebloom_testkit::{Scenario, at_most_with_confidence};

use course::{AGING_SLICES, Course, EPS, HASHES, Setting};

use crate::error::Error;
use crate::experiment::Context;
use crate::numbers::{grouped, percent};
use crate::parallel;
use crate::section::{Check, Section};
use crate::table::Table;

const SEEDS: u64 = 3;
/// The chance that the check of queries fails although all is well.
const FALSE_ALARM: f64 = 1e-9;
/// A slice's time is rounded up by less than this share of the window.
const TICK: f64 = 1e-7;

/// Runs all streams and writes `stress.csv`.
pub fn experiment(context: &Context<'_>, progress: &mut dyn FnMut(f64)) -> Result<Section, Error> {
    let seeds = if context.quick { 1 } else { SEEDS };
    let mut settings = Vec::new();
    for scenario in Scenario::ALL {
        for policy in [Policy::Guarded, Policy::Paper] {
            settings.extend((0..seeds).map(|number| Setting { scenario, policy, seed: context.seed + number }));
        }
    }
    let courses = parallel::map(&settings, progress, |&setting| course::run(setting));
    let courses: Vec<Course> = courses.into_iter().collect::<Result<_, _>>()?;
    context.output.csv("stress.csv", courses.iter().flat_map(|course| &course.looks))?;
    Ok(Section {
        id: "stress".into(),
        title: "When the rate changes".into(),
        question: "What do jumps, bursts, pauses and drifts of the rate do to slices, memory, errors and staleness?"
            .into(),
        method: format!(
            "Windows of 300 s, 3,000 items expected, eps {EPS}, (k, l) = ({HASHES}, {AGING_SLICES}) for both policies. \
             Pictures show the first of {seeds} runs, looked at 400 times and before every shift; the table has the worst \
             of all runs. Rates are from counted bits. Memory is everything the filter owns, bookkeeping included, which \
             for so few items is about a fifth."
        ),
        findings: findings(&courses),
        figures: figures::all(&courses, context.seed),
        tables: vec![table(&courses)],
        checks: checks(&courses),
    })
}

fn of(courses: &[Course], policy: Policy) -> impl Iterator<Item = &Course> + Clone {
    courses.iter().filter(move |course| course.setting.policy == policy)
}

fn worst<'a>(courses: impl Iterator<Item = &'a Course>, value: impl Fn(&Course) -> f64) -> f64 {
    courses.map(value).fold(0.0, f64::max)
}

fn table(courses: &[Course]) -> Table {
    let mut table = Table::new(
        "stress",
        "The worst of each stream",
        "slices: the most at any time. rate: the highest before a shift, in eps. bits: memory per item in the window, over \
         the run. overstay: the longest that an item was held past its window, as a share of the window; the guarded bound \
         is 4.0%.",
        &["stream", "guarded: slices", "rate", "bits", "overstay", "paper: slices", "rate", "bits", "overstay"],
    );
    for scenario in Scenario::ALL {
        let mut row = vec![scenario.name()];
        for policy in [Policy::Guarded, Policy::Paper] {
            let runs = of(courses, policy).filter(|course| course.setting.scenario == scenario);
            row.push(format!("{:.0}", worst(runs.clone(), |course| course.peak_slices as f64)));
            row.push(format!("{:.2}", worst(runs.clone(), |course| course.peak_rate) / EPS));
            row.push(format!("{:.1}", worst(runs.clone(), |course| course.bits_per_item)));
            row.push(percent(worst(runs, |course| course.overstay)));
        }
        table.push(row);
    }
    table
}

fn checks(courses: &[Course]) -> Vec<Check> {
    let sum = |value: fn(&Course) -> u64| courses.iter().map(value).sum::<u64>();
    let (lost, looked_up) = (sum(|course| course.false_negatives), sum(|course| course.looked_up));
    let peak = worst(of(courses, Policy::Guarded), |course| course.peak_rate) / EPS;
    let overstay = worst(of(courses, Policy::Guarded), |course| course.overstay);
    let bound = 1.0 / f64::from(AGING_SLICES);
    let asked: u64 = of(courses, Policy::Guarded).map(|course| course.asked).sum();
    let reported: u64 = of(courses, Policy::Guarded).map(|course| course.false_positives).sum();
    let most = at_most_with_confidence(asked, EPS, FALSE_ALARM);
    vec![
        Check::none(lost, looked_up, "No item is missed on any stream, with either policy", "look-ups"),
        Check::new(
            peak > 0.0 && peak <= 1.0,
            "The guarded policy is at or under its target before every shift of every stream",
            format!("at most {peak:.3} eps"),
        ),
        Check::new(
            asked > 0 && reported <= most,
            "The guarded policy is at or under its target by real queries before shifts",
            format!(
                "{} of {} reported; more than {} would be too many, with a chance of a false alarm of {FALSE_ALARM:e}",
                grouped(reported),
                grouped(asked),
                grouped(most)
            ),
        ),
        Check::new(
            overstay > 0.0 && overstay <= bound + TICK,
            "The guarded policy holds nothing for more than span / l past its window",
            format!("at most {} of the window, with a bound of {}", percent(overstay), percent(bound)),
        ),
    ]
}

fn findings(courses: &[Course]) -> Vec<String> {
    let (guarded, paper) = (of(courses, Policy::Guarded), of(courses, Policy::Paper));
    let above: Vec<String> = Scenario::ALL
        .iter()
        .filter(|&&scenario| {
            worst(paper.clone().filter(|course| course.setting.scenario == scenario), |course| course.peak_rate) > EPS
        })
        .map(Scenario::name)
        .collect();
    let slowest = worst(paper.clone(), |course| course.overstay);
    let in_stream = |policy, scenario, value: fn(&Course) -> f64| {
        worst(of(courses, policy).filter(|course| course.setting.scenario == scenario), value)
    };
    let bits = |policy| in_stream(policy, Scenario::Bursts, |course| course.bits_per_item);
    let slices = |policy| worst(of(courses, policy), |course| course.peak_slices as f64);
    vec![
        format!(
            "The guarded policy pays for a change with slices, not with errors or staleness: at most {:.2} of its target \
             and {} of the window past it, on every stream, with up to {:.0} slices.",
            worst(guarded.clone(), |course| course.peak_rate) / EPS,
            percent(worst(guarded, |course| course.overstay)),
            slices(Policy::Guarded),
        ),
        format!(
            "The paper's rules exceed the target on {} of {} streams ({}), by up to {:.1} times. They shift by count \
             only: when a stream slows down or pauses, items are held for up to {:.1} windows too long.",
            above.len(),
            Scenario::ALL.len(),
            above.join(", "),
            worst(paper.clone(), |course| course.peak_rate) / EPS,
            slowest,
        ),
        format!(
            "After a burst the paper's rules keep slices sized for its peak: {:.0} bits an item over the run where the \
             guarded policy takes {:.0}.",
            bits(Policy::Paper),
            bits(Policy::Guarded),
        ),
    ]
}
