//! One shard: a filter behind a lock of its own, and how an item finds it.

use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::hash::ItemHash;
use crate::time_bloom::TimeBloom;
use crate::window::Window;

/// A filter and its lock.
///
/// Aligned to two cache lines, because processors fetch lines in pairs: threads that work on neighbouring shards must
/// not take each other's memory away.
///
/// A plain lock, not one for many readers: to join the readers of a shard writes to its line just as locking it does. With
/// 16 shards a thread, `benches/sharded.rs` sees no difference.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Shard<F> {
    filter: Mutex<F>,
}

impl<F> Shard<F> {
    pub(super) fn new(filter: F) -> Self {
        Shard { filter: Mutex::new(filter) }
    }
}

impl Shard<TimeBloom> {
    /// Bytes of a shard beyond those that the filter in it counts.
    pub(super) const OVERHEAD_BYTES: usize = size_of::<Self>() - size_of::<Window>();

    /// Waits for the filter. It is always sound, whatever happened to threads that had it before.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, TimeBloom> {
        match self.filter.lock() {
            Ok(filter) => filter,
            Err(poisoned) => {
                let filter = poisoned.into_inner();
                self.recover(filter)
            }
        }
    }

    /// The same, unless another thread has it.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, TimeBloom>> {
        match self.filter.try_lock() {
            Ok(filter) => Some(filter),
            Err(TryLockError::Poisoned(poisoned)) => Some(self.recover(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Takes over from a thread that panicked while it held the filter.
    ///
    /// No code of users runs under the lock, and running out of memory aborts; so only a broken invariant of the filter
    /// itself can bring this about. If the panic left the filter whole, it goes on with all its items. If not, it must
    /// start anew: no answer from it could be trusted, and every thread would run into the same panic.
    #[cold]
    fn recover<'a>(&self, mut filter: MutexGuard<'a, TimeBloom>) -> MutexGuard<'a, TimeBloom> {
        if filter.validate().is_err() {
            *filter = TimeBloom::from_window(Window::new(filter.window.config.clone()));
        }
        self.filter.clear_poison();
        filter
    }
}

/// The shard of an item, in `0..shards`.
///
/// Inside a shard, positions come from products of the same hash with other constants. A constant of its own makes the
/// shard a different cut through the hashes than any position is, so the items of one shard still spread evenly in it.
#[inline]
pub(super) fn shard_of(hash: ItemHash, shards: usize) -> usize {
    // an odd constant that is none of the positions' ones: pi, after the point
    const MULTIPLIER: u64 = 0x243f_6a88_85a3_08d3;
    let mixed = hash.as_u64().wrapping_mul(MULTIPLIER);
    // the high word of a product maps a uniform 64-bit value onto 0..shards without a division
    let shard = (u128::from(mixed) * shards as u128) >> 64;
    usize::try_from(shard).expect("below the number of shards")
}
