//! The memory limit: never exceeded, and what it may cost.

use std::time::Duration;

use proptest::prelude::*;
use timebloom::{Full, OnFull, Policy, TimeBloom, Timestamp};
use timebloom_testkit::{Proportions, rate_from_fills};

use crate::history::{Lockstep, Stream, config, least_limit, limited_setup, steps};

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn the_limit_is_never_exceeded(setup in limited_setup(), steps in steps(80)) {
        let mut both = Lockstep::new(&setup);
        let limit = usize::try_from(both.filter.max_bytes().expect("set")).expect("small limits");
        for step in steps {
            both.take(step);
            prop_assert!(both.filter.stats(both.now).memory_bytes <= limit, "after {step:?}");
            let stats = both.filter.stats(both.now);
            prop_assert_eq!(stats.rejected, both.rejected);
            prop_assert_eq!(stats.inserted, both.accepted);
            match setup.limit.expect("set").1 {
                OnFull::Reject => prop_assert_eq!(stats.shortened, 0),
                _ => prop_assert_eq!(stats.rejected, 0),
            }
        }
    }

    #[test]
    fn what_was_accepted_stays_for_its_whole_span(setup in limited_setup(), steps in steps(80)) {
        let mut setup = setup;
        setup.limit = setup.limit.map(|(above, _)| (above, OnFull::Reject));
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            for standing in both.standings() {
                let end = standing.last.saturating_add(setup.span);
                for now in [both.now, both.exact.clock(), end] {
                    if both.exact.contains_at(standing.item, now) {
                        prop_assert!(
                            both.filter.contains_at(standing.item, now),
                            "{:?} of {:?} is missed at {now:?}", standing.item, standing.last
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_rejected_insertion_changes_no_answer(setup in limited_setup(), steps in steps(60)) {
        let mut setup = setup;
        setup.limit = setup.limit.map(|(above, _)| (above / 8, OnFull::Reject));
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            for ahead in [0_u32, 300, 900, 1_500] {
                let now = both.exact.clock().saturating_add(setup.span * ahead / 1_000);
                let mut tried = both.filter.clone();
                if let Err(Full { needed_bytes, max_bytes }) = tried.insert_at("one more", now) {
                    prop_assert!(needed_bytes > max_bytes);
                    prop_assert_eq!(Some(max_bytes), both.filter.max_bytes());
                    prop_assert_eq!(tried.stats(now).rejected, both.filter.stats(now).rejected + 1);
                    prop_assert_eq!(tried.stats(now).inserted, both.filter.stats(now).inserted);
                    for item in 0..100_u8 {
                        prop_assert_eq!(tried.contains_at([item], now), both.filter.contains_at([item], now));
                        prop_assert_eq!(tried.age_at([item], now), both.filter.age_at([item], now));
                    }
                }
            }
        }
    }

    #[test]
    fn a_shortened_window_still_has_the_latest(setup in limited_setup(), steps in steps(60)) {
        let mut setup = setup;
        setup.limit = setup.limit.map(|(above, _)| (above / 4, OnFull::Shorten));
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            prop_assert_eq!(both.rejected, 0);
            let row = both.row();
            for standing in both.standings() {
                // what is held is reported; all that came since the open generation began is held
                let held = row.holds(standing.oldest_slice, both.exact.clock().saturating_sub(setup.span));
                let open = both.filter.open_generation().is_some_and(|(began, _)| standing.last > began);
                let inside = both.exact.contains_at(standing.item, both.now);
                prop_assert!(held || !(open && inside), "{:?} is gone, though recent", standing.item);
                if held && inside {
                    prop_assert!(both.filter.contains_at(standing.item, both.now));
                }
            }
        }
    }
}

fn limited(proportions: Proportions, policy: Policy, on_full: OnFull, above: u64) -> TimeBloom {
    let builder = proportions.time(TimeBloom::builder(Duration::from_secs(60))).policy(policy).seed(9);
    let max_bytes = least_limit(&builder) + above;
    builder.max_bytes(max_bytes).on_full(on_full).build().expect("at least the least limit")
}

#[test]
fn a_full_filter_accepts_again_once_items_have_expired() {
    for policy in [Policy::Guarded, Policy::Paper] {
        for proportions in Proportions::ALL {
            for above in (0..10_000).step_by(100) {
                let mut filter = limited(proportions, policy, OnFull::Reject, above);
                let context = format!("{proportions:?}, {policy:?}, {above} bytes above the least");
                let mut item = 0_u64;
                // how many items are accepted at a time before one is rejected
                let mut fill_at = |filter: &mut TimeBloom, second: u64| {
                    for accepted in 0..20_000_u64 {
                        item += 1;
                        if filter.insert_at(item.to_le_bytes(), Timestamp::from_secs(second)).is_err() {
                            return Some(accepted);
                        }
                    }
                    None
                };
                // the paper's filter has no bound on its rate: it may squeeze any number of items into its slices
                let Some(first) = fill_at(&mut filter, 1) else { continue };
                assert!(first > 0, "{context}");
                let again = fill_at(&mut filter, 62).unwrap_or(u64::MAX);
                assert!(again > 0, "{context}: everything has expired, but nothing is accepted");
                filter.validate().unwrap();
            }
        }
    }
}

/// 40 streams of 5,000 items through filters with little memory.
#[test]
fn limited_filters_keep_their_rate() {
    let mut shortened = 0;
    for seed in 4_000..4_040_u64 {
        let stream = Stream::random(seed, Policy::Guarded, 3.5);
        let on_full = if seed % 2 == 0 { OnFull::Shorten } else { OnFull::Reject };
        let mut random = fastrand::Rng::with_seed(seed);
        let builder = stream.builder().on_full(on_full);
        let max_bytes = least_limit(&builder) + random.u64(0..4_000) * random.u64(0..2);
        let mut filter = builder.max_bytes(max_bytes).build().unwrap();
        let mut latest = Timestamp::MIN;
        for (step, reading) in stream.clock(&filter).take(5_000).enumerate() {
            if filter.is_shift_due_at(reading) {
                let rate = rate_from_fills(&filter, latest);
                assert!(rate <= stream.proportions.rate, "{stream}, step {step}: {rate} within {max_bytes} bytes");
            }
            let result = filter.insert_at(step.to_le_bytes(), reading);
            latest = latest.max(reading);
            if result.is_ok() {
                assert!(filter.contains_at(step.to_le_bytes(), latest), "{stream}, step {step}");
            }
            assert!(result.is_ok() || on_full == OnFull::Reject);
            let bytes = filter.stats(latest).memory_bytes as u64;
            assert!(bytes <= max_bytes, "{stream}, step {step}: {bytes} of {max_bytes} bytes");
        }
        shortened += filter.stats(latest).shortened;
    }
    assert!(shortened > 1_000, "only {shortened} slices were dropped early");
}

/// A rejected insertion retires what has expired by its time. An earlier `now` must not find the gap.
#[test]
fn time_does_not_go_back_behind_a_rejected_insertion() {
    let mut filter = limited(Proportions::ALL[0], Policy::Guarded, OnFull::Reject, 0);
    let mut second = 0;
    let rejected = loop {
        second += 1;
        let full =
            (0..8_u64).any(|i| filter.insert_at((second * 8 + i).to_le_bytes(), Timestamp::from_secs(second)).is_err());
        if full && second > 60 {
            break Timestamp::from_secs(second);
        }
    };
    for item in 0..second * 8 {
        let item = item.to_le_bytes();
        assert_eq!(filter.contains_at(item, Timestamp::MIN), filter.contains_at(item, rejected));
    }
}

#[test]
fn less_than_the_least_limit_is_refused() {
    for proportions in Proportions::ALL {
        let builder = proportions.time(TimeBloom::builder(Duration::from_secs(1)));
        let least = least_limit(&builder);
        assert!(builder.clone().max_bytes(least - 1).build().is_err());
        assert!(builder.max_bytes(least).build().is_ok());
    }
}
