//! Formulas to compare with.
//!
//! Symbols: `eps` the target rate, `g` the number of generations that make up a window.

use std::f64::consts::LOG2_E;

/// The least that any structure takes that answers with this error: log2(1/eps).
pub(super) fn information_bits(eps: f64) -> f64 {
    -eps.log2()
}

/// A Bloom filter at its best, half full: log2(e) log2(1/eps).
pub(super) fn bloom_bits(eps: f64) -> f64 {
    LOG2_E * information_bits(eps)
}

/// g + 1 Bloom filters in turn: each takes 1/g of a window, the oldest is dropped when the youngest is full. A query
/// asks all of them, so each has to err g + 1 times less often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Generational {
    generations: u32,
}

impl Generational {
    /// The number of generations that takes the fewest bits.
    pub(super) fn best(eps: f64) -> Self {
        let all = (1..=256).map(|generations| Generational { generations });
        all.min_by(|one, other| one.bits_per_item(eps).total_cmp(&other.bits_per_item(eps))).expect("there are 256")
    }

    pub(super) fn filters(self) -> u32 {
        self.generations + 1
    }

    /// For each item of the window.
    pub(super) fn bits_per_item(self, eps: f64) -> f64 {
        let filters = f64::from(self.filters());
        filters / f64::from(self.generations) * bloom_bits(eps / filters)
    }

    /// Bits that a query for an absent item looks at: in a half full filter two on average.
    pub(super) fn probes_per_miss(self) -> f64 {
        2.0 * f64::from(self.filters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_give_what_is_known() {
        assert!((information_bits(0.01) - 6.64).abs() < 0.01);
        assert!((bloom_bits(0.01) - 9.59).abs() < 0.01);
        for (eps, bits) in [(0.1, 10.0), (0.01, 16.0), (1e-3, 21.0), (1e-4, 27.0), (1e-5, 32.0)] {
            let best = Generational::best(eps).bits_per_item(eps);
            assert!((best - bits).abs() < 0.75, "{eps}: {best}");
        }
        // two filters, of which each holds a window: twice a Bloom filter of half the rate
        assert!((Generational { generations: 1 }.bits_per_item(0.01) - 2.0 * bloom_bits(0.005)).abs() < 1e-9);
    }
}
