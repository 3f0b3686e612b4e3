//! Who was connected? An hour of connections, and afterwards a question about one minute of it.
//!
//! [`TimeBloom::contains_between_at`] tells which addresses connected at a certain time, [`TimeBloom::age_at`] how long
//! ago one was last seen. Both know the time of an item to within `span / l`: 3.5 s here, with 1024 aging slices. Every
//! address that really connected in that minute is found, and some that came shortly before or after it are found too.
//!
//! `cargo run --release -p timebloom --example connections_at`
//!
//! [`TimeBloom::contains_between_at`]: timebloom::TimeBloom::contains_between_at
//! [`TimeBloom::age_at`]: timebloom::TimeBloom::age_at

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use timebloom::{TimeBloom, Timestamp};
use timebloom_testkit::map_bytes;

const HOUR: Duration = Duration::from_secs(3_600);
const CONNECTIONS: u64 = 400_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = fastrand::Rng::with_seed(2);
    let mut filter = TimeBloom::builder(HOUR).false_positive_rate(0.001).hashes_and_aging(20, 1_024).seed(2).build()?;
    let slack = HOUR.mul_f64(filter.plan().slack());
    let start = Timestamp::from_secs(1_700_000_000);

    // 60,000 addresses, each coming back now and then; the exact log keeps every time of each
    let mut log: HashMap<[u8; 4], Vec<Timestamp>> = HashMap::new();
    let mut now = start;
    for i in 0..CONNECTIONS {
        now = start.saturating_add(Duration::from_nanos(3_600_000_000_000 / CONNECTIONS * i));
        let address = Ipv4Addr::from_bits(0x0a00_0000 + random.u32(..60_000)).octets();
        filter.insert_at(address, now)?;
        log.entry(address).or_default().push(now);
    }

    let minute = |n: u64| start.saturating_add(Duration::from_secs(60 * n));
    let incident = minute(17)..minute(18);
    // An item's bits are spread over 20 slices, so the edges of a question are gradual: see the crate documentation.
    let near = |distance: Duration, times: &[Timestamp]| {
        let around = incident.start.saturating_sub(distance)..incident.end.saturating_add(distance);
        times.iter().any(|time| around.contains(time))
    };
    let (mut present, mut missed, mut close, mut edge, mut wrong, mut absent) = (0, 0, 0, 0, 0, 0);
    for (address, times) in &log {
        let reported = filter.contains_between_at(address, incident.clone(), now);
        if near(Duration::ZERO, times) {
            present += 1;
            missed += u32::from(!reported);
        } else if near(slack, times) {
            close += u32::from(reported);
        } else if near(8 * slack, times) {
            edge += u32::from(reported);
        } else {
            absent += 1;
            wrong += u32::from(reported);
        }
    }
    println!("{CONNECTIONS} connections of {} addresses in an hour; who connected in minute 17?", log.len());
    println!("  {present} really did: {} reported, {missed} missed", present - missed);
    println!(
        "  reported besides: {close} that came within {slack:.1?} of that minute, {edge} within {:.0?}",
        8 * slack
    );
    println!("  reported wrongly: {wrong} of {absent}");
    assert_eq!(missed, 0);
    assert!(f64::from(close + edge) < 0.2 * f64::from(present));
    // The whole row errs at most once in 1,000; what is left of the edges after 8 steps is of the same order.
    assert!(f64::from(wrong) < 0.002 * f64::from(absent));

    // An address from elsewhere, seen once: how long ago?
    let visitor = Ipv4Addr::new(192, 0, 2, 7).octets();
    filter.insert_at(visitor, now)?;
    now = now.saturating_add(Duration::from_secs(1_234));
    let age = filter.age_at(visitor, now).expect("seen within the hour");
    println!("  192.0.2.7 was here 1234 s ago; the filter says {:.0?} to {:.0?}", age.at_least, age.at_most);
    assert!(age.at_least.as_secs() <= 1_234 && 1_234 <= age.at_most.as_secs());

    let last: HashMap<[u8; 4], Timestamp> =
        log.iter().map(|(&address, times)| (address, times[times.len() - 1])).collect();
    let every: usize = log.values().map(|times| times.len() * size_of::<Timestamp>()).sum();
    println!(
        "  memory: filter {} KiB; a hash map takes {} KiB for the last time of each address, {} KiB for all times",
        filter.stats(now).memory_bytes >> 10,
        map_bytes(&last, |_| 0) >> 10,
        (map_bytes(&log, |_| 0) + every) >> 10
    );
    Ok(())
}
