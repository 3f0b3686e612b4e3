//! Predicting the false positive rate at the end of a generation.

use super::Window;
use crate::sizing::run_probability;

/// The row as it stands when a generation begins: what it will look like after `n` insertions, and how often it errs
/// then.
#[derive(Debug)]
pub(super) struct Forecast {
    hashes: usize,
    /// Size in bits and fill of each slice that receives, youngest first.
    receiving: Vec<(f64, f64)>,
    /// Fills of the slices that only age.
    aging: Vec<f64>,
}

/// A forecast allows each receiving slice to fill this many standard deviations faster than expected. All of them at
/// once: for the rate that is `sqrt(k)` times as many.
const DEVIATIONS: f64 = 1.5;

impl Forecast {
    /// The row after `new` slices, youngest first, are opened in front of it.
    pub(super) fn after_opening(window: &Window, new: &[u64]) -> Self {
        let slices = &window.slices;
        let hashes = slices.hashes();
        let fresh = new.iter().map(|&bits| (bits as f64, 0.0));
        let still_receiving = hashes.saturating_sub(new.len()).min(slices.len());
        let held = (0..still_receiving).map(|i| (slices.figures(i).bits as f64, slices.fill(i)));
        let aging = (still_receiving..slices.len()).map(|i| slices.fill(i)).collect();
        Forecast { hashes, receiving: fresh.chain(held).collect(), aging }
    }

    /// The rate after `items` further insertions.
    pub(super) fn rate_after(&self, items: u64) -> f64 {
        let items = items as f64;
        let receiving = self.receiving.iter().map(|&(bits, fill)| {
            let clear = 1.0 - fill;
            let hit = 1.0 - libm::exp(-items / bits); // chance that a given bit is chosen
            let expected = clear * hit;
            let deviation = (expected * (1.0 - hit) / bits).sqrt();
            // no insertion sets more than one bit
            fill + (expected + DEVIATIONS * deviation).min(items / bits).min(clear)
        });
        let fills: Vec<f64> = receiving.chain(self.aging.iter().copied()).collect();
        run_probability(self.hashes, &fills)
    }

    /// The most insertions, up to `wanted`, after which the rate is at most `limit`; 0 if there are none.
    pub(super) fn insertions_within(&self, limit: f64, wanted: u64) -> u64 {
        if self.rate_after(wanted) <= limit {
            return wanted;
        }
        let (mut safe, mut unsafe_) = (0, wanted);
        // to within an eighth: a generation slightly shorter than possible costs nothing
        while unsafe_ - safe > 1 + safe / 8 {
            let middle = safe + (unsafe_ - safe) / 2;
            if self.rate_after(middle) <= limit {
                safe = middle;
            } else {
                unsafe_ = middle;
            }
        }
        safe
    }
}
