//! A row of slices that keeps sets of places instead of bits: what the panels must agree with, step by step.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::stored::MAX_LINES;
use super::{Copying, Lanes, Panel, Slices, Tick};
use crate::hash::{ItemHash, splitmix64};
use crate::timestamp::Timestamp;

struct PlainSlice {
    panel: u16,
    lines: u64,
    /// Which byte of an item's fields is its own, for as long as it lives.
    field: u32,
    places: HashSet<(u64, u64)>,
    items: Vec<ItemHash>,
}

impl PlainSlice {
    /// FORMAT.md: the word, and the bit in it.
    fn place(&self, hash: ItemHash) -> (u64, u64) {
        let own = splitmix64(self.panel.into()) | 1 | 1 << 63;
        let low = hash.as_u64().wrapping_mul(own);
        let line = (u128::from(low) * u128::from(self.lines)) >> 64;
        let shared = 0x9e37_79b9_7f4a_7c15;
        let multiplier = if self.lines < 64 { own } else { shared };
        let high = u64::try_from((u128::from(hash.as_u64()) * u128::from(multiplier)) >> 64).unwrap();
        let low = hash.as_u64().wrapping_mul(multiplier);
        let fields = high ^ low.rotate_left(32);
        (u64::try_from(line).unwrap(), 63 - (fields >> (8 * self.field) & 63))
    }
}

/// A row of panels, and the plain row beside it.
struct Pair {
    slices: Slices,
    plain: VecDeque<PlainSlice>,
    /// The field of the last slice that each panel got.
    fields: HashMap<u16, u32>,
    now: u64,
}

impl Pair {
    fn new(hashes: usize) -> Self {
        Pair { slices: Slices::new(hashes, Tick::ONE), plain: VecDeque::new(), fields: HashMap::new(), now: 0 }
    }

    fn push(&mut self, sizes: &[u64]) {
        let foreseen = self.slices.heap_bytes_with(sizes);
        let mut one_by_one = self.slices.clone();
        sizes.iter().rev().for_each(|&bits| one_by_one.shift(&[bits], Copying::Any));
        self.slices.shift(sizes, Copying::Any);
        assert_eq!(self.slices.heap_bytes_with(&[]), foreseen, "memory is foreseen");
        assert!(self.slices.stored_panels().eq(one_by_one.stored_panels()), "the same, in fewer steps");
        for (position, &bits) in sizes.iter().enumerate().rev() {
            let panel = self.slices.slot(position).panel;
            // a slice has the field before that of the last slice in the panel; a panel starts with the one before that
            // of the last slice of all
            let is_new = self.plain.iter().all(|slice| slice.panel != panel);
            let last = if is_new { self.plain.front().map(|slice| slice.field) } else { Some(self.fields[&panel]) };
            let field = (last.unwrap_or(0) + 7) % 8;
            self.fields.insert(panel, field);
            let (places, items) = (HashSet::new(), Vec::new());
            self.plain.push_front(PlainSlice { panel, lines: bits / 64, field, places, items });
        }
    }

    fn pop(&mut self) {
        assert_eq!(self.slices.pop().is_some(), self.plain.pop_back().is_some());
    }

    fn insert(&mut self, hash: ItemHash) {
        self.now += 1;
        self.slices.insert(hash, Timestamp::from_nanos(self.now));
        for slice in self.plain.range_mut(..self.slices.hashes()) {
            slice.places.insert(slice.place(hash));
            slice.items.push(hash);
        }
    }

    fn has_bit(&self, hash: ItemHash, position: usize) -> bool {
        let slice = &self.plain[position];
        slice.places.contains(&slice.place(hash))
    }

    fn has_run(&self, hash: ItemHash, range: Range<usize>) -> bool {
        let hashes = self.slices.hashes();
        (range.start..(range.end + 1).saturating_sub(hashes))
            .any(|start| (start..start + hashes).all(|position| self.has_bit(hash, position)))
    }

    /// What can be checked after every step.
    fn check_row(&self) {
        self.slices.validate_panels().unwrap();
        let mut narrowed = self.slices.clone();
        narrowed.narrow(Copying::Any);
        let bytes = narrowed.heap_bytes_with(&[]);
        let most = Slices::heap_bytes_of(narrowed.len(), narrowed.largest() / 64, Lanes::OfAnySizes);
        assert!(bytes <= self.slices.heap_bytes_with(&[]) && bytes as u64 <= most, "{bytes}, at most {most}");
        if self.slices.is_empty() || self.slices.len() >= self.slices.hashes() {
            narrowed.validate().unwrap();
        }
        assert_eq!(self.slices.len(), self.plain.len());
        for (position, slice) in self.plain.iter().enumerate() {
            assert_eq!(self.slices.bits_of(position), 64 * slice.lines);
            for row in [&self.slices, &narrowed] {
                assert_eq!(row.ones(position), slice.places.len() as u64, "slice {position}");
                // none of its last items is lost
                let lost = slice.items.iter().rev().take(4).find(|&&hash| !has_bit(row, hash, position));
                assert_eq!(lost, None, "slice {position}");
            }
        }
    }

    /// Whether any question about the item gets the answer that it should.
    fn check_item(&self, hash: ItemHash, random: &mut fastrand::Rng) {
        let length = self.slices.len();
        for position in 0..length {
            assert_eq!(has_bit(&self.slices, hash, position), self.has_bit(hash, position), "slice {position}");
        }
        let first = (0..length.min(64)).filter(|&position| self.has_bit(hash, position));
        let expected = first.fold(0_u64, |mask, position| mask | 1 << position);
        assert_eq!(self.slices.matches(hash, self.slices.len()), expected);
        let start = random.usize(..=length);
        for range in [0..length, start..random.usize(start..=length), 0..length.min(64), 0..length.min(65)] {
            assert_eq!(self.slices.has_run(hash, range.clone()), self.has_run(hash, range.clone()), "{range:?}");
        }
        assert_eq!(self.slices.has_run_since(hash, Timestamp::MIN), self.has_run(hash, 0..length));
        let hashes = self.slices.hashes();
        let ends_run = |&end: &usize| self.has_run(hash, end - hashes..end);
        let youngest = (hashes..=length).find(ends_run).map(|first| {
            let last = (first..=length).take_while(ends_run).last().expect("the first does");
            first - 1..=last - 1
        });
        assert_eq!(self.slices.youngest_run(hash, length), youngest);
    }
}

fn has_bit(slices: &Slices, hash: ItemHash, position: usize) -> bool {
    let (panel, index) = slices.place(position);
    panel.read(hash) >> index & 1 == 1
}

fn hash(item: u32) -> ItemHash {
    ItemHash::new(item.to_le_bytes(), 1)
}

/// Random steps on a row that is kept at about `target` slices.
fn compare(seed: u64, hashes: usize, target: usize, sizes: &[u64], steps: u32) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut pair = Pair::new(hashes);
    let mut items = 0;
    if seed.is_multiple_of(2) {
        pair.push(&vec![sizes[0]; target]);
    }
    for step in 0..steps {
        match random.u32(..16) {
            0..3 => {
                let opened = if pair.slices.len() < target { random.usize(1..9) } else { 1 };
                let mut new = vec![*random.choice(sizes).unwrap(); opened];
                for bits in &mut new {
                    *bits = if random.u32(..4) == 0 { *random.choice(sizes).unwrap() } else { *bits };
                }
                pair.push(&new);
            }
            3 => {
                let dropped = if pair.slices.len() > target { random.usize(1..9) } else { 1 };
                (0..dropped).for_each(|_| pair.pop());
            }
            4 => pair.slices.narrow(Copying::Any),
            6 if random.u32(..64) == 0 => {
                pair.slices.clear();
                pair.plain.clear();
            }
            _ if pair.slices.len() >= hashes => {
                // repeats too
                items += u32::from(random.u32(..8) > 0);
                pair.insert(hash(items));
            }
            _ => pair.push(&[*random.choice(sizes).unwrap()]),
        }
        if pair.slices.len() < hashes {
            // a row that is too short takes no insertions: nothing of the open generation is in it
            pair.push(&[sizes[0]]);
        }
        if !(step + 1).is_multiple_of(CHECK_EVERY) {
            continue;
        }
        pair.check_row();
        pair.check_item(hash(random.u32(..=items)), &mut random);
        pair.check_item(hash(random.u32(..)), &mut random);
    }
}

// Miri takes a thousand times as long
const STEPS: u32 = if cfg!(miri) { 30 } else { 1_500 };
const CHECK_EVERY: u32 = if cfg!(miri) { 15 } else { 1 };

#[test]
fn rows_of_one_size_agree_with_sets() {
    for seed in 0..8 {
        compare(seed, 3, 20, &[64], STEPS);
        if cfg!(miri) {
            break;
        }
        compare(seed, 1, 10, &[128], STEPS);
        compare(seed, 9, 41, &[640], STEPS);
        compare(seed, 4, 24, &[4_096], STEPS);
    }
}

#[test]
fn rows_of_several_sizes_agree_with_sets() {
    for seed in 0..8 {
        compare(seed, 2, 12, &[64, 128], STEPS);
        if cfg!(miri) {
            break;
        }
        compare(seed, 5, 30, &[64, 192, 512, 1_024], STEPS);
        compare(seed, 12, 60, &[320, 384, 448], STEPS);
        compare(seed, 9, 40, &[4_032, 4_096, 4_160], STEPS);
    }
}

#[test]
fn rows_of_more_than_64_slices_agree_with_sets() {
    for seed in 0..4 {
        compare(seed, 3, 70, &[64, 128], STEPS);
        if cfg!(miri) {
            break;
        }
        compare(seed, 3, 90, &[64, 128, 192], STEPS);
        compare(seed, 64, 120, &[128, 256], STEPS);
        compare(seed, 9, if seed.is_multiple_of(2) { 190 } else { 250 }, &[64, 128], STEPS / 3);
    }
}

#[test]
fn panels_are_no_wider_than_their_slices_need() {
    let mut slices = Slices::new(2, Tick::ONE);
    for position in 0..40 {
        slices.shift(&[64 * (1 + position / 24)], Copying::Any);
    }
    while slices.pop().is_some() {
        slices.narrow(Copying::Any);
        let is_tight = |panel: &Panel| panel.live() + usize::from(matches!(panel.live(), 5 | 7)) == panel.width();
        assert!(slices.panels.iter().all(is_tight), "{} left", slices.len());
    }
    assert!(slices.panels.is_empty());
}

#[test]
fn ids_of_panels_come_round_without_meeting() {
    let mut pair = Pair::new(2);
    for start in [u16::MAX - 1, u16::MAX - 2, u16::MAX] {
        pair.slices.next_panel = start;
        for lines in 1..4 {
            // no two slices share a panel: every push opens one
            pair.push(&[64 * (lines + u64::from(start % 8) * 8)]);
            pair.check_row();
        }
    }
    (0..100).for_each(|item| pair.insert(hash(item)));
    pair.check_row();
}

#[test]
fn slices_are_as_large_as_fits() {
    for slices in if cfg!(miri) { 20..21 } else { 1..50 } {
        for words in 1..40 {
            let even = vec![64 * words; slices];
            let bytes = Slices::new(1, Tick::ONE).heap_bytes_with(&even) as u64;
            assert!(Slices::heap_bytes_of(slices, words, Lanes::OfOneSize) >= bytes, "{slices} of {words}");
        }
        for lanes in [Lanes::OfOneSize, Lanes::OfAnySizes] {
            // small slices, and large ones, which may have something to be cleared
            let few = (0..40_000).step_by(if cfg!(miri) { 997 } else { 37 });
            for bytes in few.chain((1..40).map(|step| step * step * 1_234_567)) {
                let words = Slices::words_within(bytes, slices, lanes);
                assert!(words == 0 || Slices::heap_bytes_of(slices, words, lanes) <= bytes, "{slices} in {bytes}");
                let is_largest = words == u64::from(MAX_LINES);
                assert!(is_largest || Slices::heap_bytes_of(slices, words + 1, lanes) > bytes, "{slices} in {bytes}");
            }
            assert_eq!(Slices::words_within(u64::MAX, slices, lanes), MAX_LINES.into());
        }
    }
}
