//! Bits per item against the target rate: measured, and beside what theory allows.

mod theory;

use serde::Serialize;
use timebloom::{Policy, TimeBloom};

use crate::chart::{Axis, Colour, Figure, Panel, Series, Shape};
use crate::error::Error;
use crate::experiment::Context;
use crate::numbers::{grouped, rate};
use crate::paper::published::BITS_PER_ELEMENT;
use crate::parallel;
use crate::section::{Check, Section};
use crate::steady::{SPAN, Seen, Steady};
use crate::table::Table;
use theory::{Generational, bloom_bits, information_bits};

const RATES: [f64; 9] = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5];
/// Memory over what the plan says, on a steady stream.
const OVERHEAD: f64 = 1.10;

/// A record of `memory.csv`: bits per item in the window.
#[derive(Clone, Debug, Serialize)]
struct Record {
    eps: f64,
    information: f64,
    bloom: f64,
    generational: f64,
    generational_filters: u32,
    generational_probes: f64,
    k: usize,
    l: usize,
    guarded_slices: f64,
    guarded_all: f64,
    guarded_planned: f64,
    guarded_probes: f64,
    paper_k: usize,
    paper_l: usize,
    paper_slices: f64,
}

/// Runs steady streams at several rates and writes `memory.csv`.
pub fn experiment(context: &Context<'_>, progress: &mut dyn FnMut(f64)) -> Result<Section, Error> {
    let per_span = if context.quick { 20_000 } else { 200_000 };
    let steady = Steady { per_span, settle: 3, measure: 1 };
    let run = |eps: f64, policy| {
        steady.run(&TimeBloom::builder(SPAN).false_positive_rate(eps).policy(policy), None, context.seed)
    };
    let seen = parallel::map(&RATES, progress, |&eps| -> Result<Record, Error> {
        Ok(record(eps, &run(eps, Policy::Guarded)?, &run(eps, Policy::Paper)?))
    });
    let records: Vec<Record> = seen.into_iter().collect::<Result<_, _>>()?;
    context.output.csv("memory.csv", &records)?;
    Ok(Section {
        id: "memory".into(),
        title: "Memory against the error rate".into(),
        question: "How many bits does an item of the window take, and how far is that from what is possible?".into(),
        method: format!(
            "A steady stream of {} items a window, measured over the fourth window: all memory of the filter, bookkeeping \
             included, divided by the items inserted within the last span. The three limits are formulas: information, \
             log2(1/eps), for a set that never forgets; Bloom, log2(e) times that; and g + 1 Bloom filters in turn, of \
             which each holds 1/g of a window, with the best g.",
            grouped(per_span.into())
        ),
        findings: findings(&records),
        figures: vec![figure(&records)],
        tables: vec![table(&records)],
        checks: checks(&records),
    })
}

fn record(eps: f64, guarded: &Seen, paper: &Seen) -> Record {
    let generational = Generational::best(eps);
    let plan = timebloom::Planner::new(eps).hashes_and_aging(number(guarded.hashes), number(guarded.aging_slices));
    Record {
        eps,
        information: information_bits(eps),
        bloom: bloom_bits(eps),
        generational: generational.bits_per_item(eps),
        generational_filters: generational.filters(),
        generational_probes: generational.probes_per_miss(),
        k: guarded.hashes,
        l: guarded.aging_slices,
        guarded_slices: guarded.slice_bits_per_item,
        guarded_all: guarded.bits_per_item,
        guarded_planned: plan.plan().map_or(f64::NAN, |plan| plan.bits_per_item()),
        guarded_probes: guarded.probes_per_miss,
        paper_k: paper.hashes,
        paper_l: paper.aging_slices,
        paper_slices: paper.slice_bits_per_item,
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("plans have at most 1,024 slices")
}

fn figure(records: &[Record]) -> Figure {
    let points = |value: fn(&Record) -> f64| records.iter().rev().map(|record| (record.eps, value(record))).collect();
    let printed = BITS_PER_ELEMENT.iter().rev().flat_map(|row| [(row.eps, row.least), (row.eps, row.most)]).collect();
    let series = vec![
        Series { name: "printed in the paper".into(), colour: Colour::PRINTED, shape: Shape::Ranges, points: printed },
        Series::marked("guarded, all memory", Colour::GUARDED, points(|record| record.guarded_all)),
        Series::marked("paper's rules", Colour::PAPER, points(|record| record.paper_slices)),
        Series::line("Bloom filters in turn", Colour::of_series(2), points(|record| record.generational)),
        Series::line("Bloom, never forgets", Colour::of_series(3), points(|record| record.bloom)),
        Series::line("information limit", Colour::of_series(4), points(|record| record.information)),
    ];
    let panel = Panel {
        x: Axis::log_between("target false positive rate", 0.8e-5, 0.125),
        y: Axis::linear("bits per item in the window", 0.0, 60.0).labels(6),
        series,
        levels: vec![],
    };
    Figure::single(
        "memory",
        "Bits per item against the error rate",
        "Forgetting by the clock takes two to three times the bits of a Bloom filter that cannot forget. Dots are measured, lines \
         are formulas, bars are the ranges the paper prints for its pairs.",
        panel,
    )
}

fn table(records: &[Record]) -> Table {
    let mut table = Table::new(
        "memory",
        "Bits per item in the window",
        "Guarded and paper's rules with the pair that is planned for the rate. Probes: how many bits a query for an absent \
         item looks at, on average.",
        &[
            "eps",
            "information",
            "Bloom",
            "Blooms in turn",
            "probes",
            "(k, l)",
            "guarded, slices",
            "guarded, all",
            "probes",
            "(k, l)",
            "paper's rules, slices",
        ],
    );
    for record in records {
        let bits = |bits: f64| format!("{bits:.1}");
        table.push(vec![
            rate(record.eps),
            bits(record.information),
            bits(record.bloom),
            bits(record.generational),
            bits(record.generational_probes),
            format!("({}, {})", record.k, record.l),
            bits(record.guarded_slices),
            bits(record.guarded_all),
            bits(record.guarded_probes),
            format!("({}, {})", record.paper_k, record.paper_l),
            bits(record.paper_slices),
        ]);
    }
    table
}

fn checks(records: &[Record]) -> Vec<Check> {
    let worst = records.iter().map(|record| record.guarded_all / record.guarded_planned).fold(0.0, f64::max);
    vec![Check::new(
        worst > 0.9 && worst <= OVERHEAD,
        "On a steady stream, memory is what the plan says and at most a tenth more (guarded)",
        format!("at most {worst:.3} times the planned bits"),
    )]
}

fn findings(records: &[Record]) -> Vec<String> {
    let Some(record) = records.iter().find(|record| (record.eps - 0.01).abs() < 1e-9) else { return vec![] };
    let ratio = |value: fn(&Record) -> f64| {
        let ratios = records.iter().map(value);
        let (low, high) = ratios.fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
        format!("{low:.1} to {high:.1}")
    };
    vec![
        format!(
            "At eps 0.01 an item takes {:.1} bits, everything counted; {} times the bits of a Bloom filter that cannot \
             forget over all rates, and {} times the information limit.",
            record.guarded_all,
            ratio(|record| record.guarded_all / record.bloom),
            ratio(|record| record.guarded_all / record.information),
        ),
        format!(
            "Bloom filters in turn would take fewer bits ({:.1} at eps 0.01) but look at {:.0} bits for an absent item \
             where this filter looks at {:.0}, and must know the rate of the stream in advance.",
            record.generational, record.generational_probes, record.guarded_probes,
        ),
    ]
}
