//! Dropping slices whose items have all left the window.

use super::Window;
use super::shift::Opening;
use crate::policy::Policy;
use crate::slices::Copying;
use crate::timestamp::Timestamp;

impl Window {
    /// Drops slices that saw their last item before the window that ends at `now` (paper, eq. 3), oldest first; `keep`
    /// of them stay in any case. Their places in the row are still there: [`Slices::shrink`] gives them back.
    ///
    /// Tells what they added to the false positive rate, which is to be noted with the rate of the others.
    ///
    /// [`Slices::shrink`]: crate::slices::Slices::shrink
    pub(super) fn retire(&mut self, now: Timestamp, keep: usize) -> Option<f64> {
        let live = self.live(now).max(keep.min(self.slices.len()));
        if live == self.slices.len() {
            return None;
        }
        let plan = &self.config.plan;
        let rate = self.slices.rate_of_oldest(self.slices.len() - live).map(|rate| plan.crowded(rate));
        // it adds up chances, and is near the truth as long as it is small
        let rate = rate.filter(|&rate| rate <= plan.false_positive_rate());
        if rate.is_none() {
            self.note_rate(self.rate_of(self.slices.len()));
        }
        if live == 0 {
            // the slices that receive are as new as the last insertion: either they stay, or all go
            self.rate = self.rate_after_idling(now);
            self.steady_rate = self.rate;
            self.counters.retired += self.slices.len() as u64;
            self.drop_all();
            return None;
        }
        while self.slices.len() > live {
            self.drop_oldest();
            self.counters.retired += 1;
        }
        if self.copying(&[]) == Copying::Any {
            // what comes next depends on the memory that is left; far from a limit, new slices take the free lanes first
            self.slices.narrow(Copying::Any);
        }
        rate
    }

    /// Makes room for an opening that does not fit the memory limit: free lanes go first, then slices that have expired and
    /// stayed nevertheless, oldest first. A filter whose items have all expired takes new ones.
    pub(super) fn make_room(&mut self, opening: &Opening, now: Timestamp) {
        if self.over_limit(opening).is_none() {
            return;
        }
        self.slices.narrow(Copying::Any);
        // with those that it opens, an insertion needs `hashes`
        let needed = self.live(now).max(self.slices.hashes() - 1);
        while self.slices.len() > needed && self.over_limit(opening).is_some() {
            self.drop_oldest();
            self.slices.narrow(Copying::Any);
            self.counters.retired += 1;
        }
    }

    /// How many slices stay even when they have expired. The paper keeps its `k + l`; the guarded policy keeps nothing.
    pub(super) fn kept_slices(&self) -> usize {
        match self.config.policy {
            Policy::Paper => self.config.plan.base_slices(),
            Policy::Guarded => 0,
        }
    }

    /// The rate to start from once everything has expired: that of the last window, averaged over it and the silence
    /// since. Streams often come back as they were, and a start too large wastes less than one too small.
    fn rate_after_idling(&self, now: Timestamp) -> f64 {
        let span = self.config.span as f64;
        let idle = self.clamp(now).nanos_since(self.slices.newest()) as f64;
        self.rate * (span / (span + idle))
    }

    /// Drops the oldest slice, whatever it holds.
    pub(super) fn drop_oldest(&mut self) {
        if let Some(newest) = self.slices.pop() {
            self.oldest_bound = self.oldest_bound.max(newest);
        }
        self.give_back_if_limited();
    }

    /// Under a memory limit nothing is held that does not count towards it.
    pub(super) fn give_back_if_limited(&mut self) {
        if self.config.max_bytes.is_some() {
            self.slices.give_back_all();
        }
    }

    /// Lets time pass without an insertion: gives back the memory of what has expired by `now`.
    pub(crate) fn advance_to(&mut self, now: Timestamp) {
        self.clock = self.clamp(now);
        if let Some(retired_rate) = self.retire(now, self.kept_slices()) {
            self.note_rate_with(self.rate_of(self.slices.len()), retired_rate);
        }
        self.slices.narrow(self.copying(&[]));
        self.slices.shrink();
        self.slices.give_back_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{TimeBloom, Timestamp};

    #[test]
    fn insertions_go_on_after_everything_has_expired() {
        let mut filter = TimeBloom::builder(Duration::from_secs(60)).hashes_and_aging(9, 31).seed(1).build().unwrap();
        filter.insert_at("a", Timestamp::from_secs(100)).unwrap();
        filter.advance_to(Timestamp::from_secs(1_000));
        assert_eq!(filter.stats(Timestamp::from_secs(1_000)).slices, 0);
        filter.insert_at("b", Timestamp::from_secs(1_001)).unwrap();
        assert!(filter.contains_at("b", Timestamp::from_secs(1_061)));
        assert!(!filter.contains_at("a", Timestamp::from_secs(1_001)));
    }
}
