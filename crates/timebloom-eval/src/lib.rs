//! Reproduces the time-limited Bloom filter's paper, and measures `timebloom` beside other windowed filters.

pub mod baselines;
pub mod compare;
