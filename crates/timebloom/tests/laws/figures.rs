//! What a filter tells about itself.

use proptest::prelude::*;
use timebloom::{Policy, TimeBloom};
use timebloom_testkit::{Row, rate_from_fills};

use crate::history::{Lockstep, config, limited_setup, setup, steps};

proptest! {
    // digits that come out different are rare
    #![proptest_config(config(3_000))]

    #[test]
    fn items_in_the_window_are_counted_to_a_shift_interval(setup in setup(), steps in steps(60)) {
        let setup = setup.guarded();
        let mut both = Lockstep::new(&setup);
        for step in steps {
            both.take(step);
            for ahead in [0_u32, 500, 1_000, 1_100] {
                let now = both.exact.clock().saturating_add(setup.span * ahead / 1_000);
                let counted = both.filter.stats(now).items_in_window;
                let exact = both.exact.insertions_within(setup.span, now);
                let with_overstay = both.exact.insertions_within(setup.span + both.interval(), now);
                prop_assert!((exact..=with_overstay).contains(&counted), "{counted}, not in {exact}..={with_overstay}");
            }
        }
    }

    #[test]
    fn figures_agree_with_each_other(setup in limited_setup(), limited in any::<bool>(), steps in steps(60)) {
        let mut setup = setup;
        setup.limit = setup.limit.filter(|_| limited);
        let mut both = Lockstep::new(&setup);
        let opened_first = both.filter.slices().count() as u64;
        let mut worst = 0.0_f64;
        for step in steps {
            both.take(step);
            let (filter, now) = (&both.filter, both.now);
            let hashes = filter.plan().hashes();
            let stats = filter.stats(now);
            let slices: Vec<_> = filter.slices().collect();
            prop_assert_eq!(stats.slices, slices.len());
            prop_assert_eq!(stats.bits, slices.iter().map(|slice| slice.bits).sum::<u64>());
            prop_assert_eq!(stats.inserted, both.accepted);
            prop_assert_eq!(stats.rejected, both.rejected);
            prop_assert!(stats.memory_bytes >= size_of::<TimeBloom>() + usize::try_from(stats.bits / 64).unwrap() * 8);
            prop_assert_eq!(stats.bits_per_item().is_some(), stats.items_in_window > 0);

            // every slice that was opened is there, or was retired, dropped early or cleared
            let gone = stats.retired + stats.shortened + both.cleared_slices;
            let opened = slices.first().map_or(gone, |youngest| youngest.number + 1);
            prop_assert_eq!(opened, gone + slices.len() as u64);
            if setup.policy == Policy::Guarded && hashes > 1 {
                prop_assert_eq!(opened, stats.shifts + stats.fresh_starts * (hashes as u64 - 1));
            }
            if setup.policy == Policy::Paper {
                prop_assert_eq!(stats.fresh_starts, 0);
                prop_assert!(opened >= opened_first + stats.shifts);
            }

            for slice in &slices {
                prop_assert!(slice.ones <= slice.bits);
                prop_assert_eq!(slice.newest.is_some(), slice.ones > 0);
                prop_assert!((0.0..=1.0).contains(&slice.fill()));
            }
            // numbers without gaps are asserted here
            let _ = Row::of(filter.slices());

            // small slices are counted bit by bit, so the rate is exact but for the rounding of what is noted
            let clock = both.exact.clock().max(now);
            if slices.iter().all(|slice| slice.bits <= 1 << 10) {
                let exact = rate_from_fills(filter, clock);
                let told = filter.stats(clock).false_positive_rate;
                prop_assert!((exact..=exact * 1.05 + 1e-9).contains(&(told + 1e-12)), "{told} for {exact}");
            }
            let stats = filter.stats(clock);
            prop_assert!(stats.worst_false_positive_rate >= stats.false_positive_rate);
            // the worst that was ever told is not forgotten, whatever has expired or was cleared since
            prop_assert!(stats.worst_false_positive_rate >= worst, "{stats:?} after {worst}");
            worst = stats.worst_false_positive_rate;
        }
    }
}
