//! Random histories: a filter and an exact window that live through the same operations.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use timebloom::{BuildError, Full, OnFull, Policy, TimeBloom, TimeBloomBuilder, Timestamp, Verdict};
use timebloom_testkit::{ExactWindow, Proportions, Row, Wander, oldest_slice};

/// The same `cases` in every run. A history that once broke a law becomes a test of its own.
pub fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(20_260_001), failure_persistence: None, ..Config::default() }
}

/// What is done to the filter.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Insert,
    InsertIfNew,
    CheckAndInsert,
    /// Many insertions of items that are seen once, at one moment.
    Burst(u16),
    Advance,
    Clear,
}

/// How the clock moves before that.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    Stall,
    /// Thousandths of a shift interval.
    Intervals(u16),
    /// Exactly a span, and so many nanoseconds more or less.
    Span(i8),
    /// Whole spans.
    Spans(u8),
    /// Back by thousandths of a span.
    Back(u16),
}

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub change: Change,
    pub item: u8,
    pub pace: Pace,
}

/// How a history begins.
#[derive(Clone, Debug)]
pub struct Setup {
    pub proportions: Proportions,
    pub span: Duration,
    pub policy: Policy,
    pub expected_items: u64,
    pub start: Timestamp,
    pub seed: u64,
    /// Bytes above the least limit, and what happens there.
    pub limit: Option<(u64, OnFull)>,
}

/// From the shortest span to days.
pub const SPANS: [Duration; 6] = [
    Duration::from_micros(1),
    Duration::from_nanos(12_347),
    Duration::from_millis(50),
    Duration::from_secs(60),
    Duration::from_secs(3_600),
    Duration::from_secs(5 * 86_400),
];

/// A span for the policy. The paper's takes a burst for the rate of a whole shift interval, and would take gigabytes over
/// the long ones.
fn span_for(policy: Policy, index: usize) -> Duration {
    if policy == Policy::Paper { SPANS[index % 3] } else { SPANS[index] }
}

pub fn starts(span: Duration) -> [Timestamp; 3] {
    [Timestamp::MIN, Timestamp::from_secs(1_700_000_000), Timestamp::MAX.saturating_sub(span * 3)]
}

/// A random filter and stream for tests that run through many items.
pub struct Stream {
    pub proportions: Proportions,
    pub policy: Policy,
    pub span: Duration,
    pub per_span: f64,
    pub start: Timestamp,
    pub seed: u64,
}

impl Stream {
    /// Stream number `seed`, of `10^decades` items a span at most.
    pub fn random(seed: u64, policy: Policy, decades: f64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let proportions = Proportions::ALL[random.usize(0..Proportions::ALL.len())];
        let span = span_for(policy, random.usize(0..SPANS.len()));
        // at the end of time the clock stands still, and all items come at once
        let start = starts(span)[random.usize(0..3)];
        let per_span = 10_f64.powf(0.5 + (decades - 0.5) * random.f64());
        Stream { proportions, policy, span, per_span, start, seed }
    }

    pub fn builder(&self) -> TimeBloomBuilder {
        self.proportions.time(TimeBloom::builder(self.span)).policy(self.policy).seed(self.seed)
    }

    pub fn clock(&self, filter: &TimeBloom) -> Wander {
        Wander::new(self.start, self.span, filter.plan().aging_slices(), self.per_span, self.seed)
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stream { proportions, policy, span, per_span, start, seed } = self;
        write!(f, "stream {seed}: {proportions:?}, {policy:?}, {span:?}, {per_span:.0} items a span from {start:?}")
    }
}

impl Setup {
    pub fn build(&self) -> TimeBloom {
        let builder =
            TimeBloom::builder(self.span).policy(self.policy).expected_items(self.expected_items).seed(self.seed);
        let builder = self.proportions.time(builder);
        match self.limit {
            None => builder.build().expect("legal proportions"),
            Some((above, on_full)) => {
                let max_bytes = least_limit(&builder) + above;
                builder.max_bytes(max_bytes).on_full(on_full).build().expect("at least the least limit")
            }
        }
    }

    pub fn guarded(mut self) -> Self {
        self.policy = Policy::Guarded;
        self
    }
}

/// The least memory limit that the builder accepts.
pub fn least_limit(builder: &TimeBloomBuilder) -> u64 {
    match builder.clone().max_bytes(0).build() {
        Err(BuildError::MaxBytes { min, .. }) => min,
        other => panic!("a limit of 0 bytes must be refused: {other:?}"),
    }
}

pub fn setup() -> impl Strategy<Value = Setup> {
    let policy = prop_oneof![3 => Just(Policy::Guarded), 1 => Just(Policy::Paper)];
    let hint = prop_oneof![2 => Just(0), 1 => 1_u64..2_000];
    (0..Proportions::ALL.len(), 0..SPANS.len(), policy, hint, 0..3_usize, any::<u64>()).prop_map(
        |(proportions, span, policy, expected_items, start, seed)| {
            let span = span_for(policy, span);
            Setup {
                proportions: Proportions::ALL[proportions],
                span,
                policy,
                expected_items,
                start: starts(span)[start],
                seed,
                limit: None,
            }
        },
    )
}

pub fn limited_setup() -> impl Strategy<Value = Setup> {
    let on_full = prop_oneof![Just(OnFull::Reject), Just(OnFull::Shorten)];
    let above = prop_oneof![0_u64..200, 0_u64..20_000];
    (setup(), above, on_full).prop_map(|(setup, above, on_full)| Setup { limit: Some((above, on_full)), ..setup })
}

pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let change = prop_oneof![
        20 => Just(Change::Insert),
        8 => Just(Change::InsertIfNew),
        8 => Just(Change::CheckAndInsert),
        4 => (1_u16..120).prop_map(Change::Burst),
        3 => Just(Change::Advance),
        1 => Just(Change::Clear),
    ];
    let pace = prop_oneof![
        8 => Just(Pace::Stall),
        12 => (0_u16..1_500).prop_map(Pace::Intervals),
        2 => Just(Pace::Intervals(1_000)),
        2 => (-1_i8..=1).prop_map(Pace::Span),
        1 => (1_u8..20).prop_map(Pace::Spans),
        2 => (0_u16..2_000).prop_map(Pace::Back),
    ];
    let step = (change, 0_u8..24, pace).prop_map(|(change, item, pace)| Step { change, item, pace });
    prop::collection::vec(step, 1..=most)
}

/// A filter, the exact window beside it, and what the filter truly holds.
pub struct Lockstep {
    pub filter: TimeBloom,
    pub exact: ExactWindow,
    /// The oldest slice of each item's last insertion.
    oldest_slices: HashMap<Vec<u8>, u64>,
    /// What the clock shows, before it is clamped.
    pub now: Timestamp,
    /// Numbers the items that are seen once.
    once: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub cleared_slices: u64,
}

/// How an item and the filter stand to each other.
pub struct Standing<'a> {
    pub item: &'a [u8],
    pub last: Timestamp,
    /// The item's oldest slice.
    pub oldest_slice: u64,
}

impl Lockstep {
    pub fn new(setup: &Setup) -> Self {
        Lockstep {
            filter: setup.build(),
            exact: ExactWindow::new(setup.span),
            oldest_slices: HashMap::new(),
            now: setup.start,
            once: 0,
            accepted: 0,
            rejected: 0,
            cleared_slices: 0,
        }
    }

    /// `span / l`.
    pub fn interval(&self) -> Duration {
        let nanos = u64::try_from(self.filter.span().as_nanos()).expect("spans fit by the builder");
        Duration::from_nanos(nanos / self.filter.plan().aging_slices() as u64)
    }

    /// The clock after it moved.
    pub fn after(&self, pace: Pace) -> Timestamp {
        let (span, clock) = (self.filter.span(), self.exact.clock().max(self.now));
        match pace {
            Pace::Stall => clock,
            Pace::Intervals(thousandths) => clock.saturating_add(self.interval() * thousandths.into() / 1_000),
            Pace::Span(more) if more < 0 => clock.saturating_add(span - Duration::from_nanos(1)),
            Pace::Span(more) => clock.saturating_add(span + Duration::from_nanos(more.unsigned_abs().into())),
            Pace::Spans(spans) => clock.saturating_add(span * spans.into()),
            Pace::Back(thousandths) => clock.saturating_sub(span * thousandths.into() / 1_000),
        }
    }

    /// Does a step to both, and checks what every step promises: a verdict of `New` only to items that are not in the
    /// window, and a filter whose invariants hold.
    pub fn take(&mut self, step: Step) {
        self.now = self.after(step.pace);
        let item = [step.item];
        match step.change {
            Change::Insert => {
                let result = self.filter.insert_at(item, self.now);
                self.note(&item, result);
            }
            Change::InsertIfNew => {
                let result = self.filter.insert_if_new_at(item, self.now);
                self.judge(&item, result);
                if result != Ok(Verdict::Seen) {
                    self.note(&item, result.map(|_| ()));
                }
            }
            Change::CheckAndInsert => {
                let result = self.filter.check_and_insert_at(item, self.now);
                self.judge(&item, result);
                self.note(&item, result.map(|_| ()));
            }
            Change::Burst(items) => {
                let items = if self.filter.plan().hashes() < 4 { items.min(8) } else { items };
                for _ in 0..items {
                    self.once += 1;
                    let item = self.once.to_le_bytes();
                    let result = self.filter.insert_at(item, self.now);
                    self.note(&item, result);
                }
            }
            Change::Advance => {
                self.filter.advance_to(self.now);
                self.exact.advance_to(self.now);
            }
            Change::Clear => {
                self.cleared_slices += self.filter.slices().count() as u64;
                self.filter.clear();
                // the paper's filter opens its first slices again
                self.exact.clear();
                self.oldest_slices.clear();
            }
        }
        if let Err(broken) = self.filter.validate() {
            panic!("after {step:?}: {broken}");
        }
    }

    fn judge(&self, item: &[u8], result: Result<Verdict, Full>) {
        // a shortened window has forgotten some
        if self.filter.on_full() == OnFull::Reject && self.exact.contains_at(item, self.now) {
            assert_ne!(result, Ok(Verdict::New), "an item of the window was called new");
        }
    }

    fn note(&mut self, item: &[u8], result: Result<(), Full>) {
        match result {
            Ok(()) => {
                self.exact.insert_at(item, self.now);
                let number = oldest_slice(self.filter.slices(), self.filter.plan().hashes());
                self.oldest_slices.insert(item.to_vec(), number);
                self.accepted += 1;
            }
            Err(_) => {
                // time goes on all the same
                self.exact.advance_to(self.now);
                self.rejected += 1;
            }
        }
    }

    pub fn row(&self) -> Row {
        Row::of(self.filter.slices())
    }

    /// Every item that was inserted since the last clear.
    pub fn standings(&self) -> impl Iterator<Item = Standing<'_>> {
        self.exact.items().map(|(item, last)| Standing { item, last, oldest_slice: self.oldest_slices[item] })
    }
}
