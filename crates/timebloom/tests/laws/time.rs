//! Any 64-bit time and any span: no panic, no overflow, no invariant broken.

use std::time::Duration;

use proptest::prelude::*;
use timebloom::{BuildError, Policy, TimeBloom, Timestamp};
use timebloom_testkit::Proportions;

use crate::history::config;

/// Times at random, and often near an end or near another one.
fn timestamp() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..4_u64,
        (0..4_u64).prop_map(|before_the_end| u64::MAX - before_the_end),
        (0..64_u32, 0..3_u64).prop_map(|(power, more)| (1_u64 << power).saturating_sub(1).saturating_add(more)),
    ]
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn any_times_and_spans_are_fine(
        proportions in 0..Proportions::ALL.len(),
        span in prop_oneof![Just(1_000_u64), Just(u64::MAX - 1), 1_000..u64::MAX, 1_000..10_000_u64],
        guarded in prop::bool::weighted(0.7),
        times in prop::collection::vec((timestamp(), 0..8_u8), 1..60),
    ) {
        // the paper's policy takes a burst for a rate: within long spans it would take gigabytes
        let (policy, span) = if guarded { (Policy::Guarded, span) } else { (Policy::Paper, span.min(1_000_000)) };
        let span = Duration::from_nanos(span);
        let builder = Proportions::ALL[proportions].time(TimeBloom::builder(span)).policy(policy).seed(1);
        let mut filter = builder.build().expect("a legal span");
        let mut clock = Timestamp::MIN;
        for (at, item) in times {
            let now = Timestamp::from_nanos(at);
            match item {
                0 => filter.advance_to(now),
                _ => filter.insert_at([item], now).expect("no limit"),
            }
            clock = clock.max(now);
            prop_assert_eq!(filter.validate(), Ok(()));
            if item > 0 {
                prop_assert!(filter.contains_at([item], now));
                prop_assert!(filter.contains_at([item], clock.saturating_add(span)));
                prop_assert!(filter.contains_within_at([item], Duration::ZERO, now));
                prop_assert!(filter.contains_between_at([item], clock.., now));
                prop_assert!(filter.age_at([item], now).is_some_and(|age| age.at_least.is_zero()));
            }
            for other in [Timestamp::MIN, now, Timestamp::MAX] {
                let _ = filter.contains_within_at([item], Duration::MAX, other);
                let _ = filter.contains_between_at([item], other..now, other);
                let _ = filter.age_at([item], other);
                let stats = filter.stats(other);
                prop_assert!((0.0..=1.0).contains(&stats.false_positive_rate));
            }
        }
    }
}

#[test]
fn spans_outside_the_limits_are_refused() {
    for span in [Duration::ZERO, Duration::from_nanos(999), Duration::from_nanos(u64::MAX), Duration::MAX] {
        assert_eq!(TimeBloom::builder(span).build().err(), Some(BuildError::Span { got: span }));
    }
    for span in [1_000, u64::MAX - 1] {
        let span = Duration::from_nanos(span);
        assert_eq!(TimeBloom::builder(span).build().unwrap().span(), span);
    }
}

#[test]
fn intervals_shorter_than_a_nanosecond_are_fine() {
    let span = Duration::from_micros(1);
    let mut filter = TimeBloom::builder(span).hashes_and_aging(9, 1_024).seed(1).build().unwrap();
    for item in 0..5_000_u64 {
        let now = Timestamp::from_nanos(item * 3 / 2);
        filter.insert_at(item.to_le_bytes(), now).unwrap();
        let oldest = now.saturating_sub(span).as_nanos().div_ceil(3) * 2;
        assert!(filter.contains_at(oldest.max(item.saturating_sub(600)).to_le_bytes(), now), "item {item}");
        if item % 100 == 0 {
            filter.validate().unwrap();
        }
    }
}
