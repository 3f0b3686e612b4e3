//! Which of the lanes that there are a new slice goes to.

use super::Window;

/// The size of a new slice for which `wanted` bits would be right: that of a lane in which one has gone, if there is one
/// that nearly fits.
pub(super) fn bits(window: &Window, wanted: f64, target: f64, is_level: bool) -> u64 {
    // as far as the rate can be known
    let noise = 1.0 / target.sqrt();
    let slices = &window.slices;
    let bits = window.config.slice_bits(wanted);
    // a lane is used again and again: in a stream that keeps its rate, what is too large would stay so
    let largest = if is_level { 1.01 } else { 1.03 };
    slices.fitting(bits, 0.985 - 0.25 * noise, largest + 0.5 * noise, window.config.copying()).unwrap_or_else(|| {
        // while the rate rises, the next slices will be larger: make the panel that they can share
        let rises = wanted > (1.01 + noise) * slices.bits_of(0) as f64;
        if rises { window.config.slice_bits(1.02 * wanted) } else { bits }
    })
}
