//! The sharded filter keeps the promises of a single one, with threads.

use std::collections::HashMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use timebloom::{ManualClock, Policy, Sharded, Stats, TimeBloom, Timestamp, Verdict};
use timebloom_testkit::at_most_with_confidence;

const SPAN_NANOS: u64 = 60_000_000_000;
const SPAN: Duration = Duration::from_nanos(SPAN_NANOS);

/// G1 under threads: items of its own are reported to each thread until someone has given a time past their window.
///
/// Threads share a clock that each reads with a lag of its own, so times come out of order all the while.
#[test]
fn items_survive_the_whole_span_among_threads() {
    const THREADS: u64 = 4;
    const STEPS: u64 = 40_000;
    for (shards, seed) in [(1, 1), (3, 2), (32, 3)] {
        let filter = TimeBloom::builder(SPAN).seed(seed).build_sharded(shards).expect("legal parameters");
        let clock = AtomicU64::new(SPAN_NANOS);
        // the latest time that any thread may have given by now
        let latest = AtomicU64::new(0);
        let checked = AtomicU64::new(0);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (filter, clock, latest, checked) = (&filter, &clock, &latest, &checked);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed * 100 + thread);
                    let mut inserted: HashMap<u64, Timestamp> = HashMap::new();
                    for _ in 0..STEPS {
                        // some 20 spans in all, with a burst or a pause now and then
                        let pass = if random.u32(..2_000) == 0 { random.u64(..40_000_000_000) } else { 7_000_000 };
                        let shared = clock.fetch_add(pass, Ordering::SeqCst);
                        let now = Timestamp::from_nanos(shared - random.u64(..2_000_000_000));
                        let item = thread << 32 | random.u64(..5_000);
                        let key = item.to_le_bytes();
                        latest.fetch_max(now.as_nanos(), Ordering::SeqCst);
                        match random.u32(..4) {
                            0 => {
                                filter.insert_at(key, now).expect("no limit");
                                inserted.insert(item, now);
                            }
                            1 => {
                                let _ = filter.check_and_insert_at(key, now).expect("no limit");
                                inserted.insert(item, now);
                            }
                            2 => {
                                if filter.insert_if_new_at(key, now).expect("no limit").is_new() {
                                    inserted.insert(item, now);
                                }
                            }
                            _ => {
                                let reported = filter.contains_at(key, now);
                                let age = filter.age_at(key, now);
                                let given = Timestamp::from_nanos(latest.load(Ordering::SeqCst));
                                if let Some(&at) = inserted.get(&item)
                                    && given <= at.saturating_add(SPAN)
                                {
                                    assert!(
                                        reported && age.is_some(),
                                        "item {item} lost, seed {seed}, thread {thread}"
                                    );
                                    checked.fetch_add(1, Ordering::Relaxed);
                                }
                            }
                        }
                        if random.u32(..5_000) == 0 {
                            filter.advance_to(now);
                        }
                    }
                });
            }
        });
        assert!(checked.into_inner() > 1_000, "too few items were in their window");
        filter.validate().unwrap_or_else(|broken| panic!("{shards} shards, seed {seed}: {broken}"));
    }
}

/// In each round every thread brings the same items, in an order and at times of its own, one by one or in batches; rounds
/// are three spans apart.
/// Nobody may be told `New` twice, and only a false positive is `New` to nobody: 40,000 chances at a rate of 0.01, with
/// one in 10^6 for a false alarm.
#[test]
fn racing_threads_see_each_item_first_once_per_window() {
    const THREADS: usize = 4;
    const ITEMS: usize = 2_000;
    const ROUNDS: usize = 20;
    let filter = TimeBloom::builder(SPAN).seed(9).build_sharded(8).expect("legal parameters");
    let barrier = Barrier::new(THREADS);
    let firsts: Vec<AtomicU32> = (0..ITEMS * ROUNDS).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (filter, barrier, firsts) = (&filter, &barrier, &firsts);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(thread as u64);
                let mut order: Vec<usize> = (0..ITEMS).collect();
                let mut answers = Vec::new();
                for round in 0..ROUNDS {
                    barrier.wait();
                    // nearby items in different orders, so that threads do meet
                    order.chunks_mut(8).for_each(|chunk| random.shuffle(chunk));
                    let start = Timestamp::from_nanos((round as u64 + 1) * 3 * SPAN_NANOS);
                    for some in order.chunks(if thread % 2 == 0 { 1 } else { 50 }) {
                        let now = start.saturating_add(Duration::from_nanos(random.u64(..=SPAN_NANOS)));
                        if let [item] = some {
                            answers.clear();
                            answers.push(filter.insert_if_new_at(item.to_le_bytes(), now));
                        } else {
                            let items: Vec<_> = some.iter().map(|item| item.to_le_bytes()).collect();
                            filter.insert_if_new_batch_at(&items, now, &mut answers);
                        }
                        for (item, answer) in some.iter().zip(&answers) {
                            let is_new = answer.expect("no limit").is_new();
                            firsts[round * ITEMS + item].fetch_add(is_new.into(), Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let count = |times: u32| firsts.iter().filter(|first| first.load(Ordering::Relaxed) == times).count();
    let (none, once) = (count(0), count(1));
    assert_eq!(none + once, ITEMS * ROUNDS, "an item was new more than once in a window");
    let most = at_most_with_confidence((ITEMS * ROUNDS) as u64, 0.01, 1e-6);
    assert!(none as u64 <= most, "{none} items were new to nobody");
}

#[test]
fn a_late_item_counts_from_the_latest_time_of_its_shard() {
    let filter = TimeBloom::builder(SPAN).seed(1).build_sharded(1).expect("legal parameters");
    let at = |second: u64| Timestamp::from_secs(1_000 + second);
    filter.insert_at("punctual", at(5)).expect("no limit");
    filter.insert_at("late", at(0)).expect("no limit");
    assert!(filter.contains_at("late", at(65)), "as long as what was there before it");
    assert!(filter.contains_at("late", at(0)), "a query that is late itself");
}

/// The documentation says how much memory shards take: a sixth more with 10,000 items each, nearly twice as much with 1,000.
#[test]
fn shards_take_the_memory_that_is_documented() {
    let bits_per_item = |items: u64, shards: usize| {
        let builder = TimeBloom::builder(SPAN).expected_items(items).seed(1);
        let filter = builder.build_sharded(shards).expect("legal parameters");
        let time_of = |item: u64| Timestamp::from_nanos(item * (SPAN_NANOS / items));
        for item in 0..2 * items {
            filter.insert_at(item.to_le_bytes(), time_of(item)).expect("no limit");
        }
        filter.stats(time_of(2 * items)).bits_per_item().expect("a full window")
    };
    let one = bits_per_item(160_000, 1);
    for (shards, most) in [(16, 1.2), (160, 2.0)] {
        let many = bits_per_item(160_000, shards);
        assert!(many <= most * one, "{shards} shards take {many} bits an item, a single one {one}");
    }
}

#[test]
fn a_clocked_filter_is_shared_too() {
    let clock = ManualClock::at(Timestamp::from_secs(1_000));
    let filter = TimeBloom::builder(SPAN).seed(1).build_sharded(4).expect("legal parameters").with_clock(&clock);
    thread::scope(|scope| {
        scope.spawn(|| filter.insert("a").expect("no limit"));
        scope.spawn(|| assert!(filter.check_and_insert("b").expect("no limit").is_new()));
    });
    clock.advance(SPAN);
    assert!(filter.contains("a") && filter.contains_within("b", SPAN) && !filter.contains("c"));
    assert!(filter.contains_between("a", ..=Timestamp::from_secs(1_000)));
    assert_eq!(filter.age("b").expect("seen").at_least, SPAN);
    assert!(filter.insert_if_new("a").expect("no limit").is_seen());
    let (mut answers, mut seen) = (Vec::new(), Vec::new());
    filter.insert_if_new_batch(&["a", "b"], &mut answers);
    assert_eq!(answers, [Ok(Verdict::Seen); 2]);
    filter.contains_batch(&["a", "c"], &mut seen);
    assert_eq!(seen, [true, false]);
    assert_eq!(filter.stats().inserted, 2);
    filter.check_and_insert_batch(&["a", "d"], &mut answers);
    assert_eq!(answers, [Ok(Verdict::Seen), Ok(Verdict::New)]);
    assert_eq!(filter.stats().inserted, 4);
    clock.advance(2 * SPAN);
    filter.advance();
    assert_eq!(filter.stats().slices, 0);
    filter.insert("c").expect("no limit");
    filter.clear();
    assert!(!filter.contains("c"));
    assert_eq!(filter.filter().shards(), 4);
    assert_eq!(filter.into_inner().span(), SPAN);
}

#[derive(Clone, Debug)]
enum Step {
    Insert,
    InsertIfNew,
    CheckAndInsert,
    Look { within: u64, from: u64, to: u64 },
    Advance,
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<(Step, u8, u64)>> {
    let step = prop_oneof![
        4 => Just(Step::Insert),
        4 => Just(Step::InsertIfNew),
        2 => Just(Step::CheckAndInsert),
        4 => (0..70_000_u64, 0..200_000_u64, 0..200_000_u64).prop_map(|(within, from, to)| Step::Look { within, from, to }),
        1 => Just(Step::Advance),
    ];
    let rarely = prop_oneof![60 => step, 1 => Just(Step::Clear)];
    // an item, and by how many milliseconds time moves; now and then by more than a span
    let pass = prop_oneof![20 => 0..300_u64, 1 => 0..100_000_u64];
    prop::collection::vec((rarely, any::<u8>(), pass), 1..400)
}

/// All figures but the memory, which has the shard's lock in it.
fn comparable(stats: Stats) -> Stats {
    let mut stats = stats;
    stats.memory_bytes = 0;
    stats
}

proptest! {
    /// One shard is a `TimeBloom`, answer for answer.
    #[test]
    fn one_shard_answers_as_a_single_filter(
        steps in steps(),
        seed in any::<u64>(),
        expected_items in 0..2_000_u64,
        paper in any::<bool>(),
    ) {
        let policy = if paper { Policy::Paper } else { Policy::Guarded };
        let builder = TimeBloom::builder(SPAN).seed(seed).expected_items(expected_items).policy(policy);
        let mut single = builder.build().expect("legal parameters");
        let sharded: Sharded<TimeBloom> = builder.build_sharded(1).expect("legal parameters");
        prop_assert_eq!(sharded.shards(), 1);
        prop_assert_eq!(sharded.seed(), single.seed());
        prop_assert_eq!(sharded.span(), single.span());
        prop_assert_eq!(sharded.plan(), single.plan());
        prop_assert_eq!(sharded.policy(), single.policy());
        prop_assert_eq!(sharded.on_full(), single.on_full());
        prop_assert_eq!(sharded.expected_items(), single.expected_items());
        let mut millis = 1_000_000;
        for (step, item, pass) in steps {
            millis += pass;
            // every fifth time is a late one
            let now = Timestamp::from_millis(if item % 5 == 0 { millis - 500 } else { millis });
            let item = [item];
            prop_assert_eq!(sharded.hash(item), single.hash(item));
            match step {
                Step::Insert => prop_assert_eq!(sharded.insert_at(item, now), single.insert_at(item, now)),
                Step::InsertIfNew => {
                    prop_assert_eq!(sharded.insert_if_new_at(item, now), single.insert_if_new_at(item, now));
                }
                Step::CheckAndInsert => {
                    prop_assert_eq!(sharded.check_and_insert_at(item, now), single.check_and_insert_at(item, now));
                }
                Step::Look { within, from, to } => {
                    let within = Duration::from_millis(within);
                    let when = Timestamp::from_millis(950_000 + from)..Timestamp::from_millis(950_000 + to);
                    prop_assert_eq!(sharded.contains_at(item, now), single.contains_at(item, now));
                    prop_assert_eq!(
                        sharded.contains_within_at(item, within, now),
                        single.contains_within_at(item, within, now)
                    );
                    prop_assert_eq!(
                        sharded.contains_between_at(item, when.clone(), now),
                        single.contains_between_at(item, when, now)
                    );
                    prop_assert_eq!(sharded.age_at(item, now), single.age_at(item, now));
                }
                Step::Advance => {
                    sharded.advance_to(now);
                    single.advance_to(now);
                }
                Step::Clear => {
                    sharded.clear();
                    single.clear();
                }
            }
            prop_assert_eq!(comparable(sharded.stats(now)), comparable(single.stats(now)));
        }
        sharded.validate().map_err(TestCaseError::fail)?;
    }
}
