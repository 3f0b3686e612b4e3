//! What a filter tells about an item.

use std::time::Duration;

/// Whether an item was in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict {
    /// Certainly not seen within the window: no item inserted within the window ever gets this.
    New,
    /// Seen within the window; or, with a chance of at most the false positive rate, not. See the crate documentation for
    /// items that have just left the window.
    Seen,
}

impl Verdict {
    /// Whether this is [`Verdict::New`].
    pub fn is_new(self) -> bool {
        self == Verdict::New
    }

    /// Whether this is [`Verdict::Seen`].
    pub fn is_seen(self) -> bool {
        self == Verdict::Seen
    }

    pub(crate) fn seen_if(seen: bool) -> Self {
        if seen { Verdict::Seen } else { Verdict::New }
    }
}

/// How long ago an item was last inserted.
///
/// `at_least` never exceeds the true age. `at_most` is never below it either for an item of the window, unless a false
/// positive made the item look younger; the chance of that is at most the filter's false positive rate. At a steady rate
/// the two are `span / l` apart, and as much again for each neighbouring slice that agrees by chance: three times
/// `span / l` or less on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeRange {
    /// The item is this old or older.
    pub at_least: Duration,
    /// The item is this old or younger.
    pub at_most: Duration,
}
