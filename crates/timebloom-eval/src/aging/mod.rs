//! What more aging slices buy, and what they cost.

use serde::Serialize;
use timebloom::{TimeBloom, TimeBloomBuilder};

use crate::chart::{Axis, Colour, Figure, Panel, Series};
use crate::error::Error;
use crate::experiment::Context;
use crate::numbers::{grouped, percent};
use crate::parallel;
use crate::section::{Check, Section};
use crate::steady::{Ages, SPAN, Seen, Steady};
use crate::table::Table;

const EPS: f64 = 0.01;
const AGING_SLICES: [u32; 9] = [4, 8, 16, 31, 64, 128, 256, 512, 1_024];
/// Those whose tails are drawn.
const DRAWN: [usize; 4] = [8, 31, 128, 512];
/// Past the window, in windows.
const LONGEST_DRAWN: f64 = 0.5;
const BINS_PER_STEP: u32 = 4;
/// Expired items are as good as forgotten when they are reported this many times as often as absent ones may be.
const FORGOTTEN: f64 = 2.0;

/// A record of `aging.csv`.
#[derive(Clone, Debug, Serialize)]
struct Record {
    l: usize,
    k: usize,
    bits_per_item: f64,
    slice_bits_per_item: f64,
    probes_per_miss: f64,
    overstay: f64,
    forgotten_after: f64,
}

/// Runs filters with more and more aging slices and writes `aging.csv`.
pub fn experiment(context: &Context<'_>, progress: &mut dyn FnMut(f64)) -> Result<Section, Error> {
    let steady = if context.quick {
        Steady { per_span: 10_000, settle: 2, measure: 1 }
    } else {
        Steady { per_span: 50_000, settle: 2, measure: 1 }
    };
    let ages = Ages { steps: 16, bins_per_step: BINS_PER_STEP, every: if context.quick { 10 } else { 5 } };
    let seen = parallel::map(&AGING_SLICES, progress, |&aging_slices| {
        steady.run(&builder(aging_slices), Some(ages), context.seed)
    });
    let seen: Vec<Seen> = seen.into_iter().collect::<Result<_, _>>()?;
    let records: Vec<Record> = seen.iter().map(record).collect();
    context.output.csv("aging.csv", &records)?;
    Ok(Section {
        id: "aging".into(),
        title: "The cost of l".into(),
        question:
            "How many aging slices should a filter have: what do staleness, tail, memory and probes do as l grows?"
                .into(),
        method: format!(
            "A steady stream of {} items a window, eps {EPS}, the guarded policy, k as planned for each l; measured over \
             the third window. Forgotten: the first age past the window from which an expired item is reported no more \
             than {FORGOTTEN:.0} eps often.",
            grouped(steady.per_span.into())
        ),
        findings: findings(&records),
        figures: figures(&records, &seen),
        tables: vec![table(&records)],
        checks: checks(&records, &seen),
    })
}

fn builder(aging_slices: u32) -> TimeBloomBuilder {
    TimeBloom::builder(SPAN).false_positive_rate(EPS).aging_slices(aging_slices)
}

fn record(seen: &Seen) -> Record {
    Record {
        l: seen.aging_slices,
        k: seen.hashes,
        bits_per_item: seen.bits_per_item,
        slice_bits_per_item: seen.slice_bits_per_item,
        probes_per_miss: seen.probes_per_miss,
        overstay: seen.overstay,
        forgotten_after: forgotten_after(seen),
    }
}

/// How far past the window an item is as good as forgotten, as a share of the window.
fn forgotten_after(seen: &Seen) -> f64 {
    let rare = |bin: &&crate::steady::Bin| bin.from_step >= 0.0 && bin.share() <= FORGOTTEN * EPS;
    let steps = seen.bins.iter().find(rare).map_or(f64::NAN, |bin| bin.from_step);
    steps / seen.aging_slices as f64
}

fn figures(records: &[Record], seen: &[Seen]) -> Vec<Figure> {
    let slices = || Axis::log_between("aging slices l", 3.0, 1_400.0);
    let points = |value: fn(&Record) -> f64| records.iter().map(|record| (record.l as f64, value(record))).collect();
    let bits = Panel {
        x: slices(),
        y: Axis::from_zero("bits per item", records.iter().map(|record| record.bits_per_item)),
        series: vec![
            Series::marked("all memory", Colour::GUARDED, points(|record| record.bits_per_item)),
            Series::marked("slices alone", Colour::of_series(2), points(|record| record.slice_bits_per_item)),
        ],
        levels: vec![],
    };
    let late = Panel {
        x: slices(),
        y: Axis::log("share of the window", 0.0005, 2.0),
        series: vec![
            Series::marked("as good as forgotten", Colour::PAPER, points(|record| record.forgotten_after)),
            Series::marked("truly held, at most", Colour::GUARDED, points(|record| record.overstay)),
        ],
        levels: vec![],
    };
    let probes = Panel {
        x: slices(),
        y: Axis::log("slices a query for an absent item looks at", 1.0, 1_000.0),
        series: vec![Series::marked("probes per miss", Colour::GUARDED, points(|record| record.probes_per_miss))],
        levels: vec![],
    };
    let tails = DRAWN.iter().enumerate().filter_map(|(number, &aging_slices)| {
        let seen = seen.iter().find(|seen| seen.aging_slices == aging_slices)?;
        let middle = 0.5 / f64::from(BINS_PER_STEP);
        let at = |bin: &crate::steady::Bin| ((bin.from_step + middle) / aging_slices as f64, bin.share());
        let points = seen.bins.iter().map(at).filter(|&(age, _)| age <= LONGEST_DRAWN).collect();
        Some(Series::line(format!("l = {aging_slices}"), Colour::of_series(number), points))
    });
    let tails = Panel {
        x: Axis::linear("windows past the window", -0.05, LONGEST_DRAWN),
        y: Axis::log("chance of being reported", 0.003, 1.0),
        series: tails.collect(),
        levels: vec![],
    };
    vec![
        Figure::single(
            "aging-late",
            "How long past the window, by l",
            "The bound on what is held is 1/l; some steps later an expired item is as good as forgotten.",
            late,
        ),
        Figure::single("aging-tail", "The tail, by l", "More slices make the end of the window sharper.", tails),
        Figure::single(
            "aging-bits",
            "Memory, by l",
            "Few slices waste memory, as much is held too long. From some thirty on, more cost little, until the \
             bookkeeping of a slice is felt.",
            bits,
        ),
        Figure::single("aging-probes", "Probes, by l", "What sharper ends cost: queries look at more slices.", probes),
    ]
}

fn table(records: &[Record]) -> Table {
    let mut table = Table::new(
        "aging",
        "What l buys and costs, eps 0.01",
        "held: the longest past the window that an item was held, as a share of the window. forgotten: from when on it is \
         reported no more than 2 eps often.",
        &["l", "k", "bits, slices", "bits, all", "probes per miss", "held", "forgotten"],
    );
    for record in records {
        table.push(vec![
            grouped(record.l as u64),
            record.k.to_string(),
            format!("{:.1}", record.slice_bits_per_item),
            format!("{:.1}", record.bits_per_item),
            format!("{:.1}", record.probes_per_miss),
            percent(record.overstay),
            percent(record.forgotten_after),
        ]);
    }
    table
}

fn checks(records: &[Record], seen: &[Seen]) -> Vec<Check> {
    let lost = seen.iter().map(|seen| seen.false_negatives).sum();
    let looked_up = seen.iter().map(|seen| seen.looked_up).sum();
    let within = records.iter().filter(|record| record.overstay <= 1.0 / record.l as f64).count();
    vec![
        Check::none(lost, looked_up, "Whatever l, nothing is missed up to the end of the window", "look-ups"),
        Check::new(
            within == records.len() && within > 0,
            "Whatever l, nothing is held for more than span / l past its window",
            format!("{within} of {} filters", records.len()),
        ),
    ]
}

fn findings(records: &[Record]) -> Vec<String> {
    let of = |l: usize| records.iter().find(|record| record.l == l);
    let (Some(few), Some(planned), Some(many)) = (of(4), of(31), of(512)) else { return vec![] };
    vec![
        format!(
            "With l = 4 an item may be held for {} of the window too long and takes {:.1} bits; with l = 31 it is {} and \
             {:.1} bits; with l = 512, {} and {:.1} bits.",
            percent(few.overstay),
            few.bits_per_item,
            percent(planned.overstay),
            planned.bits_per_item,
            percent(many.overstay),
            many.bits_per_item,
        ),
        format!(
            "The price is paid by queries for absent items, which look at {:.1} slices with l = 4, {:.1} with l = 31 and \
             {:.0} with l = 512.",
            few.probes_per_miss, planned.probes_per_miss, many.probes_per_miss,
        ),
    ]
}
