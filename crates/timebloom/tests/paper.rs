//! The paper's own experiment: 10,000 distinct items, one each 0.1 s, span 300 s, eps 0.1.

use std::time::Duration;

use timebloom::{Policy, TimeBloom, Timestamp, levels};

const ITEMS: u32 = 10_000;
const SPAN: Duration = Duration::from_secs(300);

/// What one filter did.
struct Course {
    most_slices: usize,
    last_slices: usize,
    last_slice0_bits: u64,
}

fn at(item: u32) -> Timestamp {
    Timestamp::from_millis(1_000_000 + 100 * u64::from(item))
}

fn run(hashes: u32, aging_slices: u32, capacity: u64) -> Course {
    let mut filter = TimeBloom::builder(SPAN)
        .false_positive_rate(0.1)
        .hashes_and_aging(hashes, aging_slices)
        .expected_items(capacity)
        .policy(Policy::Paper)
        .seed(3)
        .build()
        .expect("a published pair");
    let mut most_slices = 0;
    for item in 0..ITEMS {
        filter.insert_at(item.to_le_bytes(), at(item)).expect("no memory limit");
        let slices = filter.stats(at(item)).slices;
        most_slices = most_slices.max(slices);
        assert!(slices >= (hashes + aging_slices) as usize, "never fewer than k + l slices");
        if item % 100 == 0 {
            // 3,000 insertions in 300 s: this one and the 3,000 before it are in the window
            for recent in item.saturating_sub(3_000)..=item {
                assert!(filter.contains_at(recent.to_le_bytes(), at(item)), "({hashes},{aging_slices}): lost {recent}");
            }
            filter.validate().expect("invariants hold");
        }
    }
    let slice0 = filter.slices().next().expect("never empty");
    Course { most_slices, last_slices: filter.slices().count(), last_slice0_bits: slice0.bits }
}

#[test]
fn filters_grow_and_return_to_their_base() {
    for level in levels(0.1) {
        let (hashes, aging_slices) = (level.hashes, level.aging_slices);
        let base = (hashes + aging_slices) as usize;
        let under = run(hashes, aging_slices, 1_000);
        let over = run(hashes, aging_slices, 10_000);
        assert!(under.most_slices > base, "{level:?}: too small a filter grows");
        assert_eq!(under.last_slices, base, "{level:?}: and returns to k + l slices");
        assert_eq!(over.most_slices, base, "{level:?}: too large a filter never grows");
        assert_eq!(over.last_slices, base);
        assert_eq!(under.last_slice0_bits, over.last_slice0_bits, "{level:?}: slice 0 settles at one size");
    }
}

#[test]
fn items_overstay_without_bound_when_the_stream_slows_down() {
    // what the guarded policy does not do: with shifts by count only, a slow stream keeps a generation open for ages
    let build = |policy| {
        let builder = TimeBloom::builder(SPAN).false_positive_rate(0.01).hashes_and_aging(10, 25);
        builder.expected_items(3_000).policy(policy).seed(1).build().expect("a published pair")
    };
    let (mut paper, mut guarded) = (build(Policy::Paper), build(Policy::Guarded));
    for step in 0..10_u64 {
        let now = Timestamp::from_secs(1_000 + 200 * step);
        paper.insert_at(step.to_le_bytes(), now).expect("no memory limit");
        guarded.insert_at(step.to_le_bytes(), now).expect("no memory limit");
    }
    let now = Timestamp::from_secs(1_000 + 200 * 9);
    assert!(paper.contains_at(0_u64.to_le_bytes(), now), "inserted 1,800 s ago, in a window of 300 s");
    assert!(!guarded.contains_at(0_u64.to_le_bytes(), now));
}
