//! G3: the false positive rate stays at or under its target, whatever the stream does.

use std::time::Duration;

use timebloom::{Policy, TimeBloom, TimeBloomBuilder};
use timebloom_testkit::{Measured, Scenario, at_most_with_confidence, measure};

const SPAN: Duration = Duration::from_secs(300);

/// The pairs under test: rate, and (k, l) where it is not the planner's own.
const PAIRS: [(f64, Option<(u32, u32)>); 3] = [(0.01, Some((10, 25))), (0.01, None), (0.001, None)];

fn builder(rate: f64, pair: Option<(u32, u32)>, seed: u64) -> TimeBloomBuilder {
    let builder = TimeBloom::builder(SPAN).false_positive_rate(rate).seed(seed);
    match pair {
        Some((hashes, aging_slices)) => builder.hashes_and_aging(hashes, aging_slices),
        None => builder,
    }
}

/// Runs a guarded filter, which knows nothing of the stream, and checks every guarantee on the way.
fn run(scenario: Scenario, rate: f64, pair: Option<(u32, u32)>, per_span: f64, seed: u64) -> Measured {
    let mut filter = builder(rate, pair, seed).build().expect("legal parameters");
    let aging_slices = filter.plan().aging_slices();
    let arrivals = scenario.arrivals(per_span, SPAN, aging_slices, seed);
    let seen = measure(&mut filter, arrivals, 31, 100).expect("no memory limit");
    let case = format!("{}, eps {rate}, pair {pair:?}, {per_span} items a span, seed {seed}", scenario.name());
    assert!(seen.peak_rate <= rate, "G3, {case}: {} eps", seen.peak_rate / rate);
    assert_eq!(seen.false_negatives, 0, "G1, {case}");
    assert!(seen.overstay <= 1.0 / aging_slices as f64, "G2, {case}: {}", seen.overstay);
    assert!(seen.peak_slices <= 250, "{case}: {} slices", seen.peak_slices);
    filter.validate().unwrap_or_else(|broken| panic!("{case}: {broken}"));
    seen
}

/// Fills are counted just before every shift, where the rate peaks; at the same moments 100 items that were never
/// inserted are looked up. The chance that a filter within its target fails the second check is below 1e-6 a case.
fn rate_holds(per_span: f64, seeds: std::ops::Range<u64>) {
    for (rate, pair) in PAIRS {
        for scenario in Scenario::ALL {
            let (mut queries, mut false_positives) = (0, 0);
            for seed in seeds.clone() {
                let seen = run(scenario, rate, pair, per_span, seed);
                queries += seen.absent_queries;
                false_positives += seen.false_positives;
            }
            let most = at_most_with_confidence(queries, rate, 1e-6);
            let name = scenario.name();
            assert!(false_positives <= most, "{name}, eps {rate}: {false_positives} of {queries}, at most {most}");
        }
    }
}

#[test]
fn rate_holds_for_small_windows() {
    rate_holds(100.0, 0..3);
}

#[test]
fn rate_holds_for_middling_windows() {
    rate_holds(1_000.0, 10..13);
}

#[test]
fn rate_holds_for_larger_windows() {
    for (rate, pair) in PAIRS {
        for scenario in [Scenario::Poisson, Scenario::Sine { factor: 10.0 }, Scenario::Bursts, Scenario::Idle] {
            run(scenario, rate, pair, 20_000.0, 21);
        }
    }
}

#[test]
fn rate_holds_for_every_published_pair() {
    for rate in timebloom::LEVEL_RATES {
        for level in timebloom::levels(rate) {
            // jumps are expensive for the smallest pairs, but never wrong
            let pair = Some((level.hashes, level.aging_slices));
            for scenario in [Scenario::Poisson, Scenario::Jump { factor: 10.0 }] {
                let mut filter = builder(rate, pair, 5).build().expect("published");
                let arrivals = scenario.arrivals(500.0, SPAN, filter.plan().aging_slices(), 5);
                let seen = measure(&mut filter, arrivals, 31, 0).expect("no memory limit");
                assert!(seen.peak_rate <= rate, "{level:?}, {}: {} eps", scenario.name(), seen.peak_rate / rate);
                assert_eq!(seen.false_negatives, 0, "{level:?}");
            }
        }
    }
}

/// Average bits of all slices over an eighth of the eighth span at a constant rate.
fn steady_bits(filter: &mut TimeBloom, per_span: u64) -> f64 {
    let arrivals = Scenario::Steady.arrivals(per_span as f64, SPAN, filter.plan().aging_slices(), 0);
    let measured = 7 * per_span..7 * per_span + per_span / 8;
    let (mut sum, mut count) = (0.0, 0.0);
    for (item, now) in (0..measured.end).zip(arrivals) {
        filter.insert_at(item.to_le_bytes(), now).expect("no memory limit");
        if measured.contains(&item) && item % 17 == 0 {
            sum += filter.slices().map(|slice| slice.bits).sum::<u64>() as f64;
            count += 1.0;
        }
    }
    sum / count
}

#[test]
fn keeping_the_rate_costs_at_most_five_percent() {
    let per_span = 30_000;
    for rate in timebloom::LEVEL_RATES {
        for level in timebloom::levels(rate).iter().filter(|level| level.hashes >= 7) {
            let builder = builder(rate, Some((level.hashes, level.aging_slices)), 1).expected_items(per_span);
            let mut guarded = builder.build().expect("published");
            let mut paper = builder.clone().policy(Policy::Paper).build().expect("published");
            // The paper's load exceeds the rate: by up to 47% for independent slices, and by the plan's crowding on top of
            // that here. Where keeping the rate at all takes more than 3% more bits, that is the measure.
            let least = std::f64::consts::LN_2 / guarded.plan().full_load();
            let allowed = f64::max(1.05, 1.025 * least);
            let (guarded, paper) = (steady_bits(&mut guarded, per_span), steady_bits(&mut paper, per_span));
            assert!(guarded <= allowed * paper, "{level:?} at {rate}: {guarded} bits against {paper}");
        }
    }
}
