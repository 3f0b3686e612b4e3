//! The Bloom filter that forgets on time: "have I seen this in the last minute?", answered in bits per item.
//!
//! [`TimeBloom`] remembers the items of a time window, whatever the rate at which they come; [`CountBloom`] remembers the
//! last so many. Neither stores the items. [`Sharded`] is a [`TimeBloom`] for threads.
//!
//! ```
//! use std::time::Duration;
//! use timebloom::{TimeBloom, Timestamp, Verdict};
//!
//! let mut seen = TimeBloom::builder(Duration::from_secs(60)).false_positive_rate(0.001).build()?;
//! let at = |second: u64| Timestamp::from_secs(1_700_000_000 + second);
//! assert_eq!(seen.insert_if_new_at("order-17", at(0))?, Verdict::New);
//! assert_eq!(seen.insert_if_new_at("order-17", at(60))?, Verdict::Seen); // certain, to the nanosecond
//! assert_eq!(seen.insert_if_new_at("order-17", at(90))?, Verdict::New); // the first sighting decided
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Trade-offs
//!
//! With the default [policy](Policy::Guarded), where `span` is the window and `l` the number of aging slices (31 at a rate
//! of 0.01, 36 at 0.001, or what you choose):
//!
//! - **No false negatives.** An item inserted at `t` is reported at every time in `[t, t + span]`, through bursts, gaps
//!   and changing rates. A memory limit with [`OnFull::Shorten`] is the one thing that can cut this short, and
//!   [`Stats::shortened`] counts it.
//! - **False positives, bounded.** An item that was never inserted is reported with a chance of at most the false positive
//!   rate, at every moment and not only on average. Ask again and the answer is the same: an item that is unlucky stays
//!   so for a while.
//! - **Forgetting is gradual.** An item may be held for up to one step of `span / l` past its window. After that its bits
//!   disappear one by one, one with each step, and the bits of others may stand in for those that are gone. The chance
//!   that an expired item is still reported, measured on a steady stream:
//!
//!   | past the window by at least | at most, with rate 0.01 (k = 9, l = 31) | with rate 0.001 (k = 12, l = 36) |
//!   |---|---|---|
//!   | 0 steps | 1 | 1 |
//!   | 1 step | 0.44 | 0.41 |
//!   | 2 steps | 0.19 | 0.17 |
//!   | 3 steps | 0.08 | 0.07 |
//!   | 4 steps | 0.04 | 0.03 |
//!   | 10 steps | the ordinary rate | the ordinary rate |
//!
//!   For a window of one minute a step is 1.9 s. More aging slices make the steps shorter. Where an item must be new
//!   again at the instant its time is up, use an exact store.
//! - **Memory follows the items in the window**: about 21 bits each at a rate of 0.01 and 29 at 0.001, somewhat more for
//!   a while after the rate has changed. [`Planner`] says how many in advance. A repeat that is inserted again counts
//!   again.
//! - Items cannot be listed, counted exactly or removed one by one.
//!
//! # How it works
//!
//! The bits are cut into slices by age. An item sets one bit in each of the `k` youngest; the insertions between two shifts
//! are a *generation*. A shift puts a fresh slice in front, so that all others age by one place, and a slice goes when the
//! last item that entered it has left the window.
//!
//! ```text
//!                receiving (k = 3)   aging (l = 4)
//! slice           0     1     2       3     4     5     6
//!
//! insert x      [x   ][  x ][ x  ]  [    ][    ][    ][    ]
//!
//! shift     [   ][x   ][  x ]  [ x  ][    ][    ][    ]  ->  retired, once expired
//!
//! slice       0     1     2       3     4     5     6
//! query x     .     x     x       x                          3 neighbours in a row: seen
//! ```
//!
//! A query looks for `k` neighbouring slices that all have the item's bit: wherever the item has moved to, its bits are
//! still side by side. Slices that expired are not looked at, so a query is right at any time, also when nothing was
//! inserted for long; it takes `&self` and changes nothing.
//!
//! A shift is due when the generation is full, or `span / l` old. The new slice is sized for the rate seen lately. Before
//! it is opened, the false positive rate at the end of its generation is predicted from the bits that are set: if it would
//! exceed the target, the generation is cut short, or a whole set of `k` slices is opened for the new rate. That is what
//! [`Policy::Guarded`] adds to [`Policy::Paper`], the rules of *Time-limited Bloom Filter* (Rodrigues, Shtul, Baquero,
//! Almeida, 2023) as published. The repository's ARCHITECTURE.md has the proofs and the map of the code.
//!
//! # Choosing parameters
//!
//! The window and the [rate](TimeBloomBuilder::false_positive_rate) are all that is needed.
//! [`expected_items`](TimeBloomBuilder::expected_items) is a hint for the first slices and never a limit. What it will
//! take, before you start:
//!
//! ```
//! use timebloom::Planner;
//!
//! let plan = Planner::new(0.001).plan()?;
//! let megabytes = 10_000_000.0 * plan.bits_per_item() / 8.0 / 1e6; // ten million items a window
//! assert!((35.0..36.0).contains(&megabytes));
//! assert_eq!(plan.slack(), 1.0 / 36.0); // of the window: how long an item may overstay
//! assert!(plan.probes_per_miss() < 6.5); // slices that a query for a new item looks at
//!
//! // times known 28 times as precisely, in hardly more bits; but queries look at more slices
//! let fine = Planner::new(0.001).aging_slices(1_024).plan()?;
//! assert!(fine.bits_per_item() < 30.0 && fine.probes_per_miss() > 100.0);
//! # Ok::<(), timebloom::PlanError>(())
//! ```
//!
//! - [`max_aging_slices`](TimeBloomBuilder::max_aging_slices) lets the planner use more or fewer of them and still
//!   choose the fewest bits; [`hashes_and_aging`](TimeBloomBuilder::hashes_and_aging) sets both numbers. Do so when you
//!   ask about [shorter windows](TimeBloom::contains_within_at) or [certain times](TimeBloom::contains_between_at): both
//!   are known to a step of `span / l`. [`level`](TimeBloomBuilder::level) takes a published pair.
//! - [`max_bytes`](TimeBloomBuilder::max_bytes) limits the memory, everything counted. At the limit, insertions
//!   [fail](OnFull::Reject) or [shorten the window](OnFull::Shorten). Without it they never fail.
//! - [`seed`](TimeBloomBuilder::seed) is random by default, so that nobody can prepare items that collide. Set it for
//!   runs that repeat exactly.
//!
//! # Use
//!
//! Three ways to insert. Choose by what a repeat should do:
//!
//! | | tells whether it was seen | a repeat |
//! |---|---|---|
//! | [`insert_if_new_at`](TimeBloom::insert_if_new_at) | yes | keeps its age: the first sighting decides |
//! | [`check_and_insert_at`](TimeBloom::check_and_insert_at) | yes | starts anew: quiet for a whole window first |
//! | [`insert_at`](TimeBloom::insert_at) | no | starts anew |
//!
//! Time is an argument, so tests need not sleep and logs can be replayed by the times in them. It only moves forward: an
//! item that comes late counts as inserted at the latest time seen. [`TimeBloom::with_clock`] pairs a filter with a
//! [`Clock`] instead. Items are bytes; join the parts of a key so that `ab` + `c` is not `a` + `bc`.
//!
//! One filter answers for shorter windows and past moments as well:
//!
//! ```
//! use std::time::Duration;
//! use timebloom::{ManualClock, TimeBloom, Timestamp};
//!
//! let clock = ManualClock::at(Timestamp::from_secs(1_700_000_000));
//! let mut logins = TimeBloom::builder(Duration::from_secs(3_600)).seed(1).build()?.with_clock(&clock);
//! logins.insert("192.0.2.7")?;
//! clock.advance(Duration::from_secs(1_200));
//! logins.insert("192.0.2.8")?;
//!
//! assert!(logins.contains("192.0.2.7"));
//! assert!(!logins.contains_within("192.0.2.7", Duration::from_secs(600)));
//! assert!(logins.contains_within("192.0.2.8", Duration::from_secs(600)));
//! let age = logins.age("192.0.2.7").expect("within the hour");
//! assert!(age.at_least.as_secs() <= 1_200 && age.at_most.as_secs() >= 1_200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Many items at once go through [batches](TimeBloom::insert_if_new_batch_at), with the answers of single calls. One item
//! that is asked about several times is hashed once, with [`TimeBloom::hash`] and the `*_hash_at` methods.
//!
//! Filters are saved with [`to_bytes`](TimeBloom::to_bytes) or [`write_to`](TimeBloom::write_to), and go on where they
//! were after [`from_bytes`](TimeBloom::from_bytes) or [`read_from`](TimeBloom::read_from):
//!
//! ```
//! use std::time::Duration;
//! use timebloom::{SystemClock, TimeBloom};
//!
//! let mut seen = TimeBloom::builder(Duration::from_secs(600)).build()?.with_clock(SystemClock);
//! seen.insert("order-17")?;
//! let bytes = seen.filter().to_bytes();
//!
//! let restored = TimeBloom::from_bytes(&bytes)?.with_clock(SystemClock);
//! assert!(restored.contains("order-17"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With a memory limit, a rejected insertion is an error that cannot be overlooked:
//!
//! ```
//! use std::time::Duration;
//! use timebloom::{OnFull, TimeBloom, Timestamp};
//!
//! let limited = TimeBloom::builder(Duration::from_secs(60)).max_bytes(64 << 10).seed(1);
//! let mut strict = limited.clone().on_full(OnFull::Reject).build()?;
//! let mut forgetful = limited.on_full(OnFull::Shorten).build()?;
//! let now = Timestamp::from_secs(1_700_000_000);
//! let mut rejected = 0;
//! for item in 0..100_000_u32 {
//!     rejected += u64::from(strict.insert_at(item.to_le_bytes(), now).is_err());
//!     forgetful.insert_at(item.to_le_bytes(), now)?;
//! }
//! assert!(rejected > 0 && strict.stats(now).rejected == rejected);
//! assert!(strict.contains_at(0_u32.to_le_bytes(), now)); // what it took, it keeps
//! assert!(forgetful.stats(now).shortened > 0);
//! assert!(forgetful.stats(now).memory_bytes <= 64 << 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod builder;
mod clock;
mod clocked;
mod count_bloom;
mod error;
mod hash;
mod num;
mod policy;
mod sharded;
mod sizing;
mod slices;
mod snapshot;
mod stats;
mod time_bloom;
mod timestamp;
mod verdict;
mod window;

pub use builder::{CountBloomBuilder, DEFAULT_FALSE_POSITIVE_RATE, TimeBloomBuilder};
pub use clock::{Clock, CoarseClock, ManualClock, SystemClock};
pub use clocked::Clocked;
pub use count_bloom::CountBloom;
pub use error::{BatchFull, BuildError, Full};
pub use hash::ItemHash;
pub use policy::{OnFull, Policy};
pub use sharded::{MAX_SHARDS, Sharded, default_shards};
pub use sizing::{LEVEL_RATES, Level, Plan, PlanError, Planner, levels, run_probability, worst_case_rate};
#[doc(hidden)]
pub use slices::set_large_lines;
pub use snapshot::{DecodeError, SnapshotKind};
pub use stats::{Counts, Generation, SliceStats, Stats};
pub use time_bloom::TimeBloom;
pub use timestamp::Timestamp;
pub use verdict::{AgeRange, Verdict};

/// The examples of the README, compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeDoctests;
