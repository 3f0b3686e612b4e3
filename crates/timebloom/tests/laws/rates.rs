//! The exact rate against counted false positives.

use std::time::Duration;

use timebloom::{CountBloom, Policy, TimeBloom};
use timebloom_testkit::{Arrivals, Choice, Proportions, count_rate_from_fills, rate_from_fills};

/// Pairs from two functions to many, few aging slices to many, each at a rate that errs often enough to be counted.
const PAIRS: [(u32, u32, f64); 26] = [
    (2, 1, 0.1),
    (2, 3, 0.05),
    (2, 9, 0.05),
    (3, 2, 0.05),
    (3, 5, 0.02),
    (3, 17, 0.1),
    (4, 1, 0.05),
    (4, 3, 0.1),
    (4, 12, 0.02),
    (5, 7, 0.1),
    (6, 14, 0.1),
    (7, 5, 0.01),
    (7, 28, 0.1),
    (8, 8, 0.01),
    (8, 56, 0.1),
    (9, 14, 0.01),
    (9, 32, 0.01),
    (10, 7, 0.02),
    (10, 25, 0.01),
    (11, 32, 0.01),
    (11, 46, 0.01),
    (12, 88, 0.01),
    (13, 23, 0.02),
    (16, 22, 0.02),
    (18, 63, 0.02),
    (22, 95, 0.02),
];

const LOOKUPS: u64 = 150_000;

/// Items a generation. Slices that share a function look at the same place, so the rate of a single filter strays from the
/// computed one by its size; more so with few functions.
fn generation(hashes: u32) -> u64 {
    if hashes < 5 { 16_000 } else { 2_000 }
}

/// Expected reports from which on a comparison says something.
const ENOUGH: f64 = 50.0;

/// Asserts that `reported` of `LOOKUPS` is what `rate` predicts, to within four standard errors and what the plan's
/// crowding may be off by: 3% too low, or 15% too high where panels are narrow or slices fuller than planned. A filter whose rate is exact fails with a
/// probability below 6.4e-5.
fn assert_agrees(reported: u64, rate: f64, context: &str) {
    let expected = rate * LOOKUPS as f64;
    let standard_error = (expected * (1.0 - rate)).sqrt();
    assert!(expected >= ENOUGH, "{context}: {expected} expected reports are too few to tell");
    let (least, most) = (0.85 * expected - 4.0 * standard_error, 1.03 * expected + 4.0 * standard_error);
    let reported = reported as f64;
    assert!((least..=most).contains(&reported), "{context}: {reported} reports, {expected:.1} predicted");
}

fn absent(lookup: u64) -> [u8; 9] {
    let mut item = [1; 9]; // longer than any inserted item
    item[..8].copy_from_slice(&lookup.to_le_bytes());
    item
}

/// 26 comparisons: a false alarm in any of them has a probability of 0.2%, and the seeds are fixed.
#[test]
fn count_windows_err_as_often_as_computed() {
    for (index, (hashes, aging_slices, rate)) in PAIRS.into_iter().enumerate() {
        let capacity = generation(hashes) * u64::from(aging_slices);
        let proportions = Proportions::new(rate, Choice::Pair(hashes, aging_slices));
        let mut filter = proportions.count(CountBloom::builder(capacity)).seed(index as u64).build().unwrap();
        // some way into a generation, differently for each pair
        let items = generation(hashes) * u64::from(2 * (hashes + aging_slices)) + 71 * index as u64;
        for item in 0..items {
            filter.insert(item.to_le_bytes());
        }
        let reported = (0..LOOKUPS).filter(|&lookup| filter.contains(absent(lookup))).count() as u64;
        assert_agrees(reported, count_rate_from_fills(&filter), &format!("({hashes}, {aging_slices})"));
    }
}

/// At least 44 comparisons, at a steady rate: a false alarm in any of them has a probability of 0.4%, and the seeds are
/// fixed.
#[test]
fn time_windows_err_as_often_as_computed() {
    let mut compared = 0;
    for policy in [Policy::Guarded, Policy::Paper] {
        for (index, (hashes, aging_slices, rate)) in PAIRS.into_iter().enumerate() {
            if policy == Policy::Guarded && hashes < 3 {
                continue; // refused
            }
            let per_interval = generation(hashes);
            let proportions = Proportions::new(rate, Choice::Pair(hashes, aging_slices));
            let span = Duration::from_secs(u64::from(aging_slices));
            let builder = proportions.time(TimeBloom::builder(span)).policy(policy).seed(100 + index as u64);
            let mut filter = builder.expected_items(per_interval * u64::from(aging_slices)).build().unwrap();
            let mut now = Arrivals::START;
            for item in 0..per_interval * u64::from(2 * (hashes + aging_slices)) + 37 * index as u64 {
                now = now.saturating_add(Duration::from_nanos(1_000_000_000 / per_interval));
                filter.insert_at(item.to_le_bytes(), now).unwrap();
            }
            let reported = (0..LOOKUPS).filter(|&lookup| filter.contains_at(absent(lookup), now)).count() as u64;
            let exact = rate_from_fills(&filter, now);
            // the paper fills every slice to a half, whatever the rate: with many hashes it hardly ever errs
            if policy == Policy::Guarded || exact * LOOKUPS as f64 >= ENOUGH {
                assert_agrees(reported, exact, &format!("{policy:?} ({hashes}, {aging_slices})"));
                compared += 1;
            }
        }
    }
    assert!(compared >= 44, "only {compared} comparisons");
}
