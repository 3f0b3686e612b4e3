//! Bounds for statistical tests: how many events may happen before chance is no excuse.

/// The most events to expect of `trials` with probability at most `probability` each, such that the chance of more is
/// below `false_alarm`: by Chernoff's bound, so the true chance is lower still.
pub fn at_most_with_confidence(trials: u64, probability: f64, false_alarm: f64) -> u64 {
    let mean = trials as f64 * probability;
    if mean == 0.0 {
        return 0;
    }
    // P(X >= x) <= exp(-(x ln(x / mean) - x + mean)) for x above the mean
    let unlikely = |x: f64| x * (x / mean).ln() - x + mean >= -false_alarm.ln();
    let (mut low, mut high) = (mean, mean + 1.0);
    while !unlikely(high) {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 0.5 {
        let middle = 0.5 * (low + high);
        if unlikely(middle) { high = middle } else { low = middle }
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and float casts saturate
    let bound = high.ceil() as u64;
    bound.min(trials)
}

/// The fewest events to expect of `trials` with probability at least `probability` each, such that the chance of fewer is
/// below `false_alarm`.
pub fn at_least_with_confidence(trials: u64, probability: f64, false_alarm: f64) -> u64 {
    let mean = trials as f64 * probability;
    // P(X <= x) <= exp(-(x ln(x / mean) - x + mean)) for x below the mean
    let unlikely = |x: f64| x * (x / mean).ln() - x + mean >= -false_alarm.ln();
    let (mut low, mut high) = (0.0, mean);
    if mean < -false_alarm.ln() {
        return 0; // even none at all is likely enough
    }
    while high - low > 0.5 {
        let middle = 0.5 * (low + high);
        if unlikely(middle) { low = middle } else { high = middle }
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and float casts saturate
    let bound = low.floor() as u64;
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_lie_a_few_deviations_above_the_mean() {
        // mean 1,000, deviation about 31: one in a million is near 4.8 deviations, and Chernoff's bound somewhat above
        let most = at_most_with_confidence(100_000, 0.01, 1e-6);
        assert!((1_150..1_200).contains(&most), "{most}");
        assert_eq!(at_most_with_confidence(0, 0.01, 1e-6), 0);
        assert_eq!(at_most_with_confidence(3, 0.4, 1e-6), 3);
    }

    #[test]
    fn bounds_lie_a_few_deviations_below_the_mean() {
        let least = at_least_with_confidence(100_000, 0.01, 1e-6);
        assert!((800..850).contains(&least), "{least}");
        assert_eq!(at_least_with_confidence(0, 0.01, 1e-6), 0);
        assert_eq!(at_least_with_confidence(1_000, 0.01, 1e-6), 0);
    }
}
