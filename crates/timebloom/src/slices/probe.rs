//! Reading and setting the bits of an item: the portable way, and the choice of the fast one.

use super::long::{Found, Long};
use super::panel::{MAX_WIDTH, Panel};
use super::query::AT_ONCE;
#[cfg(target_arch = "x86_64")]
use super::way::Way;
use super::{Repeats, Slices};
use crate::hash::ItemHash;

/// A processor begins to read from this many panels before it has what it waits for.
const SEEN_AHEAD: usize = 6;

/// The slices that an operation looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Those that take insertions.
    Open,
}

/// Which of the first 64 slices have the item's bit: bit `i` for the slice at position `i`.
#[inline(never)] // where there is a faster way, this one should not be in it
fn matches_portably(panels: &[Panel], hash: ItemHash) -> u64 {
    panels.iter().map(|panel| deposit(panel.read(hash), panel.ages)).fold(0, |a, b| a | b)
}

/// Which slices of a long row have the item's bit.
fn matches_long_portably(panels: &[Panel], long: &Long, hash: ItemHash) -> Found {
    let mut found = Found::default();
    for (panel, ages) in long.ages(panels) {
        let mut bits = panel.read(hash);
        for (found, ages) in found.iter_mut().zip(ages) {
            *found |= deposit(bits, ages);
            bits = bits.unbounded_shr(ages.count_ones());
        }
    }
    found
}

/// Spreads the lowest bits of `bits` over the places that are set in `places`, in order.
fn deposit(mut bits: u32, mut places: u64) -> u64 {
    let mut spread = 0;
    while places != 0 && bits != 0 {
        let lowest = places & places.wrapping_neg();
        if bits & 1 == 1 {
            spread |= lowest;
        }
        bits >>= 1;
        places ^= lowest;
    }
    spread
}

/// Sets the item's bit in every slice that takes insertions.
#[inline(never)] // see above
fn set_portably(panels: &mut [Panel], hash: ItemHash) {
    // panels stand in order of their youngest slice
    panels.iter_mut().take_while(|panel| panel.open() != 0).for_each(|panel| panel.write(hash));
}

/// Whether this machine has the instructions of [`super::simd`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn is_fast() -> bool {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    // asking std takes longer than this
    const NO: u8 = 1;
    const YES: u8 = 2;
    static FAST: AtomicU8 = AtomicU8::new(0);
    #[cold]
    fn detect(answer: &AtomicU8) -> bool {
        let fast = super::simd::available();
        answer.store(if fast { YES } else { NO }, Relaxed);
        fast
    }
    match FAST.load(Relaxed) {
        YES => true,
        NO => false,
        _ => detect(&FAST),
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_fast() -> bool {
    false
}

/// One bit per slice of a panel, youngest lowest: whether it has the item's bit.
#[inline]
pub(super) fn read(panel: &Panel, hash: ItemHash) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if is_fast() {
        return super::simd::read(panel, hash);
    }
    panel.read(hash)
}

/// Set bits of every `step`-th word, from word `first` on.
pub(super) fn count_ones(words: &[u64], first: usize, step: usize) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_fast() {
        return super::simd::count_ones(words, first, step);
    }
    words.iter().skip(first).step_by(step).map(|word| u64::from(word.count_ones())).sum()
}

/// Set bits of each of so many interleaved lanes.
pub(super) fn count_lanes(words: &[u64], width: usize) -> [u32; MAX_WIDTH] {
    #[cfg(target_arch = "x86_64")]
    if is_fast() {
        return super::simd::count_lanes(words, width);
    }
    count_lanes_portably(words, width)
}

#[inline(always)] // with the instructions of the caller
pub(super) fn count_lanes_portably(words: &[u64], width: usize) -> [u32; MAX_WIDTH] {
    // how many there are is known in each: a processor cannot foresee where loops of a few turns end
    match width {
        1 => count_in::<1>(words),
        2 => count_in::<2>(words),
        3 => count_in::<3>(words),
        4 => count_in::<4>(words),
        6 => count_in::<6>(words),
        _ => count_in::<MAX_WIDTH>(words),
    }
}

#[inline(always)] // likewise
fn count_in<const WIDTH: usize>(words: &[u64]) -> [u32; MAX_WIDTH] {
    let mut ones = [0; MAX_WIDTH];
    for line in words.as_chunks::<WIDTH>().0 {
        for (ones, word) in ones.iter_mut().zip(line) {
            *ones += word.count_ones();
        }
    }
    ones
}

/// Gets the bits of these items in these panels on their way, where there is an instruction for it.
#[inline]
fn prefetch_in(panels: &[Panel], hashes: &[ItemHash]) {
    #[cfg(target_arch = "x86_64")]
    super::simd::prefetch(panels, hashes);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (panels, hashes);
}

impl Slices {
    /// The panels that have some of the first `live` slices, and perhaps others behind them.
    #[inline]
    pub(super) fn panels_of(&self, live: usize) -> &[Panel] {
        if live >= self.len() {
            return &self.panels;
        }
        // panels stand in order of their youngest slice
        let some = self.panels.iter().take_while(|panel| (panel.ages.trailing_zeros() as usize) < live).count();
        &self.panels[..some]
    }

    /// Which of the first `live` slices, up to 64, have the item's bit: bit `i` for the slice at position `i`. Bits of
    /// others mean nothing.
    #[inline]
    pub(super) fn matches(&self, hash: ItemHash, live: usize) -> u64 {
        #[cfg(target_arch = "x86_64")]
        match &self.way {
            Way::Wide(wide) => return super::simd::matches_in_wide(&self.panels, wide, hash),
            Way::Low(wide) => return super::simd::matches_in_low(&self.panels, wide, hash),
            Way::Any | Way::Long(_) => {}
        }
        let panels = self.panels_of(live);
        #[cfg(target_arch = "x86_64")]
        if is_fast() {
            return super::simd::matches(panels, hash);
        }
        matches_portably(panels, hash)
    }

    /// Which slices of a long row have the item's bit.
    pub(super) fn matches_long(&self, long: &Long, hash: ItemHash) -> Found {
        #[cfg(target_arch = "x86_64")]
        if is_fast() {
            return super::simd::matches_long(&self.panels, long, hash);
        }
        matches_long_portably(&self.panels, long, hash)
    }

    /// [`matches`](Self::matches) for several items: one result for each, all 0 before.
    #[inline]
    pub(super) fn matches_each(&self, hashes: &[ItemHash], live: usize, found: &mut [u64; AT_ONCE]) {
        #[cfg(target_arch = "x86_64")]
        match &self.way {
            Way::Wide(wide) if self.is_far() => {
                return super::simd::matches_each_in_far(&self.panels, wide, hashes, found);
            }
            Way::Wide(wide) => return super::simd::matches_each_in_wide(&self.panels, wide, hashes, found),
            Way::Low(wide) if !self.is_far() => {
                return super::simd::matches_each_in_low(&self.panels, wide, hashes, found);
            }
            Way::Low(_) | Way::Any | Way::Long(_) => {}
        }
        let panels = self.panels_of(live);
        #[cfg(target_arch = "x86_64")]
        if is_fast() {
            return super::simd::matches_each(panels, hashes, found);
        }
        for (&hash, found) in hashes.iter().zip(found) {
            *found = matches_portably(panels, hash);
        }
    }

    /// [`prefetch`](Self::prefetch) for one item in the first `live` slices, if these are in so many panels that a processor
    /// does not see as far ahead.
    #[inline]
    pub(super) fn prefetch_many(&self, hash: ItemHash, live: usize) {
        if !self.is_far() || self.panels.len() <= SEEN_AHEAD {
            return;
        }
        let panels = self.panels_of(live);
        if panels.len() > SEEN_AHEAD {
            prefetch_in(panels, &[hash]);
        }
    }

    /// Gets the bits of these items on their way from memory, if the row is too large for the nearer caches.
    #[inline]
    pub(crate) fn prefetch(&self, hashes: &[ItemHash], which: Which) {
        if !self.is_far() {
            return;
        }
        let panels = match which {
            Which::All => &self.panels[..],
            Which::Open => {
                let open = self.panels.iter().take_while(|panel| panel.open() != 0).count();
                &self.panels[..open]
            }
        };
        prefetch_in(panels, hashes);
    }

    /// Sets the item's bit in the first `hashes` slices.
    #[inline]
    pub(super) fn set_bits(&mut self, hash: ItemHash) {
        #[cfg(target_arch = "x86_64")]
        if let Way::Wide(_) = self.way {
            return super::simd::set_in_wide(&mut self.panels, hash);
        }
        self.set_any_bits(hash);
    }

    /// [`set_bits`](Self::set_bits) for several items, while no slice is being cleared.
    #[inline]
    pub(super) fn set_all_bits(&mut self, hashes: &[ItemHash]) {
        debug_assert!(self.clearing.is_none(), "each item may have something to clear");
        #[cfg(target_arch = "x86_64")]
        match self.way {
            Way::Wide(_) => {
                self.prefetch(hashes, Which::Open);
                return super::simd::set_all_in_wide(&mut self.panels, hashes);
            }
            Way::Low(_) if !self.is_far() => return super::simd::set_all_in_low(&mut self.panels, hashes),
            Way::Low(_) | Way::Any | Way::Long(_) => {}
        }
        #[cfg(target_arch = "x86_64")]
        if is_fast() {
            return super::simd::set_all(&mut self.panels, hashes);
        }
        hashes.iter().for_each(|&hash| self.set_any_bits(hash));
    }

    /// [`set_bits`](Self::set_bits) for several items, or for those of them that are new; tells which have a run in the
    /// slices `inside`, one after the other. `None` on a machine without the instructions for it.
    pub(super) fn set_each(&mut self, hashes: &[ItemHash], inside: u64, repeats: Repeats) -> Option<[bool; AT_ONCE]> {
        #[cfg(target_arch = "x86_64")]
        if is_fast() {
            let (panels, length) = (&mut self.panels, self.hashes.into());
            return Some(match repeats {
                Repeats::Refresh => super::simd::check_and_set(panels, hashes, inside, length),
                Repeats::Keep => super::simd::set_if_new(panels, hashes, inside, length),
            });
        }
        let _ = (hashes, inside, repeats);
        None
    }

    /// [`set_bits`](Self::set_bits) for any row. Away from the short way.
    #[cold]
    #[inline]
    fn set_any_bits(&mut self, hash: ItemHash) {
        #[cfg(target_arch = "x86_64")]
        if let Way::Low(_) = self.way {
            return super::simd::set_in_low(&mut self.panels, hash);
        }
        if self.clearing.is_some() {
            self.clear_for(hash);
        }
        #[cfg(target_arch = "x86_64")]
        if is_fast() {
            return super::simd::set(&mut self.panels, hash);
        }
        set_portably(&mut self.panels, hash);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::query::is_run_in;
    use super::super::simd;
    use super::*;
    use crate::slices::{Copying, Tick};
    use crate::timestamp::Timestamp;

    #[test]
    #[cfg_attr(miri, ignore = "it has no vector instructions")]
    fn vector_instructions_do_the_same() {
        assert!(simd::available(), "this machine cannot run the test");
        // wide rows by their panels
        let (mut wide_rows, mut low_rows, mut long_rows) = ([0; 9], [0; 9], 0);
        for seed in 0..80 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut slices = Slices::new(random.usize(1..=64), Tick::ONE);
            // of one size they become wide soon
            let (least, sizes) = match seed % 6 {
                0 => (1, 3),
                1 => (8 + seed / 6, 1),
                2 => (63, 2),
                _ => (64, 1 + seed % 2),
            };
            let mut item = 0_u32;
            for _ in 0..200 {
                slices.shift(&[64 * random.u64(least..least + sizes)], Copying::Any);
                if slices.len() > usize::try_from(80 - seed / 6 % 4 * 10).unwrap() || random.u32(..4) == 0 {
                    slices.pop();
                    slices.narrow(Copying::Any);
                }
                while slices.len() >= slices.hashes() && random.u32(..8) > 0 {
                    item += 1;
                    let hash = ItemHash::new(item.to_le_bytes(), seed);
                    let (mut fast, mut portable) = (slices.clone(), slices.clone());
                    simd::set(&mut fast.panels, hash);
                    let mut twice = slices.clone();
                    simd::set_all(&mut twice.panels, &[hash; 2]);
                    assert!(fast.stored_words().eq(twice.stored_words()), "seed {seed}, item {item}");
                    set_portably(&mut portable.panels, hash);
                    assert!(fast.stored_words().eq(portable.stored_words()), "seed {seed}, item {item}");
                    let mut fast = slices.clone();
                    fast.set_all_bits(&[hash; 2]);
                    assert!(fast.stored_words().eq(portable.stored_words()), "seed {seed}, item {item}");
                    slices.insert(hash, Timestamp::MIN);
                    assert!(fast.stored_words().eq(slices.stored_words()), "seed {seed}, item {item}");
                    let items: [u32; AT_ONCE] = std::array::from_fn(|place| match place {
                        0 => item,
                        1..8 => random.u32(..=item),
                        _ => random.u32(..),
                    });
                    let hashes = items.map(|item| ItemHash::new(item.to_le_bytes(), seed));
                    let live = random.usize(0..=slices.len());
                    finds_the_same(&slices, &hashes, live);
                    checks_the_same(&slices, &hashes[..random.usize(1..=AT_ONCE)], live);
                    // each of them twice, one after the other
                    checks_the_same(&slices, &std::array::from_fn::<_, AT_ONCE, _>(|place| hashes[place / 2]), live);
                    match &slices.way {
                        Way::Wide(_) => wide_rows[slices.panels.len()] += 1,
                        Way::Low(_) => low_rows[slices.panels.len()] += 1,
                        Way::Long(_) => long_rows += 1,
                        Way::Any => {}
                    }
                }
            }
        }
        for rows in [wide_rows, low_rows] {
            assert!(rows[2..].iter().all(|&rows| rows > 10), "{wide_rows:?}, {low_rows:?}");
        }
        assert!(long_rows > 1_000, "{long_rows}");
    }

    /// Looks for items and inserts them, together and one by one.
    fn checks_the_same(slices: &Slices, hashes: &[ItemHash], live: usize) {
        if !(slices.hashes()..=64).contains(&live) {
            return;
        }
        let inside = u64::MAX >> (64 - live);
        for repeats in [Repeats::Refresh, Repeats::Keep] {
            let (mut together, mut one_by_one) = (slices.clone(), slices.clone());
            let seen = together.set_each(hashes, inside, repeats).expect("there is a way to do that");
            for (&hash, seen) in hashes.iter().zip(seen) {
                let found = matches_portably(&one_by_one.panels, hash);
                assert_eq!(seen, is_run_in(found & inside, slices.hashes.into()), "{repeats:?}");
                if !seen || repeats == Repeats::Refresh {
                    set_portably(&mut one_by_one.panels, hash);
                }
            }
            assert!(together.stored_words().eq(one_by_one.stored_words()), "{repeats:?}");
        }
    }

    /// Asks for items in all ways that there are, and for the first `live` slices.
    fn finds_the_same(slices: &Slices, hashes: &[ItemHash; AT_ONCE], live: usize) {
        let panels = &slices.panels[..];
        let expected = hashes.map(|hash| matches_portably(panels, hash));
        let mut found = [0; AT_ONCE];
        simd::matches_each(panels, hashes, &mut found);
        assert_eq!(found, expected);
        for (&hash, expected) in hashes.iter().zip(expected) {
            assert_eq!(simd::matches(panels, hash), expected);
            assert!(panels.iter().all(|panel| simd::read(panel, hash) == panel.read(hash)));
        }
        simd::prefetch(panels, hashes);
        match &slices.way {
            Way::Any => {}
            Way::Wide(_) | Way::Low(_) => {
                assert_eq!(hashes.map(|hash| slices.matches(hash, slices.len())), expected);
                let mut found = [0; AT_ONCE];
                slices.matches_each(hashes, slices.len(), &mut found);
                assert_eq!(found, expected);
                if let Way::Wide(wide) = &slices.way {
                    let mut found = [0; AT_ONCE];
                    simd::matches_each_in_far(panels, wide, hashes, &mut found);
                    assert_eq!(found, expected);
                }
                let length = slices.hashes.into();
                let have_run = expected.map(|found| is_run_in(found, length));
                assert_eq!(hashes.map(|hash| slices.has_run_since(hash, Timestamp::MIN)), have_run);
                for live in [slices.len(), live] {
                    let inside = (0..live).fold(0, |inside, slice| inside | 1 << slice);
                    let have_run = expected.map(|found| is_run_in(found & inside, length));
                    assert_eq!(hashes.map(|hash| slices.has_run(hash, 0..live)), have_run);
                    assert_eq!(slices.has_runs(hashes, live), have_run);
                }
            }
            Way::Long(long) => {
                for &hash in hashes {
                    assert_eq!(simd::matches_long(panels, long, hash), matches_long_portably(panels, long, hash));
                }
            }
        }
    }
}
