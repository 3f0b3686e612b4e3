//! What a row knows of one slice besides its bits, in twelve bytes: small filters consist of little else.
//!
//! Times are kept as ages in *ticks*, whole numbers of nanoseconds small enough to be nothing beside the window and large
//! enough to fit 32 bits. They are rounded towards younger, so that nothing is dropped before its time.

use crate::timestamp::Timestamp;

/// One slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Ticks between the last insertion into it and the last shift; `u32::MAX` for anything older.
    pub(super) age: u32,
    /// While it receives: the items that it got before the open generation. Afterwards: the items of the generation that
    /// ended with it, for which it is the oldest slice.
    pub(super) count: u32,
    /// The share of set bits once it has stopped receiving, in units of 1/65,535, rounded up.
    pub(super) fill: u16,
    /// The panel that has its bits, by id.
    pub(super) panel: u16,
}

const _: () = assert!(size_of::<Slot>() <= Slot::BYTES);

impl Slot {
    /// Bytes that a slice takes besides its bits. A constant: see [`crate::window::Window::OWN_BYTES`].
    pub(super) const BYTES: usize = 12;

    /// A slice that has just been opened.
    pub(super) fn new(panel: u16) -> Self {
        Slot { age: 0, count: 0, fill: 0, panel }
    }

    pub(super) fn fill(&self) -> f64 {
        f64::from(self.fill) * (1.0 / FILL_UNITS)
    }

    /// Notes the share of set bits, in `[0, 1]`.
    pub(super) fn set_fill(&mut self, fill: f64) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=65,535
        let units = libm::ceil(fill.clamp(0.0, 1.0) * FILL_UNITS) as u16;
        self.fill = units;
    }
}

const FILL_UNITS: f64 = u16::MAX as f64;

/// The unit of ages: a power of two of nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    /// In `0..=36`.
    shift: u8,
}

impl Tick {
    /// One nanosecond, or one insertion of a count window: nothing is rounded.
    pub(crate) const ONE: Tick = Tick { shift: 0 };

    /// Ticks in a window are at least half of this many and at most all of them.
    const PER_SPAN_BITS: u32 = 28;

    /// The tick for windows of so many nanoseconds.
    pub(crate) fn for_span(span: u64) -> Self {
        let bits = u64::BITS - span.leading_zeros();
        #[allow(clippy::cast_possible_truncation)] // at most 64
        Tick { shift: bits.saturating_sub(Self::PER_SPAN_BITS) as u8 }
    }

    /// How much later than it was a time may look, in nanoseconds.
    pub(super) fn rounding(self) -> u64 {
        (1 << self.shift) - 1
    }

    /// The first tick that is not before `time`.
    pub(super) fn at_or_after(self, time: Timestamp) -> u64 {
        (time.as_nanos() >> self.shift) + u64::from(time.as_nanos() & self.rounding() > 0)
    }

    /// The time of the last tick that is not after `time`. At the end of time that is the end itself.
    pub(crate) fn last_by(self, time: Timestamp) -> Timestamp {
        if time == Timestamp::MAX { time } else { Timestamp::from_nanos(time.as_nanos() & !self.rounding()) }
    }

    /// The time of a tick.
    pub(super) fn time(self, tick: u64) -> Timestamp {
        // a tick that is not before the latest time there is may be after it
        Timestamp::from_nanos(if tick > u64::MAX >> self.shift { u64::MAX } else { tick << self.shift })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_never_early_and_little_late() {
        for span in [1_000, 60_000_000_000, 1 << 40, (1 << 40) - 1, u64::MAX - 1] {
            let tick = Tick::for_span(span);
            assert!(tick.rounding() <= span / (1 << 26), "{span}");
            // a window and more fits the age of a slot
            assert!(tick.at_or_after(Timestamp::from_nanos(span)) < 1 << 29, "{span}");
            for nanos in [0, 1, span / 3, span, u64::MAX] {
                let time = Timestamp::from_nanos(nanos);
                let rounded = tick.time(tick.at_or_after(time));
                assert!(rounded >= time && rounded.nanos_since(time) <= tick.rounding(), "{nanos} of {span}");
                let last = tick.last_by(time);
                assert!(last <= time && time.nanos_since(last) <= tick.rounding(), "{nanos} of {span}");
                assert_eq!(tick.time(tick.at_or_after(last)), last, "{nanos} of {span}");
            }
        }
    }

    #[test]
    fn fills_are_never_understated() {
        let mut slot = Slot::new(0);
        for fill in [0.0, 1e-9, 0.25, 0.4321, 0.999_999, 1.0] {
            slot.set_fill(fill);
            assert!(slot.fill() >= fill && slot.fill() - fill < 2e-5, "{fill}");
        }
    }
}
