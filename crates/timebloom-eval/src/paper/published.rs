//! What is printed in the paper: *Time-limited Bloom Filter* (Rodrigues, Shtul, Baquero, Almeida, 2023).

/// A row of the paper's table of bits per element: the target rate, the least and the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The target rate.
    pub eps: f64,
    /// The fewest bits per element.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// "Range of bits per element allocated for each error rate."
pub const BITS_PER_ELEMENT: [Published; 5] = [
    Published { eps: 1e-1, least: 10.0, most: 13.0 },
    Published { eps: 1e-2, least: 19.0, most: 24.0 },
    Published { eps: 1e-3, least: 26.0, most: 35.0 },
    Published { eps: 1e-4, least: 32.0, most: 45.0 },
    Published { eps: 1e-5, least: 41.0, most: 56.0 },
];

/// The paper's row for a target rate.
pub fn bits_per_element(eps: f64) -> Option<Published> {
    BITS_PER_ELEMENT.into_iter().find(|row| (row.eps / eps - 1.0).abs() < 1e-9)
}
