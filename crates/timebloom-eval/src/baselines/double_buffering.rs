//! Double Buffering: two Bloom filters, of which one answers while the other warms up.
//!
//! Francis Chang, Wu-chang Feng, Kang Li, *Approximate Caches for Packet Classification*, INFOCOM 2004. Insertions go to
//! the active buffer, and to the other one too when the active one is more than half full. When it is full, it is emptied
//! and they change roles. Only the active one is asked.
//!
//! The active buffer thus has the last half to all of what it can hold, so each has room for two windows. As in the paper,
//! buffers fill by items, whatever the time. Deviation: fullness is the number of insertions, repeats counted.

use super::bloom::Bloom;
use super::{Key, Window, Windowed};

/// The filter.
#[derive(Clone, Debug)]
pub struct DoubleBuffering {
    active: Bloom,
    warming: Bloom,
    /// Insertions in `active`, below `capacity`.
    items: u64,
    /// What a buffer holds: two windows.
    capacity: u64,
}

impl DoubleBuffering {
    /// An empty filter with the rate `rate` when the active buffer is full.
    pub fn new(window: Window, rate: f64) -> Self {
        let capacity = 2 * window.items;
        let buffer = Bloom::new(capacity, rate);
        DoubleBuffering { active: buffer.clone(), warming: buffer, items: 0, capacity }
    }
}

impl Windowed for DoubleBuffering {
    fn insert(&mut self, key: &Key, _now: u64) {
        self.active.insert(key);
        self.items += 1;
        if self.items > self.capacity / 2 {
            self.warming.insert(key);
        }
        if self.items == self.capacity {
            std::mem::swap(&mut self.active, &mut self.warming);
            self.warming.clear();
            self.items = self.capacity / 2;
        }
    }

    fn contains(&self, key: &Key, _now: u64) -> bool {
        self.active.contains(key)
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.active.heap_bytes() + self.warming.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn the_active_buffer_holds_one_to_two_windows() {
        let mut filter = DoubleBuffering::new(Window::count(5_000), 0.001);
        assert_eq!(missed_in_count_window(&mut filter, 5_000, 7), 0);
        // false alarms: one in a million for each bound
        let chance = at_most_with_confidence(5_000, 0.0011, 1e-6);
        let mut filter = DoubleBuffering::new(Window::count(5_000), 0.001);
        insert_numbered(&mut filter, 0..14_999);
        assert_eq!(reported(&filter, 5_000..14_999, 14_998), 9_999, "two windows just before the switch");
        insert_numbered(&mut filter, 14_999..15_000);
        assert_eq!(reported(&filter, 10_000..15_000, 14_999), 5_000, "one window just after it");
        assert!(reported(&filter, 5_000..10_000, 14_999) <= chance);
    }

    #[test]
    fn the_rate_holds_when_a_buffer_is_full_in_four_filters_of_memory() {
        let mut filter = DoubleBuffering::new(Window::count(10_000), 0.01);
        insert_numbered(&mut filter, 0..29_999);
        // false alarm: one in a million, with a tenth for the fill's own chance
        assert!(reported_absent(&filter, 500_000, 29_998) <= at_most_with_confidence(500_000, 0.011, 1e-6));
        let bits = filter.bytes() as f64 * 8.0 / 10_000.0;
        assert!((38.0..39.5).contains(&bits), "{bits}");
    }
}
