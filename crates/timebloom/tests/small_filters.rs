//! What small filters really take, counted by the allocator.
#![allow(unsafe_code)] // a global allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use timebloom::{CountBloom, TimeBloom, Timestamp};
use timebloom_testkit::{Arrivals, Scenario};

/// The system's allocator, with the bytes and the allocations of each thread counted.
struct Counting;

thread_local! {
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count(bytes: usize, sign: isize) {
    let bytes = isize::try_from(bytes).expect("a layout's size fits isize");
    BYTES.set(BYTES.get() + sign * bytes);
    ALLOCATIONS.set(ALLOCATIONS.get() + u64::from(sign > 0));
}

// SAFETY: all calls go to `System` unchanged; counting neither allocates nor touches the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(layout.size(), -1);
        count(new_size, 1);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const HOUR: Duration = Duration::from_secs(3_600);

/// Runs a stream of 64 items an hour through a default filter, with what it takes asserted at every item.
fn most_bytes(scenario: Scenario, hint: u64, seed: u64) -> usize {
    let builder = TimeBloom::builder(HOUR).seed(seed).expected_items(hint);
    let aging_slices = builder.build().expect("a legal filter").plan().aging_slices();
    let arrivals: Vec<Timestamp> = scenario.arrivals(64.0, HOUR, aging_slices, seed).collect();
    let before = BYTES.get();
    let mut filter = builder.build().expect("a legal filter");
    let mut most = 0;
    for (item, now) in arrivals.into_iter().enumerate() {
        filter.insert_at(item.to_le_bytes(), now).expect("no memory limit");
        let heap = usize::try_from(BYTES.get() - before).expect("the filter only adds");
        let bytes = size_of::<TimeBloom>() + heap;
        let told = filter.stats(now).memory_bytes;
        assert!(bytes <= told, "{scenario:?}, seed {seed}, item {item}: takes {bytes} bytes, tells {told}");
        most = most.max(bytes);
    }
    most
}

/// The struct and `k + l` slices of 32 bytes, all of them in use at a steady rate; random arrivals take less.
#[test]
fn sixty_four_items_an_hour_take_one_and_a_half_kilobytes() {
    for seed in 0..50 {
        for hint in [0, 64] {
            for scenario in [Scenario::Steady, Scenario::Poisson] {
                let most = most_bytes(scenario, hint, seed);
                assert!(most < 1_500, "{scenario:?}, hint {hint}, seed {seed}: {most} bytes");
            }
        }
    }
}

#[test]
fn an_empty_filter_takes_less_than_300_bytes() {
    let builder = TimeBloom::builder(HOUR).seed(1);
    drop(builder.build().unwrap()); // the plan is shared by all filters of the process
    let before = BYTES.get();
    let mut filter = builder.build().unwrap();
    assert_eq!(BYTES.get(), before, "an empty filter has nothing on the heap");
    assert!(size_of::<TimeBloom>() < 300, "{} bytes", size_of::<TimeBloom>());
    assert_eq!(filter.stats(Timestamp::MIN).memory_bytes, size_of::<TimeBloom>());
    for item in 0..1_000_u32 {
        filter.insert_at(item.to_le_bytes(), Arrivals::START).unwrap();
    }
    assert!(BYTES.get() > before);
    filter.advance_to(Arrivals::START.saturating_add(2 * HOUR));
    assert_eq!(BYTES.get(), before, "nor has an idle one");
}

/// On average of a steady stream: 100 items nearly fill slices of one word, and where chance makes it too many some of two
/// follow.
#[test]
fn filters_of_few_items_are_small() {
    const SEEDS: u64 = 20;
    let key = |seed: u64, item: u32| (seed << 32 | u64::from(item)).to_le_bytes();
    for (items, most) in [(10, 900), (100, 1_300), (1_000, 4_000)] {
        let (mut sum, mut looks) = (0, 0);
        for seed in 0..SEEDS {
            let mut filter = TimeBloom::builder(HOUR).seed(seed).build().unwrap();
            for item in 0..6 * items {
                let now = Arrivals::START.saturating_add(HOUR * item / items);
                filter.insert_at(key(seed, item), now).unwrap();
                if item >= 3 * items {
                    sum += filter.stats(now).memory_bytes;
                    looks += 1;
                }
            }
        }
        assert!(sum / looks <= most, "{items} items an hour: {} bytes", sum / looks);
    }
}

#[test]
fn memory_is_told_to_the_byte_or_above() {
    for seed in 0..20_u64 {
        let builder = TimeBloom::builder(HOUR).seed(seed);
        let count_builder = CountBloom::builder(10 + 400 * seed).seed(seed);
        drop((builder.build().unwrap(), count_builder.build().unwrap()));
        let arrivals: Vec<Timestamp> = Scenario::Chaos.arrivals(300.0, HOUR, 32, seed).collect();
        let before = BYTES.get();
        let mut filter = builder.build().unwrap();
        for (item, &now) in arrivals.iter().enumerate() {
            filter.insert_at(item.to_le_bytes(), now).unwrap();
            let bytes = size_of::<TimeBloom>() + usize::try_from(BYTES.get() - before).unwrap();
            if item % 16 == 0 {
                let told = filter.stats(now).memory_bytes;
                assert!(bytes <= told, "seed {seed}, item {item}: takes {bytes} bytes, tells {told}");
            }
        }
        drop(filter);
        assert_eq!(BYTES.get(), before);
        let mut filter = count_builder.build().unwrap();
        for item in 0..arrivals.len() {
            filter.insert(item.to_le_bytes());
            if item % 16 == 0 {
                let bytes = size_of::<CountBloom>() + usize::try_from(BYTES.get() - before).unwrap();
                let told = filter.stats().memory_bytes;
                assert!(bytes <= told, "seed {seed}, item {item}: takes {bytes} bytes, tells {told}");
            }
        }
    }
}

/// Planning allocates, so building without any allocation means that the plan was remembered.
#[test]
fn a_plan_is_made_once() {
    let build = || TimeBloom::builder(HOUR).false_positive_rate(0.002_345).seed(1).build().unwrap();
    let before = ALLOCATIONS.get();
    drop(build());
    assert!(ALLOCATIONS.get() > before, "a new rate is planned");
    let before = ALLOCATIONS.get();
    for _ in 0..1_000 {
        drop(build());
    }
    assert_eq!(ALLOCATIONS.get(), before, "a known rate is not");
}
