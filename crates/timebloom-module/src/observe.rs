//! Counters over all filters, for the server's INFO.
//!
//! They count from the start of the server, like its own; what a single filter did since it was created is in
//! `APBF.INFO`.

use std::sync::atomic::{AtomicU64, Ordering};

use timebloom::Counts;

/// A figure of the INFO section. Commands run on one thread, so adding needs no more than a load and a store.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    const fn new() -> Self {
        Counter(AtomicU64::new(0))
    }

    pub(crate) fn add(&self, amount: u64) {
        if amount > 0 {
            self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Totals {
    pub(crate) adds: Counter,
    pub(crate) hits: Counter,
    pub(crate) misses: Counter,
    pub(crate) shifts: Counter,
    pub(crate) retired: Counter,
    pub(crate) fresh_starts: Counter,
    pub(crate) shortened: Counter,
    pub(crate) rejected: Counter,
    /// Panics that were caught: each is a bug.
    pub(crate) panics: Counter,
    /// Payloads of RESTORE, RDB or AOF that were refused.
    pub(crate) refused_payloads: Counter,
}

pub(crate) static TOTALS: Totals = Totals {
    adds: Counter::new(),
    hits: Counter::new(),
    misses: Counter::new(),
    shifts: Counter::new(),
    retired: Counter::new(),
    fresh_starts: Counter::new(),
    shortened: Counter::new(),
    rejected: Counter::new(),
    panics: Counter::new(),
    refused_payloads: Counter::new(),
};

impl Totals {
    /// Adds what one command did to one filter.
    pub(crate) fn add_change(&self, before: Counts, after: Counts) {
        self.adds.add(after.inserted.saturating_sub(before.inserted));
        self.shifts.add(after.shifts.saturating_sub(before.shifts));
        self.retired.add(after.retired.saturating_sub(before.retired));
        self.fresh_starts.add(after.fresh_starts.saturating_sub(before.fresh_starts));
        self.shortened.add(after.shortened.saturating_sub(before.shortened));
        self.rejected.add(after.rejected.saturating_sub(before.rejected));
    }
}

static FILTERS: AtomicU64 = AtomicU64::new(0);

/// How many filters there are.
pub(crate) fn filters() -> u64 {
    FILTERS.load(Ordering::Relaxed)
}

/// A part of every filter: counted from its creation to its end, which may come on another thread.
#[derive(Debug)]
pub(crate) struct Alive(());

impl Alive {
    pub(crate) fn new() -> Self {
        FILTERS.fetch_add(1, Ordering::Relaxed);
        Alive(())
    }
}

impl Clone for Alive {
    fn clone(&self) -> Self {
        Alive::new()
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        FILTERS.fetch_sub(1, Ordering::Relaxed);
    }
}
