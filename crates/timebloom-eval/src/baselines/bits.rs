//! Fields of any width, side by side in words.

/// An array of bits that is read and written in fields.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    words: Box<[u64]>,
}

/// The lowest `width` bits. `width` in `0..=64`.
#[inline]
pub(super) const fn low(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Bits {
    pub(super) fn new(bits: usize) -> Self {
        Bits { words: vec![0; bits.div_ceil(64)].into() }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The bytes of the array.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val::<[u64]>(&self.words) as u64
    }

    #[inline]
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    #[inline]
    pub(super) fn word_mut(&mut self, word: usize) -> &mut u64 {
        &mut self.words[word]
    }

    #[inline]
    pub(super) fn bit(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 != 0
    }

    #[inline]
    pub(super) fn set_bit(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    /// The field of `width` bits, at most 64, that begins at bit `at`.
    #[inline]
    pub(super) fn get(&self, at: usize, width: u32) -> u64 {
        let (word, shift) = (at / 64, at % 64);
        let mut field = self.words[word] >> shift;
        if shift + width as usize > 64 {
            field |= self.words[word + 1] << (64 - shift);
        }
        field & low(width)
    }

    /// Writes a field; `value` has at most `width` bits.
    #[inline]
    pub(super) fn set(&mut self, at: usize, width: u32, value: u64) {
        debug_assert_eq!(value & !low(width), 0, "the value does not fit");
        let (word, shift) = (at / 64, at % 64);
        let mask = low(width);
        self.words[word] = self.words[word] & !(mask << shift) | value << shift;
        if shift + width as usize > 64 {
            let rest = 64 - shift;
            self.words[word + 1] = self.words[word + 1] & !(mask >> rest) | value >> rest;
        }
    }

    /// Moves the bits of `at..end` up by `width`.
    #[inline]
    pub(super) fn open_gap(&mut self, at: usize, end: usize, width: u32) {
        let mut top = end;
        while top > at {
            let bottom = at.max(top.saturating_sub(64));
            #[allow(clippy::cast_possible_truncation)] // at most 64
            let piece = (top - bottom) as u32;
            let moved = self.get(bottom, piece);
            self.set(bottom + width as usize, piece, moved);
            top = bottom;
        }
    }

    /// Moves the bits of `at + width..end` down by `width`.
    #[inline]
    pub(super) fn close_gap(&mut self, at: usize, end: usize, width: u32) {
        let mut bottom = at + width as usize;
        while bottom < end {
            let top = end.min(bottom + 64);
            #[allow(clippy::cast_possible_truncation)] // at most 64
            let piece = (top - bottom) as u32;
            let moved = self.get(bottom, piece);
            self.set(bottom - width as usize, piece, moved);
            bottom = top;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of a width, as numbers, changed in the same ways.
    #[test]
    fn gaps_open_and_close_like_those_of_a_list() {
        let mut random = fastrand::Rng::with_seed(1);
        for width in [1, 7, 13, 16, 31, 63, 64] {
            let mut list: Vec<u64> = Vec::new();
            let mut bits = Bits::new(101 * width as usize);
            for step in 0..2_000 {
                let w = width as usize;
                if list.len() < 100 && (list.is_empty() || random.bool()) {
                    let (place, value) = (random.usize(0..=list.len()), random.u64(..) & low(width));
                    bits.open_gap(place * w, list.len() * w, width);
                    bits.set(place * w, width, value);
                    list.insert(place, value);
                } else {
                    let place = random.usize(0..list.len());
                    bits.close_gap(place * w, list.len() * w, width);
                    list.remove(place);
                }
                let fields: Vec<u64> = (0..list.len()).map(|i| bits.get(i * w, width)).collect();
                assert_eq!(fields, list, "width {width}, step {step}");
            }
        }
    }

    #[test]
    fn bits_are_fields_of_one() {
        let mut bits = Bits::new(130);
        for at in [0, 63, 64, 129] {
            assert!(!bits.bit(at));
            bits.set_bit(at);
            assert!(bits.bit(at) && bits.get(at, 1) == 1);
        }
        bits.clear();
        assert!((0..130).all(|at| !bits.bit(at)));
    }
}
