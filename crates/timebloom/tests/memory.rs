//! How much memory streams take: all bytes after five windows, on average over the items that arrive, for each item of the
//! window.
//!
//! These are the figures of README.md and docs/speed.md. They follow from the stream and the seed alone, not from the
//! machine.

use std::collections::VecDeque;
use std::time::Duration;

use timebloom::{TimeBloom, Timestamp};
use timebloom_testkit::{Arrivals, Scenario};

const HOUR: Duration = Duration::from_secs(3_600);

/// Bits an item of a filter that is told nothing about its stream.
fn bits_per_item(scenario: Scenario, per_span: f64, rate: f64, seed: u64) -> f64 {
    let mut filter = TimeBloom::builder(HOUR).false_positive_rate(rate).seed(seed).build().expect("a legal filter");
    let settled = Arrivals::START.saturating_add(5 * HOUR);
    let mut window: VecDeque<Timestamp> = VecDeque::new();
    let (mut bytes, mut items) = (0.0, 0.0);
    for (item, now) in scenario.arrivals(per_span, HOUR, filter.plan().aging_slices(), seed).enumerate() {
        filter.insert_at(item.to_le_bytes(), now).expect("no memory limit");
        window.push_back(now);
        while window.front().is_some_and(|&then| then <= now.saturating_sub(HOUR)) {
            window.pop_front();
        }
        if now > settled && item % 97 == 0 {
            bytes += filter.memory_bytes() as f64;
            items += window.len() as f64;
        }
    }
    assert!(items > 0.0, "the stream is longer than five windows");
    8.0 * bytes / items
}

/// The same on average over several seeds.
fn mean_bits(scenario: Scenario, per_span: f64, rate: f64, seeds: u64) -> f64 {
    (1..=seeds).map(|seed| bits_per_item(scenario, per_span, rate, seed)).sum::<f64>() / seeds as f64
}

#[test]
fn a_constant_rate_takes_21_bits_an_item() {
    for (per_span, most) in [(3_000.0, 24.5), (100_000.0, 21.0), (1_000_000.0, 21.0)] {
        let bits = bits_per_item(Scenario::Steady, per_span, 0.01, 1);
        assert!(bits <= most, "{per_span} items: {bits} bits");
    }
}

#[test]
fn a_constant_rate_takes_29_bits_an_item_where_one_in_a_thousand_errs() {
    let bits = bits_per_item(Scenario::Steady, 100_000.0, 0.001, 1);
    assert!(bits <= 29.0, "{bits} bits");
}

#[test]
fn random_arrivals_take_21_and_a_half_bits_an_item() {
    let bits = mean_bits(Scenario::Poisson, 100_000.0, 0.01, 3);
    assert!(bits <= 21.5, "{bits} bits");
}

/// 22.7 if a rise is seen so late that fresh starts have to make up for it.
#[test]
fn days_of_fourfold_swings_take_22_bits_an_item() {
    let bits = mean_bits(Scenario::Day { factor: 4.0 }, 100_000.0, 0.01, 6);
    assert!(bits <= 22.3, "{bits} bits");
}

/// Of a bulk load nobody knows how much is still to come: slices for it have room for up to fourteen times what was seen,
/// and for five times from a thousand items on.
#[test]
fn items_that_come_at_once_take_a_few_times_what_they_need() {
    for seed in 0..20 {
        let mut filter = TimeBloom::builder(HOUR).seed(seed).build().expect("a legal filter");
        for item in 1..=300_000_u64 {
            filter.insert_at((seed << 32 | item).to_le_bytes(), Arrivals::START).expect("no memory limit");
            let most = match item {
                1..=10 => 900,
                11..=100 => 1_300,
                101..=1_000 => 4_000,
                _ => item * 100 / 8,
            };
            let bytes = filter.memory_bytes() as u64;
            assert!(bytes <= most, "seed {seed}, {item} items: {bytes} bytes");
        }
    }
}
