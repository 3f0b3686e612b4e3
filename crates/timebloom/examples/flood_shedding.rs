//! Shedding repeated requests in a flood, with and without a limit on memory.
//!
//! A service sees 2,000 requests a second, some of them retries. Then, for five seconds, it is flooded at a hundred times
//! that rate: half of the flood is a few thousand requests replayed over and over, half is different every time. A request
//! seen within ten seconds is shed. Three filters meet the same stream: one without a limit grows, one with
//! [`OnFull::Shorten`] forgets earlier, one with [`OnFull::Reject`] refuses what it cannot remember.
//!
//! `cargo run --release -p timebloom --example flood_shedding`
//!
//! [`OnFull::Shorten`]: timebloom::OnFull::Shorten
//! [`OnFull::Reject`]: timebloom::OnFull::Reject

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use timebloom::{Full, OnFull, TimeBloom, Timestamp, Verdict};
use timebloom_testkit::map_bytes;

const WINDOW: Duration = Duration::from_secs(10);
const RATE: f64 = 0.01;
const LIMIT: u64 = 512 << 10;
const QUIET: u32 = 2_000; // requests a second
const FLOOD: u32 = 100 * QUIET;

/// What a request is, and when: 20 s quiet, 5 s flood, 20 s quiet.
fn requests() -> impl Iterator<Item = (u64, Timestamp)> {
    let mut random = fastrand::Rng::with_seed(4);
    let mut now = Timestamp::from_secs(1_700_000_000);
    let mut unique = 1 << 32;
    let phases = [(20, QUIET), (5, FLOOD), (20, QUIET)];
    phases.into_iter().flat_map(|(seconds, rate)| (0..seconds * rate).map(move |_| rate)).map(move |rate| {
        now = now.saturating_add(Duration::from_secs(1) / rate);
        let repeated = random.u64(..100) < if rate == FLOOD { 50 } else { 20 };
        unique += u64::from(!repeated);
        let replayed = if rate == FLOOD { random.u64(..5_000) } else { unique - random.u64(..2_000) };
        (if repeated { replayed } else { unique }, now)
    })
}

fn run(name: &str, mut filter: TimeBloom) -> Result<(), Box<dyn std::error::Error>> {
    let mut served: HashMap<u64, Timestamp> = HashMap::new(); // and recorded
    let mut asked = HashSet::new();
    let (mut repeats, mut shed, mut wrong, mut refused, mut missed) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    let (mut peak_bytes, mut end) = (0, Timestamp::MIN);
    for (number, (request, now)) in requests().enumerate() {
        let first = asked.insert(request);
        let known = served.get(&request).is_some_and(|&at| now.saturating_since(at) <= WINDOW);
        repeats += u64::from(known);
        match filter.insert_if_new_at(request.to_le_bytes(), now) {
            Ok(Verdict::New) => {
                missed += u64::from(known);
                served.insert(request, now);
            }
            Ok(Verdict::Seen) => {
                shed += 1;
                wrong += u64::from(first);
            }
            Err(Full { .. }) => refused += 1, // answered with "come back later"
        }
        if number % 1_000 == 0 {
            peak_bytes = peak_bytes.max(filter.stats(now).memory_bytes);
        }
        end = now;
    }
    let stats = filter.stats(end);
    println!("{name}: {} different requests, {wrong} of them taken for known when they first came", asked.len());
    println!("  {repeats} repeats: {shed} times shed, {missed} times served too early; {refused} times refused");
    println!(
        "  memory {} KiB at its peak, {} KiB at the end; highest false positive rate {:.4}",
        peak_bytes >> 10,
        stats.memory_bytes >> 10,
        stats.worst_false_positive_rate
    );
    println!(
        "  {} shifts, {} fresh starts, {} slices retired, {} shortened the window, {} insertions rejected",
        stats.shifts, stats.fresh_starts, stats.retired, stats.shortened, stats.rejected
    );
    assert!(stats.worst_false_positive_rate <= RATE);
    let allowed = RATE * asked.len() as f64;
    assert!(wrong as f64 <= allowed + 5.0 * allowed.sqrt());
    assert_eq!(stats.rejected, refused);
    match (filter.max_bytes(), filter.on_full()) {
        (None, _) => {
            println!("  a hash map of all that was served takes {} KiB", map_bytes(&served, |_| 0) >> 10);
            assert!(missed == 0 && refused == 0 && stats.shortened == 0);
        }
        (Some(limit), OnFull::Shorten) => {
            assert!(peak_bytes as u64 <= limit && stats.shortened > 0 && missed > 0 && refused == 0);
        }
        (Some(limit), _) => assert!(peak_bytes as u64 <= limit && stats.shortened == 0 && missed == 0 && refused > 0),
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = TimeBloom::builder(WINDOW).false_positive_rate(RATE).expected_items(20_000).seed(4);
    run("no limit", filter.clone().build()?)?;
    run("512 KiB, shorten", filter.clone().max_bytes(LIMIT).on_full(OnFull::Shorten).build()?)?;
    run("512 KiB, reject", filter.max_bytes(LIMIT).on_full(OnFull::Reject).build()?)
}
