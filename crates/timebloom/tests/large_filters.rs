//! What large filters do little by little.

use std::time::Duration;

use timebloom::{OnFull, Policy, TimeBloom, Timestamp};

const SPAN: Duration = Duration::from_secs(310);

/// What the slices of a filter for fifty million items take until they have gone.
const LARGE: usize = 10 << 20;

/// A filter that was made for fifty million items and has got one, and the time of that.
fn made_too_large() -> (TimeBloom, Timestamp) {
    let mut filter = TimeBloom::builder(SPAN).expected_items(50_000_000).seed(1).build().expect("legal");
    let start = Timestamp::from_secs(1);
    filter.insert_at("first", start).expect("no memory limit");
    assert!(filter.memory_bytes() > LARGE, "{} bytes", filter.memory_bytes());
    (filter, start)
}

#[test]
fn no_insertion_gives_back_much_memory() {
    let (mut filter, mut now) = made_too_large();
    let (mut before, mut steps) = (filter.memory_bytes(), 0);
    for item in 0..50_000_u32 {
        now = now.saturating_add(Duration::from_millis(10));
        filter.insert_at(item.to_le_bytes(), now).unwrap();
        let after = filter.memory_bytes();
        let given_back = before.saturating_sub(after);
        // panels of slices that are not large go at once
        assert!(given_back < 2 << 20, "item {item} gave back {given_back} bytes");
        steps += u32::from(given_back > 60_000);
        before = after;
    }
    assert!(steps > 200, "{steps} steps");
    assert!(before < 200_000, "{before} bytes are left");
    assert_eq!(before, filter.clone().memory_bytes(), "nothing is left of the large slices");
}

/// A generation of ten items would not be enough for all steps.
#[test]
fn nothing_is_held_for_longer_than_a_generation() {
    let (mut filter, mut now) = made_too_large();
    for item in 0..600_u32 {
        now = now.saturating_add(Duration::from_secs(1));
        filter.insert_at(item.to_le_bytes(), now).unwrap();
    }
    assert!(filter.memory_bytes() < 8_000, "{} bytes", filter.memory_bytes());
}

#[test]
fn an_insertion_after_a_long_silence_does_not_give_back_all() {
    let (mut filter, now) = made_too_large();
    let later = now.saturating_add(100 * SPAN);
    filter.insert_at("second", later).unwrap();
    assert!(filter.memory_bytes() > LARGE, "{} bytes", filter.memory_bytes());
    assert!(filter.clone().memory_bytes() < filter.memory_bytes() - LARGE, "a copy has nothing to give back");
    assert!(filter.contains_at("second", later) && !filter.contains_at("first", later));
    filter.validate().unwrap();
}

#[test]
fn what_is_asked_for_is_given_back_at_once() {
    let (mut filter, now) = made_too_large();
    filter.advance_to(now.saturating_add(100 * SPAN));
    assert!(filter.memory_bytes() < 300, "{} bytes", filter.memory_bytes());
    let (mut filter, _) = made_too_large();
    filter.clear();
    assert!(filter.memory_bytes() < 300, "{} bytes", filter.memory_bytes());
    // a filter that began to give back, and has not done
    let (mut filter, now) = made_too_large();
    filter.insert_at("second", now.saturating_add(100 * SPAN)).unwrap();
    filter.clear();
    assert!(filter.memory_bytes() < 300, "{} bytes", filter.memory_bytes());
}

/// Under a limit nothing is held that does not count towards it.
#[test]
fn a_limit_holds_while_slices_go() {
    let builder = TimeBloom::builder(SPAN).expected_items(50_000_000).max_bytes(2 * LARGE as u64).seed(1);
    let mut filter = builder.build().unwrap();
    let mut now = Timestamp::from_secs(1);
    for item in 0..1_000_u32 {
        now = now.saturating_add(Duration::from_secs(1));
        filter.insert_at(item.to_le_bytes(), now).unwrap();
        assert_eq!(filter.memory_bytes(), filter.clone().memory_bytes(), "item {item}");
        assert!(filter.memory_bytes() <= 2 * LARGE, "item {item}: {} bytes", filter.memory_bytes());
    }
}

/// What is needed to clear large slices counts as well, and the sizes leave room for it.
#[test]
fn a_limit_has_room_for_what_is_cleared() {
    for limit in [19_000_000, 20_000_000, 50_000_000] {
        let builder = TimeBloom::builder(SPAN).policy(Policy::Paper).max_bytes(limit).seed(1);
        let mut filter = builder.expected_items(1_000_000_000).build().unwrap();
        let mut now = Timestamp::from_secs(1);
        for item in 0..2_000_u32 {
            now = now.saturating_add(Duration::from_secs(1));
            filter.insert_at(item.to_le_bytes(), now).unwrap();
            assert!(filter.memory_bytes() as u64 <= limit, "item {item}: {} bytes", filter.memory_bytes());
        }
        let bytes = filter.to_bytes();
        assert!(TimeBloom::from_bytes(&bytes).unwrap().to_bytes() == bytes, "a limit of {limit}");
    }
}

/// A filter that has to shorten its window for a limit still finds what has just come, with very few slices as well.
#[test]
fn a_limit_with_few_large_slices_keeps_the_newest() {
    const LIMIT: u64 = 2_000_000;
    let builder = TimeBloom::builder(SPAN).hashes_and_aging(5, 1).max_bytes(LIMIT).on_full(OnFull::Shorten).seed(1);
    let mut filter = builder.expected_items(100_000_000).build().unwrap();
    let mut now = Timestamp::from_secs(1);
    for item in 0..2_000_000_u32 {
        now = now.saturating_add(Duration::from_micros(10));
        filter.insert_at(item.to_le_bytes(), now).unwrap();
        if item % 1_013 == 0 {
            assert!(filter.memory_bytes() as u64 <= LIMIT, "item {item}: {} bytes", filter.memory_bytes());
            assert!(filter.contains_at(item.to_le_bytes(), now), "item {item}");
        }
    }
    assert!(filter.counts().shortened > 0, "the limit was never reached");
    filter.validate().unwrap();
    let bytes = filter.to_bytes();
    assert!(TimeBloom::from_bytes(&bytes).unwrap().to_bytes() == bytes);
}
