//! This project's filters, with the face of the others.

use std::time::Duration;

use timebloom::{CountBloom, Policy, TimeBloom, Timestamp};

use super::{Key, Window, Windowed};

/// Seeds are fixed: runs repeat.
const SEED: u64 = 1;

/// [`TimeBloom`], over nanoseconds.
#[derive(Clone, Debug)]
pub struct Time(TimeBloom);

impl Time {
    /// With [`Policy::Guarded`] and the planner's proportions; it is told nothing of how many items to expect.
    pub fn guarded(window: Window, rate: f64) -> Self {
        let builder = TimeBloom::builder(Duration::from_nanos(window.reach)).false_positive_rate(rate).seed(SEED);
        Time(builder.build().expect("legal parameters"))
    }

    /// With [`Policy::Paper`], the published pair of [`super::apbf::LEVEL`], and its initial capacity right.
    pub fn paper(window: Window, rate: f64) -> Self {
        let builder = TimeBloom::builder(Duration::from_nanos(window.reach)).false_positive_rate(rate).seed(SEED);
        let builder = builder.policy(Policy::Paper).level(super::apbf::LEVEL).expected_items(window.items);
        Time(builder.build().expect("legal parameters"))
    }
}

impl Windowed for Time {
    fn insert(&mut self, key: &Key, now: u64) {
        self.0.insert_at(key, Timestamp::from_nanos(now)).expect("no memory limit");
    }

    fn contains(&self, key: &Key, now: u64) -> bool {
        self.0.contains_at(key, Timestamp::from_nanos(now))
    }

    fn bytes(&self) -> u64 {
        self.0.memory_bytes() as u64
    }
}

/// [`CountBloom`], with the planner's proportions. It goes by insertions, whatever the clock says.
#[derive(Clone, Debug)]
pub struct Count(CountBloom);

impl Count {
    /// Over the last `window.items` insertions.
    pub fn new(window: Window, rate: f64) -> Self {
        let builder = CountBloom::builder(window.items).false_positive_rate(rate).seed(SEED);
        Count(builder.build().expect("legal parameters"))
    }
}

impl Windowed for Count {
    fn insert(&mut self, key: &Key, _now: u64) {
        self.0.insert(key);
    }

    fn contains(&self, key: &Key, _now: u64) -> bool {
        self.0.contains(key)
    }

    fn bytes(&self) -> u64 {
        self.0.memory_bytes() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{insert_numbered, missed_in_count_window, reported, reported_absent};
    use super::*;
    use timebloom_testkit::at_most_with_confidence;

    #[test]
    fn the_face_passes_times_and_keys_on() {
        let mut count = Count::new(Window::count(1_000), 0.01);
        assert_eq!(missed_in_count_window(&mut count, 1_000, 5), 0);
        for mut time in [Time::guarded(Window::time(1_000, 1_000), 0.01), Time::paper(Window::time(1_000, 1_000), 0.01)]
        {
            insert_numbered(&mut time, 0..5_000);
            assert_eq!(reported(&time, 3_999..5_000, 4_999), 1_001, "age 1,000 is still in the span");
            // false alarm: one in a million; the paper's rules may exceed the rate by half
            assert!(reported_absent(&time, 100_000, 4_999) <= at_most_with_confidence(100_000, 0.015, 1e-6));
            assert_eq!(reported(&time, 0..5_000, 20_000), 0, "nothing is left after a long silence");
        }
    }
}
