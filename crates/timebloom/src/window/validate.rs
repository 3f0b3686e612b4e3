//! The invariants of a window, checked by tests after every step and by the decoder before a filter is handed out.

use super::Window;
use crate::policy::Policy;
use crate::slices::MAX_SLICE_BITS;

impl Window {
    /// Checks I1 to I6 of ARCHITECTURE.md; the error says which is broken.
    pub(crate) fn validate(&self) -> Result<(), String> {
        self.slices.validate()?;
        let config = &self.config;
        let slices = &self.slices;
        if slices.hashes() != config.plan.hashes() {
            return Err(format!("I2: rows of {} hashes, the plan has {}", slices.hashes(), config.plan.hashes()));
        }
        if slices.is_empty() && self.inserts_until_shift > 0 {
            return Err(format!("I2: no slices, but {} insertions until a shift", self.inserts_until_shift));
        }
        if config.policy == Policy::Paper && slices.len() < config.plan.base_slices() {
            return Err(format!("I2: {} slices, the paper keeps {}", slices.len(), config.plan.base_slices()));
        }
        for position in 0..slices.len() {
            let bits = slices.figures(position).bits;
            let whole = config.policy == Policy::Paper || bits.is_multiple_of(64);
            if !(1..=MAX_SLICE_BITS).contains(&bits) || !whole {
                return Err(format!("I4: slice {position} has {bits} bits"));
            }
        }
        if !slices.is_empty() && slices.generation_items() > 0 {
            let newest = slices.newest();
            if newest > self.clock || self.generation_started > newest || self.oldest_bound > newest {
                return Err(format!(
                    "I5: times out of order: bound {:?}, generation {:?}, newest {newest:?}, clock {:?}",
                    self.oldest_bound, self.generation_started, self.clock
                ));
            }
            let age = newest.nanos_since(self.generation_started);
            if config.policy == Policy::Guarded && age >= config.target_shift_interval() {
                return Err(format!("I5: the generation is {age} ns old, beyond its shift interval"));
            }
        }
        if !(self.rate.is_finite() && self.rate >= 0.0) {
            return Err(format!("I5: the rate is {}", self.rate));
        }
        if let Some(max_bytes) = config.max_bytes {
            let bytes = self.memory_bytes() as u64;
            if bytes > max_bytes {
                return Err(format!("I6: {bytes} bytes, the limit is {max_bytes}"));
            }
        }
        Ok(())
    }
}
