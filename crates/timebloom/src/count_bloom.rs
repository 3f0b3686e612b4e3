//! Count windows: the Age-Partitioned Bloom Filter.

use std::sync::Arc;

use crate::builder::CountBloomBuilder;
use crate::error::BuildError;
use crate::hash::ItemHash;
use crate::num::{MAX_COUNT, ceil_u64, floor_u64};
use crate::sizing::Plan;
use crate::slices::{AT_ONCE, Copying, Lanes, MAX_SLICE_BITS, Repeats, Slices, Tick, Which};
use crate::stats::{Counts, SliceStats, Stats};
use crate::timestamp::Timestamp;
use crate::verdict::Verdict;
use crate::window::validate::validate_rate;
use crate::window::{rate_of, rounded_up};

/// A Bloom filter over the last `capacity` insertions.
///
/// - The last `capacity` items are always reported.
/// - An item is no longer held after `capacity + capacity / l` further insertions at the latest; see the crate
///   documentation for how the chance of a report falls from there.
/// - The chance that an item never inserted is reported is at most the false positive rate.
///
/// ```
/// use timebloom::CountBloom;
///
/// let mut filter = CountBloom::builder(1_000).false_positive_rate(0.001).build()?;
/// assert!(filter.insert_if_new("first").is_new());
/// for i in 0..999_u32 {
///     filter.insert(i.to_le_bytes());
/// }
/// assert!(filter.contains("first"));
/// # Ok::<(), timebloom::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountBloom {
    pub(crate) slices: Slices,
    pub(crate) plan: Arc<Plan>,
    pub(crate) seed: u64,
    /// At least 1.
    pub(crate) capacity: u64,
    /// Insertions between two shifts. Follows from the capacity and the plan.
    pub(crate) generation_size: u64,
    /// The size of all slices. Likewise.
    pub(crate) slice_bits: u64,
    pub(crate) shifts: u64,
    pub(crate) retired: u64,
    pub(crate) worst_rate: f64,
}

impl CountBloom {
    /// The largest window there can be; few plans allow as much.
    const MAX_CAPACITY: u64 = 1 << 31;

    /// Starts building a filter over the last `capacity` insertions.
    pub fn builder(capacity: u64) -> CountBloomBuilder {
        CountBloomBuilder::new(capacity)
    }

    pub(crate) fn with_plan(capacity: u64, plan: Arc<Plan>, seed: u64) -> Result<Self, BuildError> {
        let (k, l) = (plan.hashes() as f64, plan.aging_slices() as f64);
        let max = floor_u64(MAX_SLICE_BITS as f64 * plan.target_load() * l / k / 2.0).min(Self::MAX_CAPACITY);
        if !(1..=max).contains(&capacity) {
            return Err(BuildError::Capacity { got: capacity, max });
        }
        let slices = Slices::new(plan.hashes(), Tick::ONE);
        // `l` generations hold the window
        let generation_size = capacity.div_ceil(plan.aging_slices() as u64);
        let slice_bits = slice_bits(&plan, generation_size);
        Ok(CountBloom {
            slices,
            plan,
            seed,
            capacity,
            generation_size,
            slice_bits,
            shifts: 0,
            retired: 0,
            worst_rate: 0.0,
        })
    }

    /// The window, in insertions.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The filter's proportions.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The seed of the hash function.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The item's hash, for the `*_hash` twins.
    #[inline]
    pub fn hash(&self, item: impl AsRef<[u8]>) -> ItemHash {
        ItemHash::new(item, self.seed)
    }

    /// The item's hash, for a question that follows soon: asks for the memory that it needs, and does not wait for it. For
    /// those who have something else to do before they ask.
    #[inline]
    pub fn prefetch(&self, item: impl AsRef<[u8]>) -> ItemHash {
        let hash = self.hash(item);
        self.slices.prefetch(&[hash], Which::All);
        hash
    }

    /// Records an item. If it was in the window already, it becomes the newest again.
    #[inline]
    pub fn insert(&mut self, item: impl AsRef<[u8]>) {
        self.insert_hash(self.hash(item));
    }

    /// [`insert`](Self::insert) for a hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: ItemHash) {
        if self.is_shift_due() {
            self.shift();
        }
        self.slices.insert(hash, Timestamp::from_nanos(self.inserted() + 1));
    }

    /// Records the first of these, as many as go into one generation, and returns the others.
    pub(crate) fn insert_some<'a>(&mut self, hashes: &'a [ItemHash]) -> &'a [ItemHash] {
        if self.is_shift_due() {
            self.shift();
        }
        let room = self.generation_size - self.slices.generation_items();
        let (some, others) = hashes.split_at(usize::try_from(room).unwrap_or(usize::MAX).min(hashes.len()));
        self.slices.insert_all(some, Timestamp::from_nanos(self.inserted() + some.len() as u64));
        others
    }

    /// Looks for up to [`AT_ONCE`] items and inserts them, one after the other; tells which were there. Does nothing if they
    /// have to be taken one by one: that may be so whenever a shift is near.
    pub(crate) fn check_some(&mut self, hashes: &[ItemHash], repeats: Repeats) -> Option<[bool; AT_ONCE]> {
        let inserted = self.inserted();
        let room = self.generation_size.saturating_sub(self.slices.generation_items());
        // any of these insertions may be the one with which a slice leaves the window
        let live = self.live(self.capacity);
        let last = Timestamp::from_nanos((inserted + hashes.len() as u64).saturating_sub(self.capacity));
        if self.slices.is_empty() || room < hashes.len() as u64 || self.slices.since(last) != live {
            return None;
        }
        self.slices.check_some(hashes, live, repeats, |count| Timestamp::from_nanos(inserted + count))
    }

    /// Records an item unless it is in the window; one that is keeps the age it has.
    pub fn insert_if_new(&mut self, item: impl AsRef<[u8]>) -> Verdict {
        self.insert_if_new_hash(self.hash(item))
    }

    /// [`insert_if_new`](Self::insert_if_new) for a hash.
    pub fn insert_if_new_hash(&mut self, hash: ItemHash) -> Verdict {
        let seen = self.contains_hash(hash);
        if !seen {
            self.insert_hash(hash);
        }
        Verdict::seen_if(seen)
    }

    /// Tells whether an item is in the window, and records it in any case.
    pub fn check_and_insert(&mut self, item: impl AsRef<[u8]>) -> Verdict {
        self.check_and_insert_hash(self.hash(item))
    }

    /// [`check_and_insert`](Self::check_and_insert) for a hash.
    pub fn check_and_insert_hash(&mut self, hash: ItemHash) -> Verdict {
        let seen = self.contains_hash(hash);
        self.insert_hash(hash);
        Verdict::seen_if(seen)
    }

    /// Whether an item is in the window: always true for the last `capacity` items.
    #[inline]
    pub fn contains(&self, item: impl AsRef<[u8]>) -> bool {
        self.contains_hash(self.hash(item))
    }

    /// [`contains`](Self::contains) for a hash.
    #[inline]
    pub fn contains_hash(&self, hash: ItemHash) -> bool {
        self.slices.has_run_since(hash, self.horizon(self.capacity))
    }

    /// Whether an item is among the last `count` insertions, as far as the window reaches: always true if it is.
    pub fn contains_within(&self, item: impl AsRef<[u8]>, count: u64) -> bool {
        self.contains_within_hash(self.hash(item), count)
    }

    /// [`contains_within`](Self::contains_within) for a hash.
    pub fn contains_within_hash(&self, hash: ItemHash, count: u64) -> bool {
        self.slices.has_run(hash, 0..self.live(count.min(self.capacity)))
    }

    /// Forgets every item. Counters in [`stats`](Self::stats) go on.
    pub fn clear(&mut self) {
        self.note_rate();
        self.slices.clear();
        self.slices.give_back_all();
    }

    /// Insertions since creation.
    #[inline]
    pub fn inserted(&self) -> u64 {
        // the clock of this filter: slices are stamped with the number of the insertion
        self.slices.newest().as_nanos()
    }

    /// The filter's figures.
    pub fn stats(&self) -> Stats {
        let live = self.live(self.capacity);
        Stats {
            slices: self.slices.len(),
            bits: self.slices.bits(),
            items_in_window: self.slices.items_in(live),
            false_positive_rate: rate_of(&self.slices, &self.plan, live),
            worst_false_positive_rate: self.worst_rate.max(self.open_rate()),
            inserted: self.inserted(),
            shifts: self.shifts,
            retired: self.retired,
            fresh_starts: 0,
            shortened: 0,
            rejected: 0,
            memory_bytes: self.memory_bytes(),
        }
    }

    /// What the filter did since it was created.
    pub fn counts(&self) -> Counts {
        Counts { inserted: self.inserted(), shifts: self.shifts, retired: self.retired, ..Counts::default() }
    }

    /// All bytes in use, the filter's own struct included.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.slices.heap_bytes_with(&[])
    }

    /// The bytes that a full window may take: known before the first of them is.
    ///
    /// ```
    /// use timebloom::CountBloom;
    ///
    /// let mut filter = CountBloom::builder(10_000).build()?;
    /// let most = filter.max_memory_bytes();
    /// filter.extend((0..50_000_u32).map(u32::to_le_bytes));
    /// assert!(filter.memory_bytes() as u64 <= most && most < 2 * filter.memory_bytes() as u64);
    /// # Ok::<(), timebloom::BuildError>(())
    /// ```
    pub fn max_memory_bytes(&self) -> u64 {
        // panels may have free lanes
        let lanes = self.plan.base_slices().next_multiple_of(8);
        size_of::<Self>() as u64 + Slices::heap_bytes_of(lanes, self.slice_bits / 64, Lanes::OfOneSize)
    }

    /// The slices, youngest first.
    pub fn slices(&self) -> impl Iterator<Item = SliceStats> + '_ {
        self.slices.stats()
    }

    /// Whether the next insertion would close the open generation: the moment before it is when the false positive rate
    /// peaks. For tests and measurements.
    #[doc(hidden)]
    pub fn is_shift_due(&self) -> bool {
        self.slices.generation_items() >= self.generation_size || self.slices.is_empty()
    }

    /// Checks every internal invariant; the error says which is broken. For tests and fuzzers.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        self.slices.validate()?;
        let limit = self.plan.base_slices();
        if self.slices.len() > limit {
            return Err(format!("I2: {} slices, a count window has at most {limit}", self.slices.len()));
        }
        if self.slices.generation_items() > self.generation_size {
            return Err(format!("I5: a generation of {} items", self.slices.generation_items()));
        }
        // all generations but the open one have the same size: what makes slices retire in time
        let mut ended = self.inserted().saturating_sub(self.slices.generation_items());
        for position in self.plan.hashes()..self.slices.len() {
            let newest = self.slices.newest_of(position).as_nanos();
            if newest != ended || self.slices.generation_of(position) != self.generation_size {
                return Err(format!("I5: the generation of slice {position} did not end at insertion {ended}"));
            }
            ended = ended.saturating_sub(self.generation_size);
        }
        if let Some(count) = [self.inserted(), self.shifts, self.retired].into_iter().find(|&count| count > MAX_COUNT) {
            return Err(format!("I5: a counter is at {count}"));
        }
        validate_rate(self.worst_rate)
    }

    /// Slices that may hold one of the last `count` items.
    pub(crate) fn live(&self, count: u64) -> usize {
        if count == 0 { 0 } else { self.slices.since(self.horizon(count)) }
    }

    /// The "time" of the first of the last `count` insertions.
    pub(crate) fn horizon(&self, count: u64) -> Timestamp {
        Timestamp::from_nanos((self.inserted() + 1).saturating_sub(count))
    }

    /// Retires what has left the window and opens the next slice; a filter without slices gets its first `k`.
    #[cold]
    #[inline(never)]
    fn shift(&mut self) {
        self.note_rate();
        let live = self.live(self.capacity);
        while self.slices.len() > live {
            self.slices.pop();
            self.retired += 1;
        }
        self.slices.give_back_all(); // all slices are alike, so that there is hardly ever anything
        let missing = self.plan.hashes().saturating_sub(self.slices.len()).max(1);
        let bits = self.slice_bits;
        let copying = Copying::Small;
        if missing == 1 {
            self.slices.shift(&[bits], copying);
        } else {
            self.slices.shift(&vec![bits; missing], copying);
        }
        self.slices.narrow(Copying::Small);
        self.slices.shrink();
        self.shifts += 1;
    }

    /// Remembers the rate if it is the highest so far. Called when a generation ends and before slices go.
    fn note_rate(&mut self) {
        self.worst_rate = self.worst_rate.max(self.open_rate());
    }

    /// The rate of all slices, rounded up.
    fn open_rate(&self) -> f64 {
        rounded_up(rate_of(&self.slices, &self.plan, self.slices.len()))
    }
}

/// The one size of all slices: that at which the rate stays within its target even when the bits of small slices happen to
/// fall unluckily.
fn slice_bits(plan: &Plan, generation_size: u64) -> u64 {
    let items = generation_size as f64 * plan.hashes() as f64;
    // near the plan's two loads the rate grows like a power of the load
    let power = libm::log(plan.worst_case_rate() / plan.false_positive_rate())
        / libm::log(plan.target_load() / plan.full_load());
    let expected_bits = items / plan.target_load();
    let share = (0.98 - 3.0 / libm::sqrt(expected_bits)).max(0.3);
    let load = plan.full_load() * libm::pow(share, 1.0 / power);
    ceil_u64(items / load).next_multiple_of(64).min(MAX_SLICE_BITS)
}

/// Inserts every item, in order.
///
/// ```
/// use timebloom::CountBloom;
///
/// let mut filter = CountBloom::builder(1_000).build()?;
/// filter.extend(["a", "b"]);
/// assert!(filter.contains("a") && filter.contains("b"));
/// # Ok::<(), timebloom::BuildError>(())
/// ```
impl<T: AsRef<[u8]>> Extend<T> for CountBloom {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}
