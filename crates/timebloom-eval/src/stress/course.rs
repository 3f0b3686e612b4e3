//! One filter through a stream whose rate changes, looked at over time.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;
use timebloom::{Policy, SliceStats, TimeBloom, Timestamp, run_probability};
use timebloom_testkit::{Arrivals, Scenario};

use crate::error::Error;
use crate::policy_name;

/// The window.
pub const SPAN: Duration = Duration::from_secs(300);
/// Items a span before the rate changes, and what filters are told to expect.
pub const PER_SPAN: u32 = 3_000;
/// The target rate.
pub const EPS: f64 = 0.01;
/// k.
pub const HASHES: u32 = 10;
/// l.
pub const AGING_SLICES: u32 = 25;

/// Moments at which a filter is looked at, evenly over the stream.
const LOOKS: u32 = 400;
/// How often in between it is asked how old its oldest item is.
const GLANCES: u32 = 8;
/// Absent items asked for before every shift.
const ABSENT: u64 = 50;
/// One in so many insertions is followed by a look-up of the oldest item in the window.
const LOOK_UP_EVERY: u64 = 13;

/// A stream and a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The stream.
    pub scenario: Scenario,
    /// The rules of the filter.
    pub policy: Policy,
    /// Of the stream and of the filter.
    pub seed: u64,
}

/// A filter at one moment: a record of `stress.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Look {
    /// The name of the stream.
    pub scenario: String,
    /// The rules of the filter.
    pub policy: &'static str,
    /// Of the stream and of the filter.
    pub seed: u64,
    /// Since the stream began, in spans.
    pub time_spans: f64,
    /// How many slices there are.
    pub slices: usize,
    /// All bytes of the filter.
    pub memory_bytes: usize,
    /// Items inserted within the last span.
    pub items_in_span: usize,
    /// The highest false positive rate since the look before, from counted bits.
    pub rate: f64,
    /// How much older than a span the oldest item is that is truly held, in spans; the most since the look before.
    pub overstay_spans: f64,
}

/// What a run showed.
#[derive(Clone, Debug)]
pub struct Course {
    /// Which run.
    pub setting: Setting,
    /// In order of time.
    pub looks: Vec<Look>,
    /// The highest rate just before a shift, from counted bits.
    pub peak_rate: f64,
    /// The most slices at any insertion that was looked at.
    pub peak_slices: usize,
    /// The longest that a generation lasted, in spans: so long its first item is held past the window.
    pub overstay: f64,
    /// Bits of memory for each item in the window, both summed up over the run.
    pub bits_per_item: f64,
    /// Look-ups of items in the window.
    pub looked_up: u64,
    /// Those of them that failed.
    pub false_negatives: u64,
    /// Questions for items that were never inserted.
    pub asked: u64,
    /// Those of them that were reported.
    pub false_positives: u64,
}

/// A filter of both policies' common shape.
pub fn filter(policy: Policy, seed: u64) -> Result<TimeBloom, Error> {
    Ok(TimeBloom::builder(SPAN)
        .false_positive_rate(EPS)
        .hashes_and_aging(HASHES, AGING_SLICES)
        .expected_items(PER_SPAN.into())
        .policy(policy)
        .seed(seed)
        .build()?)
}

/// Runs a filter through its stream.
pub fn run(setting: Setting) -> Result<Course, Error> {
    let filter = filter(setting.policy, setting.seed)?;
    let stream = || setting.scenario.arrivals(PER_SPAN.into(), SPAN, AGING_SLICES as usize, setting.seed);
    let end = stream().last().unwrap_or(Arrivals::START);
    let step = end.saturating_since(Arrivals::START) / (LOOKS * GLANCES);
    let mut watch = Watch::new(setting, filter);
    let mut next = Arrivals::START.saturating_add(step);
    let mut glances = 0;
    for now in stream() {
        while next < now {
            glances += 1;
            if glances % GLANCES == 0 {
                watch.look(next);
            } else {
                watch.note_overstay(next);
            }
            next = next.saturating_add(step);
        }
        watch.insert(now)?;
    }
    watch.look(end);
    Ok(watch.finish())
}

/// A filter, and what is known of it.
struct Watch {
    filter: TimeBloom,
    course: Course,
    /// The items of the window, oldest first.
    window: VecDeque<(u64, Timestamp)>,
    inserted: u64,
    never: u64,
    last: Option<Timestamp>,
    /// After the last insertion.
    shifts: Option<u64>,
    /// When the first item of each generation came, oldest first.
    generations: VecDeque<Timestamp>,
    /// The longest since the last look.
    overstay: f64,
    /// The highest rate since the last look.
    rate: f64,
    byte_sum: f64,
    item_sum: f64,
}

impl Watch {
    fn new(setting: Setting, filter: TimeBloom) -> Self {
        let course = Course {
            setting,
            looks: Vec::new(),
            peak_rate: 0.0,
            peak_slices: 0,
            overstay: 0.0,
            bits_per_item: 0.0,
            looked_up: 0,
            false_negatives: 0,
            asked: 0,
            false_positives: 0,
        };
        Watch {
            filter,
            course,
            window: VecDeque::new(),
            inserted: 0,
            never: u64::MAX,
            last: None,
            shifts: None,
            generations: VecDeque::new(),
            overstay: 0.0,
            rate: 0.0,
            byte_sum: 0.0,
            item_sum: 0.0,
        }
    }

    fn insert(&mut self, now: Timestamp) -> Result<(), Error> {
        if let Some(last) = self.last
            && self.filter.is_shift_due_at(now)
        {
            self.look_before_shift(last);
        }
        self.filter.insert_at(self.inserted.to_le_bytes(), now)?;
        // a generation begins after a shift
        let shifts = self.filter.counts().shifts;
        if self.shifts.replace(shifts) != Some(shifts) {
            self.generations.push_back(now);
        }
        self.window.push_back((self.inserted, now));
        self.inserted += 1;
        self.last = Some(now);
        self.forget_expired(now);
        if self.inserted.is_multiple_of(LOOK_UP_EVERY) {
            if let Some((oldest, _)) = self.window.front() {
                self.course.looked_up += 1;
                self.course.false_negatives += u64::from(!self.filter.contains_at(oldest.to_le_bytes(), now));
            }
            self.byte_sum += self.filter.memory_bytes() as f64;
            self.item_sum += self.window.len() as f64;
        }
        Ok(())
    }

    /// The moment at which the rate peaks, and an open generation has lasted longest.
    fn look_before_shift(&mut self, last: Timestamp) {
        let slices: Vec<SliceStats> = self.filter.slices().collect();
        let rate = self.rate_of(&slices, last);
        self.rate = self.rate.max(rate);
        self.course.peak_rate = self.course.peak_rate.max(rate);
        self.course.peak_slices = self.course.peak_slices.max(slices.len());
        for _ in 0..ABSENT {
            self.course.asked += 1;
            self.course.false_positives += u64::from(self.filter.contains_at(self.never.to_le_bytes(), last));
            self.never -= 1;
        }
        let lasted = self.filter.open_generation().map_or(Duration::ZERO, |(first, last)| last.saturating_since(first));
        self.course.overstay = self.course.overstay.max(lasted.as_secs_f64() / SPAN.as_secs_f64());
    }

    fn forget_expired(&mut self, now: Timestamp) {
        let horizon = now.saturating_sub(SPAN);
        while self.window.front().is_some_and(|&(_, at)| at < horizon) {
            self.window.pop_front();
        }
    }

    /// How much older than a span the oldest item is that is held at `now`.
    fn note_overstay(&mut self, now: Timestamp) {
        let horizon = now.saturating_sub(SPAN);
        let mut kept = 0;
        let mut oldest = None;
        // both youngest first
        let generations = self.filter.generations().filter(|generation| generation.items > 0);
        for (generation, &first) in generations.zip(self.generations.iter().rev()) {
            kept += 1;
            if generation.newest.is_some_and(|newest| newest >= horizon) {
                oldest = Some(first);
            }
        }
        // the others went with their slices; those that only expired may come back with the paper's rules
        self.generations.drain(..self.generations.len() - kept);
        let age = oldest.map_or(Duration::ZERO, |first| now.saturating_since(first).saturating_sub(SPAN));
        self.overstay = self.overstay.max(age.as_secs_f64() / SPAN.as_secs_f64());
    }

    fn look(&mut self, now: Timestamp) {
        self.forget_expired(now);
        self.note_overstay(now);
        let slices: Vec<SliceStats> = self.filter.slices().collect();
        let rate = self.rate.max(self.rate_of(&slices, now));
        self.rate = 0.0;
        self.course.peak_slices = self.course.peak_slices.max(slices.len());
        let setting = &self.course.setting;
        self.course.looks.push(Look {
            scenario: setting.scenario.name(),
            policy: policy_name(setting.policy),
            seed: setting.seed,
            time_spans: now.saturating_since(Arrivals::START).as_secs_f64() / SPAN.as_secs_f64(),
            slices: slices.len(),
            memory_bytes: self.filter.memory_bytes(),
            items_in_span: self.window.len(),
            rate,
            overstay_spans: self.overstay,
        });
        self.overstay = 0.0;
    }

    /// The false positive rate from the bits that are set in the slices live at `now`.
    fn rate_of(&self, slices: &[SliceStats], now: Timestamp) -> f64 {
        let horizon = now.saturating_sub(SPAN);
        let live = slices.iter().filter(|slice| slice.newest.is_some_and(|newest| newest >= horizon));
        let fills: Vec<f64> = live.map(SliceStats::fill).collect();
        (self.filter.plan().crowding() * run_probability(HASHES as usize, &fills)).min(1.0)
    }

    fn finish(mut self) -> Course {
        self.course.bits_per_item = self.byte_sum * 8.0 / self.item_sum.max(1.0);
        self.course
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_too_long_is_seen() {
        let scenario = Scenario::Jump { factor: 0.1 };
        let course = |policy| run(Setting { scenario, policy, seed: 1 }).expect("a legal filter");
        let (paper, guarded) = (course(Policy::Paper), course(Policy::Guarded));
        let seen = |course: &Course| course.looks.iter().map(|look| look.overstay_spans).fold(0.0, f64::max);
        let bound = 1.0 / f64::from(AGING_SLICES);
        assert!(seen(&guarded) > 0.0 && seen(&guarded) <= bound + 1e-9, "{}", seen(&guarded));
        assert!(seen(&paper) > 2.0 * bound, "a tenth of the rate: generations last ten times as long");
        for course in [paper, guarded] {
            assert!(seen(&course) <= course.overstay + 1e-9, "looks cannot see more than there is");
            assert_eq!(course.false_negatives, 0);
            assert!(course.looked_up > 0 && course.asked > 0);
        }
    }
}
