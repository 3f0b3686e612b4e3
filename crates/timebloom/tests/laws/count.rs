//! Count windows: the last `capacity` insertions.

use proptest::prelude::*;
use timebloom::{CountBloom, Timestamp};
use timebloom_testkit::{
    Choice, ExactCount, Proportions, Row, at_least_with_confidence, at_most_with_confidence, count_rate_from_fills,
    oldest_slice,
};

use crate::history::config;

fn build(proportions: Proportions, capacity: u64, seed: u64) -> CountBloom {
    proportions.count(CountBloom::builder(capacity)).seed(seed).build().expect("legal proportions")
}

/// What is done to the filter.
#[derive(Clone, Copy, Debug)]
enum Change {
    Insert,
    InsertIfNew,
    CheckAndInsert,
    /// Insertions of items that are seen once.
    Run(u8),
    Clear,
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn the_last_items_are_always_reported(
        proportions in 0..Proportions::ALL.len(),
        capacity in prop_oneof![1..5_u64, 1..60_u64, 1..600_u64],
        seed in any::<u64>(),
        changes in prop::collection::vec(
            (
                prop_oneof![
                    10 => Just(Change::Insert),
                    4 => Just(Change::InsertIfNew),
                    4 => Just(Change::CheckAndInsert),
                    4 => (0..100_u8).prop_map(Change::Run),
                    1 => Just(Change::Clear),
                ],
                0..40_u64,
            ),
            1..80,
        ),
    ) {
        let mut filter = build(Proportions::ALL[proportions], capacity, seed);
        let window = usize::try_from(capacity).unwrap();
        let mut exact = ExactCount::new(window);
        let mut once = 1_000;
        for (change, item) in changes {
            let known = exact.contains_within(item, window);
            let bytes = item.to_le_bytes();
            match change {
                Change::Insert => {
                    filter.insert(bytes);
                    exact.insert(item);
                }
                Change::InsertIfNew => {
                    let before = format!("{filter:?}");
                    let verdict = filter.insert_if_new(bytes);
                    if verdict.is_new() {
                        prop_assert!(!known);
                        exact.insert(item);
                    } else {
                        prop_assert_eq!(&before, &format!("{filter:?}"), "a seen item keeps its age");
                    }
                }
                Change::CheckAndInsert => {
                    let reported = filter.contains(bytes);
                    let verdict = filter.check_and_insert(bytes);
                    prop_assert_eq!(verdict.is_seen(), reported);
                    prop_assert!(verdict.is_seen() || !known);
                    exact.insert(item);
                }
                Change::Run(items) => {
                    for _ in 0..items {
                        once += 1;
                        filter.insert(u64::to_le_bytes(once));
                        exact.insert(once);
                    }
                }
                Change::Clear => {
                    filter.clear();
                    exact.clear();
                    for item in 0..100_u64 {
                        prop_assert!(!filter.contains(item.to_le_bytes()));
                    }
                    prop_assert_eq!(filter.stats().items_in_window, 0);
                }
            }
            prop_assert_eq!(filter.validate(), Ok(()));
            prop_assert!(filter.slices().count() <= filter.plan().base_slices());
            let before = format!("{filter:?}");
            for (newer, item) in exact.items().enumerate() {
                let bytes = item.to_le_bytes();
                prop_assert!(filter.contains(bytes), "{item} is missed after {change:?}");
                prop_assert!(filter.contains_within(bytes, newer as u64 + 1), "{item} among the last {newer}");
                prop_assert!(filter.contains_within(bytes, u64::MAX));
            }
            for item in 0..60_u64 {
                let bytes = item.to_le_bytes();
                prop_assert!(!filter.contains_within(bytes, 0));
                prop_assert_eq!(filter.contains_within(bytes, capacity), filter.contains(bytes));
                prop_assert!(filter.contains(bytes) || !filter.contains_within(bytes, capacity / 2));
            }
            let stats = filter.stats();
            let generation = capacity.div_ceil(filter.plan().aging_slices() as u64);
            prop_assert!(stats.items_in_window >= exact.items().count() as u64);
            prop_assert!(stats.items_in_window < capacity + generation);
            prop_assert_eq!(&before, &format!("{filter:?}"), "questions change nothing");
        }
    }
}

#[test]
fn items_are_held_for_the_capacity_and_at_most_a_generation_more() {
    let mut followed = 0_u64;
    for proportions in Proportions::ALL {
        for capacity in [1, 2, 3, 10, 95, 100, 1_000] {
            let mut filter = build(proportions, capacity, capacity);
            let (hashes, aging_slices) = (filter.plan().hashes(), filter.plan().aging_slices() as u64);
            let longest = capacity + capacity.div_ceil(aging_slices);
            let mut held: std::collections::VecDeque<(u64, u64)> = std::collections::VecDeque::new();
            for number in 1..=capacity * 4 + 200 {
                filter.insert(number.to_le_bytes());
                held.push_back((number, oldest_slice(filter.slices(), hashes)));
                let row = Row::of(filter.slices());
                let horizon = Timestamp::from_nanos((number + 1).saturating_sub(capacity));
                let lowest = row.lowest_held(horizon).expect("an item was just inserted");
                while held.front().is_some_and(|&(_, slice)| slice < lowest) {
                    let (gone, _) = held.pop_front().expect("just seen");
                    assert!(number - gone >= capacity, "{proportions:?}: {gone} of {capacity} is gone at {number}");
                    followed += 1;
                }
                let further = number - held[0].0;
                assert!(further <= longest, "{proportions:?}: held for {further} further insertions, not {longest}");
                assert!(filter.contains(held[0].0.to_le_bytes()), "held, but not reported");
            }
        }
    }
    assert!(followed > 40_000, "only {followed} items were followed to their end");
}

#[test]
fn the_rate_is_within_its_target_at_every_shift() {
    let mut shifts = 0_u64;
    for capacity in [1, 2, 10, 100, 1_000, 10_000, 100_000_u64] {
        for rate in [0.1, 0.03, 0.01, 1e-3, 1e-4] {
            let seeds = if capacity <= 1_000 { 8 } else { 2 };
            for seed in 0..seeds {
                let mut filter = build(Proportions::new(rate, Choice::Planned), capacity, seed);
                let generation = capacity.div_ceil(filter.plan().aging_slices() as u64);
                let base = filter.plan().base_slices() as u64;
                // to a full row, and four times round it
                for number in 0..generation * base * 4 {
                    filter.insert(number.to_le_bytes());
                    if (number + 1) % generation == 0 {
                        let peak = count_rate_from_fills(&filter);
                        assert!(peak <= rate, "capacity {capacity}, seed {seed}: {peak} exceeds {rate}");
                        assert!(filter.slices().count() as u64 <= base);
                        shifts += 1;
                    }
                }
                assert!(filter.stats().worst_false_positive_rate <= rate);
            }
        }
    }
    assert!(shifts > 20_000, "only {shifts} shifts");
}

/// 600,000 lookups of items never inserted, for each of 5 rates, at random moments of a full filter. More than
/// `at_most_with_confidence` of them would be reported with a probability of 1e-9 each, 5e-9 in all.
#[test]
fn absent_items_are_reported_within_the_rate() {
    for (index, rate) in [0.2, 0.1, 0.01, 1e-3, 1e-4].into_iter().enumerate() {
        let mut filter = build(Proportions::new(rate, Choice::Planned), 20_000, index as u64);
        for number in 0..60_000_u64 {
            filter.insert(number.to_le_bytes());
        }
        let (mut lookups, mut reported) = (0_u64, 0_u64);
        for number in 60_000..66_000_u64 {
            filter.insert(number.to_le_bytes());
            for absent in 0..100 {
                lookups += 1;
                reported += u64::from(filter.contains((u64::MAX - number * 100 - absent).to_le_bytes()));
            }
        }
        let bound = at_most_with_confidence(lookups, rate, 1e-9);
        assert!(reported <= bound, "{reported} of {lookups} at {rate}; {bound} were allowed");
        // and the memory is not wasted: no less than a quarter of what is allowed
        assert!(
            reported >= at_least_with_confidence(lookups, rate / 4.0, 1e-9),
            "only {reported} of {lookups} at {rate}"
        );
    }
}
