//! Time windows: the time-limited Bloom filter.

use std::ops::{Bound, RangeBounds};
use std::time::Duration;

use crate::builder::TimeBloomBuilder;
use crate::clocked::Clocked;
use crate::error::Full;
use crate::hash::ItemHash;
use crate::policy::{OnFull, Policy};
use crate::sizing::Plan;
use crate::slices::Which;
use crate::stats::{Counts, Generation, SliceStats, Stats};
use crate::timestamp::{Timestamp, saturating_nanos};
use crate::verdict::{AgeRange, Verdict};
use crate::window::{Window, rounded_up};

/// A Bloom filter over the last `span` of time, for streams whose rate nobody knows in advance.
///
/// With the default policy:
///
/// - G1, no false negatives: an item inserted at `t` is reported at every time in `[t, t + span]`.
/// - G2, bounded overstay: an item that is not inserted again is no longer held after `t + span + span / l`. See the
///   crate documentation for how the chance of a report falls from there.
/// - G3, bounded false positives: the chance that an item never inserted is reported is at most the false positive
///   rate, at every moment.
///
/// Time is given by the caller, and only ever moves forward: a `now` before the latest time an insertion has seen counts
/// as that time. Methods that take `&self` change nothing, not even the filter's idea of time.
///
/// ```
/// use std::time::Duration;
/// use timebloom::{TimeBloom, Timestamp, Verdict};
///
/// let mut filter = TimeBloom::builder(Duration::from_secs(60)).false_positive_rate(0.001).build()?;
/// let start = Timestamp::from_secs(1_700_000_000);
/// assert_eq!(filter.insert_if_new_at("order-17", start)?, Verdict::New);
///
/// let later = start.saturating_add(Duration::from_secs(60));
/// assert_eq!(filter.insert_if_new_at("order-17", later)?, Verdict::Seen);
///
/// let much_later = later.saturating_add(Duration::from_secs(3_600));
/// assert_eq!(filter.insert_if_new_at("order-17", much_later)?, Verdict::New);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimeBloom {
    pub(crate) window: Window,
}

impl TimeBloom {
    /// Starts building a filter over the last `span`.
    pub fn builder(span: Duration) -> TimeBloomBuilder {
        TimeBloomBuilder::new(span)
    }

    pub(crate) fn from_window(window: Window) -> Self {
        TimeBloom { window }
    }

    /// Pairs the filter with a clock, so that its methods need no `now`.
    pub fn with_clock<C>(self, clock: C) -> Clocked<C> {
        Clocked::new(self, clock)
    }

    /// The window.
    pub fn span(&self) -> Duration {
        Duration::from_nanos(self.window.config.span)
    }

    /// The filter's proportions.
    pub fn plan(&self) -> &Plan {
        &self.window.config.plan
    }

    /// How slices are sized.
    pub fn policy(&self) -> Policy {
        self.window.config.policy
    }

    /// The hint about the rate that the filter was built with.
    pub fn expected_items(&self) -> u64 {
        self.window.config.expected_items
    }

    /// The memory limit, if there is one.
    pub fn max_bytes(&self) -> Option<u64> {
        self.window.config.max_bytes()
    }

    /// What happens to insertions at the memory limit.
    pub fn on_full(&self) -> OnFull {
        self.window.config.on_full
    }

    /// The seed of the hash function.
    pub fn seed(&self) -> u64 {
        self.window.config.seed
    }

    /// The item's hash, for the `*_hash_at` twins.
    #[inline]
    pub fn hash(&self, item: impl AsRef<[u8]>) -> ItemHash {
        ItemHash::new(item, self.seed())
    }

    /// The item's hash, for a question that follows soon: asks for the memory that it needs, and does not wait for it. For
    /// those who have something else to do before they ask.
    #[inline]
    pub fn prefetch(&self, item: impl AsRef<[u8]>) -> ItemHash {
        let hash = self.hash(item);
        self.window.slices.prefetch(&[hash], Which::All);
        hash
    }

    /// Records an item at `now`. If it was in the window already, its time starts anew.
    #[inline]
    pub fn insert_at(&mut self, item: impl AsRef<[u8]>, now: Timestamp) -> Result<(), Full> {
        self.insert_hash_at(self.hash(item), now)
    }

    /// [`insert_at`](Self::insert_at) for a hash.
    #[inline]
    pub fn insert_hash_at(&mut self, hash: ItemHash, now: Timestamp) -> Result<(), Full> {
        self.window.insert(hash, now)
    }

    /// Records an item at `now` unless it is in the window; one that is keeps the age it has. First sighting decides, as
    /// with `SET NX EX`.
    ///
    /// An item that is taken for a known one by mistake, a false positive, is not recorded either: it may be
    /// [`Verdict::New`] when it comes again.
    pub fn insert_if_new_at(&mut self, item: impl AsRef<[u8]>, now: Timestamp) -> Result<Verdict, Full> {
        self.insert_if_new_hash_at(self.hash(item), now)
    }

    /// [`insert_if_new_at`](Self::insert_if_new_at) for a hash.
    #[inline]
    pub fn insert_if_new_hash_at(&mut self, hash: ItemHash, now: Timestamp) -> Result<Verdict, Full> {
        if self.contains_hash_at(hash, now) {
            return Ok(Verdict::Seen);
        }
        self.insert_hash_at(hash, now)?;
        Ok(Verdict::New)
    }

    /// Tells whether an item is in the window at `now`, and records it in any case: a repeat starts its time anew. When
    /// the insertion is rejected, [`contains_at`](Self::contains_at) still tells.
    pub fn check_and_insert_at(&mut self, item: impl AsRef<[u8]>, now: Timestamp) -> Result<Verdict, Full> {
        self.check_and_insert_hash_at(self.hash(item), now)
    }

    /// [`check_and_insert_at`](Self::check_and_insert_at) for a hash.
    #[inline]
    pub fn check_and_insert_hash_at(&mut self, hash: ItemHash, now: Timestamp) -> Result<Verdict, Full> {
        let seen = self.contains_hash_at(hash, now);
        self.insert_hash_at(hash, now)?;
        Ok(Verdict::seen_if(seen))
    }

    /// Whether an item is in the window that ends at `now`: always true for one inserted in `[now - span, now]`.
    #[inline]
    pub fn contains_at(&self, item: impl AsRef<[u8]>, now: Timestamp) -> bool {
        self.contains_hash_at(self.hash(item), now)
    }

    /// [`contains_at`](Self::contains_at) for a hash.
    #[inline]
    pub fn contains_hash_at(&self, hash: ItemHash, now: Timestamp) -> bool {
        self.window.slices.has_run_since(hash, self.window.horizon(now))
    }

    /// Whether an item was seen in the last `within` before `now`: always true for one inserted in
    /// `[now - within, now]`, as far as the window reaches. An item overstays a shorter window by `span / l` at most,
    /// like the whole one.
    pub fn contains_within_at(&self, item: impl AsRef<[u8]>, within: Duration, now: Timestamp) -> bool {
        self.contains_within_hash_at(self.hash(item), within, now)
    }

    /// [`contains_within_at`](Self::contains_within_at) for a hash.
    pub fn contains_within_hash_at(&self, hash: ItemHash, within: Duration, now: Timestamp) -> bool {
        let now = self.window.clamp(now);
        let oldest = Timestamp::from_nanos(now.as_nanos().saturating_sub(saturating_nanos(within)));
        let live = self.window.slices.since(oldest.max(self.window.horizon(now)));
        self.window.slices.has_run(hash, 0..live)
    }

    /// Whether an item was seen at a certain time: always true for one inserted at a time in `when`, as far as the window
    /// that ends at `now` reaches. Items inserted up to `span / l` outside `when` may be reported too.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(3_600)).seed(1).build()?;
    /// let at = |minute: u64| Timestamp::from_secs(60 * minute);
    /// filter.insert_at("192.0.2.7", at(10))?;
    /// filter.insert_at("192.0.2.8", at(30))?;
    /// assert!(filter.contains_between_at("192.0.2.7", at(8)..at(12), at(60)));
    /// assert!(!filter.contains_between_at("192.0.2.7", at(25)..at(35), at(60)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let Some((first, last)) = closed(&when) else { return false };
        let window = &self.window;
        let slices = &window.slices;
        // A generation whose oldest slice is at `position` was inserted between `earliest(position)` and
        // `newest_of(position)`: the oldest slices of those that overlap are `start..end`.
        let end = slices.since(first.max(window.horizon(now)));
        let start = (slices.hashes() - 1..end).find(|&oldest| window.earliest(oldest) <= last);
        start.is_some_and(|start| slices.has_run(hash, start + 1 - slices.hashes()..end))
    }

    /// How long before `now` an item was last inserted; `None` if it is not in the window.
    pub fn age_at(&self, item: impl AsRef<[u8]>, now: Timestamp) -> Option<AgeRange> {
        self.age_hash_at(self.hash(item), now)
    }

    /// [`age_at`](Self::age_at) for a hash.
    pub fn age_hash_at(&self, hash: ItemHash, now: Timestamp) -> Option<AgeRange> {
        let now = self.window.clamp(now);
        let oldest = self.window.slices.youngest_run(hash, self.window.live(now))?;
        Some(AgeRange {
            at_least: now.saturating_since(self.window.slices.newest_of(*oldest.start())),
            at_most: now.saturating_since(self.window.earliest(*oldest.end())),
        })
    }

    /// The latest time that a change was told: one that is told an earlier time counts at this one.
    /// [`Timestamp::MIN`] before the first.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(60)).build()?;
    /// filter.insert_at("a", Timestamp::from_secs(100))?;
    /// filter.insert_at("b", Timestamp::from_secs(90))?; // late: counts at 100
    /// assert_eq!(filter.latest(), Timestamp::from_secs(100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn latest(&self) -> Timestamp {
        self.window.clock
    }

    /// Lets time pass without an insertion: gives back the memory of what has expired by `now`. Never needed for correct
    /// answers; insertions do it too.
    pub fn advance_to(&mut self, now: Timestamp) {
        self.window.advance_to(now);
    }

    /// Forgets every item. Counters in [`stats`](Self::stats) go on, and time does not go back: after a clock has jumped
    /// far ahead by mistake, build a new filter.
    pub fn clear(&mut self) {
        self.window.clear();
    }

    /// The filter's figures at `now`.
    pub fn stats(&self, now: Timestamp) -> Stats {
        let window = &self.window;
        let counters = &window.counters;
        let live = window.live(now);
        // slices that expired since the last shift had their part in what was the rate
        let worst_open = rounded_up(window.rate_of(window.slices.len()));
        Stats {
            slices: window.slices.len(),
            bits: window.slices.bits(),
            items_in_window: window.slices.items_in(live),
            false_positive_rate: window.rate_of(live),
            worst_false_positive_rate: worst_open.max(counters.worst_rate),
            inserted: window.inserted(),
            shifts: counters.shifts,
            retired: counters.retired,
            fresh_starts: counters.fresh_starts,
            shortened: counters.shortened,
            rejected: counters.rejected,
            memory_bytes: window.memory_bytes(),
        }
    }

    /// What the filter did since it was created.
    pub fn counts(&self) -> Counts {
        let (window, counters) = (&self.window, &self.window.counters);
        Counts {
            inserted: window.inserted(),
            shifts: counters.shifts,
            retired: counters.retired,
            fresh_starts: counters.fresh_starts,
            shortened: counters.shortened,
            rejected: counters.rejected,
        }
    }

    /// All bytes in use, the filter's own struct included.
    pub fn memory_bytes(&self) -> usize {
        self.window.memory_bytes()
    }

    /// The slices, youngest first, the expired ones that wait to be retired included.
    pub fn slices(&self) -> impl Iterator<Item = SliceStats> + '_ {
        self.window.slices.stats()
    }

    /// The generations, the open one first: how many items came, and when the last of each. A histogram of arrivals over
    /// the window, as fine as a shift.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(60)).build()?;
    /// for second in 0..30 {
    ///     filter.insert_at(format!("item {second}"), Timestamp::from_secs(1_000 + second))?;
    /// }
    /// assert_eq!(filter.generations().map(|generation| generation.items).sum::<u64>(), 30);
    /// assert_eq!(filter.generations().next().and_then(|open| open.newest), Some(Timestamp::from_secs(1_029)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generations(&self) -> impl Iterator<Item = Generation> + '_ {
        let slices = &self.window.slices;
        // the oldest slice of a generation is the one that stopped receiving when the generation ended
        (slices.hashes() - 1..slices.len()).map(|position| {
            let items = slices.generation_of(position);
            Generation { items, newest: (items > 0).then(|| slices.newest_of(position)) }
        })
    }

    /// Whether an insertion at `now` would close the open generation: the moment before it is when the false positive
    /// rate peaks. For tests and measurements.
    #[doc(hidden)]
    pub fn is_shift_due_at(&self, now: Timestamp) -> bool {
        self.window.is_shift_due(self.window.clamp(now))
    }

    /// The times of the first and the last insertion of the open generation. For tests and measurements.
    #[doc(hidden)]
    pub fn open_generation(&self) -> Option<(Timestamp, Timestamp)> {
        let window = &self.window;
        (window.slices.generation_items() > 0).then(|| (window.generation_started, window.slices.newest()))
    }

    /// Checks every internal invariant; the error says which is broken. For tests and fuzzers.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        self.window.validate()
    }
}

/// The first and the last timestamp of a range, if it has any.
fn closed(when: &impl RangeBounds<Timestamp>) -> Option<(Timestamp, Timestamp)> {
    let first = match when.start_bound() {
        Bound::Included(&first) => first,
        Bound::Excluded(&before) => Timestamp::from_nanos(before.as_nanos().checked_add(1)?),
        Bound::Unbounded => Timestamp::MIN,
    };
    let last = match when.end_bound() {
        Bound::Included(&last) => last,
        Bound::Excluded(&after) => Timestamp::from_nanos(after.as_nanos().checked_sub(1)?),
        Bound::Unbounded => Timestamp::MAX,
    };
    (first <= last).then_some((first, last))
}
