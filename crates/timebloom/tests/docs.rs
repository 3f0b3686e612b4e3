//! The tables in the documentation are what the code does.

use std::time::Duration;

use timebloom::{TimeBloom, Timestamp};
use timebloom_testkit::levels_table;

#[test]
fn the_levels_of_the_documentation_are_the_computed_ones() {
    let page = include_str!("../../../docs/levels.md");
    let table: String = page.lines().filter(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    let computed = levels_table().expect("published pairs are legal");
    assert_eq!(table, computed, "replace the table with what `cargo run -p timebloom --example levels` prints");
}

/// The crate documentation has these numbers. Each is the share of 6,250 items, so its standard deviation is below 0.007;
/// a tolerance of 0.03 leaves a false alarm less than one chance in 10,000, and the seed is fixed besides.
#[test]
fn expired_items_fade_as_documented() {
    const STEP: u64 = 6_250; // items, one every 16 ms
    let time_of = |item: u64| Timestamp::from_millis(16 * item);
    for (rate, documented) in [(0.01, [0.44, 0.19, 0.08, 0.04]), (0.001, [0.41, 0.17, 0.07, 0.03])] {
        let aging_slices = timebloom::Planner::new(rate).plan().expect("legal").aging_slices() as u64;
        let in_span = aging_slices * STEP;
        let span = Duration::from_millis(16 * in_span);
        let builder = TimeBloom::builder(span).false_positive_rate(rate).expected_items(in_span).seed(3);
        let mut filter = builder.build().expect("legal");
        let newest = (5 * aging_slices / 2 + 1) * STEP - 1;
        for item in 0..=newest {
            filter.insert_at(item.to_le_bytes(), time_of(item)).expect("there is no limit");
        }
        // the share reported of the items that left the window `step` to `step + 1` steps before item `now`
        let reported = |step: u64, now: u64| {
            let youngest = now - in_span - step * STEP;
            let expired = (youngest - STEP..youngest).map(u64::to_le_bytes);
            expired.filter(|item| filter.contains_at(item, time_of(now))).count() as f64 / STEP as f64
        };
        for (step, expected) in (1..).zip(documented) {
            // at the end of a generation it is highest
            let most = reported(step, newest);
            assert!((most - expected).abs() < 0.03, "at {rate}, {step} steps past the window: {most}");
            for later in [STEP / 4, STEP / 2, 3 * STEP / 4] {
                let share = reported(step, newest + later);
                assert!(share < expected + 0.03, "at {rate}, {step} steps past the window, {later} later: {share}");
            }
        }
        let far = (10..20).map(|step| reported(step, newest)).sum::<f64>() / 10.0;
        assert!(far <= rate * 1.5, "at {rate}, far past the window: {far}");
    }
}
