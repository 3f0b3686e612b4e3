//! The invariants of a window, checked by tests after every step and by the decoder before a filter is handed out.

use super::guarded::MIN_HASHES;
use super::{Counters, Window};
use crate::num::MAX_COUNT;
use crate::policy::Policy;
use crate::slices::Slices;

impl Window {
    /// Checks I1 to I7 of ARCHITECTURE.md; the error says which is broken.
    pub(crate) fn validate(&self) -> Result<(), String> {
        self.slices.validate()?;
        let config = &self.config;
        let slices = &self.slices;
        if slices.hashes() != config.plan.hashes() {
            return Err(format!("I2: rows of {} hashes, the plan has {}", slices.hashes(), config.plan.hashes()));
        }
        if config.policy == Policy::Guarded && slices.hashes() < MIN_HASHES {
            return Err(format!("I2: {} hashes, the guarded policy needs {MIN_HASHES}", slices.hashes()));
        }
        if slices.is_empty() && self.generation_size > 0 {
            return Err(format!("I2: no slices, but {} insertions until a shift", self.generation_size));
        }
        // only a memory limit takes more from it than time does
        let kept = if config.max_bytes.is_none() { config.plan.base_slices() } else { config.plan.hashes() };
        if config.policy == Policy::Paper && slices.len() < kept {
            return Err(format!("I2: {} slices, the paper keeps {kept}", slices.len()));
        }
        if slices.largest() > config.max_slice_bits() {
            return Err(format!("I4: a slice has {} bits, the most is {}", slices.largest(), config.max_slice_bits()));
        }
        if slices.newest() > self.clock {
            return Err(format!("I5: the last insertion, at {:?}, is after {:?}", slices.newest(), self.clock));
        }
        // what is left of the generation decides whether the next insertion finds its slices, and its counters room
        let planned = self.generation_size.max(slices.generation_items());
        let most = if slices.is_empty() { 0 } else { Slices::MAX_ITEMS / slices.hashes() as u64 };
        if planned > most || (planned == 0 && !slices.is_empty()) {
            return Err(format!("I5: a generation of {planned} items in {} slices", slices.len()));
        }
        if !slices.is_empty() && slices.generation_items() > 0 {
            let newest = slices.newest();
            if self.generation_started > newest || self.oldest_bound > newest {
                return Err(format!(
                    "I5: times out of order: bound {:?}, generation {:?}, newest {newest:?}",
                    self.oldest_bound, self.generation_started
                ));
            }
            let end = config.end_of_generation(self.generation_started);
            if newest > end {
                return Err(format!(
                    "I5: the last insertion, at {newest:?}, is after the end of its generation, {end:?}"
                ));
            }
        }
        if ![self.rate, self.steady_rate].iter().all(|rate| rate.is_finite() && *rate >= 0.0) {
            return Err(format!("I5: the rate is {}", self.rate));
        }
        self.counters.validate()?;
        if self.ready_until > config.end_of_generation(self.generation_started) {
            return Err(format!("I5: insertions up to {:?} would enter a generation that is over", self.ready_until));
        }
        if let Some(max_bytes) = config.max_bytes() {
            let bytes = self.memory_bytes() as u64;
            if bytes > max_bytes {
                return Err(format!("I6: {bytes} bytes, the limit is {max_bytes}"));
            }
        }
        Ok(())
    }
}

impl Counters {
    fn validate(&self) -> Result<(), String> {
        let Counters { inserted, shifts, retired, fresh_starts, shortened, rejected, worst_rate } = *self;
        for count in [inserted, shifts, retired, fresh_starts, shortened, rejected] {
            if count > MAX_COUNT {
                return Err(format!("I5: a counter is at {count}"));
            }
        }
        validate_rate(worst_rate)
    }
}

/// A measured false positive rate is a probability, give or take rounding.
pub(crate) const MAX_MEASURED_RATE: f64 = 1.0 + 1e-9;

pub(crate) fn validate_rate(rate: f64) -> Result<(), String> {
    if (0.0..=MAX_MEASURED_RATE).contains(&rate) { Ok(()) } else { Err(format!("I5: a false positive rate of {rate}")) }
}
