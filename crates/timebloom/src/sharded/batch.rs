//! Many items at once: shard by shard, so that a shard is locked once for all of its items.

use std::sync::MutexGuard;

use super::Sharded;
use super::shard::shard_of;
use crate::error::Full;
use crate::hash::ItemHash;
use crate::slices::{AT_ONCE, Repeats};
use crate::time_bloom::TimeBloom;
use crate::timestamp::Timestamp;
use crate::verdict::Verdict;

/// Items that are put in the order of their shards at once: enough for several in each, and few enough for the nearest
/// caches.
const BLOCK: usize = 4_096;

/// How often a shard is looked at before a batch waits for it: one that was busy for a moment need not wait for one that is
/// busy for long.
const TRIES: usize = 2;

/// Many items at one time: the same answers as with single calls at the same `now`, with a lock for each shard of some
/// thousand items instead of one for each item. Threads that share a filter gain most: a lock that another thread had
/// before takes longer to get than an item takes to look up.
///
/// Items of one shard are taken in their order, so that an item that comes twice in a batch is new once, then seen; those
/// of other shards before or after them. A batch is not one step: other threads may come in between, as between single
/// calls. Each item is.
impl Sharded<TimeBloom> {
    /// [`insert_if_new_at`](Self::insert_if_new_at) for each of `items`, with its answer for each in `answers`, which is
    /// emptied first. An item that is rejected does not end the batch.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp, Verdict::{New, Seen}};
    ///
    /// let filter = TimeBloom::builder(Duration::from_secs(60)).seed(1).build_sharded(8)?;
    /// let mut answers = Vec::new(); // for all batches to come
    /// filter.insert_if_new_batch_at(&["a", "b", "a"], Timestamp::from_secs(100), &mut answers);
    /// assert_eq!(answers, [Ok(New), Ok(New), Ok(Seen)]);
    /// # Ok::<(), timebloom::BuildError>(())
    /// ```
    pub fn insert_if_new_batch_at<T: AsRef<[u8]>>(
        &self,
        items: &[T],
        now: Timestamp,
        answers: &mut Vec<Result<Verdict, Full>>,
    ) {
        self.check_batch(items, Repeats::Keep, now, answers);
    }

    /// [`check_and_insert_at`](Self::check_and_insert_at) for each of `items`, with its answer for each in `answers`, which
    /// is emptied first. An item that is rejected does not end the batch.
    pub fn check_and_insert_batch_at<T: AsRef<[u8]>>(
        &self,
        items: &[T],
        now: Timestamp,
        answers: &mut Vec<Result<Verdict, Full>>,
    ) {
        self.check_batch(items, Repeats::Refresh, now, answers);
    }

    /// [`contains_at`](Self::contains_at) for each of `items`, with one answer for each in `seen`, which is emptied first.
    pub fn contains_batch_at<T: AsRef<[u8]>>(&self, items: &[T], now: Timestamp, seen: &mut Vec<bool>) {
        let mut found = Vec::with_capacity(AT_ONCE);
        seen.clear();
        seen.resize(items.len(), false);
        self.by_shard(items, |shard, hashes, places| {
            shard.contains_hashes_at(hashes, now, &mut found);
            for (&place, &found) in places.iter().zip(&found) {
                seen[place] = found;
            }
        });
    }

    fn check_batch<T: AsRef<[u8]>>(
        &self,
        items: &[T],
        repeats: Repeats,
        now: Timestamp,
        answers: &mut Vec<Result<Verdict, Full>>,
    ) {
        let mut verdicts = Vec::with_capacity(AT_ONCE);
        answers.clear();
        answers.resize(items.len(), Ok(Verdict::New));
        self.by_shard(items, |shard, hashes, places| {
            let mut done = 0;
            while done < hashes.len() {
                verdicts.clear();
                let outcome = shard.check_all(&hashes[done..], repeats, now, &mut verdicts);
                for (&place, &verdict) in places[done..].iter().zip(&verdicts) {
                    answers[place] = Ok(verdict);
                }
                done += verdicts.len();
                if let Err(stop) = outcome {
                    answers[places[done]] = Err(stop.full);
                    done += 1;
                }
            }
        });
    }

    /// Calls `each` with a shard, the hashes of some of its items and their places among `items`, up to [`AT_ONCE`] at a
    /// time and in their order, until all had their turn.
    pub(super) fn by_shard<T: AsRef<[u8]>>(
        &self,
        items: &[T],
        mut each: impl FnMut(&mut TimeBloom, &[ItemHash], &[usize]),
    ) {
        let mut block = Block::new(self.shards.len());
        let mut busy = Vec::new();
        for (number, items) in items.chunks(BLOCK).enumerate() {
            // before any lock is held: to get at an item's bytes is the user's code
            block.fill(number * BLOCK, items.iter().map(|item| self.hash(item)));
            let mut take = |shard: u16, mut filter: MutexGuard<'_, TimeBloom>| {
                block.items_of(shard, |hashes, places| each(&mut filter, hashes, places));
            };
            // where another thread is, come back later: to fall asleep and wake up again takes longer than all the rest
            busy.extend_from_slice(&block.shards);
            for _ in 0..TRIES {
                busy.retain(|&shard| match self.shards[usize::from(shard)].try_lock() {
                    Some(filter) => {
                        take(shard, filter);
                        false
                    }
                    None => true,
                });
            }
            for shard in busy.drain(..) {
                take(shard, self.shards[usize::from(shard)].lock());
            }
        }
    }
}

/// The items of a part of a batch, by their shards.
struct Block {
    /// Items of the batch that came before these.
    before: usize,
    hashes: Vec<ItemHash>,
    /// For each shard, one more than the place of its first item; 0 if it has none.
    first: Vec<u16>,
    /// For each item, one more than the place of the next one of its shard; 0 if there is none.
    next: Vec<u16>,
    /// The shards that have items.
    shards: Vec<u16>,
}

const _: () = assert!(BLOCK <= u16::MAX as usize && super::MAX_SHARDS <= 1 << u16::BITS);

impl Block {
    fn new(shards: usize) -> Self {
        Block { before: 0, hashes: Vec::new(), first: vec![0; shards], next: Vec::new(), shards: Vec::new() }
    }

    /// Takes in up to [`BLOCK`] items in place of others.
    fn fill(&mut self, before: usize, hashes: impl Iterator<Item = ItemHash>) {
        self.before = before;
        self.hashes.clear();
        self.hashes.extend(hashes);
        self.next.clear();
        self.next.resize(self.hashes.len(), 0);
        for shard in self.shards.drain(..) {
            self.first[usize::from(shard)] = 0;
        }
        // from the last on, so that each list begins with its first
        for (place, &hash) in self.hashes.iter().enumerate().rev() {
            let shard = shard_of(hash, self.first.len());
            let first = &mut self.first[shard];
            #[allow(clippy::cast_possible_truncation)] // below MAX_SHARDS, and below BLOCK
            let (shard, number) = (shard as u16, place as u16 + 1);
            if *first == 0 {
                self.shards.push(shard);
            }
            self.next[place] = std::mem::replace(first, number);
        }
    }

    /// Calls `each` with the hashes and places in the batch of a shard's items, up to [`AT_ONCE`] at a time.
    fn items_of(&self, shard: u16, mut each: impl FnMut(&[ItemHash], &[usize])) {
        let mut following = self.first[usize::from(shard)];
        while following > 0 {
            let (mut hashes, mut places, mut count) = ([ItemHash::NONE; AT_ONCE], [0; AT_ONCE], 0);
            while following > 0 && count < AT_ONCE {
                let place = usize::from(following - 1);
                (hashes[count], places[count]) = (self.hashes[place], self.before + place);
                count += 1;
                following = self.next[place];
            }
            each(&hashes[..count], &places[..count]);
        }
    }
}
