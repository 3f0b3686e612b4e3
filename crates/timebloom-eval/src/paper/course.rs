//! One filter through the paper's stream: 10,000 distinct items, one each 0.1 s, in a window of 300 s.

use std::time::Duration;

use serde::Serialize;
use timebloom::{Policy, SliceStats, TimeBloom, Timestamp, run_probability};

use crate::error::Error;
use crate::policy_name;

/// How many items the paper inserts.
pub const ITEMS: u32 = 10_000;
/// The paper's time span.
pub const SPAN: Duration = Duration::from_secs(300);
/// Items of a whole span: one every 0.1 s.
pub const PER_SPAN: u32 = 3_000;

/// Which filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The rules it follows.
    pub policy: Policy,
    /// The target rate.
    pub eps: f64,
    /// k.
    pub hashes: u32,
    /// l.
    pub aging_slices: u32,
    /// What it is told to expect: too little or too much.
    pub capacity: u64,
}

impl Setting {
    /// k + l.
    pub fn base_slices(&self) -> u32 {
        self.hashes + self.aging_slices
    }

    /// `(k, l)`, as in the paper's legends.
    pub fn pair(&self) -> String {
        format!("({}, {})", self.hashes, self.aging_slices)
    }
}

/// How closely a run is watched.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Look at every so many insertions, and always just before a shift.
    pub every: u32,
    /// Ask for so many absent items at each look.
    pub absent: u32,
    /// The filter's seed.
    pub seed: u64,
}

/// A filter right after an insertion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// How many insertions there were.
    pub insertion: u32,
    /// How many slices there are.
    pub slices: u32,
    /// The size of the youngest.
    pub slice0_bits: u64,
    /// The size of all.
    pub total_bits: u64,
    /// Items inserted within the last span.
    pub items_in_span: u64,
    /// Items held: l to l + 1 generations.
    pub items_held: u64,
    /// The false positive rate, from counted bits.
    pub rate: f64,
    /// How many of the absent items that were asked for were reported.
    pub reported: u32,
}

impl Look {
    /// Bits for each item inserted within the last span.
    pub fn bits_per_item_in_span(&self) -> f64 {
        self.total_bits as f64 / self.items_in_span as f64
    }

    /// Bits for each item held.
    pub fn bits_per_item_held(&self) -> f64 {
        self.total_bits as f64 / self.items_held as f64
    }
}

/// A record of `paper.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    policy: &'static str,
    eps: f64,
    k: u32,
    l: u32,
    capacity: u64,
    insertion: u32,
    slices: u32,
    slice0_bits: u64,
    total_bits: u64,
    items_in_span: u64,
    items_held: u64,
    rate: f64,
}

/// What a run showed.
#[derive(Clone, Debug)]
pub struct Course {
    /// Which filter.
    pub setting: Setting,
    /// In order of insertions.
    pub looks: Vec<Look>,
    /// How many absent items each look asked for.
    pub absent: u32,
    /// How often an item of the window was looked up.
    pub looked_up: u64,
    /// How often it was not reported.
    pub false_negatives: u64,
    /// How many times more often this layout errs than independent slices would.
    pub crowding: f64,
}

impl Course {
    /// The looks of the last span, when a filter has settled.
    pub fn settled(&self) -> impl Iterator<Item = &Look> {
        self.looks.iter().filter(|look| look.insertion > ITEMS - PER_SPAN)
    }

    /// The looks of the last tenth of the run: a whole generation of the slowest pair.
    pub fn last_tenth(&self) -> impl Iterator<Item = &Look> {
        self.looks.iter().filter(|look| look.insertion > ITEMS - ITEMS / 10)
    }

    /// The records of `paper.csv`.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        let Setting { policy, eps, hashes, aging_slices, capacity } = self.setting;
        self.looks.iter().map(move |look| Record {
            policy: policy_name(policy),
            eps,
            k: hashes,
            l: aging_slices,
            capacity,
            insertion: look.insertion,
            slices: look.slices,
            slice0_bits: look.slice0_bits,
            total_bits: look.total_bits,
            items_in_span: look.items_in_span,
            items_held: look.items_held,
            rate: look.rate,
        })
    }
}

/// When item `number` comes.
fn time_of(number: u32) -> Timestamp {
    Timestamp::from_millis(1_000_000_000 + 100 * u64::from(number))
}

/// Runs a filter through the stream.
pub fn run(setting: Setting, watch: Watch) -> Result<Course, Error> {
    let mut filter = TimeBloom::builder(SPAN)
        .false_positive_rate(setting.eps)
        .hashes_and_aging(setting.hashes, setting.aging_slices)
        .expected_items(setting.capacity)
        .policy(setting.policy)
        .seed(watch.seed)
        .build()?;
    let crowding = filter.plan().crowding();
    let mut course =
        Course { setting, looks: Vec::new(), absent: watch.absent, looked_up: 0, false_negatives: 0, crowding };
    let mut never = Never::default();
    for number in 0..ITEMS {
        let now = time_of(number);
        filter.insert_at(number.to_le_bytes(), now)?;
        let insertion = number + 1;
        // the item that is exactly a span old, and from time to time every one of the window
        let oldest = number.saturating_sub(PER_SPAN);
        let looked_up = if insertion.is_multiple_of(100) { oldest..=number } else { oldest..=oldest };
        for item in looked_up {
            course.looked_up += 1;
            course.false_negatives += u64::from(!filter.contains_at(item.to_le_bytes(), now));
        }
        if insertion.is_multiple_of(watch.every) || filter.is_shift_due_at(time_of(insertion)) || insertion == ITEMS {
            let mut look = look_at(&filter, now, insertion);
            look.reported = never.reported_by(&filter, now, watch.absent);
            course.looks.push(look);
        }
    }
    Ok(course)
}

fn look_at(filter: &TimeBloom, now: Timestamp, insertion: u32) -> Look {
    let slices: Vec<SliceStats> = filter.slices().collect();
    let horizon = now.saturating_sub(SPAN);
    let live = |newest: Option<Timestamp>| newest.is_some_and(|newest| newest >= horizon);
    let fills: Vec<f64> = slices.iter().filter(|slice| live(slice.newest)).map(SliceStats::fill).collect();
    let held = filter.generations().filter(|generation| live(generation.newest)).map(|generation| generation.items);
    Look {
        insertion,
        slices: u32::try_from(slices.len()).expect("a few hundred slices"),
        slice0_bits: slices.first().map_or(0, |slice| slice.bits),
        total_bits: slices.iter().map(|slice| slice.bits).sum(),
        // the one that is exactly a span old included
        items_in_span: u64::from(insertion.min(PER_SPAN + 1)),
        items_held: held.sum(),
        rate: (filter.plan().crowding() * run_probability(filter.plan().hashes(), &fills)).min(1.0),
        reported: 0,
    }
}

/// Items that were never inserted, each asked for once.
#[derive(Debug, Default)]
struct Never {
    asked: u64,
    batch: Vec<[u8; 8]>,
    answers: Vec<bool>,
}

impl Never {
    const BATCH: u32 = 4_096;

    fn reported_by(&mut self, filter: &TimeBloom, now: Timestamp, mut count: u32) -> u32 {
        let mut reported = 0;
        while count > 0 {
            let size = count.min(Self::BATCH);
            count -= size;
            self.batch.clear();
            // eight bytes where items have four: none of them was ever inserted
            self.batch.extend((self.asked..self.asked + u64::from(size)).map(u64::to_le_bytes));
            self.asked += u64::from(size);
            filter.contains_batch_at(&self.batch, now, &mut self.answers);
            reported += self.answers.iter().map(|&seen| u32::from(seen)).sum::<u32>();
        }
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(policy: Policy) -> Setting {
        Setting { policy, eps: 0.1, hashes: 4, aging_slices: 3, capacity: 1_000 }
    }

    #[test]
    fn looks_tell_what_the_filter_held() {
        let watch = Watch { every: 1, absent: 10, seed: 1 };
        for policy in [Policy::Paper, Policy::Guarded] {
            let course = run(setting(policy), watch).expect("a legal setting");
            assert_eq!(course.looks.len(), ITEMS as usize);
            assert_eq!(course.false_negatives, 0);
            for look in &course.looks {
                assert!(look.items_held >= look.items_in_span, "{look:?}");
                assert!((0.0..=1.0).contains(&look.rate) && look.reported <= 10);
            }
            let last = course.looks.last().expect("there are looks");
            assert_eq!((last.insertion, last.items_in_span), (ITEMS, 3_001));
            // l to l + 1 generations of a third of a span each, and a little slack
            assert!(last.items_held <= 4_100, "{last:?}");
        }
    }

    #[test]
    fn a_hurried_watch_sees_nearly_the_same_peaks() {
        let whole = run(setting(Policy::Paper), Watch { every: 1, absent: 0, seed: 2 }).expect("legal");
        let some = run(setting(Policy::Paper), Watch { every: 50, absent: 0, seed: 2 }).expect("legal");
        let peak = |course: &Course| course.looks.iter().map(|look| look.rate).fold(0.0, f64::max);
        // a slice may expire between two looks, just after the rate was highest
        assert!(peak(&some) <= peak(&whole) && peak(&some) > 0.97 * peak(&whole));
        assert!(some.looks.len() < 300);
    }
}
