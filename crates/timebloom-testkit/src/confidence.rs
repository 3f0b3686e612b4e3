//! Bounds for counted events that hold but for a stated chance of a false alarm.
//!
//! Chernoff's bound: among `n` independent trials of chance `p`, a share of `q` or more (for `q > p`; or less, for
//! `q < p`) has probability at most `exp(-n D(q, p))`, `D` the relative entropy of the two.

/// The most events that `trials` of at most this `chance` each show, but for a probability of `false_alarm`.
pub fn most_events(trials: u64, chance: f64, false_alarm: f64) -> u64 {
    let n = trials as f64;
    let needed = -false_alarm.ln() / n;
    if relative_entropy(1.0, chance) <= needed {
        return trials; // too few trials to tell
    }
    let (mut low, mut high) = (chance, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if relative_entropy(middle, chance) < needed { low = middle } else { high = middle }
    }
    whole(high * n)
}

/// The fewest events that `trials` of at least this `chance` each show, but for a probability of `false_alarm`.
pub fn fewest_events(trials: u64, chance: f64, false_alarm: f64) -> u64 {
    trials - most_events(trials, 1.0 - chance, false_alarm)
}

fn relative_entropy(q: f64, p: f64) -> f64 {
    let term = |q: f64, p: f64| if q > 0.0 { q * (q / p).ln() } else { 0.0 };
    term(q, p) + term(1.0 - q, 1.0 - p)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of more than `bound` events, exactly.
    fn tail(trials: u32, chance: f64, bound: u64) -> f64 {
        let mut exactly = (1.0 - chance).powi(trials.try_into().unwrap());
        let mut tail = if bound == 0 { 1.0 - exactly } else { 0.0 };
        for events in 1..=trials {
            exactly *= f64::from(trials + 1 - events) / f64::from(events) * chance / (1.0 - chance);
            if u64::from(events) > bound {
                tail += exactly;
            }
        }
        tail
    }

    #[test]
    fn false_alarms_are_as_rare_as_stated() {
        for trials in [10, 100, 1_000] {
            for chance in [0.001, 0.05, 0.5] {
                for false_alarm in [1e-2, 1e-6] {
                    let bound = most_events(trials.into(), chance, false_alarm);
                    assert!(tail(trials, chance, bound) <= false_alarm, "{trials} {chance} {false_alarm}");
                    // and the bound is not much wider than it must be
                    let mean = f64::from(trials) * chance;
                    let width = 2.0 * (-false_alarm.ln()).sqrt() * mean.sqrt() + 2.0 * -false_alarm.ln();
                    assert!(bound as f64 <= mean + width, "{trials} {chance} {false_alarm}: {bound}");
                }
            }
        }
        assert_eq!(most_events(3, 0.5, 1e-6), 3);
        assert_eq!(fewest_events(3, 0.5, 1e-6), 0);
        assert!(fewest_events(1_000, 0.5, 1e-6) > 400);
    }
}
