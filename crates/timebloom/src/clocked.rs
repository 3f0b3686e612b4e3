//! A time window that brings its own clock.

use std::ops::RangeBounds;
use std::time::Duration;

use crate::clock::Clock;
use crate::error::{BatchFull, Full};
use crate::stats::Stats;
use crate::time_bloom::TimeBloom;
use crate::timestamp::Timestamp;
use crate::verdict::{AgeRange, Verdict};

/// A filter and a [`Clock`]: every method takes the time from the clock. See [`TimeBloom::with_clock`], and
/// [`Sharded::with_clock`](crate::Sharded::with_clock) for threads.
///
/// ```
/// use std::time::Duration;
/// use timebloom::{SystemClock, TimeBloom};
///
/// let mut seen = TimeBloom::builder(Duration::from_secs(300)).build()?.with_clock(SystemClock);
/// assert!(seen.insert_if_new("message-1")?.is_new());
/// assert!(seen.insert_if_new("message-1")?.is_seen());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clocked<C, F = TimeBloom> {
    filter: F,
    clock: C,
}

impl<C, F> Clocked<C, F> {
    pub(crate) fn new(filter: F, clock: C) -> Self {
        Clocked { filter, clock }
    }

    /// The filter, for questions about other times than now, and to save it: [`TimeBloom::write_to`].
    pub fn filter(&self) -> &F {
        &self.filter
    }

    /// The filter, for changes that have no twin here: those of hashes.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{Clock, SystemClock, TimeBloom};
    ///
    /// let mut seen = TimeBloom::builder(Duration::from_secs(300)).build()?.with_clock(SystemClock);
    /// let now = seen.clock().now();
    /// let hash = seen.filter().hash("message-1");
    /// seen.filter_mut().insert_hash_at(hash, now)?;
    /// assert!(seen.contains("message-1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn filter_mut(&mut self) -> &mut F {
        &mut self.filter
    }

    /// The clock.
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// The filter without its clock.
    pub fn into_inner(self) -> F {
        self.filter
    }
}

impl<C: Clock> Clocked<C> {
    /// Records an item: [`TimeBloom::insert_at`].
    pub fn insert(&mut self, item: impl AsRef<[u8]>) -> Result<(), Full> {
        self.filter.insert_at(item, self.clock.now())
    }

    /// Records an item unless it is in the window: [`TimeBloom::insert_if_new_at`].
    pub fn insert_if_new(&mut self, item: impl AsRef<[u8]>) -> Result<Verdict, Full> {
        self.filter.insert_if_new_at(item, self.clock.now())
    }

    /// Tells whether an item is in the window and records it in any case: [`TimeBloom::check_and_insert_at`].
    pub fn check_and_insert(&mut self, item: impl AsRef<[u8]>) -> Result<Verdict, Full> {
        self.filter.check_and_insert_at(item, self.clock.now())
    }

    /// Whether an item is in the window: [`TimeBloom::contains_at`].
    pub fn contains(&self, item: impl AsRef<[u8]>) -> bool {
        self.filter.contains_at(item, self.clock.now())
    }

    /// Whether an item was seen in the last `within`: [`TimeBloom::contains_within_at`].
    pub fn contains_within(&self, item: impl AsRef<[u8]>, within: Duration) -> bool {
        self.filter.contains_within_at(item, within, self.clock.now())
    }

    /// Whether an item was seen at a certain time: [`TimeBloom::contains_between_at`].
    pub fn contains_between(&self, item: impl AsRef<[u8]>, when: impl RangeBounds<Timestamp>) -> bool {
        self.filter.contains_between_at(item, when, self.clock.now())
    }

    /// How long ago an item was last inserted: [`TimeBloom::age_at`].
    pub fn age(&self, item: impl AsRef<[u8]>) -> Option<AgeRange> {
        self.filter.age_at(item, self.clock.now())
    }

    /// Records many items, all at the same time: [`TimeBloom::insert_batch_at`].
    pub fn insert_batch<T: AsRef<[u8]>>(&mut self, items: &[T]) -> Result<(), BatchFull> {
        self.filter.insert_batch_at(items, self.clock.now())
    }

    /// Records those of many items that are not in the window: [`TimeBloom::insert_if_new_batch_at`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{SystemClock, TimeBloom, Verdict::{New, Seen}};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(300)).seed(1).build()?.with_clock(SystemClock);
    /// let mut verdicts = Vec::new();
    /// filter.insert_if_new_batch(&["a", "b", "a"], &mut verdicts)?;
    /// assert_eq!(verdicts, [New, New, Seen]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_if_new_batch<T: AsRef<[u8]>>(
        &mut self,
        items: &[T],
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), BatchFull> {
        self.filter.insert_if_new_batch_at(items, self.clock.now(), verdicts)
    }

    /// Tells which of many items are in the window and records all: [`TimeBloom::check_and_insert_batch_at`].
    pub fn check_and_insert_batch<T: AsRef<[u8]>>(
        &mut self,
        items: &[T],
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), BatchFull> {
        self.filter.check_and_insert_batch_at(items, self.clock.now(), verdicts)
    }

    /// Which of many items are in the window: [`TimeBloom::contains_batch_at`].
    pub fn contains_batch<T: AsRef<[u8]>>(&self, items: &[T], seen: &mut Vec<bool>) {
        self.filter.contains_batch_at(items, self.clock.now(), seen);
    }

    /// Forgets every item: [`TimeBloom::clear`].
    pub fn clear(&mut self) {
        self.filter.clear();
    }

    /// Gives back the memory of what has expired: [`TimeBloom::advance_to`].
    pub fn advance(&mut self) {
        self.filter.advance_to(self.clock.now());
    }

    /// The filter's figures: [`TimeBloom::stats`].
    pub fn stats(&self) -> Stats {
        self.filter.stats(self.clock.now())
    }
}
