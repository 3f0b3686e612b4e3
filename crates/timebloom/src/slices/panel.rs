//! A panel: a few slices of one size, interleaved so that a query finds its bits of all of them in one place.
//!
//! The words of a panel stand line by line; line `i` holds word `i` of each of its lanes side by side, and each lane is
//! one slice. With eight lanes a line is 64 bytes. An item has one line per panel, and in it one bit per slice.
//!
//! Slices come and go in a ring of eight *seats*: a new slice gets the seat before that of the youngest one, so that
//! going up from the youngest, slices get older. A slice keeps its seat for as long as it lives. A panel of eight lanes has
//! one for each seat, and a narrower one for some that follow each other.
//!
//! An item has eight *fields*, the bytes of a 64-bit word. Six bits of one name its bit in the slice on the seat of that
//! number. The word is the panel's own while slices are short. Two items hardly meet in more than one panel when slices
//! are long, so that panels of long ones share one word, and a query makes its vectors of fields once.

use std::fmt;
use std::ops::Range;

use super::probe::{count_lanes, count_ones};
use crate::hash::{ItemHash, splitmix64, wide_product};

/// Lanes of the widest panel: their words fill a cache line.
pub(super) const MAX_WIDTH: usize = 8;

/// From this many lines on, panels share the word that an item's fields are in.
const SHARED_LINES: u32 = 64;

/// Wide panels of this many lines have 2 MiB, and a row of them ten and more.
#[cfg(target_arch = "x86_64")]
const REMOTE_LINES: u64 = 1 << 15;

/// How many lanes a panel may have. Seven would save little, and with five vectors of four words waste much.
pub(super) const WIDTHS: [u8; 6] = [1, 2, 3, 4, 6, 8];

/// The width of a panel for so many slices, up to eight.
pub(super) fn width_for(slices: usize) -> usize {
    WIDTHS.iter().map(|&width| usize::from(width)).find(|&width| width >= slices).unwrap_or(MAX_WIDTH)
}

/// Wide panels have so many lines at least, as in windows of some 900 items and more: what makes rows of wide ones fast
/// takes memory, a fiftieth of a row of such panels.
pub(super) const WIDE_LINES: usize = 8;

/// Whether a panel of so many lines and lanes is wide: that is what vector instructions make the most of.
pub(super) fn is_wide_panel(lines: usize, width: usize) -> bool {
    width == MAX_WIDTH && lines >= WIDE_LINES
}

/// A cache line.
const LINE_BYTES: usize = 64;

/// Words of a vector.
const VECTOR_WORDS: usize = 4;

/// Words that are allocated on top so that the lines can begin where a cache line does. A few lines are not worth it.
fn aligning_words(lines: usize, width: usize) -> usize {
    if lines * width >= 256 { LINE_BYTES / size_of::<u64>() - 1 } else { 0 }
}

/// Words that are allocated on top: those, and as many as lets whole vectors be read from the last line.
pub(super) fn spare_words(lines: usize, width: usize) -> usize {
    aligning_words(lines, width) + width.next_multiple_of(VECTOR_WORDS) - width
}

/// How many of the `spare` words come before the first line.
fn padding_of(words: &[u64], spare: usize) -> usize {
    if spare == 0 { 0 } else { words.as_ptr().align_offset(LINE_BYTES).min(spare) }
}

fn small(number: usize) -> u8 {
    u8::try_from(number).expect("at most LINE_BYTES")
}

const _: () = assert!(size_of::<Panel>() <= Panel::OWN_BYTES);

pub(super) struct Panel {
    /// The lines, behind the padding.
    pub(super) words: Box<[u64]>,
    /// Odd, and its highest bit is set: spreads hashes differently in each panel.
    multiplier: u64,
    /// The positions of its slices among the first 64 of the row: bit `i` for position `i`.
    pub(super) ages: u64,
    /// In `1..=MAX_LINES`. A word of its own: as a factor it needs no instruction to load it.
    lines: u64,
    /// Tells panels apart.
    id: u16,
    /// Bytes before the first line, so that lines do not straddle cache lines. A multiple of 8 below 64.
    pub(super) padding_bytes: u8,
    /// One of [`WIDTHS`].
    pub(super) width: u8,
    /// Slices in it. In `0..=width`.
    pub(super) live: u8,
    /// The seat of the youngest slice, in the lower four bits, and that of lane 0, in the upper ones. In `0..8`; the latter
    /// is 0 if there is a lane for each seat.
    seats: u8,
    /// One bit per lane: whether a slice has gone from it and left its bits.
    used: u8,
    /// One bit per lane: whether it takes insertions.
    open: u8,
}

/// Where an item's bits are in one panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// In `0..lines`.
    pub(super) line: usize,
    /// The fields, a byte each, that of seat 0 lowest. Six bits: the bit's place in the word, counted from the highest.
    pub(super) fields: u64,
}

impl Spot {
    /// The item's bit in the slice on this seat.
    #[inline]
    fn bit(self, seat: usize) -> u64 {
        1 << 63 >> (self.fields.to_le_bytes()[seat] & 63)
    }
}

/// The multiplier of the word that panels share: 2^64 divided by the golden ratio.
const SHARED_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The word of an item that panels of many lines share.
#[inline]
pub(super) fn shared_fields(hash: ItemHash) -> u64 {
    fields_by(hash, SHARED_MULTIPLIER)
}

#[inline]
fn fields_by(hash: ItemHash, multiplier: u64) -> u64 {
    // filters that have only hashes from a certain range, or only items of one line, need all fields as well: the one
    // leaves the high half little choice, the other the upper bits of the low half
    let (low, high) = wide_product(hash.as_u64(), multiplier);
    high ^ low.rotate_left(32)
}

impl Panel {
    /// An empty panel. Zeroed memory comes straight from the allocator: the pages of a large panel are not touched.
    ///
    /// Its first slice gets the seat before `seat`.
    pub(super) fn new(lines: u32, id: u16, width: usize, seat: u8) -> Self {
        let mut panel = Self::without_words(lines, id, width);
        panel.take_seats(seat, Self::base_for(width, seat, 0));
        panel.take_words(vec![0; lines as usize * width + panel.spare_words()]);
        panel
    }

    pub(super) fn without_words(lines: u32, id: u16, width: usize) -> Self {
        Panel {
            words: Box::default(),
            multiplier: splitmix64(id.into()) | 1 | 1 << 63,
            ages: 0,
            lines: lines.into(),
            id,
            padding_bytes: 0,
            width: small(width),
            live: 0,
            seats: 0,
            used: 0,
            open: 0,
        }
    }

    /// Bytes of a panel besides its words. A constant: see [`crate::window::Window::OWN_BYTES`].
    pub(super) const OWN_BYTES: usize = 48;

    /// The most bytes of a panel besides its lines and [`OWN_BYTES`](Self::OWN_BYTES).
    pub(super) const MAX_SPARE_BYTES: usize = LINE_BYTES - size_of::<u64>() + Self::MAX_VECTOR_BYTES;

    /// The most bytes of them that are there for vectors.
    pub(super) const MAX_VECTOR_BYTES: usize = (VECTOR_WORDS - 1) * size_of::<u64>();

    /// Bytes of the words of a panel.
    pub(super) fn heap_bytes(lines: usize, width: usize) -> usize {
        (lines * width + spare_words(lines, width)) * size_of::<u64>()
    }

    /// Words to allocate on top of those of the lines.
    pub(super) fn spare_words(&self) -> usize {
        spare_words(self.lines() as usize, self.width())
    }

    /// Takes the words of all lines, and [`spare_words`](Self::spare_words) more behind them.
    pub(super) fn take_words(&mut self, words: Vec<u64>) {
        let lines = self.lines() as usize * self.width();
        debug_assert_eq!(words.len(), lines + self.spare_words(), "the words of another panel");
        self.words = words.into_boxed_slice();
        let padding = padding_of(&self.words, aligning_words(self.lines() as usize, self.width()));
        self.padding_bytes = small(padding * size_of::<u64>());
        if padding > 0 && self.live > 0 {
            self.words.copy_within(..lines, padding);
        }
    }

    pub(super) fn id(&self) -> u16 {
        self.id
    }

    pub(super) fn lines(&self) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // it was one
        let lines = self.lines as u32;
        lines
    }

    /// The size of its slices.
    pub(super) fn slice_bits(&self) -> u64 {
        64 * self.lines
    }

    pub(super) fn width(&self) -> usize {
        usize::from(self.width)
    }

    pub(super) fn live(&self) -> usize {
        usize::from(self.live)
    }

    /// Words before the first line.
    #[inline]
    pub(super) fn padding(&self) -> usize {
        usize::from(self.padding_bytes) / size_of::<u64>()
    }

    /// The seat of its youngest slice.
    #[inline]
    pub(super) fn youngest(&self) -> u8 {
        self.seats & 7
    }

    /// The seat of lane 0.
    #[inline]
    pub(super) fn base(&self) -> u8 {
        self.seats >> 4
    }

    /// Sets the seats of its youngest slice and of lane 0.
    pub(super) fn take_seats(&mut self, youngest: u8, base: u8) {
        debug_assert!(youngest < 8 && base < 8, "there are eight seats");
        self.seats = youngest | base << 4;
    }

    /// Whether the fields of an item are the same here as in every other panel that shares them.
    #[inline]
    pub(super) fn shares_fields(&self) -> bool {
        self.lines >= SHARED_LINES.into()
    }

    /// Whether most of its lines are in no cache.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn is_remote(&self) -> bool {
        self.lines >= REMOTE_LINES
    }

    /// Its lines and its width.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.lines() as usize, self.width())
    }

    /// See [`is_wide_panel`].
    pub(super) fn is_wide(&self) -> bool {
        is_wide_panel(self.lines() as usize, self.width())
    }

    /// The lanes that take insertions, a bit each.
    pub(super) fn open(&self) -> u8 {
        self.open
    }

    /// Whether there is a lane for a new youngest slice.
    pub(super) fn has_free_lane(&self) -> bool {
        self.free_lanes() > 0
    }

    /// How many slices there are lanes for. In a panel of fewer than eight, the lanes of slices that have gone are not
    /// among them: those of new ones are on the other side.
    pub(super) fn free_lanes(&self) -> usize {
        if self.width() == MAX_WIDTH { MAX_WIDTH - self.live() } else { self.lane(0) }
    }

    /// The seat of lane 0 in a panel of so many lanes, given the seat of the youngest of `live` slices: all lanes that are
    /// free are those of new slices.
    fn base_for(width: usize, youngest: u8, live: usize) -> u8 {
        if width == MAX_WIDTH {
            return 0;
        }
        small((usize::from(youngest) + MAX_WIDTH + live - width) % MAX_WIDTH)
    }

    /// The seat of its `index`-th slice, youngest first.
    #[inline]
    fn seat(&self, index: usize) -> usize {
        (usize::from(self.youngest()) + index) % MAX_WIDTH
    }

    /// The lane of its `index`-th slice, youngest first.
    #[inline]
    pub(super) fn lane(&self, index: usize) -> usize {
        (self.seat(index) + MAX_WIDTH - usize::from(self.base())) % MAX_WIDTH
    }

    #[inline]
    pub(super) fn spot(&self, hash: ItemHash) -> Spot {
        Spot { line: self.line(hash), fields: self.fields(hash, shared_fields(hash)) }
    }

    /// An item's fields, given those that panels of many lines share.
    #[inline]
    pub(super) fn fields(&self, hash: ItemHash, shared: u64) -> u64 {
        if self.shares_fields() { shared } else { self.own_fields(hash) }
    }

    /// An item's fields in a panel that does not share them.
    #[inline]
    pub(super) fn own_fields(&self, hash: ItemHash) -> u64 {
        fields_by(hash, self.multiplier)
    }

    /// An item's fields in the order of the lanes, that of lane 0 lowest.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn by_lane(&self, fields: u64) -> u64 {
        fields.rotate_right(8 * u32::from(self.base()))
    }

    #[inline]
    pub(super) fn line(&self, hash: ItemHash) -> usize {
        let (_, line) = wide_product(hash.as_u64().wrapping_mul(self.multiplier), self.lines);
        #[allow(clippy::cast_possible_truncation)] // below `lines`, a u32
        let line = line as usize;
        line
    }

    /// Where in memory the words of its lines are.
    #[inline]
    fn place(&self) -> Range<usize> {
        self.padding()..self.padding() + self.lines() as usize * self.width()
    }

    /// The words of all lines, and no spare ones.
    #[inline]
    pub(super) fn words(&self) -> &[u64] {
        &self.words[self.place()]
    }

    #[inline]
    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        let place = self.place();
        &mut self.words[place]
    }

    /// One bit per slice, youngest lowest: whether it has the item's bit.
    #[inline(never)] // the registers that this takes are not saved where it is not called
    pub(super) fn read(&self, hash: ItemHash) -> u32 {
        let spot = self.spot(hash);
        let line = &self.words()[spot.line * self.width()..][..self.width()];
        let has_bit = |index: usize| line[self.lane(index)] & spot.bit(self.seat(index)) != 0;
        (0..self.live()).fold(0, |found, index| found | u32::from(has_bit(index)) << index)
    }

    /// Sets the item's bit in each slice that takes insertions.
    #[inline(never)] // see above
    pub(super) fn write(&mut self, hash: ItemHash) {
        let spot = self.spot(hash);
        let width = self.width();
        for index in 0..self.open.count_ones() as usize {
            let (seat, lane) = (self.seat(index), self.lane(index));
            self.words_mut()[spot.line * width + lane] |= spot.bit(seat);
        }
    }

    /// Lets the `count` youngest slices take insertions, and no others.
    pub(super) fn open_youngest(&mut self, count: usize) {
        // their lanes follow each other, round in a ring if there are eight
        let lanes = small((1 << count.min(self.live())) - 1);
        self.open = lanes.rotate_left(small(self.lane(0)).into());
    }

    /// Makes a free lane the youngest slice, and tells whether it still has the bits of another one.
    pub(super) fn push(&mut self) -> bool {
        debug_assert!(self.has_free_lane(), "no free lane");
        self.take_seats(self.youngest().wrapping_sub(1) % 8, self.base());
        self.live += 1;
        let was_used = self.used >> self.lane(0) & 1 == 1;
        self.used &= !(1 << self.lane(0));
        was_used
    }

    /// Clears the youngest slice.
    pub(super) fn clear_youngest(&mut self) {
        let (width, lane) = (self.width(), self.lane(0));
        // a line of known length takes one instruction or two
        let lines = self.words_mut();
        if width == MAX_WIDTH {
            lines.as_chunks_mut::<MAX_WIDTH>().0.iter_mut().for_each(|line| line[lane % MAX_WIDTH] = 0);
        } else {
            lines.chunks_exact_mut(width).for_each(|line| line[lane] = 0);
        }
    }

    /// Frees the lane of the oldest slice.
    pub(super) fn pop(&mut self) {
        debug_assert!(self.live > 0, "no slice to drop");
        self.live -= 1;
        self.used |= 1 << self.lane(self.live());
    }

    /// Set bits of the `index`-th slice, youngest first.
    pub(super) fn ones(&self, index: usize) -> u64 {
        let (lane, width) = (self.lane(index), self.width());
        count_ones(self.words(), lane, width)
    }

    /// Set bits of every lane.
    pub(super) fn ones_of_lanes(&self) -> [u32; MAX_WIDTH] {
        count_lanes(self.words(), self.width())
    }

    /// Copies the slices into a panel of another width. Every slice keeps its seat.
    pub(super) fn resize(&mut self, width: usize) {
        debug_assert!(self.live() <= width && WIDTHS.contains(&small(width)), "{width} lanes");
        let mut resized = Panel::new(self.lines(), self.id, width, self.youngest());
        (resized.ages, resized.live) = (self.ages, self.live);
        resized.take_seats(self.youngest(), Self::base_for(width, self.youngest(), self.live()));
        resized.open_youngest(self.open.count_ones() as usize);
        let lanes: [(usize, usize); MAX_WIDTH] = std::array::from_fn(|index| (self.lane(index), resized.lane(index)));
        let lanes = &lanes[..self.live()];
        let lines = self.words().chunks_exact(self.width()).zip(resized.words_mut().chunks_exact_mut(width));
        for (from, to) in lines {
            for &(old, new) in lanes {
                to[new] = from[old];
            }
        }
        *self = resized;
    }
}

/// Without what depends on where in memory the words are.
impl fmt::Debug for Panel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Panel { ages, lines, id, width, live, used, open, .. } = self;
        let (youngest, base) = (self.youngest(), self.base());
        f.debug_struct("Panel")
            .field("id", id)
            .field("lines", lines)
            .field("lanes", &(width, live, youngest, base, used, open))
            .field("ages", ages)
            .field("words", &self.words())
            .finish()
    }
}

/// Copies the words, which may land at another alignment.
impl Clone for Panel {
    fn clone(&self) -> Self {
        let mut copy = Panel { words: Box::default(), ..*self };
        let mut words = Vec::with_capacity(self.words.len());
        words.extend_from_slice(self.words());
        words.resize(self.words.len(), 0);
        copy.take_words(words);
        copy
    }
}
