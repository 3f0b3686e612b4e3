//! Fields of a record, found 64 bytes at a time.
//!
//! A chunk of a record becomes one bit a byte: is it a blank, or a delimiter? Where field number so many begins and ends is
//! then a matter of counting bits. Fields are short: a search for the end of each would be restarted all the time.

use std::ops::Range;

const CHUNK: usize = 64;

/// The words of a record, to be asked for in rising order.
#[derive(Debug)]
pub(super) struct Words<'a> {
    record: &'a [u8],
    /// Where the chunk ends that the following tell about; past the end of the record for the last one.
    next: usize,
    /// A bit for each byte that begins a word.
    begins: u64,
    /// A bit for each blank that follows a word.
    ends: u64,
    /// Words that begin before this chunk.
    begun: usize,
    /// Of those, the ones that end before it: all, or all but the last.
    ended: usize,
    /// 1 if this chunk ends with a blank, 0 if its last word may go on in the next one.
    blank_last: u64,
}

impl<'a> Words<'a> {
    pub(super) fn of(record: &'a [u8]) -> Self {
        let mut words = Words { record, next: 0, begins: 0, ends: 0, begun: 0, ended: 0, blank_last: 1 };
        words.advance();
        words
    }

    /// Where word number `word` is, counted from 0 and higher than those asked for before.
    #[inline]
    pub(super) fn find(&mut self, word: usize) -> Option<Range<usize>> {
        let start = loop {
            match nth(self.begins, word - self.begun) {
                Some(bit) => break self.next - CHUNK + bit,
                None if !self.advance() => return None,
                None => {}
            }
        };
        let end = loop {
            match nth(self.ends, word - self.ended) {
                Some(bit) => break self.next - CHUNK + bit,
                None if !self.advance() => break self.record.len(),
                None => {}
            }
        };
        Some(start..end)
    }

    /// Goes on to the next chunk; false if there is none.
    #[inline]
    fn advance(&mut self) -> bool {
        let Some(blanks) = marks(self.record, self.next, b' ', is_blank) else { return false };
        self.begun += self.begins.count_ones() as usize;
        self.ended = if self.blank_last == 1 { self.begun } else { self.begun - 1 };
        let after_blank = blanks << 1 | self.blank_last;
        self.begins = !blanks & after_blank;
        self.ends = blanks & !after_blank;
        self.blank_last = blanks >> (CHUNK - 1);
        self.next += CHUNK;
        true
    }
}

/// What stands between delimiters in a record, to be asked for in rising order.
#[derive(Debug)]
pub(super) struct Delimited<'a> {
    record: &'a [u8],
    delimiter: u8,
    /// Where the chunk ends that `marks` tells about.
    next: usize,
    /// A bit for each delimiter.
    marks: u64,
    /// Delimiters before this chunk.
    passed: usize,
}

impl<'a> Delimited<'a> {
    pub(super) fn of(record: &'a [u8], delimiter: u8) -> Self {
        Delimited { record, delimiter, next: 0, marks: 0, passed: 0 }
    }

    /// Where field number `field` is, counted from 0 and higher than those asked for before.
    #[inline]
    pub(super) fn find(&mut self, field: usize) -> Option<Range<usize>> {
        let start = match field.checked_sub(1) {
            None => 0,
            Some(before) => self.delimiter(before)? + 1,
        };
        Some(start..self.delimiter(field).unwrap_or(self.record.len()))
    }

    /// Where delimiter number `number` is. It may be asked for twice, but not after a higher one.
    #[inline]
    fn delimiter(&mut self, number: usize) -> Option<usize> {
        loop {
            if let Some(bit) = nth(self.marks, number - self.passed) {
                return Some(self.next - CHUNK + bit);
            }
            let delimiter = self.delimiter;
            let marks = marks(self.record, self.next, !delimiter, |byte| byte == delimiter)?;
            self.passed += self.marks.count_ones() as usize;
            self.marks = marks;
            self.next += CHUNK;
        }
    }
}

/// A carriage return is one too, so that the last word of a line is the same with either end.
#[inline]
fn is_blank(byte: u8) -> bool {
    // bitwise, for the sake of vectors; `& !4` maps a carriage return to a tab
    (byte == b' ') | (byte & !4 == b'\t')
}

/// A bit for each byte that is a mark, the first one's lowest, of the chunk at `start`; what is missing at the end of the
/// record counts as `padding`. `None` if there is nothing at all.
#[inline]
fn marks(record: &[u8], start: usize, padding: u8, is_mark: impl Fn(u8) -> bool) -> Option<u64> {
    let rest = record.get(start..).filter(|rest| !rest.is_empty())?;
    // in this shape, compilers make vector instructions of it
    let flags = |chunk: &[u8; CHUNK]| chunk.map(|byte| u8::from(is_mark(byte)));
    let flags = match rest.first_chunk() {
        Some(chunk) => flags(chunk),
        None => {
            let mut padded = [padding; CHUNK];
            padded[..rest.len()].copy_from_slice(rest);
            flags(&padded)
        }
    };
    let (eights, _) = flags.as_chunks();
    Some(eights.iter().rev().fold(0, |mask, &eight| mask << 8 | gathered(eight)))
}

/// Eight bytes of 0 or 1 as eight bits.
#[inline]
fn gathered(flags: [u8; 8]) -> u64 {
    // moves byte i to bit 56 + i; no two products meet, so there are no carries
    u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Which bit is number `n` of those that are set, counted from 0.
#[inline]
fn nth(mut mask: u64, n: usize) -> Option<usize> {
    for _ in 0..n {
        if mask == 0 {
            return None;
        }
        mask &= mask - 1;
    }
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, a byte at a time.
    fn plainly(record: &[u8]) -> Vec<Range<usize>> {
        let mut words = Vec::new();
        let mut position = 0;
        while position < record.len() {
            let start = position;
            while record.get(position).is_some_and(|byte| !b" \t\r".contains(byte)) {
                position += 1;
            }
            if position > start {
                words.push(start..position);
            }
            position += 1;
        }
        words
    }

    #[test]
    fn only_three_bytes_are_blanks() {
        for byte in 0..=u8::MAX {
            assert_eq!(is_blank(byte), b" \t\r".contains(&byte), "{byte}");
        }
    }

    #[test]
    fn every_byte_has_its_bit() {
        for place in 0..CHUNK {
            let mut chunk = [b'x'; CHUNK];
            chunk[place] = b',';
            assert_eq!(marks(&chunk, 0, b'x', |byte| byte == b','), Some(1 << place));
            // padded to a chunk
            assert_eq!(marks(&chunk[..=place], 0, b'x', |byte| byte == b','), Some(1 << place));
            assert_eq!(marks(&chunk[..place], 0, b'x', |byte| byte == b','), (place > 0).then_some(0));
        }
        assert_eq!(marks(b"ab", 2, b'x', |_| true), None);
    }

    #[test]
    fn fields_are_where_splitting_finds_them() {
        let mut checked = 0;
        for delimiter in [b',', 0, 0xff] {
            for first in 0..=130 {
                for second in [0, 1, 62, 63, 64, 65, 130] {
                    let x = b'x';
                    let record = [&vec![x; first][..], &[delimiter], &vec![x; second], &[delimiter; 2], b"x"].concat();
                    for end in [record.len(), record.len() - 1, record.len() - 2, first + 1, first] {
                        let record = &record[..end];
                        let mut start = 0;
                        let mut expected = Vec::new();
                        for part in record.split(|&byte| byte == delimiter) {
                            expected.push(start..start + part.len());
                            start += part.len() + 1;
                        }
                        let mut fields = Delimited::of(record, delimiter);
                        let found: Vec<_> = (0..=expected.len()).map_while(|field| fields.find(field)).collect();
                        assert_eq!(found, expected, "{}", record.escape_ascii());
                        for (field, range) in expected.iter().enumerate() {
                            assert_eq!(Delimited::of(record, delimiter).find(field).as_ref(), Some(range), "{field}");
                        }
                        assert_eq!(Delimited::of(record, delimiter).find(expected.len()), None);
                        checked += expected.len();
                    }
                }
            }
        }
        assert!(checked > 10_000, "{checked} fields");
    }

    #[test]
    fn words_are_where_a_plain_search_finds_them() {
        // words and gaps of every length around that of a chunk, so that each edge falls everywhere
        let mut checked = 0;
        for first in 0..=130 {
            for gap in [0, 1, 2, 63, 64, 65] {
                for second in [0, 1, 2, 62, 63, 64, 65, 130] {
                    let record =
                        [vec![b'a'; first], vec![b' '; gap], vec![b'b'; second], b"\tc \xff\r".to_vec()].concat();
                    for record in [&record[..], &record[..record.len() - 5]] {
                        let expected = plainly(record);
                        // all of them, and each alone
                        let mut words = Words::of(record);
                        let found: Vec<_> = (0..=expected.len()).map_while(|word| words.find(word)).collect();
                        assert_eq!(found, expected, "{}", record.escape_ascii());
                        for (word, range) in expected.iter().enumerate() {
                            assert_eq!(Words::of(record).find(word).as_ref(), Some(range), "{word}");
                        }
                        assert_eq!(Words::of(record).find(expected.len()), None);
                        checked += expected.len();
                    }
                }
            }
        }
        assert!(checked > 10_000, "{checked} words");
    }
}
