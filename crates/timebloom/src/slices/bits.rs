//! The bits of one slice.

use std::fmt;

/// A fixed number of bits, all clear at first.
///
/// Filters of a few items have slices of 64 bits, so those live in place; larger ones are on the heap. The two variants
/// share 16 bytes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum SliceBits {
    /// Exactly 64 bits.
    Word(u64),
    /// Any other number of bits: the first word is that number, the bits follow.
    Words(Box<[u64]>),
}

impl SliceBits {
    pub(crate) fn zeroed(bits: u64) -> Self {
        if bits == 64 {
            return SliceBits::Word(0);
        }
        // zeroed memory straight from the allocator: the pages of a large slice are not touched here
        let mut words = vec![0; words_for(bits) + 1].into_boxed_slice();
        words[0] = bits;
        SliceBits::Words(words)
    }

    /// `bits` bits from their words, after a first word that is that number.
    pub(crate) fn from_counted_words(words: Vec<u64>) -> Self {
        debug_assert_eq!(words.len(), words_for(words[0]) + 1, "words for {} bits", words[0]);
        match words[..] {
            [64, word] => SliceBits::Word(word),
            _ => SliceBits::Words(words.into_boxed_slice()),
        }
    }

    /// How many bits there are, set or clear.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        match self {
            SliceBits::Word(_) => 64,
            SliceBits::Words(words) => words[0],
        }
    }

    #[inline]
    pub(crate) fn get(&self, position: u64) -> bool {
        self.words()[word_index(position)] >> (position % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn set(&mut self, position: u64) {
        self.words_mut()[word_index(position)] |= 1 << (position % 64);
    }

    /// How many bits are set. Reads them all.
    pub(crate) fn ones(&self) -> u64 {
        self.words().iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether the bits of the last word that are past `len` are clear.
    pub(crate) fn is_clear_past_end(&self) -> bool {
        let used = self.len() % 64;
        used == 0 || self.words().last().is_none_or(|last| last >> used == 0)
    }

    /// The bits in order, the lowest bit of each word first; bits past `len` are clear.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        match self {
            SliceBits::Word(word) => std::slice::from_ref(word),
            SliceBits::Words(words) => &words[1..],
        }
    }

    #[inline]
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        match self {
            SliceBits::Word(word) => std::slice::from_mut(word),
            SliceBits::Words(words) => &mut words[1..],
        }
    }

    /// The heap bytes that a slice of `bits` bits takes.
    pub(crate) fn heap_bytes(bits: u64) -> usize {
        if bits == 64 { 0 } else { (words_for(bits) + 1) * size_of::<u64>() }
    }
}

/// Figures instead of bits: a failed `expect` must not print megabytes.
impl fmt::Debug for SliceBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bits", self.ones(), self.len())
    }
}

/// The number of 64-bit words that hold `bits` bits. `bits` is at most [`super::MAX_SLICE_BITS`], so it fits an index.
pub(crate) fn words_for(bits: u64) -> usize {
    word_index(bits.next_multiple_of(64))
}

#[inline]
fn word_index(position: u64) -> usize {
    usize::try_from(position / 64).expect("positions are below MAX_SLICE_BITS, which fits an index")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_is_its_own() {
        for bits in [1, 20, 63, 64, 65, 200] {
            let mut slice = SliceBits::zeroed(bits);
            assert_eq!(slice.len(), bits);
            for position in 0..bits {
                assert!(!slice.get(position));
                slice.set(position);
                assert!(slice.get(position));
                assert_eq!(slice.ones(), position + 1);
            }
        }
    }

    #[test]
    fn debug_output_does_not_grow_with_the_bits() {
        let mut slice = SliceBits::zeroed(100_000);
        slice.set(7);
        assert_eq!(format!("{slice:?}"), "1 of 100000 bits");
    }

    #[test]
    fn small_slices_take_two_words_in_all() {
        assert_eq!(size_of::<SliceBits>(), 16);
        assert_eq!(SliceBits::heap_bytes(64), 0);
    }
}
