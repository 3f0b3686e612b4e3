//! How both policies do on streams whose rate changes: prints the tables of docs/scenarios.md.
//!
//! `cargo run --release -p timebloom --example scenarios`

use std::time::Duration;

use timebloom::{BuildError, Policy, TimeBloom, TimeBloomBuilder};
use timebloom_testkit::{Measured, Scenario, measure};

const SPAN: Duration = Duration::from_secs(300);
const PER_SPAN: u32 = 3_000;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (rate, pair) in [(0.01, Some((10, 25))), (0.01, None), (0.001, None)] {
        let mut builder = TimeBloom::builder(SPAN).false_positive_rate(rate).expected_items(PER_SPAN.into());
        if let Some((hashes, aging_slices)) = pair {
            builder = builder.hashes_and_aging(hashes, aging_slices);
        }
        let pair_of = |policy| -> Result<String, BuildError> {
            let filter = builder.clone().policy(policy).build()?;
            Ok(format!("({},{})", filter.plan().hashes(), filter.plan().aging_slices()))
        };
        let (guarded, paper) = (pair_of(Policy::Guarded)?, pair_of(Policy::Paper)?);
        println!("| eps {rate} | {guarded} | | | | {paper} | | | |");
        println!("|---|---|---|---|---|---|---|---|---|");
        println!("| | slices | rate/eps | bits | overstay | slices | rate/eps | bits | overstay |");
        for scenario in Scenario::ALL {
            print!("| {} |", scenario.name());
            for policy in [Policy::Guarded, Policy::Paper] {
                let worst = worst_of(&builder.clone().policy(policy), scenario)?;
                let Measured { peak_slices, peak_rate, bits_per_item, overstay, .. } = worst;
                assert_eq!(worst.false_negatives, 0, "no policy forgets early");
                assert!(policy == Policy::Paper || peak_rate <= rate, "the guarded policy keeps its rate");
                print!(" {peak_slices} | {:.2} | {bits_per_item:.1} | {:.1}% |", peak_rate / rate, overstay * 100.0);
            }
            println!();
        }
        println!();
    }
    Ok(())
}

/// The worst of every figure over several streams.
fn worst_of(builder: &TimeBloomBuilder, scenario: Scenario) -> Result<Measured, Box<dyn std::error::Error>> {
    let mut worst = Measured::default();
    for seed in SEEDS {
        let mut filter = builder.clone().seed(seed).build()?;
        let arrivals = scenario.arrivals(PER_SPAN.into(), SPAN, filter.plan().aging_slices(), seed);
        let seen = measure(&mut filter, arrivals, 31, 0)?;
        worst.peak_slices = worst.peak_slices.max(seen.peak_slices);
        worst.peak_rate = worst.peak_rate.max(seen.peak_rate);
        worst.bits_per_item = worst.bits_per_item.max(seen.bits_per_item);
        worst.overstay = worst.overstay.max(seen.overstay);
        worst.false_negatives += seen.false_negatives;
    }
    Ok(worst)
}
