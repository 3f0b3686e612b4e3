//! The face that every filter has here, and the window it is built for.

use super::Key;

/// A window, as a filter is told of it beforehand.
///
/// Clocks are numbers that never decrease: nanoseconds in time windows, the number of the insertion in count windows. One
/// implementation thus serves both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The most items that a window is expected to have. At least 1.
    pub items: u64,
    /// How far the clock moves in a window. At least 1.
    pub length: u64,
    /// The greatest age, by the clock, of an item in the window.
    pub reach: u64,
}

impl Window {
    /// The last `items` insertions.
    pub fn count(items: u64) -> Self {
        assert!(items >= 1, "a window of nothing");
        Window { items, length: items, reach: items - 1 }
    }

    /// The last `span` nanoseconds, in which `items` insertions are expected at most.
    pub fn time(items: u64, span: u64) -> Self {
        assert!(items >= 1 && span >= 1, "a window of nothing");
        Window { items, length: span, reach: span }
    }
}

/// A set of keys that forgets those that have left a window.
pub trait Windowed {
    /// Records a key. `now` is at or after the times of all earlier insertions.
    fn insert(&mut self, key: &Key, now: u64);

    /// Whether the key is reported. `now` is at or after the times of all insertions.
    fn contains(&self, key: &Key, now: u64) -> bool;

    /// All bytes, its own struct included, wherever they are kept.
    fn bytes(&self) -> u64;

    /// The bytes of [`bytes`](Self::bytes) that must be in memory for it to work as fast as it does.
    fn resident_bytes(&self) -> u64 {
        self.bytes()
    }

    /// Inserts keys, each at its time.
    fn insert_all(&mut self, keys: &[Key], times: &[u64]) {
        for (key, &now) in keys.iter().zip(times) {
            self.insert(key, now);
        }
    }

    /// How many of the keys are reported.
    fn count_contained(&self, keys: &[Key], now: u64) -> usize {
        keys.iter().filter(|key| self.contains(key, now)).count()
    }
}
