//! The Cuckoo filter, with a stamp beside each fingerprint so that keys expire.
//!
//! Bin Fan, David G. Andersen, Michael Kaminsky, Michael D. Mitzenmacher, *Cuckoo Filter: Practically Better Than Bloom*,
//! CoNEXT 2014. Buckets have four places; a key's fingerprint is in one of two buckets, and the second follows from the
//! first and the fingerprint. A full pair of buckets makes room by moving a fingerprint to its other bucket, up to 500
//! times. Fingerprints have `log2(2 * 4 / rate)` bits and the table is at most 95% full.
//!
//! Deviations. A fingerprint has a stamp of six bits (`stamps`): what has expired counts as a free place, and is swept away
//! before its stamp comes round. A key whose fingerprint is there already gets its stamp renewed. The other bucket is
//! `hash(fingerprint) - bucket`, modulo the number of buckets, instead of an exclusive or, so that their number need not be
//! a power of two. When no place is found, the fingerprint in hand is lost, and counted, and only ten are moved until the next
//! epoch frees places.

use super::bits::Bits;
use super::hash::{Key, hash, mix, scale};
use super::num::{bits_for, ceil, index};
use super::stamps::{self, Stamps};
use super::{Window, Windowed};

/// Places of a bucket.
const PLACES: u64 = 4;
const LOAD: f64 = 0.95;
const MAX_KICKS: u32 = 500;
/// The same while it is known to be full.
const MAX_KICKS_WHEN_FULL: u32 = 10;

/// The filter.
#[derive(Clone, Debug)]
pub struct Cuckoo {
    /// Entries: a fingerprint, 0 when the place is free, and a stamp above it.
    entries: Bits,
    fingerprint_bits: u32,
    buckets: u64,
    stamps: Stamps,
    /// The bucket at which sweeping goes on.
    sweep: u64,
    /// Whether no place was found lately.
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

impl Cuckoo {
    /// An empty filter with the rate `rate` when a window is full.
    pub fn new(window: Window, rate: f64) -> Self {
        let fingerprint_bits = bits_for(ceil(2.0 * PLACES as f64 / rate));
        let places = ceil(Stamps::most_live(window.items) as f64 / LOAD);
        let buckets = places.div_ceil(PLACES).max(2);
        let entries = Bits::new(index(buckets * PLACES) * (fingerprint_bits + stamps::BITS) as usize);
        let stamps = Stamps::new(window);
        let random = fastrand::Rng::with_seed(1);
        Cuckoo { entries, fingerprint_bits, buckets, stamps, sweep: 0, is_full: false, lost: 0, random }
    }

    /// Fingerprints for which no place was found.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The key's fingerprint, which is not 0, and its first bucket.
    #[inline]
    fn locate(&self, key: &Key) -> (u64, u64) {
        let hash = hash(key);
        let bucket = scale(hash, self.buckets);
        // other bits of the hash than the bucket depends on most
        let fingerprint = 1 + scale(mix(hash), (1 << self.fingerprint_bits) - 1);
        (fingerprint, bucket)
    }

    #[inline]
    fn other_bucket(&self, bucket: u64, fingerprint: u64) -> u64 {
        let sum = scale(mix(fingerprint), self.buckets);
        if sum >= bucket { sum - bucket } else { sum + self.buckets - bucket }
    }

    #[inline]
    fn at(&self, bucket: u64, place: u64) -> usize {
        index(bucket * PLACES + place) * (self.fingerprint_bits + stamps::BITS) as usize
    }

    #[inline]
    fn entry(&self, bucket: u64, place: u64) -> Entry {
        let at = self.at(bucket, place);
        let field = self.entries.get(at, self.fingerprint_bits + stamps::BITS);
        let fingerprint = field & super::bits::low(self.fingerprint_bits);
        Entry { fingerprint, stamp: field >> self.fingerprint_bits }
    }

    fn set(&mut self, bucket: u64, place: u64, entry: Entry) {
        let at = self.at(bucket, place);
        let field = entry.stamp << self.fingerprint_bits | entry.fingerprint;
        self.entries.set(at, self.fingerprint_bits + stamps::BITS, field);
    }

    /// Renews the stamp of the fingerprint, if it is in the bucket and live.
    fn renew(&mut self, bucket: u64, entry: Entry) -> bool {
        for place in 0..PLACES {
            let found = self.entry(bucket, place);
            if found.fingerprint == entry.fingerprint && self.stamps.is_live(found.stamp) {
                self.set(bucket, place, entry);
                return true;
            }
        }
        false
    }

    /// Puts the entry into a free place of the bucket, if it has one.
    fn put(&mut self, bucket: u64, entry: Entry) -> bool {
        for place in 0..PLACES {
            let found = self.entry(bucket, place);
            if found.fingerprint == 0 || !self.stamps.is_live(found.stamp) {
                self.set(bucket, place, entry);
                return true;
            }
        }
        false
    }

    fn advance(&mut self, now: u64) {
        for _ in 0..self.stamps.due(now) {
            self.stamps.step();
            self.is_full = false;
            for _ in 0..self.buckets.div_ceil(stamps::SWEEPS as u64) {
                for place in 0..PLACES {
                    if !self.stamps.is_live(self.entry(self.sweep, place).stamp) {
                        self.set(self.sweep, place, Entry { fingerprint: 0, stamp: 0 });
                    }
                }
                self.sweep = (self.sweep + 1) % self.buckets;
            }
        }
    }
}

impl Windowed for Cuckoo {
    fn insert(&mut self, key: &Key, now: u64) {
        self.advance(now);
        let (fingerprint, first) = self.locate(key);
        let second = self.other_bucket(first, fingerprint);
        let mut entry = Entry { fingerprint, stamp: self.stamps.current() };
        if self.renew(first, entry) || self.renew(second, entry) || self.put(first, entry) || self.put(second, entry) {
            return;
        }
        let mut bucket = if self.random.bool() { first } else { second };
        for _ in 0..if self.is_full { MAX_KICKS_WHEN_FULL } else { MAX_KICKS } {
            let place = self.random.u64(0..PLACES);
            let moved = self.entry(bucket, place);
            self.set(bucket, place, entry);
            entry = moved;
            bucket = self.other_bucket(bucket, entry.fingerprint);
            if self.put(bucket, entry) {
                return;
            }
        }
        self.is_full = true;
        self.lost += 1;
    }

    fn contains(&self, key: &Key, now: u64) -> bool {
        let (fingerprint, first) = self.locate(key);
        let is_in = |bucket| {
            (0..PLACES).any(|place| {
                let found = self.entry(bucket, place);
                found.fingerprint == fingerprint && self.stamps.is_live_at(found.stamp, now)
            })
        };
        is_in(first) || is_in(self.other_bucket(first, fingerprint))
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.entries.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::key;
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn the_other_bucket_of_the_other_bucket_is_the_first() {
        let filter = Cuckoo::new(Window::count(1_000), 0.01);
        for fingerprint in 1..1 << filter.fingerprint_bits {
            let bucket = fingerprint % filter.buckets;
            assert_eq!(filter.other_bucket(filter.other_bucket(bucket, fingerprint), fingerprint), bucket);
        }
    }

    #[test]
    fn a_window_fits_at_95_percent_and_expires() {
        for rate in [0.01, 0.001] {
            let mut filter = Cuckoo::new(Window::count(20_000), rate);
            assert_eq!(missed_in_count_window(&mut filter, 20_000, 5), 0);
            assert_eq!(filter.lost(), 0);
            // false alarm: one in a million for each bound
            assert!(reported_absent(&filter, 300_000, 99_999) <= at_most_with_confidence(300_000, rate, 1e-6));
            let expired = reported(&filter, 0..79_000, 99_999);
            assert!(expired <= at_most_with_confidence(79_000, rate, 1e-6), "{expired}");
        }
    }

    #[test]
    fn ten_times_the_items_do_not_fit() {
        let mut filter = Cuckoo::new(Window::time(1_000, 10_000), 0.01);
        insert_numbered(&mut filter, 0..10_000);
        let lost = 10_000 - reported(&filter, 0..10_000, 9_999);
        assert!(lost > 8_000 && filter.lost() > 8_000, "{lost}");
    }

    #[test]
    fn a_repeat_takes_no_room_and_lives_on() {
        let mut filter = Cuckoo::new(Window::time(50, 3_100), 0.01);
        for now in 0..100_000 {
            filter.insert(&key(now % 50), now);
        }
        assert_eq!(reported(&filter, 0..50, 99_999), 50);
        assert_eq!(filter.lost(), 0);
        assert_eq!(reported(&filter, 0..50, 103_000), 50);
        assert_eq!(reported(&filter, 0..50, 103_300), 0, "a window and two epochs later");
    }

    #[test]
    fn nothing_returns_after_a_silence() {
        let mut filter = Cuckoo::new(Window::time(1_000, 3_100), 0.01);
        insert_numbered(&mut filter, 0..1_000);
        // silences that end with the number of some stamp
        for now in [6_400, 6_500, 13_000, 1_000_000] {
            filter.insert(&key(1 << 30), now);
            assert!(reported(&filter, 0..1_000, now) < 3, "{now}");
        }
    }
}
