//! What a key holds: one of the library's filters, and what the module remembers beside it.
//!
//! Nothing here knows the server.

use std::cell::Cell;
use std::ops::Deref;

use timebloom::{AgeRange, CountBloom, Counts, Full, ItemHash, LEVEL_RATES, Stats, TimeBloom, Timestamp, Verdict};

use crate::observe::{Alive, TOTALS};
use crate::time::{Clock, Moment};

/// The error rate as the user wrote it, for `APBF.INFO`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GivenError {
    /// 10^-n, for n in 1..=5.
    Exponent(u8),
    /// The rate itself.
    Fraction(f64),
}

impl GivenError {
    pub(crate) fn rate(self) -> f64 {
        match self {
            GivenError::Exponent(n) => LEVEL_RATES[usize::from(n) - 1],
            GivenError::Fraction(rate) => rate,
        }
    }
}

impl std::fmt::Display for GivenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GivenError::Exponent(n) => n.fmt(f),
            // the shortest text that reads back as the same number
            GivenError::Fraction(rate) => rate.fmt(f),
        }
    }
}

/// A time window or a count window.
#[derive(Clone, Debug)]
pub(crate) enum Window {
    Time(TimeBloom),
    Count(CountBloom),
}

/// What a repeat does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Its time starts anew.
    Refresh,
    /// It keeps the age it has.
    Keep,
}

/// What became of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    New,
    Seen,
    Rejected,
}

impl From<Verdict> for Added {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::New => Added::New,
            Verdict::Seen => Added::Seen,
        }
    }
}

/// One answer an item; a single one, as most commands ask for, is not allocated.
#[derive(Debug, PartialEq)]
pub(crate) enum Answers {
    One(Added),
    Many(Vec<Added>),
}

impl Deref for Answers {
    type Target = [Added];

    fn deref(&self) -> &[Added] {
        match self {
            Answers::One(answer) => std::slice::from_ref(answer),
            Answers::Many(answers) => answers,
        }
    }
}

/// What became of the items of a command.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) added: Answers,
    /// Why some were rejected, if some were: all for the same reason, since a rejection leaves the filter as it is.
    pub(crate) full: Option<Full>,
}

/// The command asks for times, and the filter has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotATimeWindow;

/// The value of a key.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) window: Window,
    pub(crate) error: GivenError,
    /// Answers since the filter came to this server; neither stored nor replicated.
    lookups: Lookups,
    _alive: Alive,
}

#[derive(Clone, Debug, Default)]
struct Lookups {
    hits: Cell<u64>,
    misses: Cell<u64>,
}

impl Filter {
    pub(crate) fn new(window: Window, error: GivenError) -> Self {
        Filter { window, error, lookups: Lookups::default(), _alive: Alive::new() }
    }

    /// When a change counts that says `at`, or no time.
    pub(crate) fn moment(&self, at: Option<u64>, clock: Clock) -> Moment {
        match &self.window {
            Window::Time(filter) => Moment::new(at, clock, filter.latest()),
            Window::Count(_) => Moment::NONE,
        }
    }

    /// Records every item at `now`, whatever was seen. Tells how many were rejected, and why the last of them was.
    pub(crate) fn insert<T: AsRef<[u8]>>(&mut self, items: &[T], now: Timestamp) -> (u64, Option<Full>) {
        match (&mut self.window, items) {
            (Window::Count(filter), [item]) => {
                filter.insert(item);
                (0, None)
            }
            (Window::Count(filter), items) => {
                filter.insert_batch(items);
                (0, None)
            }
            (Window::Time(filter), [item]) => match filter.insert_at(item, now) {
                Ok(()) => (0, None),
                Err(full) => (1, Some(full)),
            },
            (Window::Time(filter), items) => {
                let (mut rest, mut rejected, mut reason) = (items, 0, None);
                while let Err(stop) = filter.insert_batch_at(rest, now) {
                    rejected += 1;
                    reason = Some(stop.full);
                    rest = &rest[stop.done + 1..];
                }
                (rejected, reason)
            }
        }
    }

    /// Records items at `now` and tells what became of each. A rejected item does not end it: later ones may be known,
    /// and are then answered.
    pub(crate) fn add<T: AsRef<[u8]>>(&mut self, items: &[T], repeat: Repeat, now: Timestamp) -> Outcome {
        if let [item] = items {
            let verdict = self.add_one(item, repeat, now);
            return Outcome { added: Answers::One(verdict.map_or(Added::Rejected, Added::from)), full: verdict.err() };
        }
        let mut verdicts = Vec::with_capacity(items.len());
        match &mut self.window {
            Window::Count(filter) => match repeat {
                Repeat::Refresh => filter.check_and_insert_batch(items, &mut verdicts),
                Repeat::Keep => filter.insert_if_new_batch(items, &mut verdicts),
            },
            Window::Time(filter) => {
                let stop = match repeat {
                    Repeat::Refresh => filter.check_and_insert_batch_at(items, now, &mut verdicts),
                    Repeat::Keep => filter.insert_if_new_batch_at(items, now, &mut verdicts),
                };
                if let Err(stop) = stop {
                    let done = verdicts.into_iter().map(Added::from).chain([Added::Rejected]);
                    let rest = items[stop.done + 1..]
                        .iter()
                        .map(|item| self.add_one(item, repeat, now).map_or(Added::Rejected, Added::from));
                    return Outcome { added: Answers::Many(done.chain(rest).collect()), full: Some(stop.full) };
                }
            }
        }
        Outcome { added: Answers::Many(verdicts.into_iter().map(Added::from).collect()), full: None }
    }

    fn add_one(&mut self, item: impl AsRef<[u8]>, repeat: Repeat, now: Timestamp) -> Result<Verdict, Full> {
        match (&mut self.window, repeat) {
            (Window::Time(filter), Repeat::Refresh) => filter.check_and_insert_at(item, now),
            (Window::Time(filter), Repeat::Keep) => filter.insert_if_new_at(item, now),
            (Window::Count(filter), Repeat::Refresh) => Ok(filter.check_and_insert(item)),
            (Window::Count(filter), Repeat::Keep) => Ok(filter.insert_if_new(item)),
        }
    }

    /// The hash of an item that is asked about soon: its memory is on the way.
    pub(crate) fn prefetch(&self, item: impl AsRef<[u8]>) -> ItemHash {
        match &self.window {
            Window::Time(filter) => filter.prefetch(item),
            Window::Count(filter) => filter.prefetch(item),
        }
    }

    /// Whether the item of this hash is in the window that ends at `now`.
    pub(crate) fn contains_hash(&self, hash: ItemHash, now: Timestamp) -> bool {
        match &self.window {
            Window::Time(filter) => filter.contains_hash_at(hash, now),
            Window::Count(filter) => filter.contains_hash(hash),
        }
    }

    /// Whether each item is in the window that ends at `now`.
    pub(crate) fn contains<T: AsRef<[u8]>>(&self, items: &[T], now: Timestamp) -> Vec<bool> {
        let mut seen = Vec::with_capacity(items.len());
        match &self.window {
            Window::Time(filter) => filter.contains_batch_at(items, now, &mut seen),
            Window::Count(filter) => filter.contains_batch(items, &mut seen),
        }
        seen
    }

    pub(crate) fn age(&self, item: impl AsRef<[u8]>, now: Timestamp) -> Result<Option<AgeRange>, NotATimeWindow> {
        Ok(self.time()?.age_at(item, now))
    }

    /// The time window, for questions about time.
    pub(crate) fn time(&self) -> Result<&TimeBloom, NotATimeWindow> {
        match &self.window {
            Window::Time(filter) => Ok(filter),
            Window::Count(_) => Err(NotATimeWindow),
        }
    }

    pub(crate) fn is_time(&self) -> bool {
        self.time().is_ok()
    }

    pub(crate) fn stats(&self, now: Timestamp) -> Stats {
        match &self.window {
            Window::Time(filter) => filter.stats(now),
            Window::Count(filter) => filter.stats(),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        match &self.window {
            Window::Time(filter) => filter.counts(),
            Window::Count(filter) => filter.counts(),
        }
    }

    /// All bytes of the value.
    pub(crate) fn memory_bytes(&self) -> usize {
        let (window, own) = match &self.window {
            Window::Time(filter) => (filter.memory_bytes(), size_of::<TimeBloom>()),
            Window::Count(filter) => (filter.memory_bytes(), size_of::<CountBloom>()),
        };
        window + size_of::<Self>().saturating_sub(own)
    }

    /// The most bytes that the window may ever take; `None` for a time window without a limit, which only a forged
    /// payload can describe.
    pub(crate) fn max_bytes(&self) -> Option<u64> {
        match &self.window {
            Window::Time(filter) => filter.max_bytes(),
            Window::Count(filter) => Some(filter.max_memory_bytes()),
        }
    }

    /// Counts answers given.
    pub(crate) fn count_lookups(&self, hits: u64, misses: u64) {
        TOTALS.hits.add(hits);
        TOTALS.misses.add(misses);
        self.lookups.hits.set(self.lookups.hits.get() + hits);
        self.lookups.misses.set(self.lookups.misses.get() + misses);
    }

    /// Answers given: hits and misses.
    pub(crate) fn lookups(&self) -> (u64, u64) {
        (self.lookups.hits.get(), self.lookups.misses.get())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use timebloom::OnFull;

    use super::*;

    fn limited() -> Filter {
        let filter = TimeBloom::builder(Duration::from_secs(60)).max_bytes(8 << 10).on_full(OnFull::Reject).seed(1);
        Filter::new(Window::Time(filter.build().unwrap()), GivenError::Exponent(2))
    }

    #[test]
    fn a_rejected_item_does_not_end_a_batch() {
        let now = Timestamp::from_secs(1_700_000_000);
        let mut filter = limited();
        let items: Vec<[u8; 4]> = (0..50_000_u32).map(u32::to_le_bytes).collect();
        let Outcome { added, full } = filter.add(&items, Repeat::Keep, now);
        assert_eq!(added.len(), items.len());
        let first = added.iter().position(|&added| added == Added::Rejected).expect("8 KiB are few");
        assert!(first > 100);
        // what was taken before is still known: a batch that starts with a stranger answers for the others
        let stranger = added.iter().rposition(|&added| added == Added::Rejected).expect("as above");
        let again = filter.add(&[items[stranger], items[0], items[1]], Repeat::Keep, now);
        assert_eq!(again.added[..], [Added::Rejected, Added::Seen, Added::Seen]);
        // for the same reason, however many it is, and alone or among others
        assert!(full.is_some());
        assert_eq!(again.full, full);
        assert_eq!(filter.add(&[items[stranger]], Repeat::Refresh, now).full, full);
    }

    #[test]
    fn rejected_insertions_are_counted_one_by_one() {
        let now = Timestamp::from_secs(1_700_000_000);
        let mut filter = limited();
        let items: Vec<[u8; 4]> = (0..50_000_u32).map(u32::to_le_bytes).collect();
        let (rejected, reason) = filter.insert(&items, now);
        let counts = filter.counts();
        assert!(rejected > 0 && reason.is_some());
        assert_eq!((counts.rejected, counts.inserted), (rejected, 50_000 - rejected));
    }

    #[test]
    fn given_errors_read_back_as_written() {
        for n in 1..=5 {
            let given = GivenError::Exponent(n);
            assert!((given.rate() - 10_f64.powi(-i32::from(n))).abs() < 1e-18);
            assert_eq!(given.to_string(), n.to_string());
        }
        assert_eq!(GivenError::Fraction(0.001).to_string(), "0.001");
    }
}
