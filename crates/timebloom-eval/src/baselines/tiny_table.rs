//! A table that counts fingerprints in little more than their own bits.
//!
//! Gil Einziger, Roy Friedman, *Counting with TinyTable: Every Bit Counts!*, 2015. A fingerprint is cut into the number of
//! a chain, which is where it is kept, and a remainder, which is what is kept. Sixty-four chains are a bucket. A bucket's
//! remainders lie side by side, chain after chain; a word says which chains are not empty, and a bit for each remainder
//! says whether it is the last of its chain. A bucket that runs out of places takes those of the next one, which moves on.
//!
//! Deviations. Counts are kept by repeating remainders; the paper has counters of variable length among them, which are
//! shorter when the same fingerprint comes many times. Where a bucket begins is stored as its distance from where it would
//! begin at best. Chains need not be a power of two: a remainder is what is left of the range of fingerprints that a chain
//! stands for.

use super::bits::{Bits, low};
use super::num::{bits_for, ceil, index};

/// Chains of a bucket.
const CHAINS: u64 = 64;

/// A multiset of fingerprints.
#[derive(Clone, Debug)]
pub struct TinyTable {
    /// Places, a remainder each.
    places: Bits,
    place_bits: u32,
    /// For each place whether its remainder is the last of its chain.
    last: Bits,
    buckets: Box<[Bucket]>,
    /// Places in all, a ring.
    size: usize,
    /// Places of a bucket, at best.
    bucket_places: usize,
    fingerprint_bits: u32,
    items: usize,
    distinct: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// Which chains are not empty.
    chains: u64,
    /// Fingerprints in it.
    items: u32,
    /// How far behind its own first place it begins.
    moved: u32,
}

impl TinyTable {
    /// An empty table for `items` fingerprints of so many bits, with `slack` of it more places.
    pub fn new(items: u64, fingerprint_bits: u32, slack: f64) -> Self {
        assert!((1..=62).contains(&fingerprint_bits) && items >= 1, "not a table: {items}, {fingerprint_bits}");
        let buckets = items.div_ceil(CHAINS);
        let bucket_places = index(ceil(CHAINS as f64 * (1.0 + slack)));
        let size = index(buckets) * bucket_places;
        let widest = (1_u64 << fingerprint_bits).div_ceil(buckets * CHAINS);
        let place_bits = bits_for(widest).max(1);
        TinyTable {
            places: Bits::new(size * place_bits as usize),
            place_bits,
            last: Bits::new(size),
            buckets: vec![Bucket::default(); index(buckets)].into(),
            size,
            bucket_places,
            fingerprint_bits,
            items: 0,
            distinct: 0,
        }
    }

    /// How many different fingerprints there are.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }

    /// The bytes of its arrays.
    pub fn heap_bytes(&self) -> u64 {
        self.places.bytes() + self.last.bytes() + size_of_val::<[Bucket]>(&self.buckets) as u64
    }

    /// A fingerprint's bucket, its chain there, and its remainder.
    #[inline]
    fn split(&self, fingerprint: u64) -> (usize, u32, u64) {
        debug_assert_eq!(fingerprint & !low(self.fingerprint_bits), 0, "a fingerprint has too many bits");
        let chains = u128::from(self.buckets.len() as u64 * CHAINS);
        let chain = (u128::from(fingerprint) * chains) >> self.fingerprint_bits;
        // the least fingerprint of that chain
        let first = (chain << self.fingerprint_bits).div_ceil(chains);
        let narrow = |wide: u128| u64::try_from(wide).expect("below the fingerprint");
        let (chain, first) = (narrow(chain), narrow(first));
        (index(chain / CHAINS), u32::try_from(chain % CHAINS).expect("below 64"), fingerprint - first)
    }

    /// The place `at`, which may be up to a ring too far.
    #[inline]
    fn wrap(&self, at: usize) -> usize {
        if at >= self.size { at - self.size } else { at }
    }

    /// The remainder at a place, and whether it is the last of its chain.
    #[inline]
    fn place(&self, at: usize) -> (u64, bool) {
        let at = self.wrap(at);
        (self.places.get(at * self.place_bits as usize, self.place_bits), self.last.bit(at))
    }

    fn set_place(&mut self, at: usize, (remainder, is_last): (u64, bool)) {
        let at = self.wrap(at);
        self.places.set(at * self.place_bits as usize, self.place_bits, remainder);
        self.last.set(at, 1, u64::from(is_last));
    }

    /// Where a bucket's fingerprints begin.
    #[inline]
    fn begin(&self, bucket: usize) -> usize {
        self.wrap(bucket * self.bucket_places + self.buckets[bucket].moved as usize)
    }

    /// The place behind so many chains that begin at `at`.
    #[inline]
    fn skip(&self, mut at: usize, mut chains: u32) -> usize {
        while chains > 0 {
            let width = u32::try_from((self.size - at).min(64)).expect("at most 64");
            let last = self.last.get(at, width);
            let passed = last.count_ones();
            if passed >= chains {
                return self.wrap(at + place_of_one(last, chains - 1) as usize + 1);
            }
            chains -= passed;
            at = self.wrap(at + width as usize);
        }
        at
    }

    /// Where a chain begins, or would begin, and how many places it has.
    #[inline]
    fn chain(&self, bucket: usize, chain: u32) -> (usize, usize) {
        let Bucket { chains, .. } = self.buckets[bucket];
        let at = self.skip(self.begin(bucket), (chains & low(chain)).count_ones());
        if chains >> chain & 1 == 0 {
            return (at, 0);
        }
        let end = self.skip(at, 1);
        (at, if end > at { end - at } else { end + self.size - at })
    }

    /// How often the remainder is among places.
    #[inline]
    fn count_among(&self, at: usize, length: usize, remainder: u64) -> u64 {
        (at..at + length).filter(|&at| self.place(at).0 == remainder).count() as u64
    }

    /// How often the fingerprint is there.
    pub fn count(&self, fingerprint: u64) -> u64 {
        let (bucket, chain, remainder) = self.split(fingerprint);
        if self.buckets[bucket].chains >> chain & 1 == 0 {
            return 0;
        }
        let (at, length) = self.chain(bucket, chain);
        self.count_among(at, length, remainder)
    }

    /// Adds a fingerprint. At most as many as there are places fit.
    pub fn add(&mut self, fingerprint: u64) {
        assert!(self.items < self.size, "the table is full");
        let (bucket, chain, remainder) = self.split(fingerprint);
        let (at, length) = self.chain(bucket, chain);
        self.distinct += u64::from(self.count_among(at, length, remainder) == 0);
        self.make_place(bucket, at);
        // in front of its chain
        self.set_place(at, (remainder, length == 0));
        self.buckets[bucket].chains |= 1 << chain;
        self.buckets[bucket].items += 1;
        self.items += 1;
    }

    /// Takes one of the fingerprint away, and says whether there was one.
    pub fn remove(&mut self, fingerprint: u64) -> bool {
        let (bucket, chain, remainder) = self.split(fingerprint);
        let (at, length) = self.chain(bucket, chain);
        let Some(i) = (0..length).find(|&i| self.place(at + i).0 == remainder) else { return false };
        self.distinct -= u64::from(self.count_among(at, length, remainder) == 1);
        if length == 1 {
            self.buckets[bucket].chains &= !(1 << chain);
        } else if i == length - 1 {
            let before = self.wrap(at + i - 1);
            self.last.set_bit(before);
        }
        self.give_back(bucket, self.wrap(at + i));
        self.buckets[bucket].items -= 1;
        self.items -= 1;
        true
    }

    fn next(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// Moves everything from place `at` of the bucket on by one, as far as places are taken.
    fn make_place(&mut self, bucket: usize, at: usize) {
        let Bucket { items, moved, .. } = self.buckets[bucket];
        // all counted from where the bucket begins at best
        let mut end = (moved + items) as usize;
        let mut best = self.bucket_places;
        let mut next = self.next(bucket);
        while end >= best + self.buckets[next].moved as usize {
            self.buckets[next].moved += 1;
            end += self.buckets[next].items as usize;
            best += self.bucket_places;
            next = self.next(next);
        }
        self.move_up(at, end - self.distance(bucket, at));
    }

    /// Moves everything behind the hole back by one, as far as buckets are not where they are best.
    fn give_back(&mut self, bucket: usize, hole: usize) {
        let Bucket { items, moved, .. } = self.buckets[bucket];
        let mut end = (moved + items) as usize;
        let mut best = self.bucket_places;
        let mut next = self.next(bucket);
        // the next one lies right behind and is not at its best place
        while self.buckets[next].moved > 0 && end == best + self.buckets[next].moved as usize {
            self.buckets[next].moved -= 1;
            end += self.buckets[next].items as usize;
            best += self.bucket_places;
            next = self.next(next);
        }
        self.move_down(hole, end - self.distance(bucket, hole));
    }

    /// How far a place is behind the bucket's best one.
    fn distance(&self, bucket: usize, at: usize) -> usize {
        let best = bucket * self.bucket_places;
        if at >= best { at - best } else { at + self.size - best }
    }

    /// Moves `count` places from `at` on up by one.
    fn move_up(&mut self, at: usize, count: usize) {
        let width = self.place_bits as usize;
        if at + count < self.size {
            self.places.open_gap(at * width, (at + count) * width, self.place_bits);
            self.last.open_gap(at, at + count, 1);
        } else {
            for i in (0..count).rev() {
                let field = self.place(at + i);
                self.set_place(at + i + 1, field);
            }
        }
    }

    /// Moves the `count - 1` places behind `at` down by one.
    fn move_down(&mut self, at: usize, count: usize) {
        let width = self.place_bits as usize;
        if at + count <= self.size {
            self.places.close_gap(at * width, (at + count) * width, self.place_bits);
            self.last.close_gap(at, at + count, 1);
        } else {
            for i in 1..count {
                let field = self.place(at + i);
                self.set_place(at + i - 1, field);
            }
        }
    }
}

/// The place of the one that has so many ones below it.
#[inline]
fn place_of_one(mut word: u64, mut below: u32) -> u32 {
    let mut place = 0;
    for half in [32, 16, 8, 4, 2, 1] {
        let ones = (word & low(half)).count_ones();
        if below >= ones {
            below -= ones;
            place += half;
            word >>= half;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Runs a table beside a map, with fingerprints drawn by `draw`.
    fn agrees_with_a_map(items: u64, bits: u32, steps: u32, mut draw: impl FnMut(&mut fastrand::Rng) -> u64) {
        let mut random = fastrand::Rng::with_seed(items);
        let mut table = TinyTable::new(items, bits, 0.2);
        let mut map: HashMap<u64, u64> = HashMap::new();
        let mut all: Vec<u64> = Vec::new();
        for step in 0..steps {
            let fingerprint = draw(&mut random);
            if (all.len() as u64) < items && random.u32(0..100) < 55 {
                table.add(fingerprint);
                *map.entry(fingerprint).or_default() += 1;
                all.push(fingerprint);
            } else if !all.is_empty() {
                let gone = all.swap_remove(random.usize(0..all.len()));
                assert!(table.remove(gone), "step {step}");
                let count = map.get_mut(&gone).expect("it was counted");
                *count -= 1;
                if *count == 0 {
                    map.remove(&gone);
                }
            }
            assert_eq!(table.distinct(), map.len() as u64, "step {step}");
            assert_eq!(table.count(fingerprint), map.get(&fingerprint).copied().unwrap_or(0), "step {step}");
            if step % 500 == 0 {
                for (&fingerprint, &count) in &map {
                    assert_eq!(table.count(fingerprint), count, "step {step}");
                }
            }
        }
        for fingerprint in all {
            assert!(table.remove(fingerprint));
        }
        assert!(table.distinct() == 0 && table.buckets.iter().all(|b| b.items == 0 && b.moved == 0 && b.chains == 0));
    }

    #[test]
    fn it_counts_like_a_map() {
        agrees_with_a_map(1_000, 20, 30_000, |random| random.u64(0..1 << 20));
        agrees_with_a_map(1_000, 14, 30_000, |random| random.u64(0..1 << 14));
        agrees_with_a_map(65, 8, 10_000, |random| random.u64(0..256));
        agrees_with_a_map(5, 12, 5_000, |random| random.u64(0..1 << 12));
    }

    #[test]
    fn crowded_buckets_take_places_of_others_round_the_end() {
        // all in the last of 16 buckets, and then in the first two
        agrees_with_a_map(1_000, 20, 20_000, |random| (1 << 20) - 1 - random.u64(0..1 << 15));
        agrees_with_a_map(1_000, 20, 20_000, |random| random.u64(0..1 << 16));
        // the same few over and over
        agrees_with_a_map(300, 20, 10_000, |random| random.u64(0..3) << 18);
    }

    #[test]
    fn ones_are_found_by_their_number() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1_000 {
            let word = random.u64(..) & random.u64(..);
            let places: Vec<u32> = (0..64).filter(|place| word >> place & 1 != 0).collect();
            let found: Vec<u32> = (0..word.count_ones()).map(|below| place_of_one(word, below)).collect();
            assert_eq!(found, places);
        }
    }

    #[test]
    fn what_is_not_there_cannot_be_removed() {
        let mut table = TinyTable::new(100, 16, 0.2);
        table.add(77);
        assert!(!table.remove(78));
        assert!(table.remove(77) && !table.remove(77));
    }
}
