//! G1: an item inserted at `t` is reported at every time in `[t, t + span]`.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;
use timebloom::{Policy, TimeBloom, Timestamp};
use timebloom_testkit::Proportions;

use crate::history::{Lockstep, Stream, config, setup, steps};

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn items_survive_the_whole_span(setup in setup(), steps in steps(60)) {
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            let clock = both.exact.clock();
            for standing in both.standings() {
                let end = standing.last.saturating_add(setup.span);
                if end < clock {
                    continue;
                }
                let middle = clock.saturating_add(end.saturating_since(clock) / 2);
                for now in [Timestamp::MIN, both.now, clock, middle, end] {
                    if now.max(clock) <= end {
                        prop_assert!(
                            both.filter.contains_at(standing.item, now),
                            "{:?}, last inserted at {:?}, is missed at {now:?}; the clock is at {clock:?}",
                            standing.item, standing.last
                        );
                    }
                }
            }
        }
    }
}

/// 130 streams of 20,000 items, four checks an item: 10.4 million, and not one miss.
#[test]
fn ten_million_checks_find_no_item_missing() {
    const STREAMS: u64 = 130;
    const ITEMS: usize = 20_000;
    let mut checks = 0_u64;
    for seed in 0..STREAMS {
        let policy = if seed % 3 == 0 { Policy::Paper } else { Policy::Guarded };
        let stream = Stream::random(seed, policy, 3.5);
        let mut random = fastrand::Rng::with_seed(!seed);
        let builder = stream.builder().expected_items(random.u64(0..2) * 500);
        let (mut filter, span) = (builder.build().unwrap(), stream.span);
        let mut inside: VecDeque<(u64, Timestamp)> = VecDeque::new();
        let mut latest = Timestamp::MIN;
        for (step, reading) in stream.clock(&filter).take(ITEMS).enumerate() {
            // some items come again and again
            let item = if random.u32(0..4) == 0 { random.u64(0..64) } else { 1_000 + step as u64 };
            filter.insert_at(item.to_le_bytes(), reading).unwrap();
            latest = latest.max(reading);
            inside.push_back((item, latest));
            while inside.front().is_some_and(|&(_, at)| latest.saturating_since(at) > span) {
                inside.pop_front();
            }
            let oldest = inside[0];
            let any = inside[random.usize(0..inside.len())];
            let expected = [
                (oldest, reading),                       // as old as can be, and the clock may have stepped back
                (oldest, oldest.1.saturating_add(span)), // at age exactly span
                (any, latest),
                (any, any.1.saturating_add(span)),
            ];
            for ((item, at), now) in expected {
                assert!(
                    filter.contains_at(item.to_le_bytes(), now),
                    "{stream}, step {step}: {item}, inserted at {at:?}, is missed at {now:?}"
                );
                checks += 1;
            }
            if step % 256 == 0 {
                filter.validate().unwrap_or_else(|broken| panic!("{stream}, step {step}: {broken}"));
            }
        }
    }
    assert!(checks >= 10_000_000, "only {checks} checks");
}

#[test]
fn both_ends_of_time_are_inside_the_window() {
    for policy in [Policy::Guarded, Policy::Paper] {
        for proportions in Proportions::ALL {
            let span = Duration::from_secs(10);
            let mut filter = proportions.time(TimeBloom::builder(span)).policy(policy).seed(3).build().unwrap();
            filter.insert_at("first", Timestamp::MIN).unwrap();
            assert!(filter.contains_at("first", Timestamp::MIN));
            assert!(filter.contains_at("first", Timestamp::from_secs(10)));
            filter.insert_at("last", Timestamp::MAX).unwrap();
            for i in 0..200_u32 {
                filter.insert_at(i.to_le_bytes(), Timestamp::MAX).unwrap();
                assert!(filter.contains_at("last", Timestamp::MAX));
                // the clock has seen the end of time, and does not go back
                assert!(filter.contains_at("last", Timestamp::MIN));
            }
        }
    }
}
