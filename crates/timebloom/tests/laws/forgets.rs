//! G2: an item that is not inserted again is no longer held after `t + span + span / l`, and how the chance that it is
//! reported falls from there.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;
use timebloom::{Policy, TimeBloom, Timestamp};
use timebloom_testkit::{Arrivals, Proportions, Row, at_least_with_confidence, at_most_with_confidence, oldest_slice};

use crate::history::{Lockstep, Stream, config, setup, steps};

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn items_are_held_for_a_span_and_at_most_a_shift_interval_more(setup in setup(), steps in steps(60)) {
        let setup = setup.guarded();
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            let (row, clock, interval) = (both.row(), both.exact.clock(), both.interval());
            for standing in both.standings() {
                let end = standing.last.saturating_add(setup.span);
                match row.newest_in(standing.oldest_slice) {
                    // the slice is live until `newest + span`: between `end` and `end + interval`
                    Some(newest) => {
                        prop_assert!(newest >= standing.last);
                        prop_assert!(newest.saturating_since(standing.last) <= interval, "{step:?}");
                    }
                    None => prop_assert!(clock > end, "gone at {clock:?}, though it ends at {end:?}"),
                }
            }
        }
    }
}

/// 120 streams of 10,000 items, followed from insertion until they are gone.
#[test]
fn nothing_is_held_a_nanosecond_too_short_or_too_long() {
    let mut followed = 0_u64;
    for seed in 1_000..1_120_u64 {
        let stream = Stream::random(seed, Policy::Guarded, 3.0);
        let (mut filter, span) = (stream.builder().build().unwrap(), stream.span);
        let (hashes, aging_slices) = (filter.plan().hashes(), filter.plan().aging_slices());
        let interval = u64::try_from(span.as_nanos()).unwrap() / aging_slices as u64;
        let latest_end = span + Duration::from_nanos(interval);
        let mut held: VecDeque<(u64, Timestamp)> = VecDeque::new();
        let mut latest = Timestamp::MIN;
        for (step, reading) in stream.clock(&filter).take(10_000).enumerate() {
            filter.insert_at(step.to_le_bytes(), reading).unwrap();
            latest = latest.max(reading);
            held.push_back((oldest_slice(filter.slices(), hashes), latest));
            if step % 8 != 0 {
                continue;
            }
            let row = Row::of(filter.slices());
            let lowest = row.lowest_held(latest.saturating_sub(span)).expect("an item was just inserted");
            // numbers rise with time: those below `lowest` are at the front
            while held.front().is_some_and(|&(number, _)| number < lowest) {
                let (_, at) = held.pop_front().expect("just seen");
                assert!(latest.saturating_since(at) > span, "{stream}, step {step}: from {at:?}, gone at {latest:?}");
                followed += 1;
            }
            let (number, at) = held[0];
            assert!(latest.saturating_since(at) <= latest_end, "{stream}, step {step}: from {at:?}, at {latest:?}");
            // and without further insertions it will be gone in time
            let after = latest.max(at.saturating_add(latest_end).saturating_add(Duration::from_nanos(1)));
            let gone = !row.holds(number, after.saturating_sub(span));
            assert!(gone || after.saturating_since(at) <= latest_end, "{stream}, step {step}: still held at {after:?}");
            // held is more than reported by chance: it is reported to the last moment
            let newest = row.newest_in(number).expect("held");
            let end = newest.saturating_add(span).max(latest);
            if row.holds(number, end.saturating_sub(span)) {
                let item = (step + 1 - held.len()).to_le_bytes();
                assert!(filter.contains_at(item, end), "{stream}, step {step}: held, but not reported");
            }
        }
    }
    assert!(followed > 500_000, "only {followed} items were followed to their end");
}

/// How expired items fade, at a steady rate. Past `t + span + j span/l` at least `j` of the item's slices are gone, so a
/// report needs `j` younger slices that agree by chance: at most `fill^j`, the fill of a full slice being at most
/// `1 - exp(-full_load)`; or else the filter's ordinary rate. Past `k + 2` intervals only that is left.
///
/// For each of the three proportions and `k + 3` ages, at least 100,000 lookups of expired items. Chance of a false
/// alarm: 1e-9 each, less than 1e-7 in all.
#[test]
fn expired_items_fade_by_half_with_each_shift_interval() {
    const FALSE_ALARM: f64 = 1e-9;
    const PER_SPAN: u32 = 20_000;
    let span = Duration::from_secs(3_600);
    let gap = span / PER_SPAN;
    for proportions in [Proportions::ALL[0], Proportions::ALL[1], Proportions::ALL[2]] {
        let mut filter =
            proportions.time(TimeBloom::builder(span)).seed(11).expected_items(PER_SPAN.into()).build().unwrap();
        let plan = *filter.plan();
        let (hashes, interval) = (plan.hashes(), span / u32::try_from(plan.aging_slices()).unwrap());
        let ages = hashes + 4;
        let (mut lookups, mut reports) = (vec![0_u64; ages], vec![0_u64; ages]);
        let at = |item: u32| Arrivals::START.saturating_add(gap * item);
        for item in 0..12 * PER_SPAN {
            let now = at(item);
            filter.insert_at(item.to_le_bytes(), now).unwrap();
            // a few items of each age, at every moment of a generation
            if item < 4 * PER_SPAN {
                continue;
            }
            for (age, (lookups, reports)) in lookups.iter_mut().zip(&mut reports).enumerate().skip(1) {
                // an interval ends with the first insertion after it: a gap late
                let expired_for = (interval + gap) * u32::try_from(age).unwrap();
                let since = (span + expired_for).as_nanos() / gap.as_nanos() + 1;
                let expired = item - u32::try_from(since).unwrap();
                *lookups += 1;
                *reports += u64::from(filter.contains_at(expired.to_le_bytes(), now));
            }
        }
        let fill = 1.0 - (-plan.full_load()).exp();
        assert!(fill <= 0.5, "the tail halves");
        for age in 1..ages {
            let chance = fill.powi(i32::try_from(age).unwrap()) + proportions.rate;
            let chance = if age > hashes + 2 { proportions.rate } else { chance };
            let bound = at_most_with_confidence(lookups[age], chance, FALSE_ALARM);
            assert!(lookups[age] >= 100_000);
            assert!(
                reports[age] <= bound,
                "{proportions:?}: {} of {} reported {age} intervals after the end; {bound} were allowed",
                reports[age],
                lookups[age]
            );
        }
        // and the tail is there: documented as near 1/2 at first, so no less than a quarter
        assert!(
            reports[1] >= at_least_with_confidence(lookups[1], 0.25, FALSE_ALARM),
            "{} of {}",
            reports[1],
            lookups[1]
        );
    }
}
