//! What an exact window would answer.

use std::collections::HashMap;
use std::time::Duration;

use timebloom::Timestamp;

/// An exact time window: a map from item to last insertion, with the same rule for time as the filters, that it never
/// goes back behind the latest insertion.
#[derive(Clone, Debug)]
pub struct ExactWindow {
    span: Duration,
    clock: Timestamp,
    last: HashMap<Vec<u8>, Timestamp>,
}

impl ExactWindow {
    /// An empty window.
    pub fn new(span: Duration) -> Self {
        ExactWindow { span, clock: Timestamp::MIN, last: HashMap::new() }
    }

    /// Records an item.
    pub fn insert_at(&mut self, item: &[u8], now: Timestamp) {
        self.advance_to(now);
        self.last.insert(item.to_vec(), self.clock);
    }

    /// Moves time forward.
    pub fn advance_to(&mut self, now: Timestamp) {
        self.clock = self.clock.max(now);
    }

    /// Whether the item was inserted in `[now - span, now]`.
    pub fn contains_at(&self, item: &[u8], now: Timestamp) -> bool {
        self.age_at(item, now).is_some_and(|age| age <= self.span)
    }

    /// How long ago the item was last inserted, ever.
    pub fn age_at(&self, item: &[u8], now: Timestamp) -> Option<Duration> {
        self.last_insertion(item).map(|last| now.max(self.clock).saturating_since(last))
    }

    /// When the item was last inserted, ever.
    pub fn last_insertion(&self, item: &[u8]) -> Option<Timestamp> {
        self.last.get(item).copied()
    }

    /// Every item ever inserted, with its last insertion.
    pub fn items(&self) -> impl Iterator<Item = (&[u8], Timestamp)> {
        self.last.iter().map(|(item, &last)| (item.as_slice(), last))
    }

    /// Forgets every item; time stays.
    pub fn clear(&mut self) {
        self.last.clear();
    }
}
