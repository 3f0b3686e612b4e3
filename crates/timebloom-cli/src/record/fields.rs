//! Fields of a record: words between blanks, as `awk` sees them, or what stands between delimiters, as `cut` does.

use std::fmt;
use std::ops::Range;

use super::parts::Parts;
use super::scan::{Delimited, Words};

/// The fields `first..=last`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldRange {
    /// At least 1.
    first: usize,
    /// At least `first`.
    last: usize,
}

/// More than any record has; keeps a slip such as `1-99999999999` from asking for memory.
const MAX_FIELD: usize = 65_535;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadField {
    text: String,
}

impl fmt::Display for BadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        write!(f, "`{text}` is not a field: write a number from 1 to {MAX_FIELD}, or a range of them such as 2-4")
    }
}

impl std::error::Error for BadField {}

impl FieldRange {
    /// Reads `7` or `2-4`.
    pub(crate) fn parse(text: &str) -> Result<Self, BadField> {
        let number = |text: &str| text.parse().ok().filter(|number| (1..=MAX_FIELD).contains(number));
        let range = match text.split_once('-') {
            Some((first, last)) => number(first).zip(number(last)).filter(|(first, last)| first <= last),
            None => number(text).map(|field| (field, field)),
        };
        let (first, last) = range.ok_or_else(|| BadField { text: text.to_owned() })?;
        Ok(FieldRange { first, last })
    }
}

/// The wanted fields of a record.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// `None`: fields are separated by runs of spaces and tabs, and those around them do not count.
    delimiter: Option<u8>,
    /// Each wanted field, counted from 0, with its place in the order they were asked for. Ascending.
    wanted: Vec<(usize, usize)>,
}

impl Fields {
    pub(crate) fn new(ranges: &[FieldRange], delimiter: Option<u8>) -> Self {
        let fields = ranges.iter().flat_map(|range| range.first - 1..range.last);
        let mut wanted: Vec<_> = fields.enumerate().map(|(place, field)| (field, place)).collect();
        wanted.sort_unstable();
        Fields { delimiter, wanted }
    }

    /// These fields and then the other's; `None` if the two cut records differently.
    pub(super) fn merged(&self, other: &Fields) -> Option<Fields> {
        if self.delimiter != other.delimiter {
            return None;
        }
        let ours = self.wanted.len();
        let theirs = other.wanted.iter().map(|&(field, place)| (field, place + ours));
        let mut wanted: Vec<_> = self.wanted.iter().copied().chain(theirs).collect();
        wanted.sort_unstable();
        Some(Fields { delimiter: self.delimiter, wanted })
    }

    pub(super) fn read(&self, record: &[u8], parts: &mut Parts) {
        parts.reset(self.wanted.len());
        match self.delimiter {
            Some(delimiter) => {
                let mut fields = Delimited::of(record, delimiter);
                self.place(parts, |field| fields.find(field));
            }
            None => {
                let mut words = Words::of(record);
                self.place(parts, |word| words.find(word));
            }
        }
    }

    /// Puts each wanted field in its place, up to the first that is not there. `find` is asked for each once, in rising
    /// order.
    #[inline]
    fn place(&self, parts: &mut Parts, mut find: impl FnMut(usize) -> Option<Range<usize>>) {
        let mut wanted = self.wanted.iter().peekable();
        while let Some(&(field, place)) = wanted.next() {
            let Some(range) = find(field) else { return };
            // the same field may be wanted twice
            while let Some(&(_, place)) = wanted.next_if(|(next, _)| *next == field) {
                parts.set(place, range.clone());
            }
            parts.set(place, range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str, delimiter: Option<u8>, record: &str) -> Vec<Option<String>> {
        let ranges: Vec<_> = fields.split(',').map(|text| FieldRange::parse(text).expect(text)).collect();
        let mut parts = Parts::default();
        Fields::new(&ranges, delimiter).read(record.as_bytes(), &mut parts);
        let value = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (0..parts.len()).map(|index| parts.get(index, record.as_bytes()).map(value)).collect()
    }

    fn some(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|value| Some((*value).to_owned())).collect()
    }

    #[test]
    fn words_are_found_in_the_order_asked_for() {
        assert_eq!(read("1,3", None, "a b c"), some(&["a", "c"]));
        assert_eq!(read("3,1,1", None, "  a\t\tb  c \r"), some(&["c", "a", "a"]));
        assert_eq!(read("2-3", None, "a b c d"), some(&["b", "c"]));
        assert_eq!(read("4", None, "a b c"), [None]);
        assert_eq!(read("1", None, "  \t"), [None]);
    }

    #[test]
    fn delimited_fields_may_be_empty() {
        assert_eq!(read("1,2,3", Some(b';'), "a;;c"), some(&["a", "", "c"]));
        assert_eq!(read("1", Some(b';'), ""), some(&[""]));
        assert_eq!(read("2", Some(b';'), "a;"), some(&[""]));
        assert_eq!(read("2", Some(b';'), "a"), [None]);
        assert_eq!(read("2", Some(b' '), "a  b"), some(&[""]));
    }

    #[test]
    fn what_is_not_a_field_is_refused() {
        for text in ["", "0", "-1", "1-", "3-2", "a", "70000", "1-2-3", "99999999999999999999"] {
            let error = FieldRange::parse(text).expect_err(text);
            assert!(error.to_string().contains("1 to 65535"), "{error}");
        }
    }
}
