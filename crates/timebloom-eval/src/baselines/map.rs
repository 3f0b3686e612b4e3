//! The exact answer: a map from key to time, and a queue that tells which key is the next to go.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::FixedState;

use super::hash::Number;
use super::num::index;
use super::{Key, Window, Windowed};

/// The map. Room for a window is taken at once; it grows with the stream and does not shrink, as maps are used.
#[derive(Clone, Debug)]
pub struct ExpiringMap {
    times: HashMap<Number, u64, FixedState>,
    queue: VecDeque<(Number, u64)>,
    window: Window,
}

impl ExpiringMap {
    /// An empty map.
    pub fn new(window: Window) -> Self {
        let items = index(window.items) + 1;
        let times = HashMap::with_capacity_and_hasher(items, FixedState::with_seed(1));
        ExpiringMap { times, queue: VecDeque::with_capacity(items), window }
    }
}

impl Windowed for ExpiringMap {
    fn insert(&mut self, key: &Key, now: u64) {
        let horizon = now.saturating_sub(self.window.reach);
        while let Some(&(oldest, then)) = self.queue.front()
            && then < horizon
        {
            self.queue.pop_front();
            if self.times.get(&oldest) == Some(&then) {
                self.times.remove(&oldest);
            }
        }
        let key = Number(*key);
        self.times.insert(key, now);
        self.queue.push_back((key, now));
    }

    fn contains(&self, key: &Key, now: u64) -> bool {
        let horizon = now.saturating_sub(self.window.reach);
        self.times.get(&Number(*key)).is_some_and(|&then| then >= horizon)
    }

    fn bytes(&self) -> u64 {
        // a byte of control beside each place of the map; an eighth of the places is kept free
        let entry = size_of::<(Number, u64)>();
        let places = (self.times.capacity() * 8 / 7).next_power_of_two();
        (size_of_val(self) + places * (entry + 1) + self.queue.capacity() * entry) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;

    #[test]
    fn it_is_exact() {
        let mut map = ExpiringMap::new(Window::count(1_000));
        assert_eq!(missed_in_count_window(&mut map, 1_000, 4), 0);
        assert_eq!(reported(&map, 0..4_000, 3_999), 1_000);
        assert_eq!(reported_absent(&map, 10_000, 3_999), 0);
        assert_eq!(map.times.len(), 1_000, "what has expired is gone");
    }

    #[test]
    fn a_repeat_stays() {
        let mut map = ExpiringMap::new(Window::time(10, 100));
        insert_numbered(&mut map, 0..1);
        map.insert(&super::super::key(0), 80);
        insert_numbered(&mut map, 150..151);
        assert_eq!(reported(&map, 0..1, 180), 1);
        assert_eq!(reported(&map, 0..1, 181), 0);
    }
}
