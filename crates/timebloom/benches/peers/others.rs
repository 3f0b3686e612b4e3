//! What the filters of this crate are measured against, each used in the fastest way we know.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Range;

use fastbloom::BloomFilter;
use foldhash::fast::FixedState;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_micro_inline};
use timebloom::Timestamp;

use crate::filters::{Filter, Mode};
use crate::ours::SEED;
use crate::workload::{Key, SPAN, Stream};

/// How a filter hashes its keys.
pub trait Hashing {
    fn hash(key: &Key) -> u64;
}

/// rapidhash, the fastest hash we know whose values never change: what a filter needs that is stored and read again.
pub enum Rapidhash {}

impl Hashing for Rapidhash {
    #[inline]
    fn hash(key: &Key) -> u64 {
        const SECRETS: RapidSecrets = RapidSecrets::seed(SEED);
        rapidhash_v3_micro_inline::<true, false>(key, &SECRETS)
    }
}

/// foldhash, with the 16 bytes of a key taken as one number: faster still, for filters that live as long as their process,
/// since other versions of it may give other values.
pub enum Foldhash {}

impl Hashing for Foldhash {
    #[inline]
    fn hash(key: &Key) -> u64 {
        HASHER.hash_one(Number(*key))
    }
}

const HASHER: FixedState = FixedState::with_seed(SEED);

/// A key that hashes as one number. (A `u128` does so too, but would make entries of a map a third larger.)
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number(Key);

impl Hash for Number {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(u128::from_ne_bytes(self.0));
    }
}

/// A set of keys that can only grow.
pub trait Set {
    fn for_items(items: u64, eps: f64) -> Self;
    fn insert(&mut self, key: &Key);
    fn contains(&self, key: &Key) -> bool;
    fn clear(&mut self);
    fn bytes(&self) -> u64;
}

/// `fastbloom`, an ordinary Bloom filter.
pub struct FastBloom<H> {
    filter: BloomFilter<FixedState>,
    hashing: PhantomData<H>,
}

impl<H: Hashing> Set for FastBloom<H> {
    fn for_items(items: u64, eps: f64) -> Self {
        let items = usize::try_from(items).expect("a window fits into memory");
        // it is given hashes: its own hasher is never asked
        let filter = BloomFilter::with_false_pos(eps).hasher(HASHER).expected_items(items);
        FastBloom { filter, hashing: PhantomData }
    }

    #[inline]
    fn insert(&mut self, key: &Key) {
        self.filter.insert_hash(H::hash(key));
    }

    #[inline]
    fn contains(&self, key: &Key) -> bool {
        self.filter.contains_hash(H::hash(key))
    }

    fn clear(&mut self) {
        self.filter.clear();
    }

    fn bytes(&self) -> u64 {
        (size_of_val(self) + size_of_val(self.filter.as_slice())) as u64
    }
}

/// `sbbf-rs-safe`, a split block Bloom filter: one access to memory for each operation.
pub struct SplitBlocks(sbbf_rs_safe::Filter);

impl SplitBlocks {
    /// The fewest whole bits a key, as the crate wants them, that keep the rate: blocks of eight words of 32 bits get a
    /// Poisson number of keys, and each key sets a bit in each word.
    fn bits_per_key(eps: f64) -> usize {
        let rate = |bits: usize| {
            let mean = 256.0 / bits as f64;
            let mut chance = (-mean).exp(); // of a block without keys
            let mut rate = 0.0;
            for keys in 1..1_000 {
                chance *= mean / f64::from(keys);
                rate += chance * (1.0 - (31.0_f64 / 32.0).powi(keys)).powi(8);
            }
            rate
        };
        (1..=256).find(|&bits| rate(bits) <= eps).unwrap_or(256)
    }
}

impl Set for SplitBlocks {
    fn for_items(items: u64, eps: f64) -> Self {
        let items = usize::try_from(items).expect("a window fits into memory");
        let mut filter = sbbf_rs_safe::Filter::new(Self::bits_per_key(eps), items);
        filter.reset(); // its pages are untouched otherwise, and the first insertions would pay for them
        SplitBlocks(filter)
    }

    #[inline]
    fn insert(&mut self, key: &Key) {
        self.0.insert_hash(Foldhash::hash(key));
    }

    #[inline]
    fn contains(&self, key: &Key) -> bool {
        self.0.contains_hash(Foldhash::hash(key))
    }

    fn clear(&mut self) {
        self.0.reset();
    }

    fn bytes(&self) -> u64 {
        (size_of_val(self) + self.0.as_bytes().len()) as u64
    }
}

/// A filter of the window's size that cannot forget. Queries go to one that is full; insertions that are measured go to
/// a second one, which is cleared when it is full, so that neither ever holds more than it was made for.
pub struct Unforgetting<S> {
    window: u64,
    full: S,
    filling: S,
    /// Items in `full`.
    in_full: u64,
    /// Items in `filling`.
    in_filling: u64,
}

impl<S: Set> Unforgetting<S> {
    pub fn new(eps: f64, stream: Stream) -> Self {
        let set = || S::for_items(stream.window, eps);
        Unforgetting { window: stream.window, full: set(), filling: set(), in_full: 0, in_filling: 0 }
    }
}

impl<S: Set> Filter for Unforgetting<S> {
    fn prepare(&mut self, items: u64) {
        if self.in_filling + items > self.window {
            self.filling.clear();
            self.in_filling = 0;
        }
    }

    fn insert(&mut self, _mode: Mode, keys: &[Key], _first: u64) {
        let (set, items) = if self.in_full < self.window {
            (&mut self.full, &mut self.in_full)
        } else {
            (&mut self.filling, &mut self.in_filling)
        };
        for key in keys {
            set.insert(key);
        }
        *items += keys.len() as u64;
    }

    fn count_seen(&mut self, _mode: Mode, keys: &[Key], _now: u64) -> usize {
        keys.iter().filter(|key| self.full.contains(key)).count()
    }

    fn held(&self, _next: u64) -> Range<u64> {
        0..self.in_full
    }

    fn is_at_peak(&self, _next: u64) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        self.full.bytes()
    }
}

/// Two `fastbloom`s: the older one is cleared and begins anew whenever the younger one has taken a whole window. It holds
/// the items of one to two windows. Each has half of the allowed rate, since a query asks both.
pub struct Rotating {
    window: u64,
    younger: FastBloom<Rapidhash>,
    older: FastBloom<Rapidhash>,
    /// Items in `younger`.
    items: u64,
}

impl Rotating {
    pub fn new(eps: f64, stream: Stream) -> Self {
        let set = || FastBloom::<Rapidhash>::for_items(stream.window, eps / 2.0);
        Rotating { window: stream.window, younger: set(), older: set(), items: 0 }
    }
}

impl Filter for Rotating {
    fn insert(&mut self, _mode: Mode, keys: &[Key], _first: u64) {
        for key in keys {
            if self.items == self.window {
                std::mem::swap(&mut self.younger, &mut self.older);
                self.younger.clear();
                self.items = 0;
            }
            self.younger.insert(key);
            self.items += 1;
        }
    }

    fn count_seen(&mut self, _mode: Mode, keys: &[Key], _now: u64) -> usize {
        keys.iter().filter(|key| self.younger.contains(key) || self.older.contains(key)).count()
    }

    fn held(&self, next: u64) -> Range<u64> {
        next - self.window..next
    }

    fn is_at_peak(&self, _next: u64) -> bool {
        self.items == self.window
    }

    fn bytes(&self) -> u64 {
        self.younger.bytes() + self.older.bytes()
    }
}

/// The exact answer: a map from key to time, and a queue that tells which key is the next to go.
pub struct ExpiringMap {
    stream: Stream,
    times: HashMap<Number, Timestamp, FixedState>,
    queue: VecDeque<(Number, Timestamp)>,
}

impl ExpiringMap {
    /// It is left out where it would take more.
    const MAX_BYTES: u64 = 8 << 30;

    pub fn new(stream: Stream) -> Result<Self, String> {
        let entry = size_of::<(Number, Timestamp)>() as u64;
        // the map may double when removed keys have left their marks all over it
        let places = 2 * (stream.window * 8 / 7).next_power_of_two();
        let needed = places * (entry + 1) + (stream.window + 1) * entry;
        if needed > Self::MAX_BYTES {
            return Err(format!("it needs {:.1} GB, and 8.6 GB is the limit", needed as f64 / 1e9));
        }
        let items = usize::try_from(stream.window).expect("a window fits into memory") + 1;
        let times = HashMap::with_capacity_and_hasher(items, HASHER);
        Ok(ExpiringMap { stream, times, queue: VecDeque::with_capacity(items) })
    }
}

impl Filter for ExpiringMap {
    fn insert(&mut self, _mode: Mode, keys: &[Key], first: u64) {
        for (key, item) in keys.iter().zip(first..) {
            let now = self.stream.time_of(item);
            let horizon = now.saturating_sub(SPAN);
            while let Some(&(oldest, then)) = self.queue.front()
                && then < horizon
            {
                self.queue.pop_front();
                if self.times.get(&oldest) == Some(&then) {
                    self.times.remove(&oldest);
                }
            }
            let key = Number(*key);
            self.times.insert(key, now);
            self.queue.push_back((key, now));
        }
    }

    fn count_seen(&mut self, _mode: Mode, keys: &[Key], now: u64) -> usize {
        let horizon = self.stream.time_of(now).saturating_sub(SPAN);
        let seen = |key: &&Key| self.times.get(&Number(**key)).is_some_and(|&then| then >= horizon);
        keys.iter().filter(seen).count()
    }

    fn held(&self, next: u64) -> Range<u64> {
        next - self.stream.window..next
    }

    fn is_at_peak(&self, _next: u64) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        // a byte of control beside each place of the map; an eighth of the places is kept free
        let entry = size_of::<(Number, Timestamp)>();
        let places = (self.times.capacity() * 8 / 7).next_power_of_two();
        (size_of_val(self) + places * (entry + 1) + self.queue.capacity() * entry) as u64
    }
}
