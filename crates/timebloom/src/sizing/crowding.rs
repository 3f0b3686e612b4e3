//! How bits that lie together err together.

/// How many times more often a query errs than with independent slices. An item's bits in the slices of a panel are in
/// words of 64 bits that other items share: where one slice is crowded, its neighbours are.
///
/// Symbols: `v` the covariance of two bits of one line, relative to their product, when both slices got all their items
/// together; slices `d` apart share `1 - d/k` of them.
pub(super) fn crowding(hashes: usize, load: f64) -> f64 {
    let full = (1.0 - libm::exp(-load)).max(1e-9);
    let v = (libm::exp(load / 64.0) - 1.0) * libm::exp(-2.0 * load) / (full * full);
    let k = hashes as f64;
    // pairs among n neighbours: n - d of them are d apart
    let pairs = |n: usize| (1..n).map(|d| (n - d) as f64 * (1.0 - d as f64 / k)).sum::<f64>();
    let at_offset = |offset: usize| {
        let first = hashes.min(LANES - offset);
        let whole = (hashes - first) / LANES;
        let shared = pairs(first) + whole as f64 * pairs(LANES) + pairs((hashes - first) % LANES);
        // beyond that lines hardly ever hold two items, and the approximation no longer holds
        libm::exp((CLUSTERED * v * shared).min(2.0))
    };
    (0..LANES).map(at_offset).sum::<f64>() / LANES as f64
}

/// Slices that share their lines.
pub(super) const LANES: usize = 8;

/// Crowded lines err together: less than independent errors would add up to. Found by measurement.
const CLUSTERED: f64 = 0.9;
