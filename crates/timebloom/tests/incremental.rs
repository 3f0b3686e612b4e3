//! What large slices do differently, on small ones: lanes are cleared while insertions go on, and panels are not copied.
//!
//! The switch holds for the whole process, so these tests have one of their own.

use std::time::Duration;

use timebloom::{CountBloom, Policy, TimeBloom, Timestamp};
use timebloom_testkit::{Scenario, measure};

const SPAN: Duration = Duration::from_secs(300);

#[test]
fn guarantees_hold_while_lanes_are_cleared() {
    timebloom::set_large_lines(1);
    for scenario in Scenario::ALL {
        for (policy, seed) in [(Policy::Guarded, 1), (Policy::Guarded, 2), (Policy::Paper, 3)] {
            let mut filter = TimeBloom::builder(SPAN).policy(policy).seed(seed).build().expect("legal");
            let aging_slices = filter.plan().aging_slices();
            let arrivals = scenario.arrivals(3_000.0, SPAN, aging_slices, seed);
            let seen = measure(&mut filter, arrivals, 7, 0).expect("no memory limit");
            let case = format!("{}, {policy:?}, seed {seed}", scenario.name());
            assert_eq!(seen.false_negatives, 0, "{case}");
            filter.validate().unwrap_or_else(|broken| panic!("{case}: {broken}"));
            if policy == Policy::Guarded {
                assert!(seen.peak_rate <= 0.01, "{case}: {}", seen.peak_rate);
                assert!(seen.overstay <= 1.0 / aging_slices as f64, "{case}: {}", seen.overstay);
            }
        }
    }
}

/// A filter that is stored and restored at every step gives the same answers, and the same bytes, as one that never was,
/// though only the latter has anything to clear.
#[test]
fn snapshots_do_not_show_what_is_being_cleared() {
    timebloom::set_large_lines(1);
    let mut filter = CountBloom::builder(2_000).seed(5).build().expect("legal");
    let mut restored = filter.clone();
    for item in 0..12_000_u64 {
        filter.insert(item.to_le_bytes());
        restored.insert(item.to_le_bytes());
        if item % 41 == 0 {
            let bytes = filter.to_bytes();
            restored = CountBloom::from_bytes(&restored.to_bytes()).expect("its own bytes");
            assert!(restored.to_bytes() == bytes, "after item {item}");
            assert_eq!(filter.validate(), Ok(()), "after item {item}");
            for probe in (0..item).step_by(97).chain(item + 1..item + 50) {
                let probe = probe.to_le_bytes();
                assert_eq!(filter.contains(probe), restored.contains(probe), "after item {item}");
            }
        }
    }
}

/// The bits that a lane had before would show as false positives.
#[test]
fn old_bits_are_not_seen_while_a_lane_is_cleared() {
    timebloom::set_large_lines(1);
    let mut filter = TimeBloom::builder(SPAN).seed(9).expected_items(5_000).build().expect("legal");
    let mut false_positives = 0;
    for item in 0..30_000_u64 {
        let now = Timestamp::from_millis(60 * item);
        filter.insert_at(item.to_le_bytes(), now).expect("no memory limit");
        let absent = item.wrapping_mul(0x9e37_79b9) | 1 << 60;
        false_positives += u32::from(filter.contains_at(absent.to_le_bytes(), now));
    }
    // 30,000 queries at a rate of at most 0.01: more than 400 have a chance below 1e-7
    assert!(false_positives < 400, "{false_positives}");
}
