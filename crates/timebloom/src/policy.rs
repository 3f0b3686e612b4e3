//! The choices a user makes about a time window.

/// How slices are sized and when the filter shifts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Keeps all three guarantees: no false negatives, an overstay of at most `span / l`, and a false positive rate at or
    /// under the target at every moment. Uses no memory while nothing is in the window.
    #[default]
    Guarded,
    /// The equations of the paper as published, for comparison and reproduction. No false negatives either; but the rate
    /// may exceed its target, by half just before a shift and severalfold when the stream speeds up, and items may
    /// overstay without bound when it slows down.
    Paper,
}

/// What happens to an insertion that needs more memory than [`max_bytes`](crate::TimeBloomBuilder::max_bytes) allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFull {
    /// The insertion fails with [`Full`](crate::Full), and succeeds again once older items have expired. What was
    /// inserted stays reported for its whole window.
    #[default]
    Reject,
    /// The oldest items are forgotten early, and [`Stats::shortened`](crate::Stats::shortened) counts it. Every insertion
    /// succeeds.
    Shorten,
}
