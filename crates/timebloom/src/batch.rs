//! Many items at once: the answers of the single calls, one after the other, for less time an item.
//!
//! Each operation comes twice: `*_batch*` takes items and hashes them, [`AT_ONCE`] at a time on the stack; `*_hashes*`
//! takes hashes. None of them allocates, unless the caller's vector for the answers has to grow.

use std::convert::Infallible;

use crate::count_bloom::CountBloom;
use crate::error::{BatchFull, Full};
use crate::hash::ItemHash;
use crate::slices::{AT_ONCE, Repeats, Slices, Which};
use crate::time_bloom::TimeBloom;
use crate::timestamp::Timestamp;
use crate::verdict::Verdict;

/// Up to [`AT_ONCE`] hashes.
struct Hashed {
    hashes: [ItemHash; AT_ONCE],
    /// In `1..=AT_ONCE`.
    len: usize,
    /// Items of the batch that came before these.
    before: usize,
}

impl Hashed {
    fn as_slice(&self) -> &[ItemHash] {
        &self.hashes[..self.len]
    }

    /// A failure among these, as one of the whole batch.
    fn failure(&self, stop: BatchFull) -> BatchFull {
        BatchFull { done: self.before + stop.done, ..stop }
    }
}

/// The hashes of `items`, in order, [`AT_ONCE`] at a time.
#[inline]
fn hashed<T: AsRef<[u8]>>(items: &[T], seed: u64) -> impl Iterator<Item = Hashed> {
    items.chunks(AT_ONCE).enumerate().map(move |(number, chunk)| {
        let mut hashes = [ItemHash::NONE; AT_ONCE];
        for (hash, item) in hashes.iter_mut().zip(chunk) {
            *hash = ItemHash::new(item, seed);
        }
        Hashed { hashes, len: chunk.len(), before: number * AT_ONCE }
    })
}

/// Looks for every item and inserts it, in order: [`AT_ONCE`] of them `together` where that can be, or one by one, with
/// their memory asked for before. When one fails, tells how many were done.
fn check_in_order<F: Row, E>(
    filter: &mut F,
    hashes: &[ItemHash],
    verdicts: &mut Vec<Verdict>,
    mut together: impl FnMut(&mut F, &[ItemHash]) -> Option<[bool; AT_ONCE]>,
    mut one: impl FnMut(&mut F, ItemHash) -> Result<bool, E>,
) -> Result<(), (usize, E)> {
    verdicts.reserve(hashes.len());
    for (number, some) in hashes.chunks(AT_ONCE).enumerate() {
        if let Some(seen) = together(filter, some) {
            verdicts.extend(seen[..some.len()].iter().map(|&seen| Verdict::seen_if(seen)));
            continue;
        }
        filter.slices().prefetch(some, Which::All);
        for (index, &hash) in some.iter().enumerate() {
            let seen = one(filter, hash).map_err(|error| (number * AT_ONCE + index, error))?;
            verdicts.push(Verdict::seen_if(seen));
        }
    }
    Ok(())
}

/// Appends to `seen` whether each item is in the first `live` slices.
#[inline]
fn look_up(slices: &Slices, hashes: &[ItemHash], live: usize, seen: &mut Vec<bool>) {
    seen.reserve(hashes.len());
    for some in hashes.chunks(AT_ONCE) {
        let answers = slices.has_runs(some, live);
        match some.len() {
            AT_ONCE => seen.extend(answers), // no call, since their number is known
            fewer => seen.extend_from_slice(&answers[..fewer]),
        }
    }
}

/// What batches need of both kinds of filter.
trait Row {
    fn slices(&self) -> &Slices;
}

impl Row for TimeBloom {
    fn slices(&self) -> &Slices {
        &self.window.slices
    }
}

impl Row for CountBloom {
    fn slices(&self) -> &Slices {
        &self.slices
    }
}

impl From<(usize, Full)> for BatchFull {
    fn from((done, full): (usize, Full)) -> Self {
        BatchFull { done, full }
    }
}

/// Many items at one time: the same answers and the same filter afterwards as with single calls in the same order, all
/// at the same `now`. An item that comes twice in a batch is new once, then seen.
///
/// Where an insertion is [rejected](crate::OnFull::Reject), the batch ends: what was done stays done, and
/// [`BatchFull::done`] says how many items that is.
impl TimeBloom {
    /// [`insert_at`](Self::insert_at) for each of `items`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(1).build()?;
    /// let now = Timestamp::from_secs(1_700_000_000);
    /// filter.insert_batch_at(&["a", "b", "c"], now)?;
    ///
    /// let mut seen = Vec::new();
    /// filter.contains_batch_at(&["b", "x"], now, &mut seen);
    /// assert_eq!(seen, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_batch_at<T: AsRef<[u8]>>(&mut self, items: &[T], now: Timestamp) -> Result<(), BatchFull> {
        for hashed in hashed(items, self.seed()) {
            self.insert_hashes_at(hashed.as_slice(), now).map_err(|stop| hashed.failure(stop))?;
        }
        Ok(())
    }

    /// [`insert_batch_at`](Self::insert_batch_at) for hashes.
    #[inline]
    pub fn insert_hashes_at(&mut self, hashes: &[ItemHash], now: Timestamp) -> Result<(), BatchFull> {
        Ok(self.window.insert_all(hashes, now)?)
    }

    /// [`insert_if_new_at`](Self::insert_if_new_at) for each of `items`, with one verdict for each in `verdicts`, which
    /// is emptied first. When an insertion is rejected, `verdicts` has those of the items before it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp, Verdict::{New, Seen}};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(1).build()?;
    /// let mut verdicts = Vec::new(); // for all batches to come
    /// filter.insert_if_new_batch_at(&["a", "b", "a"], Timestamp::from_secs(100), &mut verdicts)?;
    /// assert_eq!(verdicts, [New, New, Seen]);
    ///
    /// filter.insert_if_new_batch_at(&["b", "c"], Timestamp::from_secs(160), &mut verdicts)?;
    /// assert_eq!(verdicts, [Seen, New]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_if_new_batch_at<T: AsRef<[u8]>>(
        &mut self,
        items: &[T],
        now: Timestamp,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), BatchFull> {
        verdicts.clear();
        for hashed in hashed(items, self.seed()) {
            self.check_all(hashed.as_slice(), Repeats::Keep, now, verdicts).map_err(|stop| hashed.failure(stop))?;
        }
        Ok(())
    }

    /// [`insert_if_new_batch_at`](Self::insert_if_new_batch_at) for hashes.
    pub fn insert_if_new_hashes_at(
        &mut self,
        hashes: &[ItemHash],
        now: Timestamp,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), BatchFull> {
        verdicts.clear();
        self.check_all(hashes, Repeats::Keep, now, verdicts)
    }

    /// [`check_and_insert_at`](Self::check_and_insert_at) for each of `items`, with one verdict for each in `verdicts`,
    /// which is emptied first. When an insertion is rejected, `verdicts` has those of the items before it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp, Verdict::{New, Seen}};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(1).build()?;
    /// let mut verdicts = Vec::new();
    /// for (second, expected) in [(100, New), (160, Seen), (220, Seen)] {
    ///     filter.check_and_insert_batch_at(&["a", "b"], Timestamp::from_secs(second), &mut verdicts)?;
    ///     assert_eq!(verdicts, [expected, expected]); // each repeat started their time anew
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_and_insert_batch_at<T: AsRef<[u8]>>(
        &mut self,
        items: &[T],
        now: Timestamp,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), BatchFull> {
        verdicts.clear();
        for hashed in hashed(items, self.seed()) {
            self.check_all(hashed.as_slice(), Repeats::Refresh, now, verdicts).map_err(|stop| hashed.failure(stop))?;
        }
        Ok(())
    }

    /// [`check_and_insert_batch_at`](Self::check_and_insert_batch_at) for hashes.
    pub fn check_and_insert_hashes_at(
        &mut self,
        hashes: &[ItemHash],
        now: Timestamp,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), BatchFull> {
        verdicts.clear();
        self.check_all(hashes, Repeats::Refresh, now, verdicts)
    }

    /// Looks for items and inserts them, in order, and adds a verdict for each.
    pub(crate) fn check_all(
        &mut self,
        hashes: &[ItemHash],
        repeats: Repeats,
        now: Timestamp,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), BatchFull> {
        let together = |filter: &mut Self, some: &[ItemHash]| filter.window.check_some(some, repeats, now);
        let one = |filter: &mut Self, hash| {
            let seen = filter.holds(hash, now);
            if !seen || repeats == Repeats::Refresh {
                filter.insert_hash_at(hash, now)?;
            }
            Ok(seen)
        };
        Ok(check_in_order(self, hashes, verdicts, together, one)?)
    }

    /// [`contains_hash_at`](Self::contains_hash_at) for an item whose memory was asked for.
    #[inline]
    fn holds(&self, hash: ItemHash, now: Timestamp) -> bool {
        self.window.slices.has_awaited_run_since(hash, self.window.horizon(now))
    }

    /// [`contains_at`](Self::contains_at) for each of `items`, with one answer for each in `seen`, which is emptied first.
    ///
    /// ```
    /// use std::time::Duration;
    /// use timebloom::{TimeBloom, Timestamp};
    ///
    /// let mut filter = TimeBloom::builder(Duration::from_secs(60)).seed(1).build()?;
    /// filter.insert_at("a", Timestamp::from_secs(100))?;
    /// filter.insert_at("b", Timestamp::from_secs(130))?;
    ///
    /// let mut seen = Vec::new();
    /// filter.contains_batch_at(&["a", "b", "c"], Timestamp::from_secs(160), &mut seen);
    /// assert_eq!(seen, [true, true, false]);
    /// filter.contains_batch_at(&["a", "b", "c"], Timestamp::from_secs(185), &mut seen);
    /// assert_eq!(seen, [false, true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains_batch_at<T: AsRef<[u8]>>(&self, items: &[T], now: Timestamp, seen: &mut Vec<bool>) {
        seen.clear();
        for hashed in hashed(items, self.seed()) {
            self.look_up(hashed.as_slice(), now, seen);
        }
    }

    /// [`contains_batch_at`](Self::contains_batch_at) for hashes.
    pub fn contains_hashes_at(&self, hashes: &[ItemHash], now: Timestamp, seen: &mut Vec<bool>) {
        seen.clear();
        self.look_up(hashes, now, seen);
    }

    #[inline]
    fn look_up(&self, hashes: &[ItemHash], now: Timestamp, seen: &mut Vec<bool>) {
        look_up(&self.window.slices, hashes, self.window.live(now), seen);
    }
}

/// Many items at once: the same answers and the same filter afterwards as with single calls in the same order. An item
/// that comes twice in a batch is new once, then seen.
impl CountBloom {
    /// [`insert`](Self::insert) for each of `items`.
    ///
    /// ```
    /// use timebloom::CountBloom;
    ///
    /// let mut filter = CountBloom::builder(1_000).seed(1).build()?;
    /// filter.insert_batch(&["a", "b", "c"]);
    ///
    /// let mut seen = Vec::new();
    /// filter.contains_batch(&["b", "x"], &mut seen);
    /// assert_eq!(seen, [true, false]);
    /// # Ok::<(), timebloom::BuildError>(())
    /// ```
    pub fn insert_batch<T: AsRef<[u8]>>(&mut self, items: &[T]) {
        for hashed in hashed(items, self.seed()) {
            self.insert_hashes(hashed.as_slice());
        }
    }

    /// [`insert_batch`](Self::insert_batch) for hashes.
    #[inline]
    pub fn insert_hashes(&mut self, hashes: &[ItemHash]) {
        let mut left = hashes;
        while !left.is_empty() {
            left = self.insert_some(left);
        }
    }

    /// [`insert_if_new`](Self::insert_if_new) for each of `items`, with one verdict for each in `verdicts`, which is
    /// emptied first.
    ///
    /// ```
    /// use timebloom::{CountBloom, Verdict::{New, Seen}};
    ///
    /// let mut filter = CountBloom::builder(1_000).seed(1).build()?;
    /// let mut verdicts = Vec::new(); // for all batches to come
    /// filter.insert_if_new_batch(&["a", "b", "a"], &mut verdicts);
    /// assert_eq!(verdicts, [New, New, Seen]);
    /// # Ok::<(), timebloom::BuildError>(())
    /// ```
    pub fn insert_if_new_batch<T: AsRef<[u8]>>(&mut self, items: &[T], verdicts: &mut Vec<Verdict>) {
        verdicts.clear();
        for hashed in hashed(items, self.seed()) {
            self.check_all(hashed.as_slice(), Repeats::Keep, verdicts);
        }
    }

    /// [`insert_if_new_batch`](Self::insert_if_new_batch) for hashes.
    pub fn insert_if_new_hashes(&mut self, hashes: &[ItemHash], verdicts: &mut Vec<Verdict>) {
        verdicts.clear();
        self.check_all(hashes, Repeats::Keep, verdicts);
    }

    /// [`check_and_insert`](Self::check_and_insert) for each of `items`, with one verdict for each in `verdicts`, which
    /// is emptied first.
    ///
    /// ```
    /// use timebloom::{CountBloom, Verdict::{New, Seen}};
    ///
    /// let mut filter = CountBloom::builder(1_000).seed(1).build()?;
    /// let mut verdicts = Vec::new();
    /// filter.check_and_insert_batch(&["a", "b", "a"], &mut verdicts);
    /// assert_eq!(verdicts, [New, New, Seen]);
    /// assert_eq!(filter.inserted(), 3); // the repeat is the newest item now
    /// # Ok::<(), timebloom::BuildError>(())
    /// ```
    pub fn check_and_insert_batch<T: AsRef<[u8]>>(&mut self, items: &[T], verdicts: &mut Vec<Verdict>) {
        verdicts.clear();
        for hashed in hashed(items, self.seed()) {
            self.check_all(hashed.as_slice(), Repeats::Refresh, verdicts);
        }
    }

    /// [`check_and_insert_batch`](Self::check_and_insert_batch) for hashes.
    pub fn check_and_insert_hashes(&mut self, hashes: &[ItemHash], verdicts: &mut Vec<Verdict>) {
        verdicts.clear();
        self.check_all(hashes, Repeats::Refresh, verdicts);
    }

    fn check_all(&mut self, hashes: &[ItemHash], repeats: Repeats, verdicts: &mut Vec<Verdict>) {
        let together = |filter: &mut Self, some: &[ItemHash]| filter.check_some(some, repeats);
        let one = |filter: &mut Self, hash| {
            let seen = filter.holds(hash);
            if !seen || repeats == Repeats::Refresh {
                filter.insert_hash(hash);
            }
            Ok::<_, Infallible>(seen)
        };
        let Ok(()) = check_in_order(self, hashes, verdicts, together, one);
    }

    /// [`contains_hash`](Self::contains_hash) for an item whose memory was asked for.
    #[inline]
    fn holds(&self, hash: ItemHash) -> bool {
        self.slices.has_awaited_run_since(hash, self.horizon(self.capacity))
    }

    /// [`contains`](Self::contains) for each of `items`, with one answer for each in `seen`, which is emptied first.
    ///
    /// ```
    /// use timebloom::CountBloom;
    ///
    /// let mut filter = CountBloom::builder(1_000).seed(1).build()?;
    /// filter.insert("a");
    /// let mut seen = Vec::new();
    /// filter.contains_batch(&["a", "b"], &mut seen);
    /// assert_eq!(seen, [true, false]);
    /// # Ok::<(), timebloom::BuildError>(())
    /// ```
    pub fn contains_batch<T: AsRef<[u8]>>(&self, items: &[T], seen: &mut Vec<bool>) {
        seen.clear();
        for hashed in hashed(items, self.seed()) {
            self.look_up(hashed.as_slice(), seen);
        }
    }

    /// [`contains_batch`](Self::contains_batch) for hashes.
    pub fn contains_hashes(&self, hashes: &[ItemHash], seen: &mut Vec<bool>) {
        seen.clear();
        self.look_up(hashes, seen);
    }

    #[inline]
    fn look_up(&self, hashes: &[ItemHash], seen: &mut Vec<bool>) {
        look_up(&self.slices, hashes, self.live(self.capacity), seen);
    }
}
