//! What exact windows would answer.

use std::collections::{HashMap, VecDeque};
use std::ops::RangeBounds;
use std::time::Duration;

use timebloom::Timestamp;

/// An exact time window: every insertion of every item, with the same rule for time as the filters, that it never goes
/// back behind the latest time a change has seen.
#[derive(Clone, Debug)]
pub struct ExactWindow {
    span: Duration,
    clock: Timestamp,
    /// The times of each item's insertions, in order.
    insertions: HashMap<Vec<u8>, Vec<Timestamp>>,
    /// The times of all insertions, in order.
    log: Vec<Timestamp>,
}

impl ExactWindow {
    /// An empty window.
    pub fn new(span: Duration) -> Self {
        ExactWindow { span, clock: Timestamp::MIN, insertions: HashMap::new(), log: Vec::new() }
    }

    /// Records an item.
    pub fn insert_at(&mut self, item: &[u8], now: Timestamp) {
        self.advance_to(now);
        self.insertions.entry(item.to_vec()).or_default().push(self.clock);
        self.log.push(self.clock);
    }

    /// Moves time forward.
    pub fn advance_to(&mut self, now: Timestamp) {
        self.clock = self.clock.max(now);
    }

    /// The latest time seen.
    pub fn clock(&self) -> Timestamp {
        self.clock
    }

    /// Whether the item was inserted in `[now - span, now]`.
    pub fn contains_at(&self, item: &[u8], now: Timestamp) -> bool {
        self.age_at(item, now).is_some_and(|age| age <= self.span)
    }

    /// Whether the item was inserted at a time in `when` that the window ending at `now` reaches.
    pub fn contains_between_at(&self, item: &[u8], when: &impl RangeBounds<Timestamp>, now: Timestamp) -> bool {
        let horizon = now.max(self.clock).saturating_sub(self.span);
        let times = self.insertions.get(item).map_or(&[][..], Vec::as_slice);
        times.iter().any(|at| *at >= horizon && when.contains(at))
    }

    /// How long ago the item was last inserted, ever.
    pub fn age_at(&self, item: &[u8], now: Timestamp) -> Option<Duration> {
        self.last_insertion(item).map(|last| now.max(self.clock).saturating_since(last))
    }

    /// When the item was last inserted, ever.
    pub fn last_insertion(&self, item: &[u8]) -> Option<Timestamp> {
        self.insertions.get(item).and_then(|times| times.last().copied())
    }

    /// Every item ever inserted, with its last insertion.
    pub fn items(&self) -> impl Iterator<Item = (&[u8], Timestamp)> {
        self.insertions.iter().filter_map(|(item, times)| Some((item.as_slice(), *times.last()?)))
    }

    /// Insertions in the last `within` before `now`, repeats counted each time.
    pub fn insertions_within(&self, within: Duration, now: Timestamp) -> u64 {
        let oldest = now.max(self.clock).saturating_sub(within);
        (self.log.len() - self.log.partition_point(|&at| at < oldest)) as u64
    }

    /// Forgets every item; time stays.
    pub fn clear(&mut self) {
        self.insertions.clear();
        self.log.clear();
    }
}

/// An exact count window: the last insertions, in order.
#[derive(Clone, Debug)]
pub struct ExactCount {
    capacity: usize,
    last: VecDeque<u64>,
}

impl ExactCount {
    /// An empty window over the last `capacity` insertions.
    pub fn new(capacity: usize) -> Self {
        ExactCount { capacity, last: VecDeque::new() }
    }

    /// Records an item.
    pub fn insert(&mut self, item: u64) {
        self.last.push_front(item);
        self.last.truncate(self.capacity);
    }

    /// The items of the window, newest first.
    pub fn items(&self) -> impl Iterator<Item = u64> + '_ {
        self.last.iter().copied()
    }

    /// Whether the item is among the last `count` insertions.
    pub fn contains_within(&self, item: u64, count: usize) -> bool {
        self.items().take(count).any(|held| held == item)
    }

    /// Forgets every item.
    pub fn clear(&mut self) {
        self.last.clear();
    }
}
