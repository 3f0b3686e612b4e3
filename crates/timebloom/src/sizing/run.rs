//! The exact false positive rate of a row of slices.
//!
//! A query answers "seen" when `k` consecutive slices all have the item's bit set. For an item that was never inserted
//! each slice agrees with probability equal to its fill, independently of the others, so the rate is the chance that a
//! row of independent coins with known biases shows a run of `k` heads.
//!
//! Symbols: `k` the length of the run (`hashes`), `r_i` the fill of slice `i`, `l` the number of aging slices.

use crate::hash::MAX_FUNCTIONS;

/// The probability that a row of slices with these fills shows a run of at least `hashes` set bits to an item that was
/// never inserted: the false positive rate at this moment.
///
/// Exact for independent slices. `fills` are fractions of set bits, each in `[0, 1]`, in order of age (either direction
/// gives the same result). Fewer slices than `hashes` cannot show a run: the rate is 0.
///
/// # Panics
///
/// If `hashes` is not in `1..=64`.
///
/// ```
/// // a run of two among three fair coins: HHT, THH, HHH
/// let rate = timebloom::run_probability(2, &[0.5, 0.5, 0.5]);
/// assert_eq!(rate, 3.0 / 8.0);
/// ```
pub fn run_probability(hashes: usize, fills: &[f64]) -> f64 {
    let mut runs = Runs::new(hashes);
    runs.extend(fills.iter().copied());
    runs.probability()
}

/// The same probability for a row that is given slice by slice, from one end to the other.
///
/// A run is complete for the first time at slice i when slices i-k+1..=i are set, slice i-k is clear, and nothing was
/// complete before that: `F_i = F_{i-1} + z_{i-k} r_{i-k+1} ... r_i`, where `z_j = (1 - r_j)(1 - F_{j-1})` and
/// `z_{-1} = 1`.
///
/// The products of the last k fills need no division: slices come in blocks of k, and such a product is one of the last
/// fills of the block before and one of the first fills of this block.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // on the stack, and never many: a box would take longer than the copy
pub(crate) enum Runs {
    /// For the k that filters have. Small filters shift often, and a shift copies this twice.
    Short(Within<FEW_FUNCTIONS>),
    Long(Box<Within<MAX_FUNCTIONS>>),
}

/// Most filters have no more hash functions than this.
const FEW_FUNCTIONS: usize = 16;

impl Runs {
    /// # Panics
    ///
    /// If `hashes` is not in `1..=64`.
    #[inline]
    pub(crate) fn new(hashes: usize) -> Self {
        assert!((1..=MAX_FUNCTIONS).contains(&hashes), "hashes is {hashes}, not in 1..={MAX_FUNCTIONS}");
        if hashes <= FEW_FUNCTIONS {
            Runs::Short(Within::new(hashes))
        } else {
            Runs::Long(Box::new(Within::new(hashes)))
        }
    }

    /// Goes on with slices of these fills.
    #[inline]
    pub(crate) fn extend(&mut self, fills: impl IntoIterator<Item = f64>) {
        match self {
            Runs::Short(runs) => runs.extend(fills),
            Runs::Long(runs) => runs.extend(fills),
        }
    }

    pub(crate) fn probability(&self) -> f64 {
        match self {
            Runs::Short(runs) => runs.complete,
            Runs::Long(runs) => runs.complete,
        }
    }
}

/// [`Runs`] of at most `N`.
#[derive(Clone, Debug)]
pub(crate) struct Within<const N: usize> {
    /// k.
    hashes: usize,
    /// At index i mod k.
    places: [Place; N],
    /// The product of all r of this block so far.
    product: f64,
    /// i mod k for the next slice.
    next: usize,
    /// F.
    complete: f64,
}

/// What is known of the last k slices.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// For a slice of this block, r. For one of the block before, the product of all r after it in that block.
    product: f64,
    /// z; 1 where there is no slice.
    clear: f64,
}

impl<const N: usize> Within<N> {
    #[inline]
    fn new(hashes: usize) -> Self {
        // before the first block there is nothing that could be a part of a run: only all of the block can
        let mut places = [Place { product: 0.0, clear: 1.0 }; N];
        places[hashes - 1].product = 1.0;
        Within { hashes, places, product: 1.0, next: 0, complete: 0.0 }
    }

    #[inline]
    fn extend(&mut self, fills: impl IntoIterator<Item = f64>) {
        // what changes with every slice stays in registers
        let Within { mut complete, mut product, mut next, .. } = *self;
        let places = &mut self.places[..self.hashes];
        let mut fills = fills.into_iter();
        'row: loop {
            for place in &mut places[next..] {
                let Some(fill) = fills.next() else { break 'row };
                product *= fill;
                let older = place.clear * place.product;
                *place = Place { product: fill, clear: (1.0 - fill) * (1.0 - complete) };
                complete += older * product;
                next += 1;
            }
            // the block is over, and the next one begins
            product = 1.0;
            for place in places.iter_mut().rev() {
                (place.product, product) = (product, product * place.product);
            }
            (product, next) = (1.0, 0);
        }
        (self.complete, self.product, self.next) = (complete, product, next);
    }
}

/// The rate of a filter in its worst moment, just before a shift, when a full slice has `load` items a bit.
///
/// At a constant rate slice `i` of the first `k` has then seen `i + 1` of the `k` generations it will see, so its fill
/// is `1 - exp(-load (i+1)/k)`; the `l` aging slices are full.
///
/// # Panics
///
/// If `hashes` is not in `1..=64`.
pub fn worst_case_rate(hashes: usize, aging_slices: usize, load: f64) -> f64 {
    run_probability(hashes, &worst_case_fills(hashes, aging_slices, load))
}

/// The fills just before a shift, youngest slice first.
pub(crate) fn worst_case_fills(hashes: usize, aging_slices: usize, load: f64) -> Vec<f64> {
    let full = 1.0 - libm::exp(-load);
    (1..hashes)
        .map(|generations| 1.0 - libm::exp(-load * generations as f64 / hashes as f64))
        .chain(std::iter::repeat_n(full, aging_slices + 1))
        .collect()
}

// arithmetic: under Miri it takes hours, and there is nothing to find
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    /// The same probability by enumerating every outcome.
    fn by_enumeration(hashes: usize, fills: &[f64]) -> f64 {
        let has_run =
            |outcome: u32| (hashes..=fills.len()).any(|end| (end - hashes..end).all(|slice| outcome >> slice & 1 == 1));
        let chance = |outcome: u32| -> f64 {
            let slice_chance = |(i, &fill): (usize, &f64)| if outcome >> i & 1 == 1 { fill } else { 1.0 - fill };
            fills.iter().enumerate().map(slice_chance).product()
        };
        (0..1 << fills.len()).filter(|&outcome| has_run(outcome)).map(chance).sum()
    }

    #[test]
    fn agrees_with_enumeration() {
        let fills = [0.1, 0.9, 0.35, 0.5, 0.0, 0.77, 1.0, 0.6, 0.42, 0.5, 0.5, 0.93];
        for hashes in 1..=6 {
            for count in 0..=if cfg!(miri) { 7 } else { fills.len() } {
                let exact = by_enumeration(hashes, &fills[..count]);
                let ours = run_probability(hashes, &fills[..count]);
                assert!((exact - ours).abs() < 1e-12, "k={hashes} n={count}: {exact} against {ours}");
            }
        }
    }

    #[test]
    fn direction_does_not_matter() {
        let mut fills = [0.1, 0.9, 0.35, 0.5, 0.77, 0.6, 0.42];
        let forward = run_probability(3, &fills);
        fills.reverse();
        assert!((forward - run_probability(3, &fills)).abs() < 1e-15);
    }

    #[test]
    fn too_few_slices_cannot_match() {
        assert_eq!(run_probability(4, &[1.0; 3]), 0.0);
        assert_eq!(run_probability(4, &[1.0; 4]), 1.0);
    }
}
