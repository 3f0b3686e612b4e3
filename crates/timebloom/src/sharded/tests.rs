//! Laws that need a look inside. Small enough for Miri, which tries other schedules and reports data races, unless noted.

use std::ops::{Bound, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use timebloom_testkit::at_most_with_confidence;

use super::shard::{Shard, shard_of};
use super::{MAX_SHARDS, Sharded, default_shards};
use crate::error::BuildError;
use crate::hash::ItemHash;
use crate::policy::OnFull;
use crate::time_bloom::TimeBloom;
use crate::timestamp::Timestamp;

const SPAN: Duration = Duration::from_secs(60);

/// A filter that does not err with the few items of these tests, and takes Miri little time to plan.
fn sharded(shards: usize) -> Sharded<TimeBloom> {
    let builder = TimeBloom::builder(SPAN).false_positive_rate(1e-4).hashes_and_aging(4, 2).seed(1);
    builder.build_sharded(shards).expect("legal parameters")
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_secs(1_700_000_000 + second)
}

/// Panics while holding the lock of every shard, after `damage` to the filter.
fn panic_inside(filter: &Sharded<TimeBloom>, damage: impl Fn(&mut TimeBloom)) {
    for shard in &filter.shards {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut held = shard.lock();
            damage(&mut held);
            // not `panic!`, whose message would look like a failure in the output of the tests
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(outcome.is_err());
    }
}

#[test]
fn one_of_the_threads_that_race_for_an_item_is_first() {
    const THREADS: u64 = 3;
    let items = if cfg!(miri) { 6 } else { 60 };
    let filter = sharded(2);
    let first_sightings: Vec<AtomicU32> = (0..items).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (filter, first_sightings) = (&filter, &first_sightings);
            scope.spawn(move || {
                for (item, first) in (0_u32..).zip(first_sightings) {
                    // each thread has a time of its own; the order of times is not that of the threads
                    let now = at((thread * 7 + u64::from(item)) % 60);
                    let verdict = if item % 2 == 0 {
                        filter.insert_if_new_at(item.to_le_bytes(), now)
                    } else {
                        filter.check_and_insert_at(item.to_le_bytes(), now)
                    };
                    first.fetch_add(u32::from(verdict.expect("no limit").is_new()), Ordering::Relaxed);
                }
            });
        }
    });
    assert!(first_sightings.into_iter().all(|first| first.into_inner() == 1));
    filter.validate().expect("sound");
}

/// A batch does what it can while another thread has one of its shards, and the rest when that is free again.
#[test]
fn a_batch_goes_round_a_shard_that_is_busy() {
    let filter = sharded(4);
    let items: Vec<[u8; 4]> = (0..40_u32).map(u32::to_le_bytes).collect();
    let shard = |item: &[u8; 4]| shard_of(filter.hash(item), 4);
    let (busy, free): (Vec<&[u8; 4]>, Vec<_>) = items.iter().partition(|item| shard(item) == 2);
    assert!(busy.len() > 3 && free.len() > 10);
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        let held = filter.shards[2].lock();
        let batch = scope.spawn(|| {
            filter.by_shard(&items, |shard, hashes, _| {
                hashes.iter().for_each(|&hash| shard.insert_hash_at(hash, at(0)).expect("no limit"));
                done.fetch_add(hashes.len(), Ordering::SeqCst);
            });
        });
        // without a look at the others: they must not be busy
        while done.load(Ordering::SeqCst) < free.len() {
            thread::yield_now();
        }
        assert!(!busy.iter().any(|item| held.contains_at(item, at(0))));
        drop(held);
        batch.join().expect("no panic");
    });
    assert_eq!(done.into_inner(), items.len());
    assert!(items.iter().all(|item| filter.contains_at(item, at(60))));
}

#[test]
fn a_panic_in_one_thread_is_not_one_in_others() {
    let filter = sharded(3);
    for item in 0..30_u32 {
        filter.insert_at(item.to_le_bytes(), at(0)).expect("no limit");
    }
    panic_inside(&filter, |_| {});
    let items: Vec<[u8; 4]> = (0..30_u32).map(u32::to_le_bytes).collect();
    let mut seen = Vec::new();
    filter.contains_batch_at(&items, at(60), &mut seen);
    assert_eq!(seen, [true; 30], "an item was lost");
    panic_inside(&filter, |_| {});
    assert!(items.iter().all(|item| filter.contains_at(item, at(60))), "an item was lost");
    assert_eq!(filter.stats(at(60)).inserted, 30);
    assert!(filter.insert_if_new_at("another", at(60)).expect("no limit").is_new());
}

#[test]
fn a_shard_that_a_panic_left_broken_starts_anew() {
    let filter = sharded(3);
    filter.insert_at("lost", at(0)).expect("no limit");
    panic_inside(&filter, |broken| {
        broken.window.slices.clear();
        broken.window.generation_size = 5;
    });
    assert!(!filter.contains_at("lost", at(1)));
    for item in 0..30_u32 {
        assert!(filter.insert_if_new_at(item.to_le_bytes(), at(1)).expect("no limit").is_new());
    }
    filter.validate().expect("sound");
}

/// A range and an item whose code uses the filter itself: it would wait for itself forever if a lock were held.
#[test]
fn code_of_users_runs_outside_the_lock() {
    struct Curious<'a>(&'a Sharded<TimeBloom>);
    impl RangeBounds<Timestamp> for Curious<'_> {
        fn start_bound(&self) -> Bound<&Timestamp> {
            assert!(self.0.contains_at("item", at(0)));
            Bound::Unbounded
        }
        fn end_bound(&self) -> Bound<&Timestamp> {
            self.start_bound()
        }
    }
    impl AsRef<[u8]> for Curious<'_> {
        fn as_ref(&self) -> &[u8] {
            self.0.insert_at("item", at(0)).expect("no limit");
            b"item"
        }
    }
    let filter = sharded(1);
    assert!(filter.insert_if_new_at(Curious(&filter), at(0)).expect("no limit").is_seen());
    let mut answers = Vec::new();
    filter.insert_if_new_batch_at(&[Curious(&filter), Curious(&filter)], at(0), &mut answers);
    assert!(answers.iter().all(|answer| answer.expect("no limit").is_seen()));
    assert!(filter.contains_between_at(Curious(&filter), Curious(&filter), at(0)));
}

#[test]
fn shards_share_no_cache_line_and_filters_may_be_shared() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Sharded<TimeBloom>>();
    assert_eq!(align_of::<Shard<TimeBloom>>(), 128);
    assert_eq!(size_of::<Shard<TimeBloom>>() % 128, 0);
}

#[test]
fn numbers_of_shards_out_of_range_are_refused() {
    let builder = TimeBloom::builder(SPAN).hashes_and_aging(4, 2);
    for got in [0, MAX_SHARDS + 1, usize::MAX] {
        assert_eq!(builder.build_sharded(got).unwrap_err(), BuildError::Shards { got, max: MAX_SHARDS });
    }
    assert!((1..=MAX_SHARDS).contains(&default_shards()));
    assert_eq!(builder.expected_items(10).build_sharded(3).expect("legal").expected_items(), 10);
}

#[test]
#[cfg_attr(miri, ignore = "too many items")]
fn the_memory_limit_holds_for_all_shards_together() {
    let builder = TimeBloom::builder(SPAN).seed(1);
    let Err(BuildError::MaxBytes { got: 1, min }) = builder.clone().max_bytes(1).build_sharded(7) else {
        panic!("a byte is not enough")
    };
    for max_bytes in [min, 100_000] {
        for on_full in [OnFull::Reject, OnFull::Shorten] {
            let filter = builder.clone().max_bytes(max_bytes).on_full(on_full).build_sharded(7).expect("legal");
            assert_eq!(filter.max_bytes(), Some(max_bytes));
            let mut rejected = 0;
            for item in 0..100_000_u32 {
                rejected += u64::from(filter.insert_at(item.to_le_bytes(), at(0)).is_err());
            }
            let stats = filter.stats(at(0));
            assert!(stats.memory_bytes as u64 <= max_bytes, "{} of {max_bytes} bytes", stats.memory_bytes);
            assert_eq!(stats.rejected, rejected);
            assert_eq!((rejected > 0, stats.shortened > 0), (on_full == OnFull::Reject, on_full == OnFull::Shorten));
        }
    }
}

/// Items of one shard have something in common: the hashes that select it. If positions depended on that, they would
/// crowd in some places and the rate would not be what the fills say.
///
/// 20,000 queries a shard, with one chance in 10^9 a shard of a false alarm.
#[test]
#[cfg_attr(miri, ignore = "millions of items")]
fn shards_fill_evenly_and_err_no_more_than_allowed() {
    const QUERIES: u64 = 20_000;
    for (shards, rate, seed) in [(2, 0.01, 1), (16, 0.01, 2), (64, 0.001, 3), (100, 0.05, 4)] {
        let items = 2_000 * shards as u64;
        let builder = TimeBloom::builder(SPAN).false_positive_rate(rate).expected_items(items).seed(seed);
        let filter = builder.build_sharded(shards).expect("legal");
        let time_of = |item: u64| Timestamp::from_millis(item * 60_000 / items);
        for item in 0..2 * items {
            filter.insert_at(item.to_le_bytes(), time_of(item)).expect("no limit");
        }
        let now = time_of(2 * items);
        let mut queries = vec![0; shards];
        let mut reported = vec![0; shards];
        for item in 2 * items..2 * items + QUERIES * shards as u64 {
            let hash = ItemHash::new(item.to_le_bytes(), seed);
            let shard = shard_of(hash, shards);
            queries[shard] += 1;
            reported[shard] += u64::from(filter.contains_hash_at(hash, now));
        }
        for (shard, stats) in filter.shard_stats(now).enumerate() {
            let case = format!("shard {shard} of {shards}, rate {rate}, seed {seed}");
            // an even share, within six standard deviations
            for (count, expected) in [(queries[shard], QUERIES), (stats.inserted, 4_000)] {
                let off = count as f64 - expected as f64;
                assert!(off.abs() <= 6.0 * (expected as f64).sqrt(), "{case}: {count} items, not about {expected}");
            }
            assert!(stats.false_positive_rate <= rate, "{case}: {}", stats.false_positive_rate);
            let most = at_most_with_confidence(queries[shard], stats.false_positive_rate, 1e-9);
            assert!(reported[shard] <= most, "{case}: {} reported, at most {most}", reported[shard]);
        }
        let all = filter.stats(now);
        assert!(all.false_positive_rate <= all.worst_false_positive_rate && all.worst_false_positive_rate <= rate);
        // and not fewer than the fills say either: the mean of all shards is what a new item meets
        let (queries, reported): (u64, u64) = (queries.iter().sum(), reported.iter().sum());
        let expected = queries as f64 * all.false_positive_rate;
        // (narrow panels are crowded less than the plan says)
        let (least, most) = (0.9 * expected - 6.0 * expected.sqrt(), 1.03 * expected + 6.0 * expected.sqrt());
        assert!((least..most).contains(&(reported as f64)), "{reported} reported, not about {expected}");
    }
}
