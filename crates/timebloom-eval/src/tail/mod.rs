//! The expiry tail: the chance that an item whose time is up is still reported, by its age.

use serde::Serialize;
use timebloom::{Policy, TimeBloom, TimeBloomBuilder};
use timebloom_testkit::at_most_with_confidence;

use crate::chart::{Axis, Colour, Figure, Level, Panel, Series};
use crate::error::Error;
use crate::experiment::Context;
use crate::numbers::{rate, significant};
use crate::section::{Check, Section};
use crate::steady::{Ages, SPAN, Seen, Steady};
use crate::table::Table;
use crate::{parallel, policy_name};

const BINS_PER_STEP: u32 = 4;
const FALSE_ALARM: f64 = 1e-9;

#[derive(Clone, Copy, Debug)]
struct Setting {
    policy: Policy,
    eps: f64,
    pair: Option<(u32, u32)>,
}

/// The rates people choose, with planned pairs; and the paper's rules once, with a published one.
const SETTINGS: [Setting; 4] = [
    Setting { policy: Policy::Guarded, eps: 0.1, pair: None },
    Setting { policy: Policy::Guarded, eps: 0.01, pair: None },
    Setting { policy: Policy::Guarded, eps: 0.001, pair: None },
    Setting { policy: Policy::Paper, eps: 0.01, pair: Some((10, 25)) },
];

impl Setting {
    fn builder(&self) -> TimeBloomBuilder {
        let builder = TimeBloom::builder(SPAN).false_positive_rate(self.eps).policy(self.policy);
        self.pair.map_or(builder.clone(), |(hashes, aging_slices)| builder.hashes_and_aging(hashes, aging_slices))
    }

    fn name(&self, seen: &Seen) -> String {
        format!("{}, eps {}, ({}, {})", policy_name(self.policy), rate(self.eps), seen.hashes, seen.aging_slices)
    }
}

/// A record of `tail.csv`.
#[derive(Clone, Debug, Serialize)]
struct Record {
    policy: &'static str,
    eps: f64,
    k: usize,
    l: usize,
    steps_past_window: f64,
    asked: u64,
    reported: u64,
}

/// Asks for expired items by age and writes `tail.csv`.
pub fn experiment(context: &Context<'_>, progress: &mut dyn FnMut(f64)) -> Result<Section, Error> {
    let steady = if context.quick {
        Steady { per_span: 5_000, settle: 3, measure: 2 }
    } else {
        Steady { per_span: 20_000, settle: 3, measure: 10 }
    };
    let ages = Ages { steps: 16, bins_per_step: BINS_PER_STEP, every: 1 };
    let seen = parallel::map(&SETTINGS, progress, |setting| steady.run(&setting.builder(), Some(ages), context.seed));
    let seen: Vec<Seen> = seen.into_iter().collect::<Result<_, _>>()?;
    let all: Vec<(Setting, Seen)> = SETTINGS.into_iter().zip(seen).collect();
    context.output.csv("tail.csv", all.iter().flat_map(|(setting, seen)| records(setting, seen)))?;
    Ok(Section {
        id: "tail".into(),
        title: "After the window".into(),
        question: "How likely is an item whose time is up to be reported still, and for how long?".into(),
        method: format!(
            "A steady stream of {} items a window; after each of {} insertions, one item of each quarter of a step of ages \
             is asked for, from one step before its end to 16 steps after. A step is span / l.",
            crate::numbers::grouped(steady.per_span.into()),
            crate::numbers::grouped(u64::from(steady.measure) * u64::from(steady.per_span)),
        ),
        findings: findings(&all),
        figures: vec![figure(&all)],
        tables: vec![table(&all)],
        checks: checks(&all),
    })
}

fn records<'a>(setting: &'a Setting, seen: &'a Seen) -> impl Iterator<Item = Record> + 'a {
    seen.bins.iter().map(|bin| Record {
        policy: policy_name(setting.policy),
        eps: setting.eps,
        k: seen.hashes,
        l: seen.aging_slices,
        steps_past_window: bin.from_step,
        asked: bin.asked,
        reported: bin.reported,
    })
}

fn figure(all: &[(Setting, Seen)]) -> Figure {
    let series = all.iter().enumerate().map(|(number, (setting, seen))| {
        let colour = match number {
            0 => Colour::of_series(2),
            1 => Colour::GUARDED,
            2 => Colour::of_series(4),
            _ => Colour::PAPER,
        };
        let middle = 0.5 / f64::from(BINS_PER_STEP);
        let points = seen.bins.iter().map(|bin| (bin.from_step + middle, bin.share())).collect();
        Series::line(setting.name(seen), colour, points)
    });
    let panel = Panel {
        x: Axis::linear("steps of span / l past the window", -1.0, 16.0).labels(9),
        y: Axis::log("chance of being reported", 0.0003, 1.0),
        series: series.collect(),
        levels: vec![Level::new("1/2", 0.5)],
    };
    Figure::single(
        "tail",
        "Expired items that are still reported",
        "Certain up to the end of the window, held for at most one step more, then about half as likely with each further \
         step, down to the ordinary rate.",
        panel,
    )
}

/// The bin that begins so many steps past the window.
fn at_step(seen: &Seen, step: u32) -> Option<&crate::steady::Bin> {
    seen.bins.iter().find(|bin| bin.from_step == f64::from(step))
}

fn table(all: &[(Setting, Seen)]) -> Table {
    let mut head = vec!["steps past the window".to_owned()];
    head.extend(all.iter().map(|(setting, seen)| setting.name(seen)));
    let mut table = Table::new(
        "tail",
        "The chance that an expired item is still reported",
        "In the quarter of a step that begins there.",
        &head.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    for step in [0, 1, 2, 3, 4, 6, 8, 10, 12, 15] {
        let mut row = vec![step.to_string()];
        row.extend(all.iter().map(|(_, seen)| at_step(seen, step).map_or("-".into(), |bin| significant(bin.share()))));
        table.push(row);
    }
    table
}

fn guarded(all: &[(Setting, Seen)]) -> impl Iterator<Item = &(Setting, Seen)> {
    all.iter().filter(|(setting, _)| setting.policy == Policy::Guarded)
}

fn checks(all: &[(Setting, Seen)]) -> Vec<Check> {
    let lost = all.iter().map(|(_, seen)| seen.false_negatives).sum();
    let looked_up = all.iter().map(|(_, seen)| seen.looked_up).sum();
    let after_one = guarded(all).filter_map(|(_, seen)| at_step(seen, 1)).map(crate::steady::Bin::share);
    let highest = after_one.fold(0.0, f64::max);
    // long after, only the ordinary rate is left
    let settled = guarded(all).map(|(setting, seen)| {
        let bins = seen.bins.iter().filter(|bin| bin.from_step >= seen.hashes as f64 + 2.0);
        let (asked, reported) =
            bins.fold((0, 0), |(asked, reported), bin| (asked + bin.asked, reported + bin.reported));
        asked > 0 && reported <= at_most_with_confidence(asked, setting.eps, FALSE_ALARM)
    });
    let settled: Vec<bool> = settled.collect();
    vec![
        Check::none(lost, looked_up, "Up to the last moment of the window nothing is missed", "look-ups"),
        Check::new(
            highest > 0.0 && highest <= 0.5,
            "One step past the window an item is reported with a chance of at most 1/2 (guarded)",
            format!("at most {highest:.3}"),
        ),
        Check::new(
            !settled.is_empty() && settled.iter().all(|&settled| settled),
            "From k + 2 steps on, only the ordinary rate is left (guarded)",
            format!("{} filters; chance of a false alarm {FALSE_ALARM:e} each", settled.len()),
        ),
    ]
}

fn findings(all: &[(Setting, Seen)]) -> Vec<String> {
    let mut findings = Vec::new();
    if let Some((setting, seen)) = guarded(all).find(|(setting, _)| (setting.eps - 0.01).abs() < 1e-9) {
        let at = |step| at_step(seen, step).map_or(f64::NAN, crate::steady::Bin::share);
        findings.push(format!(
            "Forgetting is gradual. With eps {} as planned (k = {}, l = {}), an item is reported with a chance of {} one \
             step after its window, {} after two, {} after four and {} after eight. For a window of a minute a step is \
             {:.1} s.",
            rate(setting.eps),
            seen.hashes,
            seen.aging_slices,
            significant(at(1)),
            significant(at(2)),
            significant(at(4)),
            significant(at(8)),
            60.0 / seen.aging_slices as f64
        ));
    }
    findings.push(
        "The tail is a matter of the structure, not of the policy: an expired item has lost one bit with each step, and \
         the bits of others stand in for the lost ones with a chance of their fill."
            .into(),
    );
    findings
}
