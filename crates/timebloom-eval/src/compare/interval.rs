//! How sure a measured share is.

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How often it happened.
    pub events: u64,
    /// How often it could have happened.
    pub trials: u64,
}

/// Standard deviations of a 99% interval.
const DEVIATIONS: f64 = 2.575_829;

impl Share {
    /// Adds trials.
    pub fn add(&mut self, events: u64, trials: u64) {
        self.events += events;
        self.trials += trials;
    }

    /// The share that was seen; 0 when nothing was tried.
    pub fn rate(self) -> f64 {
        if self.trials == 0 { 0.0 } else { self.events as f64 / self.trials as f64 }
    }

    /// The 99% interval of Wilson (1927) around it; everything from 0 to 1 when nothing was tried.
    pub fn interval(self) -> (f64, f64) {
        if self.trials == 0 {
            return (0.0, 1.0);
        }
        let (n, z2) = (self.trials as f64, DEVIATIONS * DEVIATIONS);
        let rate = self.rate();
        let centre = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = DEVIATIONS / (1.0 + z2 / n) * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
        // none at all and all of them are certain on one side
        let low = if self.events == 0 { 0.0 } else { (centre - half).max(0.0) };
        let high = if self.events == self.trials { 1.0 } else { (centre + half).min(1.0) };
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_contain_the_truth_as_often_as_they_say() {
        let mut random = fastrand::Rng::with_seed(1);
        for truth in [0.01, 0.3] {
            let missed = (0..2_000)
                .filter(|_| {
                    let events = (0..1_000).filter(|_| random.f64() < truth).count() as u64;
                    let (low, high) = Share { events, trials: 1_000 }.interval();
                    !(low..=high).contains(&truth)
                })
                .count();
            // twenty expected; the seed is fixed
            assert!((5..50).contains(&missed), "{truth}: {missed} of 2,000");
        }
    }

    #[test]
    fn ends_are_where_they_must_be() {
        assert_eq!(Share::default().interval(), (0.0, 1.0));
        let (low, high) = Share { events: 0, trials: 1_000 }.interval();
        assert!(low == 0.0 && (0.006..0.007).contains(&high), "{high}");
        let (low, high) = Share { events: 1_000, trials: 1_000 }.interval();
        assert!(high == 1.0 && (0.993..0.994).contains(&low), "{low}");
    }
}
