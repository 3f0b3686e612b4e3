//! Decoding takes memory for bytes that are there, not for bytes that are announced.
//!
//! In a binary of its own: every allocation passes through a counter.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use timebloom::{CountBloom, DecodeError, TimeBloom, Timestamp};
use timebloom_testkit::reseal;

/// Counts the bytes that each thread holds.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn add(bytes: usize) {
    let held = HELD.get().wrapping_add(bytes);
    HELD.set(held);
    // what one thread frees for another wraps below zero: not a peak
    if held < usize::MAX / 2 {
        PEAK.set(PEAK.get().max(held));
    }
}

// SAFETY: hands every request to the system's allocator as it is; counting touches no allocated memory and, with cells
// that are initialised at compile time and need no destructor, allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is that of the system's
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: as above
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // both at once: the old one may have to be copied
        add(size);
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: as above
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes held during `action` beyond those held before.
fn peak_of<T>(action: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.get();
    PEAK.set(before);
    let result = action();
    (PEAK.get() - before, result)
}

/// What may be taken whatever the input is: a chunk or two, and the making of a plan.
const CONSTANT: usize = 64 * 1024;

fn assert_bounded(peak: usize, input: usize, times: usize, what: &str) {
    assert!(peak <= CONSTANT + times * input, "{what}: {peak} bytes for {input}");
}

fn large_filter() -> TimeBloom {
    let mut filter =
        TimeBloom::builder(Duration::from_secs(60)).seed(3).expected_items(500_000).build().expect("legal choices");
    for item in 0_u64..500_000 {
        filter.insert_at(item.to_le_bytes(), Timestamp::from_micros(1_000_000 + item * 100)).expect("no limit");
    }
    filter
}

#[test]
fn whole_snapshots_take_their_own_size() {
    let filter = large_filter();
    let size = usize::try_from(filter.snapshot_bytes()).unwrap();
    assert!(size > 1_000_000, "a test of large filters, not of {size} bytes");
    let (peak, bytes) = peak_of(|| filter.to_bytes());
    assert_eq!(peak, size, "encoding takes the bytes it returns and no more");
    let (peak, ()) = peak_of(|| filter.write_to(std::io::sink()).unwrap());
    assert_eq!(peak, 0, "streaming takes nothing");
    let (peak, restored) = peak_of(|| TimeBloom::from_bytes(&bytes).unwrap());
    assert_bounded(peak, bytes.len(), 1, "decoding");
    assert!(restored.to_bytes() == bytes);
    // one panel at a time is copied as it grows
    let (peak, _restored) = peak_of(|| TimeBloom::read_from(&bytes[..]).unwrap());
    assert_bounded(peak, bytes.len(), 2, "reading");
}

/// The words of a panel with a lane that is being cleared are not as they should be read, and have to be copied.
#[test]
fn what_is_being_cleared_is_copied_little_by_little() {
    let mut filter = CountBloom::builder(400_000).hashes_and_aging(10, 1).seed(1).build().unwrap();
    let whole = usize::try_from(filter.max_memory_bytes()).unwrap();
    let mut peaks = Vec::new();
    for item in 0_u64..8_000_000 {
        filter.insert(item.to_le_bytes());
        // some are soon after a shift
        if item % 60_013 == 0 {
            let (peak, ()) = peak_of(|| filter.write_to(std::io::sink()).unwrap());
            peaks.push(peak);
        }
    }
    let most = *peaks.iter().max().expect("some");
    assert!(most > 0, "nothing was being cleared in a filter of {whole} bytes");
    assert!(most <= 2 * CONSTANT, "{most} bytes taken to store a filter of {whole}");
}

#[test]
fn cut_snapshots_take_no_more_than_there_is() {
    let bytes = large_filter().to_bytes();
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..300 {
        let length = random.usize(..bytes.len()) >> random.u32(..12);
        let cut = &bytes[..length];
        let (peak, result) = peak_of(|| TimeBloom::from_bytes(cut));
        assert!(matches!(result, Err(DecodeError::Truncated { .. })));
        assert_bounded(peak, length, 3, "decoding");
        let (peak, result) = peak_of(|| TimeBloom::read_from(cut));
        assert!(matches!(result, Err(DecodeError::Truncated { .. })));
        assert_bounded(peak, length, 3, "reading");
    }
}

#[test]
fn announcements_are_free() {
    // a header whose slices have 512 MiB each, and no bits
    let mut filter = CountBloom::builder(50).seed(1).build().unwrap();
    for item in 0_u32..1_000 {
        filter.insert(item.to_le_bytes());
    }
    let mut bytes = filter.to_bytes();
    let panels = u32::from_le_bytes(bytes[16..20].try_into().expect("four bytes"));
    for panel in 0..panels as usize {
        bytes[120 + 8 * panel + 4..][..4].copy_from_slice(&(1_u32 << 26).to_le_bytes());
    }
    reseal(&mut bytes);
    let announced = filter.stats().slices << 29;
    let (peak, result) = peak_of(|| CountBloom::from_bytes(&bytes));
    assert!(matches!(result, Err(DecodeError::Truncated { .. })), "{result:?}");
    assert_bounded(peak, bytes.len(), 3, "decoding");
    let (peak, result) = peak_of(|| CountBloom::read_from(&bytes[..]));
    assert!(matches!(result, Err(DecodeError::Truncated { .. })), "{result:?}");
    assert_bounded(peak, bytes.len(), 3, "reading");
    println!("{announced} bytes announced in {}: {peak} taken", bytes.len());

    // the most slices that can be announced, and no table
    bytes[12..16].copy_from_slice(&(1_u32 << 15).to_le_bytes());
    let (peak, result) = peak_of(|| CountBloom::from_bytes(&bytes));
    assert!(matches!(result, Err(DecodeError::Truncated { .. })), "{result:?}");
    assert_bounded(peak, bytes.len(), 3, "decoding");
}

#[test]
fn tables_of_small_slices_take_a_few_times_their_size() {
    // many slices and few bits: bookkeeping is what counts
    let mut filter = CountBloom::builder(1_000).hashes_and_aging(4, 1_000).seed(1).build().unwrap();
    for item in 0_u32..3_000 {
        filter.insert(item.to_le_bytes());
    }
    let bytes = filter.to_bytes();
    assert!(bytes.len() > 20_000);
    for length in (0..=bytes.len()).step_by(997).chain([bytes.len()]) {
        let (peak, _) = peak_of(|| CountBloom::from_bytes(&bytes[..length]));
        assert_bounded(peak, length, 4, "decoding");
        let (peak, _) = peak_of(|| CountBloom::read_from(&bytes[..length]));
        assert_bounded(peak, length, 4, "reading");
    }
}
