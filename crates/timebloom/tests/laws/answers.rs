//! The narrower questions: shorter windows, certain times, ages. And that asking changes nothing.

use std::ops::Bound;
use std::time::Duration;

use proptest::prelude::*;
use timebloom::{Policy, TimeBloom, Timestamp};
use timebloom_testkit::{ExactWindow, Proportions, at_most_with_confidence};

use crate::history::{Lockstep, Pace, Stream, config, setup, steps};

/// Every form a range can have, between two times in either order.
fn ranges(a: Timestamp, b: Timestamp) -> Vec<(Bound<Timestamp>, Bound<Timestamp>)> {
    let ends = |at| [Bound::Included(at), Bound::Excluded(at), Bound::Unbounded];
    ends(a).into_iter().flat_map(|from| ends(b).into_iter().map(move |to| (from, to))).collect()
}

fn moments(both: &Lockstep, paces: &[Pace]) -> Vec<Timestamp> {
    paces.iter().map(|&pace| both.after(pace)).chain([Timestamp::MIN, both.exact.clock(), Timestamp::MAX]).collect()
}

fn pace() -> impl Strategy<Value = Pace> {
    prop_oneof![
        (0_u16..3_000).prop_map(Pace::Intervals),
        (-1_i8..=1).prop_map(Pace::Span),
        (0_u16..2_000).prop_map(Pace::Back)
    ]
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn questions_change_nothing(setup in setup(), steps in steps(25), paces in prop::collection::vec(pace(), 4)) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
        }
        let filter = &both.filter;
        let before = format!("{filter:?}");
        for now in moments(&both, &paces) {
            for item in 0..30_u8 {
                let hash = filter.hash([item]);
                let _ = filter.contains_at([item], now);
                let _ = filter.contains_hash_at(hash, now);
                let _ = filter.contains_within_at([item], both.interval(), now);
                let _ = filter.contains_between_at([item], Timestamp::MIN..now, now);
                let _ = filter.age_at([item], now);
            }
            let _ = filter.stats(now);
            let _ = filter.is_shift_due_at(now);
        }
        prop_assert_eq!(filter.slices().count(), filter.stats(both.now).slices);
        prop_assert_eq!(&before, &format!("{filter:?}"));
        // not even what comes next: a filter that was asked goes on like one that was not
        let mut other = filter.clone();
        let mut asked = both.filter;
        let _ = asked.contains_at("x", Timestamp::MAX);
        asked.insert_at("y", both.now).unwrap();
        other.insert_at("y", both.now).unwrap();
        prop_assert_eq!(format!("{asked:?}"), format!("{other:?}"));
    }

    #[test]
    fn shorter_windows_miss_nothing(setup in setup(), steps in steps(40), paces in prop::collection::vec(pace(), 3)) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            for now in moments(&both, &paces) {
                for standing in both.standings() {
                    let age = both.exact.age_at(standing.item, now).expect("inserted");
                    let within = |within| both.filter.contains_within_at(standing.item, within, now);
                    if age <= setup.span {
                        prop_assert!(within(age), "age {age:?} at {now:?}");
                        prop_assert!(within(age + Duration::from_nanos(1)));
                        prop_assert!(within(Duration::MAX));
                    }
                    // the whole span, and anything longer, is the window itself
                    let contained = both.filter.contains_at(standing.item, now);
                    prop_assert_eq!(within(setup.span), contained);
                    prop_assert_eq!(within(Duration::MAX), contained);
                    // a longer window never holds less
                    let mut shorter = false;
                    for part in 0..=8 {
                        let longer = within(setup.span * part / 8);
                        prop_assert!(longer || !shorter);
                        shorter = longer;
                    }
                }
            }
        }
    }

    #[test]
    fn no_item_is_missed_at_the_time_it_came(
        setup in setup(), steps in steps(40), a in pace(), b in pace(), now in pace()
    ) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            let (now, clock) = (both.after(now), both.exact.clock());
            let first = both.exact.items().map(|(_, at)| at).min().unwrap_or(clock);
            for (a, b) in [(both.after(a), both.after(b)), (first, clock), (clock, first), (clock, clock)] {
                for when in ranges(a, b) {
                    for item in 0..24_u8 {
                        let reported = both.filter.contains_between_at([item], when, now);
                        if both.exact.contains_between_at(&[item], &when, now) {
                            prop_assert!(reported, "{item} in {when:?} at {now:?}");
                        }
                        if reported {
                            // times only narrow the question
                            prop_assert!(both.filter.contains_at([item], now));
                        }
                    }
                }
            }
            for item in 0..24_u8 {
                // all of time is the window itself, and no time at all has no items
                let contained = both.filter.contains_at([item], now);
                prop_assert_eq!(both.filter.contains_between_at([item], .., now), contained);
                prop_assert!(!both.filter.contains_between_at([item], now..now, now));
                prop_assert!(!both.filter.contains_between_at([item], ..Timestamp::MIN, now));
                let after_all = (Bound::Excluded(Timestamp::MAX), Bound::Unbounded);
                prop_assert!(!both.filter.contains_between_at([item], after_all, now));
            }
        }
    }

    #[test]
    fn no_item_is_younger_than_its_age(setup in setup(), steps in steps(40), paces in prop::collection::vec(pace(), 3)) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            for now in moments(&both, &paces) {
                for standing in both.standings() {
                    let true_age = both.exact.age_at(standing.item, now).expect("inserted");
                    let age = both.filter.age_at(standing.item, now);
                    prop_assert_eq!(age.is_some(), both.filter.contains_at(standing.item, now));
                    if let Some(age) = age {
                        prop_assert!(age.at_least <= true_age, "{age:?}, truly {true_age:?}");
                        prop_assert!(age.at_least <= age.at_most);
                        prop_assert!(age.at_least <= setup.span);
                    }
                }
            }
        }
    }
}

/// `at_most` is wrong only when younger slices have a run by chance. That chance is below the filter's rate for each of
/// 250,000 and more lookups, of items whose bits are independent, over fourteen proportions. Chance of a false alarm: 1e-9
/// for each of them.
#[test]
fn ages_are_bounded_from_above_but_for_false_positives() {
    let mut all = 0;
    for (index, proportions) in Proportions::ALL.into_iter().enumerate() {
        let (mut lookups, mut exceeded) = (0_u64, 0_u64);
        for seed in 2_000..2_020_u64 {
            let mut stream = Stream::random(seed, Policy::Guarded, 3.5);
            stream.proportions = proportions;
            stream.seed = seed * 100 + index as u64;
            let mut filter = stream.builder().build().unwrap();
            let mut exact = ExactWindow::new(stream.span);
            let mut random = fastrand::Rng::with_seed(seed);
            for (step, reading) in stream.clock(&filter).take(5_000).enumerate() {
                filter.insert_at(step.to_le_bytes(), reading).unwrap();
                exact.insert_at(&step.to_le_bytes(), reading);
                let item = (step - random.usize(0..=step.min(600))).to_le_bytes();
                if !exact.contains_at(&item, reading) {
                    continue;
                }
                let true_age = exact.age_at(&item, reading).expect("inserted");
                let age = filter.age_at(item, reading).unwrap_or_else(|| panic!("{stream}, step {step}: missed"));
                assert!(age.at_least <= true_age, "{stream}, step {step}: {age:?}, truly {true_age:?}");
                lookups += 1;
                exceeded += u64::from(age.at_most < true_age);
            }
        }
        let bound = at_most_with_confidence(lookups, proportions.rate, 1e-9);
        assert!(exceeded <= bound, "{proportions:?}: {exceeded} of {lookups} were older; {bound} were allowed");
        all += lookups;
    }
    assert!(all > 250_000, "only {all} lookups");
}

/// A range is a shift interval, and one more for each neighbouring slice that has the item's bit by chance: with fills
/// below a half, less than one on either side on average. 16,800 lookups of items whose bits are independent; the mean of
/// their ranges is known to a fiftieth of an interval, and the bound is twenty times that away.
#[test]
fn a_steady_stream_knows_ages_to_three_shift_intervals() {
    let span = Duration::from_secs(3_200);
    let mut filter = Proportions::ALL[1].time(TimeBloom::builder(span)).seed(5).expected_items(3_200).build().unwrap();
    let interval = span / u32::try_from(filter.plan().aging_slices()).unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    let (mut lookups, mut total) = (0, Duration::ZERO);
    for second in 0..20_000_u64 {
        let now = Timestamp::from_secs(second);
        filter.insert_at(second.to_le_bytes(), now).unwrap();
        if second >= 3_200 {
            let asked = second - random.u64(0..=3_200);
            let age = filter.age_at(asked.to_le_bytes(), now).expect("in the window");
            total += age.at_most - age.at_least;
            lookups += 1;
        }
    }
    assert!(total / lookups <= 3 * interval, "{:?} on average", total / lookups);
}
