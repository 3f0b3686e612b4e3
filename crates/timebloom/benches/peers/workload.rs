//! The stream all filters see: distinct keys of 16 bytes, one every so often.
//!
//! An item is a number; its key follows from it, so nobody has to keep fifty million keys to ask for one of them.

use std::ops::Range;
use std::time::Duration;

use timebloom::Timestamp;

pub type Key = [u8; 16];

/// The window of the time windows.
pub const SPAN: Duration = Duration::from_secs(60);

/// Keys that are made, and operations that are timed, at once. Few enough for the keys to stay in the first cache.
pub const CHUNK: usize = 512;

/// Items with this bit are never inserted.
const ABSENT: u64 = 1 << 63;

/// When each item arrives: `window` of them a span, evenly.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    pub window: u64,
    gap: u64,
}

impl Stream {
    pub fn new(window: u64) -> Self {
        let span = u64::try_from(SPAN.as_nanos()).expect("a minute");
        Stream { window, gap: span / window }
    }

    #[inline]
    pub fn time_of(self, item: u64) -> Timestamp {
        const START: u64 = 1_700_000_000_000_000_000;
        Timestamp::from_nanos(START + item * self.gap)
    }
}

/// The key of an item.
pub fn key(item: u64) -> Key {
    // SplitMix64 is a bijection: distinct items have distinct first halves
    let mut z = item.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let first = z ^ (z >> 31);
    let second = first.wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(32) ^ item;
    let mut key = [0; 16];
    key[..8].copy_from_slice(&first.to_le_bytes());
    key[8..].copy_from_slice(&second.to_le_bytes());
    key
}

/// Makes the keys of a chunk, before its time is taken.
#[derive(Debug)]
pub struct Keys {
    chunk: Vec<Key>,
    absent: u64,
    random: fastrand::Rng,
}

impl Keys {
    pub fn new() -> Self {
        Keys { chunk: Vec::with_capacity(CHUNK), absent: ABSENT, random: fastrand::Rng::with_seed(1) }
    }

    /// The keys of these items, [`CHUNK`] at most.
    pub fn of(&mut self, items: Range<u64>) -> &[Key] {
        self.chunk.clear();
        self.chunk.extend(items.take(CHUNK).map(key));
        &self.chunk
    }

    /// Keys of a chunk of these items, anywhere among them.
    pub fn among(&mut self, items: Range<u64>) -> &[Key] {
        self.chunk.clear();
        let random = &mut self.random;
        self.chunk.extend((0..CHUNK).map(|_| key(random.u64(items.clone()))));
        &self.chunk
    }

    /// A chunk of keys that nobody has ever seen.
    pub fn absent(&mut self) -> &[Key] {
        let first = self.absent;
        self.absent += CHUNK as u64;
        self.of(first..self.absent)
    }
}
