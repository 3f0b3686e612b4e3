//! A rate that rises slowly: slices that are sized for it now would be too small by the time they are full.

use super::Window;
use super::shift::STEADY_INTERVALS;

/// How far the steady rate is behind, in generations: its half-life over the logarithm of 2.
pub(super) const STEADY_LAG: f64 = STEADY_INTERVALS as f64 / std::f64::consts::LN_2;

/// A stream whose rate is further from the mean of its window than this has jumped.
const MOST: f64 = 0.3;

/// How much of the distance is taken for chance, in standard deviations of one generation: half of what chance does to it. A
/// drift that is not seen costs a fresh start, and one that is not there a slice that is a little too large.
const CHANCE: f64 = 0.15;

/// In generations of fewer items than this there is nothing to be seen but chance.
const FEWEST: f64 = 16.0;

/// How much faster a steady stream gets from one generation to the next, as a share of its rate; 0 if it slows down.
///
/// The steady rate is that of a few generations ago, the mean of the window that of half a window ago. What lies between
/// the two is drift, as far as it is not chance; if it is much, the stream has jumped.
pub(super) fn of(window: &Window, steady: f64) -> f64 {
    let aging_slices = window.config.plan.aging_slices() as f64;
    let apart = 0.5 * aging_slices - STEADY_LAG;
    if apart < STEADY_LAG || steady < FEWEST || window.clock.nanos_since(window.oldest_bound) < window.config.span {
        return 0.0;
    }
    let Some(oldest) = window.slices.len().checked_sub(1) else { return 0.0 };
    // since the oldest generation ended: there may be one more of them than planned, or a few less
    let generations =
        window.clock.nanos_since(window.slices.newest_of(oldest)) as f64 / window.config.target_shift_interval() as f64;
    let mean = window.slices.items_in(oldest) as f64 / generations;
    let off = steady / mean - 1.0;
    if off > MOST || off.is_nan() {
        return 0.0;
    }
    (off - CHANCE / steady.sqrt()).max(0.0) / apart
}
