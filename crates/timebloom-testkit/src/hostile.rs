//! Snapshots that lie, and what a filter must survive after it was restored from one.

use std::time::Duration;

use timebloom::{CountBloom, DecodeError, TimeBloom, Timestamp};

/// Where the numbers of slices and panels stand in a snapshot, after magic, version, kind and a zero (FORMAT.md).
const SLICES_AT: usize = 12;
const PANELS_AT: usize = 16;

/// The bytes of a panel and of a slice in their tables.
const PANEL_BYTES: usize = 8;
const SLICE_BYTES: usize = 12;

const CHECKSUM_BYTES: usize = 4;

/// The length of the part that the first checksum covers, if the bytes are long enough to say.
pub fn head_bytes(snapshot: &[u8]) -> Option<usize> {
    let header = match snapshot.get(10)? {
        1 => 120,
        _ => 208,
    };
    let count = |at: usize| Some(u32::from_le_bytes(*snapshot.get(at..)?.first_chunk()?) as usize);
    Some(header + PANEL_BYTES * count(PANELS_AT)? + SLICE_BYTES * count(SLICES_AT)?)
}

/// Makes both checksums right, wherever the snapshot says that they are.
pub fn reseal(snapshot: &mut [u8]) {
    let Some(head) = head_bytes(snapshot) else { return };
    if snapshot.len() < head + 2 * CHECKSUM_BYTES {
        return;
    }
    let (head, rest) = snapshot.split_at_mut(head);
    let (first, rest) = rest.split_at_mut(CHECKSUM_BYTES);
    let (bits, last) = rest.split_at_mut(rest.len() - CHECKSUM_BYTES);
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(head);
    first.copy_from_slice(&checksum.clone().finalize().to_le_bytes());
    checksum.update(bits);
    last.copy_from_slice(&checksum.finalize().to_le_bytes());
}

/// Above this, a filter is no longer read as a whole: a snapshot may say that millions of items are about to come.
const READABLE_BYTES: u64 = 1 << 16;

/// Above this, a filter is left alone: a snapshot may also say that billions of items were there, and one that allows as much
/// memory makes room for as many more.
const BEARABLE_BYTES: usize = 1 << 26;

/// Does a few dozen things to a time window, at extreme times too, and checks its invariants. `random` gives numbers.
///
/// # Panics
///
/// If an invariant is broken, or the filter does not survive its own snapshot.
pub fn exercise_time(mut filter: TimeBloom, mut random: impl FnMut() -> u64) {
    filter.validate().expect("a restored filter is valid");
    let mut now = Timestamp::MIN;
    for step in 0..40 {
        let bytes = filter.memory_bytes();
        assert!(filter.max_bytes().is_none_or(|most| bytes as u64 <= most), "{bytes} bytes are more than is allowed");
        if bytes > BEARABLE_BYTES {
            return;
        }
        let number = random();
        now = match number >> 60 {
            0 => Timestamp::from_nanos(random()),
            1 if step > 30 => Timestamp::MAX,
            2 => Timestamp::MIN,
            3 => now.saturating_add(filter.span()),
            4 => now.saturating_add(filter.span() / 40),
            5 if filter.snapshot_bytes() <= READABLE_BYTES => {
                filter.slices().next().and_then(|slice| slice.newest).unwrap_or(now)
            }
            _ => now.saturating_add(Duration::from_nanos(number % 1_000)),
        };
        let item = (number % 64).to_le_bytes();
        match number >> 32 & 15 {
            0 => filter.advance_to(now),
            1 => _ = filter.age_at(item, now),
            2 => _ = filter.contains_between_at(item, Timestamp::from_nanos(random())..now, now),
            3 => _ = filter.contains_between_at(item, .., now),
            4 => _ = filter.contains_within_at(item, Duration::from_nanos(random()), now),
            5 => _ = filter.check_and_insert_at(item, now),
            6 => _ = filter.insert_if_new_at(item, now),
            7 if number >> 40 & 7 == 0 => filter.clear(),
            8 => _ = filter.stats(now),
            _ => {
                if filter.insert_at(item, now).is_ok() {
                    assert!(filter.contains_at(item, now), "what was just inserted is there");
                }
            }
        }
        if step % 8 == 7 && filter.snapshot_bytes() <= READABLE_BYTES {
            filter.validate().expect("a filter stays valid");
            let bytes = filter.to_bytes();
            match TimeBloom::from_bytes(&bytes) {
                Ok(restored) => filter = restored,
                Err(error) => assert!(is_counted_out(&error), "a filter survives its own snapshot: {error}"),
            }
            assert!(filter.to_bytes() == bytes, "the same filter gives the same bytes");
        }
    }
}

/// Whether a counter passed the most that is read back: only a snapshot that says so can bring it there.
fn is_counted_out(error: &DecodeError) -> bool {
    matches!(*error, DecodeError::OutOfRange { got, max, .. } if max == 1 << 62 && got <= max + 1_000)
}

/// [`exercise_time`] for a count window.
///
/// # Panics
///
/// If an invariant is broken, or the filter does not survive its own snapshot.
pub fn exercise_count(mut filter: CountBloom, mut random: impl FnMut() -> u64) {
    filter.validate().expect("a restored filter is valid");
    for step in 0..40 {
        let number = random();
        let item = (number % 64).to_le_bytes();
        match number >> 32 & 15 {
            0 => _ = filter.contains_within(item, random()),
            1 => _ = filter.insert_if_new(item),
            2 => _ = filter.check_and_insert(item),
            3 => _ = filter.stats(),
            4 if number >> 40 & 7 == 0 => filter.clear(),
            _ => {
                filter.insert(item);
                assert!(filter.contains(item), "what was just inserted is there");
            }
        }
        if step % 8 == 7 && filter.snapshot_bytes() <= READABLE_BYTES {
            filter.validate().expect("a filter stays valid");
            let bytes = filter.to_bytes();
            match CountBloom::from_bytes(&bytes) {
                Ok(restored) => filter = restored,
                Err(error) => assert!(is_counted_out(&error), "a filter survives its own snapshot: {error}"),
            }
            assert!(filter.to_bytes() == bytes, "the same filter gives the same bytes");
        }
    }
}
