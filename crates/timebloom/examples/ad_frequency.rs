//! Frequency capping: an advertisement is not shown to the same user twice within six hours.
//!
//! The first sighting decides ([`Clocked::insert_if_new`]): a user who keeps coming back sees the advertisement again
//! once the six hours are over. Some users come every few minutes, most a few times a day. Every verdict is checked
//! against a map of what was really shown when.
//!
//! `cargo run --release -p timebloom --example ad_frequency`
//!
//! [`Clocked::insert_if_new`]: timebloom::Clocked::insert_if_new

use std::collections::HashMap;
use std::time::Duration;

use timebloom::{Clock, ManualClock, TimeBloom, Timestamp};
use timebloom_testkit::map_bytes;

const WINDOW: Duration = Duration::from_secs(6 * 3_600);
const RATE: f64 = 0.001;
const USERS: f64 = 100_000.0;
const ADS: u32 = 5;
const VISITS: u32 = 1_000_000; // over two days

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = fastrand::Rng::with_seed(1);
    let clock = ManualClock::at(Timestamp::from_secs(1_700_000_000));
    let mut capper = TimeBloom::builder(WINDOW).false_positive_rate(RATE).seed(1).build()?.with_clock(&clock);

    let mut shown: HashMap<String, Timestamp> = HashMap::new(); // by the filter's word
    let mut exactly: HashMap<String, Timestamp> = HashMap::new(); // what an exact capper would have done
    let (mut shows, mut exact_shows) = (0_u32, 0_u32);
    let (mut first_visits, mut first_withheld) = (0_u32, 0_u32);
    let mut late = Vec::new(); // how long after the window, whenever it was withheld then
    for _ in 0..VISITS {
        clock.advance(Duration::from_secs(2 * 86_400) / VISITS);
        let now = clock.now();
        // a third power: the busiest tenth of the users makes almost half of the visits
        let user = (USERS * random.f64().powi(3)).floor();
        let key = format!("{user}:{}", random.u32(..ADS));

        if exactly.get(&key).is_none_or(|&last| now.saturating_since(last) > WINDOW) {
            exactly.insert(key.clone(), now);
            exact_shows += 1;
        }

        let past = shown.get(&key).map(|&last| now.saturating_since(last));
        first_visits += u32::from(past.is_none());
        if capper.insert_if_new(&key)?.is_new() {
            assert!(past.is_none_or(|age| age > WINDOW), "shown twice within the window: {key}, {past:?}");
            shown.insert(key, now);
            shows += 1;
        } else {
            match past {
                None => first_withheld += 1,
                Some(age) if age > WINDOW => late.push(age - WINDOW),
                Some(_) => {}
            }
        }
    }

    let now = clock.now();
    let stats = capper.stats();
    late.sort_unstable();
    let median = late[late.len() / 2].as_secs();
    shown.retain(|_, &mut last| now.saturating_since(last) <= WINDOW);
    shown.shrink_to_fit();
    let exact_bytes = map_bytes(&shown, String::len);
    println!("{VISITS} visits in two days, each advertisement at most once per user in six hours");
    println!("  shown {shows} times; an exact capper shows {exact_shows}");
    println!("  shown twice within six hours: 0");
    println!("  withheld from {first_withheld} of {first_visits} who had never seen it (allowed: {RATE} of them)");
    println!("  withheld {} times after the six hours, half of these less than {} min after", late.len(), median / 60);
    println!("  in the window at the end: {} by the filter's count, {} exactly", stats.items_in_window, shown.len());
    println!("  memory: filter {} KiB, hash map {} KiB", stats.memory_bytes >> 10, exact_bytes >> 10);

    // Five standard deviations: an honest filter fails this once in millions of seeds.
    let allowed = f64::from(first_visits) * RATE;
    assert!(f64::from(first_withheld) <= allowed + 5.0 * allowed.sqrt());
    // Half of those who are late come within one step of the window, 6 h / 32: there the filter may well remember them.
    assert!(median <= WINDOW.as_secs() / 32);
    // What is late is shown at the next visit: little is lost in the long run.
    assert!(f64::from(shows) >= 0.97 * f64::from(exact_shows));
    assert!(stats.memory_bytes * 5 < exact_bytes);
    Ok(())
}
