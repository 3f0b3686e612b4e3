//! Which of the lanes that there are a new slice goes to.

use super::Window;
use super::shift::Observed;
use crate::slices::FEW_BITS;

/// A rate that moves less than this, as a share of what chance does to it, belongs to items that come evenly ...
const EVEN: f64 = 0.03;
/// ... if the rates of generations differ by less than this, likewise.
const EVEN_GENERATIONS: f64 = 0.3;

/// How much larger than wanted a lane may be, and how much smaller ...
const LARGER: f64 = 0.03;
const SMALLER: f64 = 0.015;
/// ... and how many times what chance does to the rate on top of that.
const LARGER_BY_CHANCE: f64 = 1.3;
const SMALLER_BY_CHANCE: f64 = 0.8;

/// How much larger at least it may be where items come evenly, and how many times what chance would do to the rate: a lane
/// is used again and again, and what is too large would stay so.
const LARGER_IF_EVEN: f64 = 0.005;
const LARGER_BY_CHANCE_IF_EVEN: f64 = 0.25;

/// How much of a change of the rate lanes follow, and how many times that they may be larger ...
const MOST_CHANGE: f64 = 0.1;
const LARGER_BY_CHANGE: f64 = 2.0;
/// ... and the same of its ups and downs: such lanes are there already, and the rate will be up again.
const MOST_UNEVEN: f64 = 0.2;
const LARGER_BY_UNEVENNESS: f64 = 2.5;

/// How many times what chance does to the rates of generations they may differ without being uneven.
const BY_CHANCE: f64 = 1.5;

/// The size of a new slice for which `wanted` bits would be right: that of a lane in which one has gone, if there is one
/// that nearly fits. The less is known of the rate, which was observed so and has generations of `target` items, the less
/// near it has to be: a panel for every guess would take more memory than it saves, and more time to look at.
pub(super) fn bits(window: &Window, wanted: f64, target: f64, observed: &Observed) -> u64 {
    let noise = 1.0 / target.sqrt();
    let is_even = observed.wobble < EVEN * noise && observed.uneven < EVEN_GENERATIONS * noise;
    let change = observed.wobble.min(MOST_CHANGE);
    // a rate that goes up and down passes by its mean at times: that does not make it steady
    let uneven = (observed.uneven - BY_CHANCE * noise).clamp(0.0, MOST_UNEVEN);
    // too large costs a little memory, too small may cost the generation
    let by_rate = f64::max(LARGER_BY_CHANGE * change, LARGER_BY_UNEVENNESS * uneven);
    let smallest = 1.0 - (SMALLER + SMALLER_BY_CHANCE * noise + change.max(uneven));
    let slices = &window.slices;
    let bits = window.config.slice_bits(wanted);
    let largest = if is_even {
        1.0 + (LARGER_BY_CHANCE_IF_EVEN * noise).max(LARGER_IF_EVEN)
    } else {
        // or one word more, a large share of a small slice
        (1.0 + LARGER + LARGER_BY_CHANCE * noise + by_rate).max((bits + 64) as f64 / bits as f64)
    };
    let (shares, copying) = (smallest..=largest, window.copying(&[]));
    // slices that stay together leave few panels to look at, and go together: a panel that did not fit once is not taken
    // up again before the one that was opened instead is full. Small ones may, where the rate stays the same: they would be
    // copied again and again
    let stays_together = uneven > 0.0 || bits >= FEW_BITS;
    let youngest = if stays_together { slices.fitting_youngest(bits, &shares, copying) } else { None };
    youngest.or_else(|| slices.fitting(bits, &shares, copying)).unwrap_or_else(|| {
        // while the rate rises, the next slices will be larger: make the panel that they can share
        let rises = wanted > (1.01 + noise) * slices.bits_of(0) as f64;
        if rises { window.config.slice_bits(1.02 * wanted) } else { bits }
    })
}
