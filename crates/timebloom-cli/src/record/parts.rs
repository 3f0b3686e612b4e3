//! Values found in a record, and how several of them become one key.
//!
//! A single value is the key as it is. Several are joined so that different values never give the same key: each is
//! preceded by its length, as eight bytes, so `ab` + `c` is not `a` + `bc`. A part of a pattern that took no part in the
//! match has a length of its own, so it differs from an empty one.

use std::ops::Range;

/// The length that says "there is none".
const NO_VALUE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The record has no such value: it has no key then.
    Absent,
    /// The value may be missing, and is.
    Unset,
    /// The bytes of the record from `start` to `end`.
    Here { start: usize, end: usize },
    /// The same of `decoded`.
    Decoded { start: usize, end: usize },
}

impl Part {
    fn here(range: Range<usize>) -> Self {
        Part::Here { start: range.start, end: range.end }
    }

    /// The bytes that it stands for, if any.
    #[inline]
    fn bytes<'a>(self, record: &'a [u8], decoded: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Part::Absent | Part::Unset => None,
            Part::Here { start, end } => record.get(start..end),
            Part::Decoded { start, end } => decoded.get(start..end),
        }
    }
}

/// The values of one record, in the order they were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    /// Values that do not stand in the record as they are.
    decoded: Vec<u8>,
    joined: Vec<u8>,
}

impl Parts {
    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.decoded.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Forgets all values and says that each of `count` is absent, to be [`set`](Self::set) later.
    pub(super) fn reset(&mut self, count: usize) {
        self.clear();
        self.parts.resize(count, Part::Absent);
    }

    pub(super) fn push(&mut self, range: Range<usize>) {
        self.parts.push(Part::here(range));
    }

    pub(super) fn push_unset(&mut self) {
        self.parts.push(Part::Unset);
    }

    pub(super) fn push_absent(&mut self) {
        self.parts.push(Part::Absent);
    }

    /// Value number `index` is at `range` of the record.
    pub(super) fn set(&mut self, index: usize, range: Range<usize>) {
        self.parts[index] = Part::here(range);
    }

    /// Value number `index` is what `decode` appends.
    pub(super) fn set_decoded(&mut self, index: usize, decode: impl FnOnce(&mut Vec<u8>)) {
        let start = self.decoded.len();
        decode(&mut self.decoded);
        self.parts[index] = Part::Decoded { start, end: self.decoded.len() };
    }

    /// The bytes of value number `index`; `None` if the record does not have it.
    pub(super) fn get<'a>(&'a self, index: usize, record: &'a [u8]) -> Option<&'a [u8]> {
        self.parts.get(index)?.bytes(record, &self.decoded)
    }

    /// Where value number `index` begins in the record, if it stands there as it is.
    pub(super) fn start_of(&self, index: usize) -> Option<usize> {
        match self.parts.get(index)? {
            Part::Here { start, .. } => Some(*start),
            _ => None,
        }
    }

    /// The key: all values but the last `rest`. `None` if one of them is absent, or if none is set.
    pub(super) fn join<'a>(&'a mut self, record: &'a [u8], rest: usize) -> Option<&'a [u8]> {
        let count = self.parts.len().checked_sub(rest)?;
        let Parts { parts, decoded, joined } = self;
        if let &[part] = &parts[..count] {
            return part.bytes(record, decoded);
        }
        joined.clear();
        let mut any = false;
        for &part in &parts[..count] {
            match (part, part.bytes(record, decoded)) {
                (Part::Unset, _) => joined.extend_from_slice(&NO_VALUE.to_le_bytes()),
                (_, None) => return None,
                (_, Some(value)) => {
                    any = true;
                    joined.extend_from_slice(&(value.len() as u64).to_le_bytes());
                    joined.extend_from_slice(value);
                }
            }
        }
        any.then_some(joined)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn different_values_never_give_the_same_key() {
        // every way to cut short strings over two letters and a zero into three parts, some of them unset
        let letters = [b'a', b'b', 0];
        let mut keys: HashMap<Vec<u8>, Vec<Option<Vec<u8>>>> = HashMap::new();
        let mut checked = 0;
        for code in 0..3_usize.pow(5) {
            let record: Vec<u8> = (0..5).map(|digit| letters[code / 3_usize.pow(digit) % 3]).collect();
            for first in 0..=5 {
                for second in first..=5 {
                    for unset in 0..4 {
                        let mut parts = Parts::default();
                        for (number, range) in [0..first, first..second, second..5].into_iter().enumerate() {
                            if unset == number { parts.push_unset() } else { parts.push(range) }
                        }
                        let values: Vec<_> = (0..3).map(|part| parts.get(part, &record).map(<[u8]>::to_vec)).collect();
                        let key = parts.join(&record, 0).expect("some part is set").to_vec();
                        let before = keys.insert(key, values.clone());
                        assert!(before.is_none_or(|before| before == values), "{values:?}");
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 10_000, "{checked} cases");
    }

    #[test]
    fn an_absent_part_leaves_no_key() {
        let mut parts = Parts::default();
        parts.reset(2);
        parts.set(0, 0..1);
        assert_eq!(parts.join(b"ab", 0), None);
        parts.set(1, 1..2);
        assert!(parts.join(b"ab", 0).is_some());
        assert_eq!(parts.join(b"ab", 1), Some(&b"a"[..]));
    }

    #[test]
    fn parts_that_are_all_unset_are_no_key() {
        let mut parts = Parts::default();
        parts.push_unset();
        assert_eq!(parts.join(b"ab", 0), None);
        parts.push_unset();
        assert_eq!(parts.join(b"ab", 0), None);
    }
}
