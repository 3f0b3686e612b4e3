//! A rate that rises slowly: slices that are sized for it now would be too small by the time they are full. And one that
//! does not change at all.

use super::Window;
use super::shift::STEADY_INTERVALS;

/// How far the steady rate is behind, in generations: its half-life over the logarithm of 2.
pub(super) const STEADY_LAG: f64 = STEADY_INTERVALS / std::f64::consts::LN_2;

/// A stream whose rate is further from the mean of its window than this has jumped.
const MOST: f64 = 0.3;

/// One whose rate is no further from it than this, and chance, keeps its rate.
const LEVEL: f64 = 0.01;

/// How the rate of a stream moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Drift {
    /// How much faster it gets from one generation to the next, as a share of its rate; 0 if it slows down.
    pub(super) rise: f64,
    /// Whether it has kept its rate for a window, as far as one can tell.
    pub(super) is_level: bool,
}

/// How a steady stream moves.
///
/// The steady rate is that of a few generations ago, the mean of the window that of half a window ago. What lies between
/// the two is drift, as far as it is not chance; if it is much, the stream has jumped.
pub(super) fn of(window: &Window, steady: f64) -> Drift {
    let aging_slices = window.config.plan.aging_slices() as f64;
    if window.clock.nanos_since(window.oldest_bound) < window.config.span {
        return Drift::default();
    }
    let mean = window.slices.items_in(window.slices.len()) as f64 / aging_slices;
    let off = steady / mean - 1.0;
    let chance = 0.6 / steady.sqrt();
    let apart = 0.5 * aging_slices - STEADY_LAG;
    let has_drift = apart >= STEADY_LAG && off <= MOST;
    Drift { rise: if has_drift { (off - chance).max(0.0) / apart } else { 0.0 }, is_level: off.abs() <= LEVEL + chance }
}
