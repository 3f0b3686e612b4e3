//! Short stamps that tell how old a fingerprint is, for filters whose papers can delete but do not expire.
//!
//! A window is cut into [`LIVE`] epochs, and a stamp is the number of an epoch, modulo 64. What was stamped up to `LIVE`
//! epochs ago is live, so a key stays for its window and at most one epoch more. An older stamp has to be erased before its
//! number comes round: whoever uses this looks at an `1 / SWEEPS` of all stamps at the end of each epoch.

use super::Window;

/// The bits of a stamp.
pub(super) const BITS: u32 = 6;
/// Epochs of a window.
pub(super) const LIVE: u64 = 31;
/// Ends of epochs in which all stamps are looked at.
pub(super) const SWEEPS: usize = 31;
/// Stamps there are.
const VALUES: u64 = 1 << BITS;

/// The clock of the stamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    /// An epoch, by the filter's clock. At least 1.
    length: u64,
    /// The epoch that the filter is at; `None` before the first insertion.
    epoch: Option<u64>,
}

impl Stamps {
    pub(super) fn new(window: Window) -> Self {
        Stamps { length: window.reach.div_ceil(LIVE).max(1), epoch: None }
    }

    /// The most items that are live at once when a window has at most `items`.
    pub(super) fn most_live(items: u64) -> u64 {
        items + items.div_ceil(LIVE)
    }

    /// How many epochs end before `now`, at most 64: as many suffice to forget everything. Calls [`step`](Self::step) for
    /// each of them are due.
    pub(super) fn due(&mut self, now: u64) -> u64 {
        let epoch = now / self.length;
        let passed = epoch - *self.epoch.get_or_insert(epoch);
        if passed > VALUES {
            self.epoch = Some(epoch - VALUES);
        }
        passed.min(VALUES)
    }

    /// Goes on to the next epoch, and returns its number.
    pub(super) fn step(&mut self) -> u64 {
        let next = self.epoch.map_or(0, |epoch| epoch + 1);
        self.epoch = Some(next);
        next
    }

    /// The stamp of what is inserted now.
    #[inline]
    pub(super) fn current(&self) -> u64 {
        self.epoch.unwrap_or(0) % VALUES
    }

    /// Whether what has this stamp is live for the filter.
    #[inline]
    pub(super) fn is_live(&self, stamp: u64) -> bool {
        (self.current() + VALUES - stamp) % VALUES <= LIVE
    }

    /// Whether what has this stamp is live at `now`.
    #[inline]
    pub(super) fn is_live_at(&self, stamp: u64, now: u64) -> bool {
        let Some(epoch) = self.epoch else { return false };
        let age = (self.current() + VALUES - stamp) % VALUES;
        age <= LIVE && age + (now / self.length - epoch) <= LIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_live_for_the_window_and_an_epoch() {
        for window in [Window::count(1_000), Window::count(31), Window::time(7, 3_100), Window::time(7, 3_101)] {
            for start in 0..200 {
                let mut stamps = Stamps::new(window);
                assert_eq!(stamps.due(start), 0);
                let stamp = stamps.current();
                let (kept, gone) = (start + window.reach, start + window.reach + 2 * stamps.length);
                assert!(stamps.is_live_at(stamp, kept) && !stamps.is_live_at(stamp, gone));
                for _ in 0..stamps.due(kept) {
                    stamps.step();
                }
                assert!(stamps.is_live(stamp) && stamps.is_live_at(stamp, kept));
                for _ in 0..stamps.due(gone) {
                    stamps.step();
                }
                assert!(!stamps.is_live(stamp) && !stamps.is_live_at(stamp, gone));
            }
        }
    }

    #[test]
    fn a_long_silence_is_as_many_steps_as_there_are_stamps() {
        let mut stamps = Stamps::new(Window::time(1, 31));
        assert_eq!(stamps.due(5), 0);
        assert_eq!(stamps.due(1_000_000), 64);
        for _ in 0..64 {
            stamps.step();
        }
        assert_eq!(stamps.due(1_000_000), 0);
    }
}
