//! A batch is its items one after the other: the same answers, and the same filter afterwards.

use std::time::Duration;

use proptest::prelude::*;
use timebloom::{BatchFull, CountBloom, Full, ItemHash, OnFull, Policy, Sharded, TimeBloom, Timestamp, Verdict};

const SPAN: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
enum Operation {
    Insert,
    InsertIfNew,
    CheckAndInsert,
    Contains,
}

/// Answers of any operation, in order.
#[derive(Debug, PartialEq)]
enum Answers {
    Nothing,
    Verdicts(Vec<Verdict>),
    Seen(Vec<bool>),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::{CheckAndInsert, Contains, Insert, InsertIfNew};
    prop::sample::select(vec![Insert, InsertIfNew, CheckAndInsert, Contains])
}

/// Batches of items from a small pool, so that many repeat, within a batch too.
fn batch() -> impl Strategy<Value = Vec<[u8; 2]>> {
    let few = prop::collection::vec(0..300_u16, 0..50);
    let many = prop::collection::vec(0..3_000_u16, 0..600);
    prop_oneof![4 => few, 1 => many].prop_map(|items| items.into_iter().map(u16::to_le_bytes).collect())
}

/// Mostly a part of the window; sometimes more than all of it.
fn pause_ms() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..20_000_u64, 1 => 50_000..150_000_u64]
}

/// One operation on all items at once.
fn time_batch(
    filter: &mut TimeBloom,
    operation: Operation,
    items: &[[u8; 2]],
    now: Timestamp,
) -> (Result<(), BatchFull>, Answers) {
    // what was there before a batch must not show
    let mut verdicts = vec![Verdict::Seen; 3];
    let mut seen = vec![true; 3];
    match operation {
        Operation::Insert => (filter.insert_batch_at(items, now), Answers::Nothing),
        Operation::InsertIfNew => {
            let result = filter.insert_if_new_batch_at(items, now, &mut verdicts);
            (result, Answers::Verdicts(verdicts))
        }
        Operation::CheckAndInsert => {
            let result = filter.check_and_insert_batch_at(items, now, &mut verdicts);
            (result, Answers::Verdicts(verdicts))
        }
        Operation::Contains => {
            filter.contains_batch_at(items, now, &mut seen);
            (Ok(()), Answers::Seen(seen))
        }
    }
}

/// One operation on all hashes at once.
fn time_hashes(
    filter: &mut TimeBloom,
    operation: Operation,
    hashes: &[ItemHash],
    now: Timestamp,
) -> (Result<(), BatchFull>, Answers) {
    let mut verdicts = vec![Verdict::Seen; 3];
    let mut seen = vec![true; 3];
    match operation {
        Operation::Insert => (filter.insert_hashes_at(hashes, now), Answers::Nothing),
        Operation::InsertIfNew => {
            let result = filter.insert_if_new_hashes_at(hashes, now, &mut verdicts);
            (result, Answers::Verdicts(verdicts))
        }
        Operation::CheckAndInsert => {
            let result = filter.check_and_insert_hashes_at(hashes, now, &mut verdicts);
            (result, Answers::Verdicts(verdicts))
        }
        Operation::Contains => {
            filter.contains_hashes_at(hashes, now, &mut seen);
            (Ok(()), Answers::Seen(seen))
        }
    }
}

/// What the two above must equal.
fn time_singles(
    filter: &mut TimeBloom,
    operation: Operation,
    items: &[[u8; 2]],
    now: Timestamp,
) -> (Result<(), BatchFull>, Answers) {
    let (mut verdicts, mut seen) = (Vec::new(), Vec::new());
    let mut result = Ok(());
    for (done, item) in items.iter().enumerate() {
        let outcome: Result<(), Full> = match operation {
            Operation::Insert => filter.insert_at(item, now),
            Operation::InsertIfNew => filter.insert_if_new_at(item, now).map(|verdict| verdicts.push(verdict)),
            Operation::CheckAndInsert => filter.check_and_insert_at(item, now).map(|verdict| verdicts.push(verdict)),
            Operation::Contains => {
                seen.push(filter.contains_at(item, now));
                Ok(())
            }
        };
        if let Err(full) = outcome {
            result = Err(BatchFull { done, full });
            break;
        }
    }
    let answers = match operation {
        Operation::Insert => Answers::Nothing,
        Operation::InsertIfNew | Operation::CheckAndInsert => Answers::Verdicts(verdicts),
        Operation::Contains => Answers::Seen(seen),
    };
    (result, answers)
}

fn count_batch(filter: &mut CountBloom, operation: Operation, items: &[[u8; 2]]) -> Answers {
    let mut verdicts = vec![Verdict::Seen; 3];
    let mut seen = vec![true; 3];
    match operation {
        Operation::Insert => {
            filter.insert_batch(items);
            return Answers::Nothing;
        }
        Operation::InsertIfNew => filter.insert_if_new_batch(items, &mut verdicts),
        Operation::CheckAndInsert => filter.check_and_insert_batch(items, &mut verdicts),
        Operation::Contains => {
            filter.contains_batch(items, &mut seen);
            return Answers::Seen(seen);
        }
    }
    Answers::Verdicts(verdicts)
}

fn count_hashes(filter: &mut CountBloom, operation: Operation, hashes: &[ItemHash]) -> Answers {
    let mut verdicts = vec![Verdict::Seen; 3];
    let mut seen = vec![true; 3];
    match operation {
        Operation::Insert => {
            filter.insert_hashes(hashes);
            return Answers::Nothing;
        }
        Operation::InsertIfNew => filter.insert_if_new_hashes(hashes, &mut verdicts),
        Operation::CheckAndInsert => filter.check_and_insert_hashes(hashes, &mut verdicts),
        Operation::Contains => {
            filter.contains_hashes(hashes, &mut seen);
            return Answers::Seen(seen);
        }
    }
    Answers::Verdicts(verdicts)
}

fn count_singles(filter: &mut CountBloom, operation: Operation, items: &[[u8; 2]]) -> Answers {
    match operation {
        Operation::Insert => {
            items.iter().for_each(|item| filter.insert(item));
            Answers::Nothing
        }
        Operation::InsertIfNew => Answers::Verdicts(items.iter().map(|item| filter.insert_if_new(item)).collect()),
        Operation::CheckAndInsert => {
            Answers::Verdicts(items.iter().map(|item| filter.check_and_insert(item)).collect())
        }
        Operation::Contains => Answers::Seen(items.iter().map(|item| filter.contains(item)).collect()),
    }
}

proptest! {
    #[test]
    fn batches_of_a_time_window_equal_single_calls(
        batches in prop::collection::vec((operation(), batch(), pause_ms()), 1..40),
        limit in prop_oneof![Just(None), (4_000..9_000_u64).prop_map(Some)],
        shorten in any::<bool>(),
        policy in prop::sample::select(vec![Policy::Guarded, Policy::Paper]),
        seed in any::<u64>(),
    ) {
        let mut builder = TimeBloom::builder(SPAN).policy(policy).seed(seed);
        if let Some(limit) = limit {
            builder = builder.max_bytes(limit).on_full(if shorten { OnFull::Shorten } else { OnFull::Reject });
        }
        let mut singles = builder.build().expect("legal");
        let mut batched = singles.clone();
        let mut prehashed = singles.clone();
        let mut now = Timestamp::from_secs(1_000);
        for (operation, items, pause_ms) in batches {
            now = now.saturating_add(Duration::from_millis(pause_ms));
            let hashes: Vec<ItemHash> = items.iter().map(|item| singles.hash(item)).collect();
            let expected = time_singles(&mut singles, operation, &items, now);
            prop_assert_eq!(&time_batch(&mut batched, operation, &items, now), &expected);
            prop_assert_eq!(&time_hashes(&mut prehashed, operation, &hashes, now), &expected);
        }
        for filter in [&batched, &prehashed] {
            filter.validate().map_err(TestCaseError::fail)?;
            prop_assert_eq!(filter.stats(now), singles.stats(now));
            prop_assert_eq!(filter.to_bytes(), singles.to_bytes());
        }
    }

    #[test]
    fn batches_of_a_count_window_equal_single_calls(
        batches in prop::collection::vec((operation(), batch()), 1..40),
        capacity in 1..2_000_u64,
        seed in any::<u64>(),
    ) {
        let mut singles = CountBloom::builder(capacity).seed(seed).build().expect("legal");
        let mut batched = singles.clone();
        let mut prehashed = singles.clone();
        for (operation, items) in batches {
            let hashes: Vec<ItemHash> = items.iter().map(|item| singles.hash(item)).collect();
            let expected = count_singles(&mut singles, operation, &items);
            prop_assert_eq!(&count_batch(&mut batched, operation, &items), &expected);
            prop_assert_eq!(&count_hashes(&mut prehashed, operation, &hashes), &expected);
        }
        for filter in [&batched, &prehashed] {
            filter.validate().map_err(TestCaseError::fail)?;
            prop_assert_eq!(filter.stats(), singles.stats());
            prop_assert_eq!(filter.to_bytes(), singles.to_bytes());
        }
    }

    #[test]
    fn batches_of_a_sharded_filter_equal_single_calls(
        batches in prop::collection::vec((operation(), batch(), pause_ms()), 1..20),
        limit in prop_oneof![Just(None), (4_000..9_000_u64).prop_map(Some)],
        shards in 1..20_usize,
        seed in any::<u64>(),
    ) {
        let mut builder = TimeBloom::builder(SPAN).seed(seed);
        if let Some(limit) = limit {
            builder = builder.max_bytes(limit * shards as u64);
        }
        let [singles, batched] = [(); 2].map(|()| builder.build_sharded(shards).expect("legal"));
        let mut now = Timestamp::from_secs(1_000);
        for (operation, items, pause_ms) in batches {
            now = now.saturating_add(Duration::from_millis(pause_ms));
            sharded_calls(&singles, &batched, operation, &items, now)?;
        }
        batched.validate().map_err(TestCaseError::fail)?;
        prop_assert!(batched.shard_stats(now).eq(singles.shard_stats(now)));
    }
}

/// One operation on all items, one by one in the one filter and at once in the other. There are no batches that insert and
/// tell nothing.
fn sharded_calls(
    singles: &Sharded<TimeBloom>,
    batched: &Sharded<TimeBloom>,
    operation: Operation,
    items: &[[u8; 2]],
    now: Timestamp,
) -> Result<(), TestCaseError> {
    let mut answers = vec![Ok(Verdict::Seen)]; // to be emptied
    let expected: Vec<Result<Verdict, Full>> = match operation {
        Operation::Insert | Operation::CheckAndInsert => {
            batched.check_and_insert_batch_at(items, now, &mut answers);
            items.iter().map(|item| singles.check_and_insert_at(item, now)).collect()
        }
        Operation::InsertIfNew => {
            batched.insert_if_new_batch_at(items, now, &mut answers);
            items.iter().map(|item| singles.insert_if_new_at(item, now)).collect()
        }
        Operation::Contains => {
            let mut seen = vec![true];
            batched.contains_batch_at(items, now, &mut seen);
            prop_assert_eq!(seen, items.iter().map(|item| singles.contains_at(item, now)).collect::<Vec<_>>());
            return Ok(());
        }
    };
    prop_assert_eq!(answers, expected);
    Ok(())
}

/// More items than are put in the order of their shards at once.
#[test]
fn large_batches_of_a_sharded_filter_equal_single_calls() {
    let builder = TimeBloom::builder(SPAN).seed(1);
    for shards in [1, 7, 3_000] {
        let [singles, batched] = [(); 2].map(|()| builder.build_sharded(shards).expect("legal"));
        let items: Vec<[u8; 2]> =
            (0..20_000_u32).map(|item| (item % 15_000).to_le_bytes()).map(|[a, b, ..]| [a, b]).collect();
        for operation in [Operation::InsertIfNew, Operation::Contains, Operation::CheckAndInsert] {
            sharded_calls(&singles, &batched, operation, &items, Timestamp::from_secs(1_000)).expect("equal");
        }
        assert!(batched.shard_stats(Timestamp::from_secs(1_000)).eq(singles.shard_stats(Timestamp::from_secs(1_000))));
    }
}

#[test]
fn a_rejected_batch_says_how_far_it_came() {
    let builder = TimeBloom::builder(SPAN).max_bytes(8 << 10).on_full(OnFull::Reject).seed(1);
    let mut filter = builder.build().expect("enough to start with");
    let items: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_le_bytes).collect();
    let now = Timestamp::from_secs(1_000);
    let mut verdicts = Vec::new();
    let stop = filter.insert_if_new_batch_at(&items, now, &mut verdicts).expect_err("8 KiB hold less");

    assert!(stop.done > 100, "{stop}");
    assert_eq!(verdicts.len(), stop.done);
    assert_eq!(stop.full.max_bytes, 8 << 10);
    let stats = filter.stats(now);
    assert_eq!(stats.rejected, 1, "the batch ends at the first rejection");
    assert_eq!(stats.inserted, verdicts.iter().filter(|verdict| verdict.is_new()).count() as u64);
    assert!(items[..stop.done].iter().all(|item| filter.contains_at(item, now)), "what was done stays done");
    let source = std::error::Error::source(&stop).expect("the rejection");
    assert_eq!(source.to_string(), stop.full.to_string());

    // when the window has moved on there is room again, for the rest of the batch
    let later = now.saturating_add(3 * SPAN);
    assert!(filter.insert_if_new_at(items[stop.done], later).expect("room").is_new());
}

#[test]
fn an_empty_batch_changes_nothing() {
    let mut filter = TimeBloom::builder(SPAN).seed(1).build().expect("legal");
    let now = Timestamp::from_secs(1_000);
    let before = filter.stats(now);
    let mut verdicts = vec![Verdict::New];
    assert_eq!(filter.insert_if_new_batch_at::<&str>(&[], now, &mut verdicts), Ok(()));
    assert_eq!(verdicts, []);
    assert_eq!(filter.stats(now), before);
}

#[test]
fn asking_for_memory_changes_nothing() {
    // large enough for its memory to be asked for
    let mut time = TimeBloom::builder(SPAN).expected_items(4_000_000).seed(1).build().unwrap();
    let mut count = CountBloom::builder(4_000_000).seed(1).build().unwrap();
    let now = Timestamp::from_secs(100);
    time.insert_at("a", now).unwrap();
    count.insert("a");
    assert!(time.memory_bytes() > 1 << 19 && count.memory_bytes() > 1 << 19, "both are large");
    let before = (time.to_bytes(), count.to_bytes());
    for (item, seen) in [("a", true), ("b", false)] {
        let (in_time, in_count) = (time.prefetch(item), count.prefetch(item));
        assert_eq!((in_time, in_count), (time.hash(item), count.hash(item)));
        assert_eq!((time.contains_hash_at(in_time, now), count.contains_hash(in_count)), (seen, seen));
    }
    assert_eq!((time.to_bytes(), count.to_bytes()), before);
}
