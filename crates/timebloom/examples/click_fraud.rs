//! Click fraud: has this address clicked on this app with this device within a second, a minute, an hour?
//!
//! One filter over the hour answers all three ([`TimeBloom::contains_within_at`]), and hashes the click only once. No
//! repeat is missed in any of them. A shorter window is overstayed by as much as the whole one, `span / l`: 3.5 s here,
//! with 1024 aging slices. So "within a second" is rather "within some seconds"; for much shorter windows than the
//! longest, use a second filter.
//!
//! `cargo run --release -p timebloom --example click_fraud`
//!
//! [`TimeBloom::contains_within_at`]: timebloom::TimeBloom::contains_within_at

use std::collections::HashMap;
use std::time::Duration;

use timebloom::{TimeBloom, Timestamp};
use timebloom_testkit::map_bytes;

const WINDOWS: [(&str, Duration); 3] =
    [("1 s", Duration::from_secs(1)), ("1 min", Duration::from_secs(60)), ("1 h", Duration::from_secs(3_600))];
const CLICKS: u32 = 500_000; // over two hours

/// Joins the parts of a key, each after its length, so that `ab` + `c` is not `a` + `bc`.
fn key(parts: [&str; 3]) -> Vec<u8> {
    let with_length = |part: &str| [(part.len() as u64).to_le_bytes().as_slice(), part.as_bytes()].concat();
    parts.map(with_length).concat()
}

/// Honest clicks come from all over; each of 300 robots clicks with a triple of its own, every tenth click of all.
fn click(random: &mut fastrand::Rng, number: u32) -> Vec<u8> {
    let robot = number.is_multiple_of(10);
    let (ip, app, device) = if robot {
        // thirty of them are busy for two minutes, then the next thirty; after 20 minutes the first begin again
        let shift = number / (CLICKS / 60);
        let robot = shift % 10 * 30 + random.u32(..30);
        (robot, robot % 7, robot % 5)
    } else {
        (random.u32(..1_000_000), random.u32(..50), random.u32(..20))
    };
    key([&format!("10.{}.{}.{}", ip >> 16, ip >> 8 & 255, ip & 255), &format!("app{app}"), &format!("device{device}")])
}

#[derive(Default)]
struct Tally {
    exact: u32,
    missed: u32,
    overstayed: u32,
    wrong: u32,
    others: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    assert_ne!(key(["ab", "c", ""]), key(["a", "bc", ""]));
    let mut random = fastrand::Rng::with_seed(3);
    let hour = WINDOWS[2].1;
    let mut filter = TimeBloom::builder(hour).false_positive_rate(0.001).hashes_and_aging(20, 1_024).seed(3).build()?;
    let slack = hour.mul_f64(filter.plan().slack());
    let mut last: HashMap<Vec<u8>, Timestamp> = HashMap::new();
    let mut tallies: [Tally; 3] = Default::default();
    let mut now = Timestamp::from_secs(1_700_000_000);
    for number in 0..CLICKS {
        now = now.saturating_add(Duration::from_secs(7_200) / CLICKS);
        let click = click(&mut random, number);
        let hash = filter.hash(&click);
        let age = last.get(&click).map(|&last| now.saturating_since(last));
        for ((_, within), tally) in WINDOWS.iter().zip(&mut tallies) {
            let reported = filter.contains_within_hash_at(hash, *within, now);
            match age {
                Some(age) if age <= *within => {
                    tally.exact += 1;
                    tally.missed += u32::from(!reported);
                }
                // one step of certain overstay, and the gradual end
                Some(age) if age <= *within + 8 * slack => tally.overstayed += u32::from(reported),
                _ => {
                    tally.others += 1;
                    tally.wrong += u32::from(reported);
                }
            }
        }
        filter.insert_hash_at(hash, now)?; // every click counts, also a repeated one
        last.insert(click, now);
    }

    println!("{CLICKS} clicks in two hours, one filter over an hour, ages known to {slack:.1?}");
    println!("  within    exact   missed   older by up to {:.0?}   wrong", 8 * slack);
    for ((name, _), Tally { exact, missed, overstayed, wrong, others }) in WINDOWS.iter().zip(&tallies) {
        println!("  {name:6} {exact:>8} {missed:>8} {overstayed:>22}   {wrong} of {others}");
        assert_eq!(*missed, 0);
        assert!(f64::from(*wrong) <= 0.001 * f64::from(*others) + 5.0 * (0.001 * f64::from(*others)).sqrt());
    }
    last.retain(|_, &mut last| now.saturating_since(last) <= hour);
    last.shrink_to_fit();
    let (bytes, exact_bytes) = (filter.stats(now).memory_bytes, map_bytes(&last, Vec::len));
    println!("  memory: filter {} KiB, hash map of the hour's keys {} KiB", bytes >> 10, exact_bytes >> 10);
    assert!(bytes * 10 < exact_bytes);
    Ok(())
}
