//! Stored snapshots keep loading, and the same filter keeps giving the same bytes.
//!
//! A file is never changed once its format version is released: a new version, or a filter that does something else with
//! its recipe, gets a file of a new name beside the old one, which stays and must load. Until then, after an intended
//! change:
//!
//! `TIMEBLOOM_BLESS=1 cargo test -p timebloom --test golden`

use std::path::PathBuf;
use std::time::Duration;

use timebloom::{CountBloom, OnFull, Policy, TimeBloom, Timestamp};

/// 2023-11-14, 22:13:20.
const START: u64 = 1_700_000_000;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn is_blessing() -> bool {
    std::env::var_os("TIMEBLOOM_BLESS").is_some()
}

/// The stored bytes of `name`; written anew first if that is asked for.
fn golden(name: &str, recipe: &[u8]) -> Vec<u8> {
    if is_blessing() {
        std::fs::write(path(name), recipe).expect("the golden file can be written");
    }
    std::fs::read(path(name)).expect("the golden file is there")
}

fn check_time(name: &str, filter: &TimeBloom) {
    filter.validate().expect("a valid filter");
    let recipe = filter.to_bytes();
    let stored = golden(name, &recipe);
    let restored = TimeBloom::from_bytes(&stored).expect("the golden file loads");
    assert!(restored.to_bytes() == stored, "{name} gives other bytes than it was read from");
    assert!(recipe == stored, "the recipe of {name} gives other bytes than the file has");
}

fn check_count(name: &str, filter: &CountBloom) {
    filter.validate().expect("a valid filter");
    let recipe = filter.to_bytes();
    let stored = golden(name, &recipe);
    let restored = CountBloom::from_bytes(&stored).expect("the golden file loads");
    assert!(restored.to_bytes() == stored, "{name} gives other bytes than it was read from");
    assert!(recipe == stored, "the recipe of {name} gives other bytes than the file has");
}

/// Item `i` every `interval` milliseconds, for `items` items, from `start` milliseconds on.
fn stream(filter: &mut TimeBloom, start: u64, interval: u64, items: u64) {
    for i in 0..items {
        let now = Timestamp::from_millis(START * 1_000 + start + i * interval);
        // rejections are part of the recipe
        let _ = filter.insert_at((start + i).to_le_bytes(), now);
    }
}

/// Files whose recipe is history load all the same.
#[test]
fn every_stored_snapshot_loads() {
    if is_blessing() {
        return; // other tests are writing the files
    }
    let files = std::fs::read_dir(path("")).expect("the golden files are there");
    let mut loaded = 0;
    for file in files.map(|entry| entry.unwrap().path()) {
        let bytes = std::fs::read(&file).unwrap();
        let is_count = CountBloom::from_bytes(&bytes).is_ok();
        assert!(is_count != TimeBloom::from_bytes(&bytes).is_ok(), "{file:?} is exactly one kind of filter");
        loaded += 1;
    }
    assert!(loaded >= 17, "only {loaded} files");
}

#[test]
fn time_window_with_the_default_policy() {
    let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(7).build().unwrap();
    stream(&mut filter, 0, 500, 200);
    stream(&mut filter, 100_000, 20, 400);
    assert!(filter.stats(Timestamp::MIN).retired > 0);
    check_time("v1-time-guarded.snapshot", &filter);
}

#[test]
fn time_window_with_the_policy_of_the_paper() {
    let builder = TimeBloom::builder(Duration::from_millis(2_500)).false_positive_rate(0.1).hashes_and_aging(4, 3);
    let mut filter = builder.policy(Policy::Paper).expected_items(20).seed(8).build().unwrap();
    stream(&mut filter, 0, 100, 60);
    stream(&mut filter, 7_000, 10, 100);
    check_time("v1-time-paper.snapshot", &filter);
}

#[test]
fn time_window_that_never_saw_an_item() {
    let filter = TimeBloom::builder(Duration::from_secs(3_600)).expected_items(1_000).seed(9).build().unwrap();
    check_time("v1-time-empty.snapshot", &filter);
}

#[test]
fn time_window_that_forgets_early_at_its_memory_limit() {
    let builder = TimeBloom::builder(Duration::from_secs(10)).hashes_and_aging(7, 14).max_bytes(2_500);
    let mut filter = builder.on_full(OnFull::Shorten).seed(10).build().unwrap();
    stream(&mut filter, 0, 10, 900);
    assert!(filter.stats(Timestamp::MIN).shortened > 0);
    check_time("v1-time-shortened.snapshot", &filter);
}

#[test]
fn time_window_that_rejects_at_its_memory_limit() {
    let builder = TimeBloom::builder(Duration::from_secs(10)).hashes_and_aging(7, 14).max_bytes(2_500);
    let mut filter = builder.seed(11).build().unwrap();
    stream(&mut filter, 0, 10, 900);
    assert!(filter.stats(Timestamp::MIN).rejected > 0);
    check_time("v1-time-rejecting.snapshot", &filter);
}

/// What counts towards the limit is part of the format: a few bytes more for any part of this row, and it does not load.
#[test]
fn time_window_that_fills_its_memory_limit() {
    let builder = TimeBloom::builder(Duration::from_secs(10)).hashes_and_aging(7, 14).max_bytes(3_465);
    let mut filter = builder.on_full(OnFull::Shorten).seed(14).build().unwrap();
    stream(&mut filter, 0, 8, 3_000);
    let sizes: Vec<u64> = filter.slices().map(|slice| slice.bits).collect();
    assert_eq!((filter.memory_bytes(), sizes), (3_464, vec![14 * 64; 24]), "three wide panels");
    check_time("v1-time-full.snapshot", &filter);
}

#[test]
fn count_window() {
    let mut filter = CountBloom::builder(300).false_positive_rate(0.02).max_aging_slices(12).seed(12).build().unwrap();
    for i in 0_u32..1_000 {
        filter.insert(i.to_le_bytes());
    }
    check_count("v1-count.snapshot", &filter);
}

#[test]
fn count_window_that_never_saw_an_item() {
    check_count("v1-count-empty.snapshot", &CountBloom::builder(1_000_000).seed(13).build().unwrap());
}
