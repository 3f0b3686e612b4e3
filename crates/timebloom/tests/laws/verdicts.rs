//! What insertions tell and refresh, and what forgetting on purpose does.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use timebloom::{OnFull, Policy, TimeBloom, Timestamp, Verdict};

use crate::history::{Change, Lockstep, Stream, config, limited_setup, setup, steps};

proptest! {
    #![proptest_config(config(300))]

    // `Lockstep::take` asserts after each step that no item of the window was called new.
    #[test]
    fn no_item_of_the_window_is_new(setup in setup(), steps in steps(80)) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
        }
        for standing in both.standings() {
            if both.exact.contains_at(standing.item, both.now) {
                let mut filter = both.filter.clone();
                prop_assert_eq!(filter.insert_if_new_at(standing.item, both.now), Ok(Verdict::Seen));
                prop_assert_eq!(filter.check_and_insert_at(standing.item, both.now), Ok(Verdict::Seen));
            }
        }
    }

    #[test]
    fn a_seen_item_is_left_as_it_was(setup in limited_setup(), steps in steps(40)) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            for item in 0..24_u8 {
                if both.filter.contains_at([item], both.now) {
                    let before = format!("{:?}", both.filter);
                    prop_assert_eq!(both.filter.insert_if_new_at([item], both.now), Ok(Verdict::Seen));
                    prop_assert_eq!(&before, &format!("{:?}", both.filter));
                }
            }
        }
    }

    #[test]
    fn insertions_refresh(setup in setup(), steps in steps(40), item in 0_u8..24, check in any::<bool>()) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
        }
        let now = both.exact.clock().max(both.now);
        let known = both.filter.contains_at([item], now);
        if check {
            let verdict = both.filter.check_and_insert_at([item], now).expect("no limit");
            prop_assert_eq!(verdict.is_seen(), known);
            prop_assert_eq!(verdict.is_new(), !known);
        } else {
            both.filter.insert_at([item], now).expect("no limit");
        }
        let age = both.filter.age_at([item], now).expect("just inserted");
        prop_assert_eq!(age.at_least, Duration::ZERO);
        prop_assert!(both.filter.contains_within_at([item], Duration::ZERO, now));
        prop_assert!(both.filter.contains_between_at([item], now..=now, now));
        prop_assert!(both.filter.contains_at([item], now.saturating_add(setup.span)));
    }

    #[test]
    fn a_cleared_filter_is_empty_and_goes_on(setup in limited_setup(), before in steps(30), after in steps(30)) {
        let mut both = Lockstep::new(&setup);
        for step in before {
            both.take(step);
        }
        let inserted = both.filter.stats(both.now).inserted;
        both.filter.clear();
        both.exact.clear();
        prop_assert_eq!(both.filter.validate(), Ok(()));
        for item in 0..=u8::MAX {
            prop_assert!(!both.filter.contains_at([item], Timestamp::MIN));
            prop_assert_eq!(both.filter.age_at([item], both.now), None);
        }
        let stats = both.filter.stats(both.now);
        prop_assert_eq!(stats.items_in_window, 0);
        prop_assert_eq!(stats.false_positive_rate, 0.0);
        prop_assert_eq!(stats.inserted, inserted);
        // a fresh history on the same filter keeps the first law
        for step in after.into_iter().filter(|step| !matches!(step.change, Change::Clear)) {
            both.take(step);
            let shortens = setup.limit.is_some_and(|(_, on_full)| on_full == OnFull::Shorten);
            for (item, _) in both.exact.items().filter(|_| !shortens) {
                if both.exact.contains_at(item, both.now) {
                    prop_assert!(both.filter.contains_at(item, both.now));
                }
            }
        }
    }

    #[test]
    fn letting_time_pass_changes_no_answer(setup in setup(), steps in steps(50), spans in 0_u32..3_000) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
        }
        let to = both.exact.clock().saturating_add(setup.span * spans / 1_000);
        let mut advanced = both.filter.clone();
        advanced.advance_to(to);
        prop_assert_eq!(advanced.validate(), Ok(()));
        for later in 0..12_u32 {
            let now = to.saturating_add(setup.span * later / 10);
            // items that were inserted, and items that never were, by chance
            for item in (0..=u8::MAX).map(|item| [item]) {
                prop_assert_eq!(advanced.contains_at(item, now), both.filter.contains_at(item, now));
                prop_assert_eq!(advanced.age_at(item, now), both.filter.age_at(item, now));
                let within = setup.span / 3;
                prop_assert_eq!(
                    advanced.contains_within_at(item, within, now), both.filter.contains_within_at(item, within, now)
                );
                let when = now.saturating_sub(setup.span / 2)..now.saturating_sub(setup.span / 4);
                prop_assert_eq!(
                    advanced.contains_between_at(item, when.clone(), now),
                    both.filter.contains_between_at(item, when, now)
                );
            }
            prop_assert_eq!(advanced.stats(now).items_in_window, both.filter.stats(now).items_in_window);
        }
        prop_assert!(advanced.stats(to).memory_bytes <= both.filter.stats(to).memory_bytes);
    }
}

#[test]
fn an_idle_filter_gives_its_memory_back() {
    for seed in 3_000..3_030_u64 {
        let stream = Stream::random(seed, Policy::Guarded, 3.5);
        let mut filter = stream.builder().build().unwrap();
        let mut latest = Timestamp::MIN;
        for (item, reading) in stream.clock(&filter).take(2_000).enumerate() {
            filter.insert_at(item.to_le_bytes(), reading).unwrap();
            latest = latest.max(reading);
        }
        let idle = latest.saturating_add(stream.span).saturating_add(Duration::from_nanos(1));
        if idle.saturating_since(latest) <= stream.span {
            continue; // at the end of time nothing ever expires
        }
        filter.advance_to(idle);
        let stats = filter.stats(idle);
        assert!(stats.memory_bytes < 300, "{stream}: {} bytes", stats.memory_bytes);
        assert_eq!((stats.slices, stats.bits, stats.items_in_window), (0, 0, 0), "{stream}");
    }
}

/// The verdicts of a filter with next to no false positives are those of an exact window.
#[test]
fn first_sighting_decides_as_in_an_exact_window() {
    let span = Duration::from_secs(60);
    let mut filter = TimeBloom::builder(span).false_positive_rate(1e-9).seed(4).build().unwrap();
    let mut random = fastrand::Rng::with_seed(4);
    let mut first_seen = HashMap::new();
    let mut now = Timestamp::from_secs(1);
    let (mut new, mut seen) = (0, 0);
    for _ in 0..50_000 {
        now = now.saturating_add(Duration::from_millis(random.u64(0..100)));
        let item = random.u16(0..3_000);
        let verdict = filter.insert_if_new_at(item.to_le_bytes(), now).unwrap();
        let age = first_seen.get(&item).map(|&at| now.saturating_since(at));
        if age.is_some_and(|age| age <= span) {
            assert_eq!(verdict, Verdict::Seen);
            seen += 1;
        } else if verdict.is_new() {
            first_seen.insert(item, now);
            new += 1;
        }
    }
    assert!(new > 10_000 && seen > 10_000, "{new} new, {seen} seen");
}
