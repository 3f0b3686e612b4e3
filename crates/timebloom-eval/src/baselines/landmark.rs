//! A Bloom filter that is emptied at every landmark: the landmark window of the paper's section on window models.
//!
//! Within a landmark's window it is the best Bloom filter there is. Seen as a sliding window it has false negatives: what
//! came just before the landmark is forgotten at once.

use super::bloom::Bloom;
use super::{Key, Window, Windowed};

/// A Bloom filter of the items since the last landmark. Landmarks are a window apart.
#[derive(Clone, Debug)]
pub struct Landmark {
    bloom: Bloom,
    window: Window,
    /// The number of the landmark that was passed last.
    landmark: u64,
}

impl Landmark {
    /// An empty filter with the rate `rate` at the end of a window.
    pub fn new(window: Window, rate: f64) -> Self {
        Landmark { bloom: Bloom::new(window.items, rate), window, landmark: 0 }
    }
}

impl Windowed for Landmark {
    fn insert(&mut self, key: &Key, now: u64) {
        let landmark = now / self.window.length;
        if landmark != self.landmark {
            self.bloom.clear();
            self.landmark = landmark;
        }
        self.bloom.insert(key);
    }

    fn contains(&self, key: &Key, now: u64) -> bool {
        now / self.window.length == self.landmark && self.bloom.contains(key)
    }

    fn bytes(&self) -> u64 {
        size_of_val(self) as u64 + self.bloom.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{insert_numbered, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn it_knows_all_since_the_landmark_and_nothing_before() {
        let mut filter = Landmark::new(Window::count(10_000), 0.01);
        insert_numbered(&mut filter, 0..20_000);
        assert_eq!(reported(&filter, 10_000..20_000, 19_999), 10_000);
        // false alarms of both bounds: one in a million
        let most = at_most_with_confidence(10_000, 0.011, 1e-6);
        assert!(reported(&filter, 0..10_000, 19_999) <= most, "the window before is gone");
        assert!(reported_absent(&filter, 10_000, 19_999) <= most);
        insert_numbered(&mut filter, 20_000..20_001);
        assert!(reported(&filter, 10_000..20_000, 20_000) < 10, "gone at once, though still in the sliding window");
    }

    #[test]
    fn a_landmark_may_pass_without_an_insertion() {
        let mut filter = Landmark::new(Window::time(10, 1_000), 0.01);
        insert_numbered(&mut filter, 990..1_000);
        assert_eq!(reported(&filter, 990..1_000, 999), 10);
        assert_eq!(reported(&filter, 990..1_000, 1_000), 0);
    }
}
