//! How evenly items came: every slice that only ages remembers how many its generation had, and when it ended.

use super::Slices;

/// Generations that are looked at.
const GENERATIONS: usize = 16;

/// Fewer steps than this from one generation to the next say nothing.
const LEAST_STEPS: usize = 6;

impl Slices {
    /// The standard deviation of the rates of the last generations, as a share of their mean, found from the steps between
    /// neighbours: a rate that rises or falls slowly is even, and a single jump hardly counts. 0 if there are too few.
    pub(crate) fn unevenness(&self) -> f64 {
        /// The standard deviation of normal steps over the mean of their sizes, for each of the two rates in a step.
        const PER_STEP: f64 = 0.886;
        let aging = self.len().saturating_sub(self.hashes());
        let last = &self.row[aging.saturating_sub(GENERATIONS + 1)..aging];
        let (mut steps, mut stepped, mut sum, mut before) = (0, 0.0, 0.0, None);
        for pair in last.windows(2) {
            // older first
            let ticks = pair[0].age.saturating_sub(pair[1].age);
            let rate = f64::from(pair[1].count) / f64::from(ticks.max(1));
            if let Some(before) = before {
                stepped += f64::abs(rate - before);
                sum += rate;
                steps += 1;
            }
            before = Some(rate);
        }
        if steps < LEAST_STEPS || sum <= 0.0 { 0.0 } else { PER_STEP * stepped / sum }
    }
}

// arithmetic over thousands of insertions: under Miri it takes minutes, and there is nothing to find
#[cfg(all(test, not(miri)))]
mod tests {
    use crate::hash::ItemHash;
    use crate::slices::{Copying, Slices, Tick};
    use crate::timestamp::Timestamp;

    /// A row with a generation for each of these numbers of items, all of the same length.
    fn row(generations: impl IntoIterator<Item = u64>) -> Slices {
        const LENGTH: u64 = 1_000_000;
        let mut slices = Slices::new(2, Tick::ONE);
        slices.shift(&[64; 2], Copying::Any);
        for (number, items) in (0..).zip(generations) {
            for item in 0..items {
                let now = Timestamp::from_nanos(number * LENGTH + (item + 1) * LENGTH / items);
                slices.insert(ItemHash::new(item.to_le_bytes(), 0), now);
            }
            slices.shift(&[64], Copying::Any);
        }
        slices
    }

    #[test]
    fn what_is_the_same_is_even() {
        assert_eq!(row([100; 30]).unevenness(), 0.0);
    }

    #[test]
    fn steps_up_and_down_are_uneven() {
        // rates of 1 - 1/5 and 1 + 1/5: steps of two fifths
        let uneven = row((0..30).map(|number| if number % 2 == 0 { 80 } else { 120 })).unevenness();
        assert!((uneven - 0.886 * 0.4).abs() < 0.02, "{uneven}");
    }

    #[test]
    fn a_slow_change_is_even_and_a_jump_nearly() {
        assert!(row((0..30).map(|number| 100 + number)).unevenness() < 0.01);
        assert!(row((0..30).map(|number| if number < 20 { 100 } else { 300 })).unevenness() < 0.08);
    }

    #[test]
    fn a_few_generations_say_nothing() {
        assert_eq!(row([10, 100, 20, 90]).unevenness(), 0.0);
    }
}
