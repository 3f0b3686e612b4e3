//! Deciding about records: the filter, and which time it is asked at.

use std::io::{self, Write};
use std::time::Duration;

use timebloom::{Clock, CountBloom, Full, ItemHash, Stats, SystemClock, TimeBloom, Timestamp, Verdict};

use crate::block::Block;
use crate::event_clock::{Admission, EventClock};
use crate::output::Fate;
use crate::server::{Server, ServerError};

/// A filter in this process.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Time(TimeBloom),
    Count(CountBloom),
}

impl Filter {
    pub(crate) fn seed(&self) -> u64 {
        match self {
            Filter::Time(filter) => filter.seed(),
            Filter::Count(filter) => filter.seed(),
        }
    }

    pub(crate) fn stats(&self, now: Timestamp) -> Stats {
        match self {
            Filter::Time(filter) => filter.stats(now),
            Filter::Count(filter) => filter.stats(),
        }
    }

    /// When the last item was recorded, on the clock that the filter goes by.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        match self {
            Filter::Time(filter) => filter.slices().find_map(|slice| slice.newest),
            Filter::Count(_) => None,
        }
    }

    pub(crate) fn write_to(&self, output: impl Write) -> io::Result<()> {
        match self {
            Filter::Time(filter) => filter.write_to(output),
            Filter::Count(filter) => filter.write_to(output),
        }
    }
}

/// What ends a run in the middle of a block.
#[derive(Debug)]
pub(crate) enum JudgeError {
    Full(Full),
    Server(ServerError),
}

impl From<Full> for JudgeError {
    fn from(full: Full) -> Self {
        JudgeError::Full(full)
    }
}

impl From<ServerError> for JudgeError {
    fn from(error: ServerError) -> Self {
        JudgeError::Server(error)
    }
}

/// Whose filter it is.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // there is one of it
pub(crate) enum Place {
    Here(Filter),
    There(Box<Server>),
}

#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) place: Place,
    /// The clock that records bring with them; `None` for the wall's.
    clock: Option<EventClock>,
    /// The window, without what is added to it for records out of order.
    pub(crate) window: Duration,
    /// A repeat starts its time anew.
    refresh: bool,
    /// The key of the record whose time nobody has confirmed yet.
    suspect: Suspect,
    /// Records that were kept although they were late.
    pub(crate) late_kept: u64,
    /// Records that were late by more than a window, kept or not.
    pub(crate) windows_late: u64,
    /// Records too far ahead to be believed.
    pub(crate) ahead: u64,
    verdicts: Vec<Verdict>,
}

#[derive(Clone, Debug)]
enum Suspect {
    None,
    Hash(ItemHash),
    Key(Vec<u8>),
}

impl Judge {
    pub(crate) fn new(place: Place, clock: Option<EventClock>, window: Duration, refresh: bool) -> Self {
        Judge {
            place,
            clock,
            window,
            refresh,
            suspect: Suspect::None,
            late_kept: 0,
            windows_late: 0,
            ahead: 0,
            verdicts: Vec::new(),
        }
    }

    /// The time that the filter goes by.
    pub(crate) fn now(&self) -> Timestamp {
        match &self.clock {
            Some(clock) => clock.now().unwrap_or(Timestamp::MIN),
            None => SystemClock.now(),
        }
    }

    /// Decides about the keyed records of a block, in order. When the run has to end, `fates` has those before.
    pub(crate) fn judge(&mut self, block: &Block, fates: &mut Vec<Fate>) -> Result<(), JudgeError> {
        fates.clear();
        match self.clock.take() {
            Some(mut clock) => {
                let outcome = self.judge_by_times(&mut clock, block, fates);
                self.clock = Some(clock);
                outcome
            }
            None => self.judge_range(block, 0, block.keyed(), None, fates),
        }
    }

    /// Records that come at the same time are asked about together.
    fn judge_by_times(
        &mut self,
        clock: &mut EventClock,
        block: &Block,
        fates: &mut Vec<Fate>,
    ) -> Result<(), JudgeError> {
        let mut pending = 0;
        let mut pending_now = Timestamp::MIN;
        for (index, &time) in block.times.iter().enumerate() {
            let admission = clock.admit(time, || SystemClock.now());
            let (now, behind) = match admission {
                Admission::At { now, behind } => (now, behind),
                Admission::LateAt { now, behind } => {
                    self.late_kept += 1;
                    self.windows_late += u64::from(behind > self.window);
                    (now, behind)
                }
                Admission::AheadAt { now } => {
                    self.ahead += 1;
                    self.suspect = match &self.place {
                        Place::Here(_) => Suspect::Hash(block.hashes[index]),
                        Place::There(_) => Suspect::Key(block.keys.get(index).to_vec()),
                    };
                    (now, Duration::ZERO)
                }
                Admission::Confirms { now } => {
                    self.judge_range(block, pending, index, Some(pending_now), fates)?;
                    pending = index;
                    self.record_suspect(now)?;
                    (now, Duration::ZERO)
                }
                Admission::Dropped { behind } => {
                    self.windows_late += u64::from(behind > self.window);
                    self.judge_range(block, pending, index, Some(pending_now), fates)?;
                    pending = index + 1;
                    fates.push(Fate::Late);
                    continue;
                }
            };
            let alone = self.looks_back();
            if now != pending_now || alone {
                self.judge_range(block, pending, index, Some(pending_now), fates)?;
                (pending, pending_now) = (index, now);
            }
            if alone {
                fates.push(self.judge_behind(block.hashes[index], now, behind)?);
                pending = index + 1;
            }
        }
        self.judge_range(block, pending, block.times.len(), Some(pending_now), fates)
    }

    /// Whether each record is to be judged by its own time, and not as of now. Only a filter that remembers for longer
    /// than the window has room for that; and every record has to say then how far back to look.
    fn looks_back(&self) -> bool {
        matches!(&self.place, Place::Here(Filter::Time(filter)) if filter.span() > self.window)
    }

    /// Looks back a window from when the record happened.
    fn judge_behind(&mut self, hash: ItemHash, now: Timestamp, behind: Duration) -> Result<Fate, Full> {
        let Place::Here(Filter::Time(filter)) = &mut self.place else {
            unreachable!("only a time window here remembers for longer")
        };
        let seen = filter.contains_within_hash_at(hash, self.window.saturating_add(behind), now);
        if self.refresh || !seen {
            filter.insert_hash_at(hash, now)?;
        }
        Ok(if seen { Fate::Seen } else { Fate::New })
    }

    /// The record before was judged by a time that did not count: it belongs at `now`.
    fn record_suspect(&mut self, now: Timestamp) -> Result<(), JudgeError> {
        match (std::mem::replace(&mut self.suspect, Suspect::None), &mut self.place) {
            (Suspect::Hash(hash), Place::Here(Filter::Time(filter))) => filter.insert_hash_at(hash, now)?,
            (Suspect::Key(key), Place::There(server)) => server.record(&key, now)?,
            _ => {}
        }
        Ok(())
    }

    /// Decides about the keyed records `from..to`, all at one time: `at`, or that of the clock on the wall.
    fn judge_range(
        &mut self,
        block: &Block,
        from: usize,
        to: usize,
        at: Option<Timestamp>,
        fates: &mut Vec<Fate>,
    ) -> Result<(), JudgeError> {
        if from == to {
            return Ok(());
        }
        let verdicts = &mut self.verdicts;
        let outcome = match &mut self.place {
            Place::Here(Filter::Time(filter)) => {
                let now = at.unwrap_or_else(|| SystemClock.now());
                let hashes = &block.hashes[from..to];
                let outcome = if self.refresh {
                    filter.check_and_insert_hashes_at(hashes, now, verdicts)
                } else {
                    filter.insert_if_new_hashes_at(hashes, now, verdicts)
                };
                outcome.map_err(|stop| stop.full.into())
            }
            Place::Here(Filter::Count(filter)) => {
                let hashes = &block.hashes[from..to];
                if self.refresh {
                    filter.check_and_insert_hashes(hashes, verdicts);
                } else {
                    filter.insert_if_new_hashes(hashes, verdicts);
                }
                Ok(())
            }
            Place::There(server) => server.judge(&block.keys, from..to, at, verdicts).map_err(JudgeError::from),
        };
        fates.extend(verdicts.iter().map(|verdict| match verdict {
            Verdict::New => Fate::New,
            Verdict::Seen => Fate::Seen,
        }));
        outcome
    }
}
