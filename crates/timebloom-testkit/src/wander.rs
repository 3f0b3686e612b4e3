//! A clock that behaves badly.

use std::time::Duration;

use timebloom::Timestamp;

/// Readings of a clock that stalls, jumps ahead and steps back, between items that come at ever changing rates.
///
/// Rates change every few hundred items, between a hundredth and thirty times `per_span`. One reading in five repeats the
/// one before it; one in 250 lies in the past, up to two spans; one in 400 follows a jump, often one that ends exactly
/// on, just before or just after the end of a span or a shift interval.
#[derive(Clone, Debug)]
pub struct Wander {
    /// The clock, when it is not stepping back.
    at: Timestamp,
    span: u64,
    /// The target shift interval.
    interval: u64,
    per_span: f64,
    /// The mean gap of the current rate, in nanoseconds.
    mean_gap: f64,
    /// Readings until the rate changes.
    left: u32,
    random: fastrand::Rng,
}

impl Wander {
    /// A clock that shows `start` first.
    pub fn new(start: Timestamp, span: Duration, aging_slices: usize, per_span: f64, seed: u64) -> Self {
        let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let interval = (span / aging_slices as u64).max(1);
        Wander { at: start, span, interval, per_span, mean_gap: 0.0, left: 0, random: fastrand::Rng::with_seed(seed) }
    }

    fn jump(&mut self) -> u64 {
        match self.random.u32(0..8) {
            0 => self.interval - 1,
            1 => self.interval,
            2 => self.span - 1,
            3 => self.span,
            4 => self.span.saturating_add(1),
            5 => self.span.saturating_add(self.interval),
            6 => self.random.u64(0..=self.span),
            _ => self.span.saturating_mul(self.random.u64(1..12)),
        }
    }
}

impl Iterator for Wander {
    type Item = Timestamp;

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
    fn next(&mut self) -> Option<Timestamp> {
        if self.left == 0 {
            self.left = self.random.u32(1..500);
            let rate = self.per_span * 10_f64.powf(self.random.f64() * 3.5 - 2.0);
            self.mean_gap = self.span as f64 / rate;
        }
        self.left -= 1;
        let gap = match self.random.u32(0..2_000) {
            0..5 => self.jump(),
            5..13 => return Some(Timestamp::from_nanos(self.at.as_nanos().saturating_sub(self.jump()))),
            13..400 => 0,
            _ => (-self.mean_gap * (1.0 - self.random.f64()).ln()) as u64,
        };
        self.at = self.at.saturating_add(Duration::from_nanos(gap));
        Some(self.at)
    }
}
