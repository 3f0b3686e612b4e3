//! How both policies do on streams whose rate changes: the table of docs/scenarios.md.
//!
//! `cargo run --release -p timebloom --example scenarios [-- ITEMS_PER_SPAN]`

use std::time::Duration;

use timebloom::{Policy, TimeBloom};
use timebloom_testkit::{Scenario, measure};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let per_span: f64 = std::env::args().nth(1).map_or(Ok(3_000.0), |arg| arg.parse())?;
    let span = Duration::from_secs(60);
    for (rate, pair) in [(0.01, Some((10, 25))), (0.01, None), (0.001, None)] {
        let mut builder = TimeBloom::builder(span).false_positive_rate(rate).seed(1);
        if let Some((hashes, aging_slices)) = pair {
            builder = builder.hashes_and_aging(hashes, aging_slices);
        }
        let plan = *builder.build()?.plan();
        println!("eps {rate}, k = {}, l = {}, {per_span} items a span", plan.hashes(), plan.aging_slices());
        println!("{:16} {:>30}   {:>30}", "", "guarded", "paper");
        println!(
            "{:16} {1:>6} {2:>8} {3:>6} {4:>7}   {1:>6} {2:>8} {3:>6} {4:>7}",
            "", "slices", "rate/eps", "bits", "stale"
        );
        for scenario in Scenario::ALL {
            print!("{:16}", scenario.name());
            for policy in [Policy::Guarded, Policy::Paper] {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
                let expected = per_span as u64;
                let mut filter = builder.clone().policy(policy).expected_items(expected).build()?;
                let arrivals = scenario.arrivals(per_span, span, plan.aging_slices(), 1);
                let seen = measure(&mut filter, arrivals, 5, 0)?;
                print!(
                    " {:>6} {:>8.3} {:>6.1} {:>6.1}%  ",
                    seen.peak_slices,
                    seen.peak_rate / rate,
                    seen.bits_per_item,
                    seen.overstay * 100.0
                );
                assert_eq!(seen.false_negatives, 0);
            }
            println!();
        }
        println!();
    }
    Ok(())
}
