//! The time window: when slices are opened, how large they are, and when they go.
//!
//! Every insertion passes through one place, [`Window::insert`], which does these in this order:
//!
//! 1. `advance`: clamp the time, and see whether the generation is over (too old, or full).
//! 2. [`retire`]: drop slices whose items are all older than the window. First, because the following steps must not
//!    see dead slices.
//! 3. [`shift`]: update the estimate of the rate, close the generation, open what comes next within the memory limit.
//! 4. [`resize`]: choose the size of the next slice and the number of insertions until the next shift. The two policies
//!    differ here: [`paper`] follows the published equations, [`guarded`] keeps the false positive rate under its target
//!    with the help of [`guard`], and looks out for [`drift`] and [`burst`]s. [`lane`] reuses what memory there is.
//!
//! Queries never come here: they only look at slices that are live at the time they are given.

mod burst;
mod drift;
mod guard;
pub(crate) mod guarded;
mod lane;
mod paper;
mod resize;
mod retire;
mod shift;
pub(crate) mod validate;

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::error::Full;
use crate::hash::ItemHash;
use crate::policy::{OnFull, Policy};
use crate::sizing::{Plan, Runs};
use crate::slices::{AT_ONCE, Receiving, Repeats, Slices, Tick};
use crate::timestamp::Timestamp;

/// What a window is built from, and never changes.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) plan: Arc<Plan>,
    pub(crate) seed: u64,
    /// The window in nanoseconds; at least [`Config::MIN_SPAN`].
    pub(crate) span: u64,
    /// A hint: items per span.
    pub(crate) expected_items: u64,
    /// A limit on [`Window::memory_bytes`].
    pub(crate) max_bytes: Option<NonZeroU64>,
    pub(crate) policy: Policy,
    pub(crate) on_full: OnFull,
}

impl Config {
    /// The shortest span: a microsecond.
    pub(crate) const MIN_SPAN: u64 = 1_000;
    /// The longest span: a nanosecond less than timestamps reach.
    pub(crate) const MAX_SPAN: u64 = u64::MAX - 1;

    /// The limit on memory, if there is one.
    pub(crate) fn max_bytes(&self) -> Option<u64> {
        self.max_bytes.map(NonZeroU64::get)
    }

    /// The target time between shifts: `span / l`, in nanoseconds.
    pub(crate) fn target_shift_interval(&self) -> u64 {
        self.plan.share_of(self.span).max(1)
    }

    /// The last moment of a generation that started at `start`. The paper's take as long as they take.
    ///
    /// A whole tick: times are kept rounded up to these, so that rounding prolongs the life of no slice. A tick off every
    /// generation would do as well, but thirty of them add up to another item where items come few ticks apart, and then to
    /// a slice more than planned. (Where several items share a tick, it may be needed all the same.)
    pub(crate) fn end_of_generation(&self, start: Timestamp) -> Timestamp {
        match self.policy {
            Policy::Paper => Timestamp::MAX,
            Policy::Guarded => {
                let last = start.as_nanos().saturating_add(self.target_shift_interval() - 1);
                self.tick().last_by(Timestamp::from_nanos(last))
            }
        }
    }

    /// The unit in which slices know their age.
    pub(crate) fn tick(&self) -> Tick {
        Tick::for_span(self.span)
    }
}

/// What happened since creation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counters {
    /// Insertions before the open generation: [`Window::inserted`] has all.
    pub(crate) inserted: u64,
    pub(crate) shifts: u64,
    pub(crate) retired: u64,
    pub(crate) fresh_starts: u64,
    pub(crate) shortened: u64,
    pub(crate) rejected: u64,
    /// The highest false positive rate at the end of a generation.
    pub(crate) worst_rate: f64,
}

/// The engine under [`crate::TimeBloom`].
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) config: Config,
    pub(crate) slices: Slices,
    /// The latest time that a change has seen: time never goes back behind it.
    pub(crate) clock: Timestamp,
    /// When the open generation got its first item.
    pub(crate) generation_started: Timestamp,
    /// Up to this moment it takes items in as long as it has room. `MIN` while there is nothing to go by, or something to be
    /// done besides: then it may do so all the same.
    pub(crate) ready_until: Timestamp,
    /// Nothing that is held was inserted before this.
    pub(crate) oldest_bound: Timestamp,
    /// Insertions that the open generation may have in all; 0 if there is none.
    pub(crate) generation_size: u64,
    /// The estimated rate: items per target shift interval.
    pub(crate) rate: f64,
    /// The same, slower to follow, for as long as the stream is steady.
    pub(crate) steady_rate: f64,
    pub(crate) counters: Counters,
}

const _: () = assert!(size_of::<Window>() <= Window::OWN_BYTES);

impl Window {
    /// The bytes of this struct, as they count towards a memory limit. A constant, the same on every machine: the limit
    /// decides what is rejected or forgotten, and a stored filter goes on exactly as the original would have.
    pub(crate) const OWN_BYTES: usize = 280;

    pub(crate) fn new(config: Config) -> Self {
        let mut window = Window {
            slices: Slices::new(config.plan.hashes(), config.tick()),
            clock: Timestamp::MIN,
            generation_started: Timestamp::MIN,
            ready_until: Timestamp::MIN,
            oldest_bound: Timestamp::MIN,
            generation_size: 0,
            rate: 0.0,
            steady_rate: 0.0,
            counters: Counters::default(),
            config,
        };
        window.start();
        window
    }

    /// The state of a filter without items.
    fn start(&mut self) {
        self.rate = self.config.expected_items as f64 / self.config.plan.aging_slices() as f64;
        self.steady_rate = self.rate;
        if self.config.policy == Policy::Paper {
            self.open(&paper::first(&self.config));
        }
    }

    /// Forgets every item.
    pub(crate) fn clear(&mut self) {
        self.note_rate(self.rate_of(self.slices.len()));
        self.drop_all();
        self.slices.give_back_all();
        self.start();
    }

    /// Drops all slices. The next insertion must shift.
    fn drop_all(&mut self) {
        self.counters.inserted = self.inserted();
        self.slices.clear();
        self.give_back_if_limited();
        self.generation_size = 0;
        self.ready_until = Timestamp::MIN;
    }

    /// Insertions since creation.
    pub(crate) fn inserted(&self) -> u64 {
        self.counters.inserted + self.slices.generation_items()
    }

    /// Insertions that may still come before a shift.
    #[inline]
    pub(crate) fn inserts_until_shift(&self) -> u64 {
        self.generation_size.saturating_sub(self.slices.generation_items())
    }

    /// Records an item at `now`.
    #[inline]
    pub(crate) fn insert(&mut self, hash: ItemHash, now: Timestamp) -> Result<(), Full> {
        let now = self.make_ready(now)?;
        self.slices.insert(hash, now);
        Ok(())
    }

    /// Records several items at `now`. When one is rejected, tells how many were not.
    #[inline]
    pub(crate) fn insert_all(&mut self, hashes: &[ItemHash], now: Timestamp) -> Result<(), (usize, Full)> {
        let mut left = hashes;
        while !left.is_empty() {
            let now = self.make_ready(now).map_err(|full| (hashes.len() - left.len(), full))?;
            let room = usize::try_from(self.inserts_until_shift()).unwrap_or(usize::MAX);
            let (some, others) = left.split_at(room.min(left.len()));
            self.slices.insert_all(some, now);
            left = others;
        }
        Ok(())
    }

    /// Looks for up to [`AT_ONCE`] items at `now` and inserts them, one after the other; tells which were there. Does nothing
    /// if they have to be taken one by one: that may be so whenever a shift is near.
    pub(crate) fn check_some(
        &mut self,
        hashes: &[ItemHash],
        repeats: Repeats,
        now: Timestamp,
    ) -> Option<[bool; AT_ONCE]> {
        let (now, oldest) = (self.clamp(now), self.horizon(now));
        let before = self.slices.generation_items();
        if before == 0 || !self.is_ready(now) || self.inserts_until_shift() < hashes.len() as u64 {
            return None;
        }
        let seen = self.slices.check_some(hashes, self.slices.since(oldest), repeats, |_| now)?;
        if self.slices.generation_items() > before {
            self.clock = now;
        }
        Some(seen)
    }

    /// Takes notice of the time, and makes room for an insertion; tells at which time it counts.
    #[inline]
    fn make_ready(&mut self, now: Timestamp) -> Result<Timestamp, Full> {
        let now = self.clamp(now);
        // first: what expires by now is retired even if the insertion is rejected, so time must not go back behind it
        self.clock = now;
        if !self.is_ready(now) {
            self.advance(now)?;
        }
        Ok(now)
    }

    /// Whether an insertion at `now` goes into the open generation without further ado.
    #[inline]
    fn is_ready(&self, now: Timestamp) -> bool {
        self.slices.generation_items() < self.generation_size && now <= self.ready_until
    }

    /// Brings the filter to a state that takes an insertion at `now`. Away from the insertions that need nothing.
    #[cold]
    #[inline(never)]
    fn advance(&mut self, now: Timestamp) -> Result<(), Full> {
        if self.slices.generation_items() == 0 {
            // the first item of all
            self.generation_started = now;
            self.oldest_bound = now;
        }
        self.slices.give_back_some();
        if self.is_shift_due(now) {
            self.begin_generation(now)?;
        }
        let is_done = !self.slices.is_leaving();
        self.ready_until =
            if is_done { self.config.end_of_generation(self.generation_started) } else { Timestamp::MIN };
        Ok(())
    }

    /// Ends the open generation at `now` and begins another one.
    fn begin_generation(&mut self, now: Timestamp) -> Result<(), Full> {
        // where a few insertions make a generation, it would take many of them to give all back
        self.slices.give_back_all();
        // one place less than is kept: a new slice follows
        let retired_rate = self.retire(now, self.kept_slices().saturating_sub(1));
        let aging = self.slices.runs_of_aging(self.slices.len());
        let receivers = self.slices.receivers();
        let rate = rate_with(&aging, &receivers, &self.config.plan);
        self.note_rate_with(rate, retired_rate.unwrap_or(0.0));
        let observed = self.observe(now);
        let opening = match self.config.policy {
            Policy::Paper => paper::next(self, &observed),
            Policy::Guarded => {
                let row = guarded::Row { aging: &aging, receiving: &receivers, rate };
                guarded::next(self, &observed, &row)
            }
        };
        self.make_room(&opening, now);
        self.accept(&opening)?;
        self.shift(&observed, &opening, now);
        Ok(())
    }

    /// Remembers the rate if it is the highest so far. Called when a generation ends and before slices go: the rate only
    /// grows up to there.
    fn note_rate(&mut self, rate: f64) {
        self.counters.worst_rate = self.counters.worst_rate.max(rounded_up(rate));
    }

    /// The same for a rate and what slices added to it that have gone: the sum may come out less than the whole did.
    fn note_rate_with(&mut self, rate: f64, retired_rate: f64) {
        self.note_rate(rounded_up(rate + retired_rate));
    }

    /// Whether an insertion at `now` must go into a new generation.
    pub(crate) fn is_shift_due(&self, now: Timestamp) -> bool {
        self.inserts_until_shift() == 0 || now > self.config.end_of_generation(self.generation_started)
    }

    /// `now`, or the latest time seen when that is later: backward steps stand still.
    #[inline]
    pub(crate) fn clamp(&self, now: Timestamp) -> Timestamp {
        now.max(self.clock)
    }

    /// The start of the window that ends at `now`.
    #[inline]
    pub(crate) fn horizon(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_nanos(self.clamp(now).as_nanos().saturating_sub(self.config.span))
    }

    /// How many slices, from the youngest on, may hold items of the window that ends at `now`.
    pub(crate) fn live(&self, now: Timestamp) -> usize {
        self.slices.since(self.horizon(now))
    }

    /// No item whose oldest slice is at `position` was inserted before this.
    pub(crate) fn earliest(&self, position: usize) -> Timestamp {
        // the generation before it had ended by then: its oldest slice is the next older one
        let older = position + 1;
        let ended = (older < self.slices.len()).then(|| self.slices.newest_of_at_least(older));
        let bound = ended.map_or(self.oldest_bound, |ended| ended.max(self.oldest_bound));
        match self.config.policy {
            Policy::Paper => bound,
            Policy::Guarded => {
                // I5: its own last insertion came less than a shift interval after its first
                let newest = self.slices.newest_of_at_least(position).as_nanos();
                bound.max(Timestamp::from_nanos(newest.saturating_sub(self.config.target_shift_interval())))
            }
        }
    }

    /// The false positive rate of the first `live` slices.
    pub(crate) fn rate_of(&self, live: usize) -> f64 {
        rate_of(&self.slices, &self.config.plan, live)
    }

    /// All bytes: this struct and what it owns. Plans are shared between filters and not counted.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes_with(&[]) + self.slices.leaving_bytes()
    }

    /// All bytes, as they would be with these further slices.
    fn memory_bytes_with(&self, new: &[u64]) -> usize {
        Self::OWN_BYTES + self.slices.heap_bytes_with(new)
    }
}

/// A rate, and a little more: with other slices around it, the same sum may come out different in its last digits, and a
/// worst rate that was told once must not get less.
pub(crate) fn rounded_up(rate: f64) -> f64 {
    (rate * (1.0 + 1e-13)).min(1.0)
}

/// The false positive rate of the first `live` slices, from their fills.
pub(crate) fn rate_of(slices: &Slices, plan: &Plan, live: usize) -> f64 {
    let receivers = slices.receivers();
    let open = &receivers[..live.min(receivers.len())];
    rate_with(&slices.runs_of_aging(live), open, plan)
}

/// The false positive rate of a row, from the runs in the slices that only age and those that receive.
fn rate_with(aging: &Runs, receiving: &[Receiving], plan: &Plan) -> f64 {
    let mut runs = aging.clone();
    runs.extend(receiving.iter().rev().map(|slice| slice.fill));
    plan.crowded(runs.probability())
}
