//! Filters for many threads: several of them, each behind its own lock.

mod batch;
mod clocked;
mod shard;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::num::NonZeroU64;
use std::ops::RangeBounds;
use std::sync::MutexGuard;
use std::thread;
use std::time::Duration;

use crate::clocked::Clocked;
use crate::error::{BuildError, Full};
use crate::hash::ItemHash;
use crate::policy::{OnFull, Policy};
use crate::sizing::Plan;
use crate::stats::Stats;
use crate::time_bloom::TimeBloom;
use crate::timestamp::Timestamp;
use crate::verdict::{AgeRange, Verdict};
use crate::window::Config;
use shard::{Shard, shard_of};

/// The most shards a filter can have.
pub const MAX_SHARDS: usize = 65_536;

/// Shards for each thread that can run at once: fewer than one operation in this many finds another thread in its shard.
const SHARDS_PER_THREAD: usize = 16;

/// How many shards suit this machine: 16 for each thread that it can run at once.
///
/// With fewer, threads wait for each other more often; with more, a window of few items takes more memory and time. See
/// [`Sharded`] for how much.
pub fn default_shards() -> usize {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    threads.saturating_mul(SHARDS_PER_THREAD).min(MAX_SHARDS)
}

/// A filter that threads share: a [`TimeBloom`] cut into shards, each behind a lock of its own. Every method takes
/// `&self`. Built by [`TimeBloomBuilder::build_sharded`](crate::TimeBloomBuilder::build_sharded).
///
/// ```
/// use std::time::Duration;
/// use timebloom::{TimeBloom, Timestamp, default_shards};
///
/// let seen = TimeBloom::builder(Duration::from_secs(60)).seed(1).build_sharded(default_shards())?;
/// let now = Timestamp::from_secs(1_700_000_000);
/// let new = std::thread::scope(|scope| {
///     let deliver = || (0..1_000_u32).filter(|id| seen.insert_if_new_at(id.to_le_bytes(), now).unwrap().is_new()).count();
///     let threads = [scope.spawn(deliver), scope.spawn(deliver)];
///     threads.map(|thread| thread.join().unwrap())
/// });
/// // Each of the 1,000 was new to one of the threads and not to the other, but for a false positive here and there.
/// let new: usize = new.iter().sum();
/// assert!((970..=1_000).contains(&new));
/// # Ok::<(), timebloom::BuildError>(())
/// ```
///
/// # What holds
///
/// The hash of an item decides its shard, so all that is ever asked or told about an item goes to the same filter, one
/// thread after the other, and every guarantee of [`TimeBloom`] holds for it there: no false negatives within `span`, an
/// overstay of at most `span / l`, and a false positive rate within its target in every shard.
///
/// **One operation is one step.** [`insert_if_new_at`](Self::insert_if_new_at) and
/// [`check_and_insert_at`](Self::check_and_insert_at) look and insert under one lock. Of any number of threads that race
/// for an item, at most one within a `span` is told [`Verdict::New`]; and one is, unless the item is a false positive.
///
/// **Each shard has its own clock**, the latest time that an insertion or [`advance_to`](Self::advance_to) gave it, and a
/// time before that counts as that one. So nothing is lost when threads bring their times slightly out of order: an item
/// that comes late counts as inserted a little later, and stays as much longer. Precisely, an item inserted at `t` is
/// reported until a time after `t + span` is given: by the query itself, or before it by a change in the same shard. If
/// the clocks of threads disagree by up to `d`, a thread can be certain of an item for `span - d` by its own clock; ask
/// for a window of `span + d` where that matters.
///
/// **Operations on the whole go from shard to shard**: [`advance_to`](Self::advance_to), [`clear`](Self::clear) and
/// [`stats`](Self::stats) do not stop other threads, which may change a shard before or after its turn.
///
/// **A panic stays where it is.** If a thread panics inside a shard, the others go on with that shard as it is. Only if
/// its invariants are broken, which would be a defect of this library, does that one shard start anew, empty.
///
/// # What it costs
///
/// A lock for each operation, some 10 ns when no other thread wants it; and memory, as each shard is a filter with slices
/// of its own. With ten thousand items of the window in each shard that is a sixth more than one large filter takes, with
/// one thousand nearly twice as much. Use fewer shards for small windows.
///
/// The expected number of items and the memory limit are divided evenly. Items spread almost evenly too, but not quite:
/// a shard may be [`Full`] a little before the whole has reached its limit, and the error has the numbers of the shard.
///
/// Threads that have many items at once give them as a batch: locks are then shared by the items of a shard.
///
/// There are no snapshots of it. Count windows have no such face at all: the last `N` items of a stream are
/// not the last `N / shards` of every shard. One item that repeats would push others of its shard out of the window, while
/// the rest of the shards keep theirs for too long. Put a [`CountBloom`](crate::CountBloom) behind one lock instead.
#[derive(Debug)]
pub struct Sharded<F> {
    /// That of the shards, but with the items and bytes of the whole.
    config: Config,
    /// In `1..=MAX_SHARDS`.
    shards: Box<[Shard<F>]>,
}

impl Sharded<TimeBloom> {
    /// Builds `shards` filters with their shares of `expected_items` and `max_bytes`.
    pub(crate) fn build(
        shards: usize,
        expected_items: u64,
        max_bytes: Option<u64>,
        build_one: impl Fn(u64, Option<u64>) -> Result<TimeBloom, BuildError>,
    ) -> Result<Self, BuildError> {
        if !(1..=MAX_SHARDS).contains(&shards) {
            return Err(BuildError::Shards { got: shards, max: MAX_SHARDS });
        }
        let count = shards as u64;
        let own = size_of::<Self>() as u64;
        let overhead = Shard::OVERHEAD_BYTES as u64;
        let share = max_bytes.map(|bytes| (bytes.saturating_sub(own) / count).saturating_sub(overhead));
        let first = build_one(expected_items.div_ceil(count), share).map_err(|error| match (error, max_bytes) {
            (BuildError::MaxBytes { min, .. }, Some(got)) => {
                BuildError::MaxBytes { got, min: own + count * (min + overhead) }
            }
            (error, _) => error,
        })?;
        let max_bytes = max_bytes.and_then(NonZeroU64::new);
        let config = Config { expected_items, max_bytes, ..first.window.config.clone() };
        let shards = (0..shards).map(|_| Shard::new(first.clone())).collect();
        Ok(Sharded { config, shards })
    }

    #[inline]
    fn shard(&self, hash: ItemHash) -> MutexGuard<'_, TimeBloom> {
        self.shards[shard_of(hash, self.shards.len())].lock()
    }

    /// Pairs the filter with a clock, so that its methods need no `now`.
    pub fn with_clock<C>(self, clock: C) -> Clocked<C, Self> {
        Clocked::new(self, clock)
    }

    /// The number of shards.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// The window.
    pub fn span(&self) -> Duration {
        Duration::from_nanos(self.config.span)
    }

    /// The proportions of every shard.
    pub fn plan(&self) -> &Plan {
        &self.config.plan
    }

    /// How slices are sized.
    pub fn policy(&self) -> Policy {
        self.config.policy
    }

    /// The hint about the rate that the filter was built with, for all shards together.
    pub fn expected_items(&self) -> u64 {
        self.config.expected_items
    }

    /// The memory limit of all shards together, if there is one.
    pub fn max_bytes(&self) -> Option<u64> {
        self.config.max_bytes()
    }

    /// What happens to insertions at the memory limit.
    pub fn on_full(&self) -> OnFull {
        self.config.on_full
    }

    /// The seed of the hash function.
    pub fn seed(&self) -> u64 {
        self.config.seed
    }

    /// The item's hash, for the `*_hash_at` twins.
    pub fn hash(&self, item: impl AsRef<[u8]>) -> ItemHash {
        ItemHash::new(item, self.seed())
    }

    /// Records an item at `now`. If it was in the window already, its time starts anew.
    pub fn insert_at(&self, item: impl AsRef<[u8]>, now: Timestamp) -> Result<(), Full> {
        self.insert_hash_at(self.hash(item), now)
    }

    /// [`insert_at`](Self::insert_at) for a hash.
    pub fn insert_hash_at(&self, hash: ItemHash, now: Timestamp) -> Result<(), Full> {
        self.shard(hash).insert_hash_at(hash, now)
    }

    /// Records an item at `now` unless it is in the window; one that is keeps the age it has. Of threads that race for an
    /// item, at most one is told [`Verdict::New`].
    pub fn insert_if_new_at(&self, item: impl AsRef<[u8]>, now: Timestamp) -> Result<Verdict, Full> {
        self.insert_if_new_hash_at(self.hash(item), now)
    }

    /// [`insert_if_new_at`](Self::insert_if_new_at) for a hash.
    pub fn insert_if_new_hash_at(&self, hash: ItemHash, now: Timestamp) -> Result<Verdict, Full> {
        self.shard(hash).insert_if_new_hash_at(hash, now)
    }

    /// Tells whether an item is in the window at `now`, and records it in any case: a repeat starts its time anew. Of
    /// threads that race for an item, at most one is told [`Verdict::New`].
    pub fn check_and_insert_at(&self, item: impl AsRef<[u8]>, now: Timestamp) -> Result<Verdict, Full> {
        self.check_and_insert_hash_at(self.hash(item), now)
    }

    /// [`check_and_insert_at`](Self::check_and_insert_at) for a hash.
    pub fn check_and_insert_hash_at(&self, hash: ItemHash, now: Timestamp) -> Result<Verdict, Full> {
        self.shard(hash).check_and_insert_hash_at(hash, now)
    }

    /// Whether an item is in the window that ends at `now`: see [`TimeBloom::contains_at`].
    pub fn contains_at(&self, item: impl AsRef<[u8]>, now: Timestamp) -> bool {
        self.contains_hash_at(self.hash(item), now)
    }

    /// [`contains_at`](Self::contains_at) for a hash.
    pub fn contains_hash_at(&self, hash: ItemHash, now: Timestamp) -> bool {
        self.shard(hash).contains_hash_at(hash, now)
    }

    /// Whether an item was seen in the last `within` before `now`: see [`TimeBloom::contains_within_at`].
    pub fn contains_within_at(&self, item: impl AsRef<[u8]>, within: Duration, now: Timestamp) -> bool {
        self.contains_within_hash_at(self.hash(item), within, now)
    }

    /// [`contains_within_at`](Self::contains_within_at) for a hash.
    pub fn contains_within_hash_at(&self, hash: ItemHash, within: Duration, now: Timestamp) -> bool {
        self.shard(hash).contains_within_hash_at(hash, within, now)
    }

    /// Whether an item was seen at a certain time: see [`TimeBloom::contains_between_at`].
    pub fn contains_between_at(
        &self,
        item: impl AsRef<[u8]>,
        when: impl RangeBounds<Timestamp>,
        now: Timestamp,
    ) -> bool {
        self.contains_between_hash_at(self.hash(item), when, now)
    }

    /// [`contains_between_at`](Self::contains_between_at) for a hash.
    pub fn contains_between_hash_at(&self, hash: ItemHash, when: impl RangeBounds<Timestamp>, now: Timestamp) -> bool {
        // the range may be of a user's own type, whose code must not run under the lock
        let when = (when.start_bound().cloned(), when.end_bound().cloned());
        self.shard(hash).contains_between_hash_at(hash, when, now)
    }

    /// How long before `now` an item was last inserted; `None` if it is not in the window.
    pub fn age_at(&self, item: impl AsRef<[u8]>, now: Timestamp) -> Option<AgeRange> {
        self.age_hash_at(self.hash(item), now)
    }

    /// [`age_at`](Self::age_at) for a hash.
    pub fn age_hash_at(&self, hash: ItemHash, now: Timestamp) -> Option<AgeRange> {
        self.shard(hash).age_hash_at(hash, now)
    }

    /// Lets time pass in every shard without an insertion, and gives back the memory of what has expired by `now`. Never
    /// needed for correct answers; but insertions do it only in the shard they go to.
    pub fn advance_to(&self, now: Timestamp) {
        for shard in &self.shards {
            shard.lock().advance_to(now);
        }
    }

    /// Forgets every item, shard by shard: one that comes meanwhile may stay. Time does not go back, and counters in
    /// [`stats`](Self::stats) go on.
    pub fn clear(&self) {
        for shard in &self.shards {
            shard.lock().clear();
        }
    }

    /// The filter's figures at `now`, taken shard by shard and added up. An item that was never inserted may fall into
    /// any shard with the same chance, so the false positive rate now is the mean of all shards; the worst one is that of
    /// the worst shard.
    pub fn stats(&self, now: Timestamp) -> Stats {
        let mut all = Stats { memory_bytes: size_of::<Self>(), ..Stats::NONE };
        for one in self.shard_stats(now) {
            all.slices += one.slices;
            all.bits += one.bits;
            all.items_in_window += one.items_in_window;
            all.false_positive_rate += one.false_positive_rate / self.shards.len() as f64;
            all.worst_false_positive_rate = all.worst_false_positive_rate.max(one.worst_false_positive_rate);
            all.inserted += one.inserted;
            all.shifts += one.shifts;
            all.retired += one.retired;
            all.fresh_starts += one.fresh_starts;
            all.shortened += one.shortened;
            all.rejected += one.rejected;
            all.memory_bytes += one.memory_bytes + Shard::OVERHEAD_BYTES;
        }
        all
    }

    /// The figures of each shard at `now`.
    pub fn shard_stats(&self, now: Timestamp) -> impl Iterator<Item = Stats> + '_ {
        self.shards.iter().map(move |shard| shard.lock().stats(now))
    }

    /// Checks every internal invariant; the error says which is broken. For tests and fuzzers.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        for (number, shard) in self.shards.iter().enumerate() {
            shard.lock().validate().map_err(|broken| format!("shard {number}: {broken}"))?;
        }
        Ok(())
    }
}
