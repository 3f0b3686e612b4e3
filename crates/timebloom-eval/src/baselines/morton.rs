//! A filter after Morton: compressed blocks of many small buckets, with a stamp beside each fingerprint.
//!
//! Alex D. Breslow, Nuwan S. Jayasena, *Morton Filters: Faster, Space-Efficient Cuckoo Filters via Biasing, Compression,
//! and Decoupled Logical Sparsity*, PVLDB 2018. What is kept of it:
//! - a block has 64 buckets of up to three fingerprints each, but room for 46 only; fingerprints lie side by side, and
//!   fullness counters of two bits say which bucket they are in;
//! - a key goes to its first bucket unless that one, or its block, is full;
//! - an overflow tracking array of 16 bits a block says which buckets have had to send fingerprints elsewhere; a query asks
//!   the second bucket only then, so fingerprints can be shorter than a Cuckoo filter's by three bits;
//! - the second bucket is the first plus or minus an odd offset of at least a block, from the fingerprint.
//!
//! Deviations. A fingerprint has a stamp of six bits (`stamps`), so a block is 768 bits or more rather than one line of 512.
//! What has expired is removed when its block has no room, and swept away within two epochs. Overflow tracking bits would
//! all be set in the end: there are two arrays, and the older one is cleared when all that was sent away under it has
//! expired. Blocks are 92% full rather than 95%: when every insertion replaces what has expired, a few fingerprints found no
//! room at 95%, and more queries asked two buckets. The paper's vector instructions for reading counters are left out. When
//! no room is found in 500 moves, the fingerprint in hand is lost, and counted, and only ten are moved until the next epoch
//! makes room.

use super::bits::{Bits, low};
use super::hash::{Key, hash, mix, scale};
use super::num::{bits_for, ceil, index};
use super::stamps::{self, Stamps};
use super::{Window, Windowed};

/// Buckets of a block.
const BUCKETS: usize = 64;
/// Fingerprints of a block, at most.
const PLACES: usize = 46;
/// Fingerprints of a bucket, at most.
const BUCKET_PLACES: usize = 3;
/// Bits of an overflow tracking array.
const OVERFLOW_BITS: usize = 16;
/// Offsets to the second bucket there are at most, before they are made odd.
const MAX_OFFSETS: u64 = 1_024;
/// Epochs after which the overflow tracking arrays change roles: all that is live at the end of one term was inserted in it
/// or in the term before.
const TERM: u64 = stamps::LIVE + 1;
/// Ends of epochs in which all blocks are swept: few, since what has expired is in the way of what comes.
const SWEEPS: usize = 2;
const LOAD: f64 = 0.92;
/// The share of queries that ask the second bucket too, at that load, on the safe side.
const SECOND_QUERIES: f64 = 0.55;
const MAX_MOVES: u32 = 500;
/// The same while it is known to be full.
const MAX_MOVES_WHEN_FULL: u32 = 10;

/// Where things are in a block: counters, two overflow tracking arrays, fingerprints.
const OVERFLOW_AT: usize = 2 * BUCKETS;
const ENTRIES_AT: usize = OVERFLOW_AT + 2 * OVERFLOW_BITS;

/// The filter.
#[derive(Clone, Debug)]
pub struct Morton {
    blocks: Bits,
    /// Bits of a block, whole words.
    block_bits: usize,
    fingerprint_bits: u32,
    /// Buckets in all.
    buckets: u64,
    /// At most a quarter of the buckets, so that an offset does not come round.
    offsets: u64,
    stamps: Stamps,
    /// Which overflow tracking array is the younger one.
    term: usize,
    /// The block at which sweeping goes on.
    sweep: usize,
    /// Whether no room was found lately.
    is_full: bool,
    lost: u64,
    random: fastrand::Rng,
}

/// A fingerprint and its stamp.
#[derive(Clone, Copy, Debug)]
struct Entry {
    fingerprint: u64,
    stamp: u64,
}

/// A bucket: its block and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    block: usize,
    number: usize,
}

/// The sum of the two-bit counters in a word.
#[inline]
fn sum(counters: u64) -> usize {
    const LOW: u64 = u64::MAX / 3;
    ((counters & LOW).count_ones() + 2 * (counters >> 1 & LOW).count_ones()) as usize
}

impl Morton {
    /// An empty filter with the rate `rate` when a window is full.
    pub fn new(window: Window, rate: f64) -> Self {
        // a query compares with what is in its first bucket, and sometimes in its second
        let compared = LOAD * PLACES as f64 / BUCKETS as f64 * (1.0 + SECOND_QUERIES);
        let fingerprint_bits = bits_for(ceil(compared / rate));
        let entry_bits = (fingerprint_bits + stamps::BITS) as usize;
        let block_bits = (ENTRIES_AT + PLACES * entry_bits).next_multiple_of(64);
        let room = LOAD * PLACES as f64;
        let blocks = index(ceil(Stamps::most_live(window.items) as f64 / room)).max(8);
        Morton {
            blocks: Bits::new(blocks * block_bits),
            block_bits,
            fingerprint_bits,
            buckets: (blocks * BUCKETS) as u64,
            offsets: MAX_OFFSETS.min((blocks * BUCKETS / 4) as u64),
            stamps: Stamps::new(window),
            term: 0,
            sweep: 0,
            is_full: false,
            lost: 0,
            random: fastrand::Rng::with_seed(1),
        }
    }

    /// Fingerprints for which no room was found.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn entry_bits(&self) -> u32 {
        self.fingerprint_bits + stamps::BITS
    }

    #[inline]
    fn locate(&self, key: &Key) -> (u64, Bucket) {
        let hash = hash(key);
        let fingerprint = mix(hash) & low(self.fingerprint_bits);
        (fingerprint, Self::bucket(scale(hash, self.buckets)))
    }

    #[inline]
    fn bucket(number: u64) -> Bucket {
        let number = index(number);
        Bucket { block: number / BUCKETS, number: number % BUCKETS }
    }

    /// The other bucket of a fingerprint. Even buckets go up and odd ones down, by an odd offset: the way back is the same.
    #[inline]
    fn other(&self, bucket: Bucket, fingerprint: u64) -> Bucket {
        let number = (bucket.block * BUCKETS + bucket.number) as u64;
        let offset = (BUCKETS as u64 + scale(mix(fingerprint), self.offsets)) | 1;
        let other = if number.is_multiple_of(2) { number + offset } else { number + self.buckets - offset };
        Self::bucket(if other >= self.buckets { other - self.buckets } else { other })
    }

    /// The words of the counters.
    #[inline]
    fn counters(&self, block: usize) -> (u64, u64) {
        let words = &self.blocks.words()[block * self.block_bits / 64..];
        (words[0], words[1])
    }

    /// How many fingerprints of the block come before the bucket's, and how many the bucket has.
    #[inline]
    fn extent(&self, bucket: Bucket) -> (usize, usize) {
        let (first, second) = self.counters(bucket.block);
        let (word, number) = if bucket.number < 32 { (first, bucket.number) } else { (second, bucket.number - 32) };
        let before = word & ((1 << (2 * number)) - 1);
        let skipped = if bucket.number < 32 { 0 } else { sum(first) };
        (skipped + sum(before), index(word >> (2 * number) & 3))
    }

    fn items(&self, block: usize) -> usize {
        let (first, second) = self.counters(block);
        sum(first) + sum(second)
    }

    fn add_to_counter(&mut self, bucket: Bucket, by: i64) {
        let at = bucket.block * self.block_bits + 2 * bucket.number;
        let count = self.blocks.get(at, 2).checked_add_signed(by).expect("a counter is not below 0");
        self.blocks.set(at, 2, count);
    }

    #[inline]
    fn entry_at(&self, block: usize, place: usize) -> usize {
        block * self.block_bits + ENTRIES_AT + place * self.entry_bits() as usize
    }

    #[inline]
    fn entry(&self, block: usize, place: usize) -> Entry {
        let field = self.blocks.get(self.entry_at(block, place), self.entry_bits());
        Entry { fingerprint: field & low(self.fingerprint_bits), stamp: field >> self.fingerprint_bits }
    }

    fn set_entry(&mut self, block: usize, place: usize, entry: Entry) {
        let at = self.entry_at(block, place);
        let field = entry.stamp << self.fingerprint_bits | entry.fingerprint;
        self.blocks.set(at, self.entry_bits(), field);
    }

    #[inline]
    fn overflow_at(&self, bucket: Bucket, term: usize) -> usize {
        bucket.block * self.block_bits + OVERFLOW_AT + term * OVERFLOW_BITS + bucket.number % OVERFLOW_BITS
    }

    /// Whether what belongs to the bucket may be in its other bucket.
    #[inline]
    fn has_overflowed(&self, bucket: Bucket) -> bool {
        (0..2).any(|term| self.blocks.bit(self.overflow_at(bucket, term)))
    }

    fn note_overflow(&mut self, bucket: Bucket) {
        let at = self.overflow_at(bucket, self.term);
        self.blocks.set_bit(at);
    }

    fn remove(&mut self, bucket: Bucket, place: usize) {
        let end = self.entry_at(bucket.block, self.items(bucket.block));
        let at = self.entry_at(bucket.block, place);
        self.blocks.close_gap(at, end, self.entry_bits());
        self.add_to_counter(bucket, -1);
    }

    /// Removes what has expired from the block.
    fn purge(&mut self, block: usize) {
        if (0..self.items(block)).all(|place| self.stamps.is_live(self.entry(block, place).stamp)) {
            return;
        }
        for number in (0..BUCKETS).rev() {
            let bucket = Bucket { block, number };
            let (first, count) = self.extent(bucket);
            for place in (first..first + count).rev() {
                if !self.stamps.is_live(self.entry(block, place).stamp) {
                    self.remove(bucket, place);
                }
            }
        }
    }

    fn has_room(&self, bucket: Bucket) -> bool {
        self.items(bucket.block) < PLACES && self.extent(bucket).1 < BUCKET_PLACES
    }

    /// Puts the entry into the bucket, if it has room.
    fn put(&mut self, bucket: Bucket, entry: Entry) -> bool {
        if !self.has_room(bucket) {
            self.purge(bucket.block);
            if !self.has_room(bucket) {
                return false;
            }
        }
        let (first, count) = self.extent(bucket);
        let place = first + count;
        let (at, end) = (self.entry_at(bucket.block, place), self.entry_at(bucket.block, self.items(bucket.block)));
        self.blocks.open_gap(at, end, self.entry_bits());
        self.set_entry(bucket.block, place, entry);
        self.add_to_counter(bucket, 1);
        true
    }

    /// The place of a live fingerprint in the bucket.
    #[inline]
    fn find(&self, bucket: Bucket, fingerprint: u64, is_live: impl Fn(u64) -> bool) -> Option<usize> {
        let (first, count) = self.extent(bucket);
        (first..first + count).find(|&place| {
            let entry = self.entry(bucket.block, place);
            entry.fingerprint == fingerprint && is_live(entry.stamp)
        })
    }

    /// Gives a live fingerprint a new stamp, if it is in one of the two buckets.
    fn renew(&mut self, bucket: Bucket, entry: Entry) -> bool {
        let is_live = |stamp| self.stamps.is_live(stamp);
        if let Some(place) = self.find(bucket, entry.fingerprint, is_live) {
            self.set_entry(bucket.block, place, entry);
            return true;
        }
        let other = self.other(bucket, entry.fingerprint);
        if self.has_overflowed(bucket)
            && let Some(place) = self.find(other, entry.fingerprint, is_live)
        {
            self.set_entry(other.block, place, entry);
            self.note_overflow(bucket); // it will be there for a whole window again
            return true;
        }
        false
    }

    /// Takes a random fingerprint out of a bucket that is full, or else out of its block.
    fn take_victim(&mut self, bucket: Bucket) -> (Bucket, Entry) {
        let (first, count) = self.extent(bucket);
        let (place, owner) = if count == BUCKET_PLACES {
            (first + self.random.usize(0..count), bucket)
        } else {
            let place = self.random.usize(0..self.items(bucket.block));
            let holds = |&number: &usize| {
                let (first, count) = self.extent(Bucket { number, ..bucket });
                (first..first + count).contains(&place)
            };
            let number = (0..BUCKETS).find(holds).expect("every place belongs to a bucket");
            (place, Bucket { number, ..bucket })
        };
        let entry = self.entry(bucket.block, place);
        self.remove(owner, place);
        (owner, entry)
    }

    fn advance(&mut self, now: u64) {
        let blocks = index(self.buckets) / BUCKETS;
        for _ in 0..self.stamps.due(now) {
            let epoch = self.stamps.step();
            self.is_full = false;
            if epoch.is_multiple_of(TERM) {
                self.term = 1 - self.term;
                for block in 0..blocks {
                    let at = block * self.block_bits + OVERFLOW_AT + self.term * OVERFLOW_BITS;
                    self.blocks.set(at, 16, 0);
                }
            }
            for _ in 0..blocks.div_ceil(SWEEPS) {
                self.purge(self.sweep);
                self.sweep = (self.sweep + 1) % blocks;
            }
        }
    }
}

impl Windowed for Morton {
    fn insert(&mut self, key: &Key, now: u64) {
        self.advance(now);
        let (fingerprint, first) = self.locate(key);
        let mut entry = Entry { fingerprint, stamp: self.stamps.current() };
        if self.renew(first, entry) || self.put(first, entry) {
            return;
        }
        self.note_overflow(first);
        let mut bucket = self.other(first, fingerprint);
        for _ in 0..if self.is_full { MAX_MOVES_WHEN_FULL } else { MAX_MOVES } {
            if self.put(bucket, entry) {
                return;
            }
            let (owner, victim) = self.take_victim(bucket);
            let has_put = self.put(bucket, entry);
            debug_assert!(has_put, "a place was made");
            self.note_overflow(owner);
            entry = victim;
            bucket = self.other(owner, victim.fingerprint);
        }
        self.is_full = true;
        self.lost += 1;
    }

    fn contains(&self, key: &Key, now: u64) -> bool {
        let (fingerprint, first) = self.locate(key);
        let is_live = |stamp| self.stamps.is_live_at(stamp, now);
        self.find(first, fingerprint, is_live).is_some()
            || self.has_overflowed(first) && self.find(self.other(first, fingerprint), fingerprint, is_live).is_some()
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.blocks.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::key;
    use super::super::testing::{ABSENT, insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn the_other_bucket_is_in_another_block_and_leads_back() {
        let filter = Morton::new(Window::count(1_000), 0.01);
        for number in 0..filter.buckets {
            for fingerprint in 0..1 << filter.fingerprint_bits {
                let bucket = Morton::bucket(number);
                let other = filter.other(bucket, fingerprint);
                assert!(other.block != bucket.block);
                assert_eq!(filter.other(other, fingerprint), bucket);
            }
        }
    }

    #[test]
    fn a_window_fits_and_expires() {
        for rate in [0.01, 0.001] {
            let mut filter = Morton::new(Window::count(20_000), rate);
            assert_eq!(missed_in_count_window(&mut filter, 20_000, 5), 0);
            assert_eq!(filter.lost(), 0);
            // false alarm: one in a million for each bound
            assert!(reported_absent(&filter, 300_000, 99_999) <= at_most_with_confidence(300_000, rate, 1e-6));
            let expired = reported(&filter, 0..79_000, 99_999);
            assert!(expired <= at_most_with_confidence(79_000, rate, 1e-6), "{expired}");
        }
    }

    #[test]
    fn counters_and_fingerprints_agree() {
        let mut filter = Morton::new(Window::count(2_000), 0.01);
        insert_numbered(&mut filter, 0..9_000);
        for block in 0..index(filter.buckets) / BUCKETS {
            let mut next = 0;
            for number in 0..BUCKETS {
                let (first, count) = filter.extent(Bucket { block, number });
                assert_eq!(first, next);
                next += count;
            }
            assert!(next == filter.items(block) && next <= PLACES);
        }
    }

    #[test]
    fn most_queries_ask_one_bucket_only() {
        let mut filter = Morton::new(Window::count(20_000), 0.01);
        insert_numbered(&mut filter, 0..200_000);
        let second = (ABSENT..ABSENT + 10_000).filter(|&n| filter.has_overflowed(filter.locate(&key(n)).1)).count();
        // false alarm: one in a million
        let most = at_most_with_confidence(10_000, SECOND_QUERIES, 1e-6);
        assert!((second as u64) <= most, "{second} of 10,000 after ten windows");
    }

    #[test]
    fn a_repeat_takes_no_room_and_lives_on() {
        let mut filter = Morton::new(Window::time(400, 3_100), 0.001);
        for now in 0..100_000 {
            filter.insert(&key(now % 400), now);
        }
        assert_eq!(reported(&filter, 0..400, 99_999), 400);
        assert_eq!(filter.lost(), 0);
        assert_eq!(reported(&filter, 0..400, 102_600), 400);
        assert_eq!(reported(&filter, 0..400, 103_300), 0, "a window and two epochs later");
    }
}
