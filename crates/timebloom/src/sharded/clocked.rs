//! A sharded filter that brings its own clock.

use std::ops::RangeBounds;
use std::time::Duration;

use super::Sharded;
use crate::clock::Clock;
use crate::clocked::Clocked;
use crate::error::Full;
use crate::stats::Stats;
use crate::time_bloom::TimeBloom;
use crate::timestamp::Timestamp;
use crate::verdict::{AgeRange, Verdict};

/// For threads: every method takes `&self`. The clock is read before the shard is locked, so threads may bring their times
/// slightly out of order: see [`Sharded`].
///
/// ```
/// use std::time::Duration;
/// use timebloom::{CoarseClock, TimeBloom};
///
/// let seen = TimeBloom::builder(Duration::from_secs(300)).build_sharded(8)?.with_clock(CoarseClock);
/// let new = std::thread::scope(|scope| {
///     let threads = [(); 2].map(|()| scope.spawn(|| seen.insert_if_new("message-1").unwrap().is_new()));
///     threads.map(|thread| thread.join().unwrap())
/// });
/// assert!(new == [true, false] || new == [false, true]);
/// # Ok::<(), timebloom::BuildError>(())
/// ```
impl<C: Clock> Clocked<C, Sharded<TimeBloom>> {
    /// Records an item: [`Sharded::insert_at`].
    pub fn insert(&self, item: impl AsRef<[u8]>) -> Result<(), Full> {
        self.filter().insert_at(item, self.clock().now())
    }

    /// Records an item unless it is in the window: [`Sharded::insert_if_new_at`].
    pub fn insert_if_new(&self, item: impl AsRef<[u8]>) -> Result<Verdict, Full> {
        self.filter().insert_if_new_at(item, self.clock().now())
    }

    /// Tells whether an item is in the window and records it in any case: [`Sharded::check_and_insert_at`].
    pub fn check_and_insert(&self, item: impl AsRef<[u8]>) -> Result<Verdict, Full> {
        self.filter().check_and_insert_at(item, self.clock().now())
    }

    /// Whether an item is in the window: [`Sharded::contains_at`].
    pub fn contains(&self, item: impl AsRef<[u8]>) -> bool {
        self.filter().contains_at(item, self.clock().now())
    }

    /// Records those of many items that are not in the window: [`Sharded::insert_if_new_batch_at`].
    pub fn insert_if_new_batch<T: AsRef<[u8]>>(&self, items: &[T], answers: &mut Vec<Result<Verdict, Full>>) {
        self.filter().insert_if_new_batch_at(items, self.clock().now(), answers);
    }

    /// Tells which of many items are in the window and records all: [`Sharded::check_and_insert_batch_at`].
    pub fn check_and_insert_batch<T: AsRef<[u8]>>(&self, items: &[T], answers: &mut Vec<Result<Verdict, Full>>) {
        self.filter().check_and_insert_batch_at(items, self.clock().now(), answers);
    }

    /// Whether each of many items is in the window: [`Sharded::contains_batch_at`].
    pub fn contains_batch<T: AsRef<[u8]>>(&self, items: &[T], seen: &mut Vec<bool>) {
        self.filter().contains_batch_at(items, self.clock().now(), seen);
    }

    /// Whether an item was seen in the last `within`: [`Sharded::contains_within_at`].
    pub fn contains_within(&self, item: impl AsRef<[u8]>, within: Duration) -> bool {
        self.filter().contains_within_at(item, within, self.clock().now())
    }

    /// Whether an item was seen at a certain time: [`Sharded::contains_between_at`].
    pub fn contains_between(&self, item: impl AsRef<[u8]>, when: impl RangeBounds<Timestamp>) -> bool {
        self.filter().contains_between_at(item, when, self.clock().now())
    }

    /// How long ago an item was last inserted: [`Sharded::age_at`].
    pub fn age(&self, item: impl AsRef<[u8]>) -> Option<AgeRange> {
        self.filter().age_at(item, self.clock().now())
    }

    /// Gives back the memory of what has expired: [`Sharded::advance_to`].
    pub fn advance(&self) {
        self.filter().advance_to(self.clock().now());
    }

    /// Forgets every item: [`Sharded::clear`].
    pub fn clear(&self) {
        self.filter().clear();
    }

    /// The filter's figures: [`Sharded::stats`].
    pub fn stats(&self) -> Stats {
        self.filter().stats(self.clock().now())
    }
}
