//! Values by regular expression: the capture groups, or the whole match if there are none.

use std::fmt;

use regex::bytes::{CaptureLocations, Regex, RegexBuilder};

use super::parts::Parts;

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    locations: CaptureLocations,
}

#[derive(Clone, Debug)]
pub(crate) struct PatternError(regex::Error);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// Records are bytes: `.` is any character of UTF-8, `(?-u:.)` any byte.
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternError> {
        let regex = RegexBuilder::new(pattern).build().map_err(PatternError)?;
        let locations = regex.capture_locations();
        Ok(Pattern { regex, locations })
    }

    pub(super) fn read(&mut self, record: &[u8], parts: &mut Parts) {
        let groups = self.locations.len();
        if groups == 1 {
            match self.regex.find(record) {
                Some(found) => parts.push(found.range()),
                None => parts.push_absent(),
            }
            return;
        }
        if self.regex.captures_read(&mut self.locations, record).is_none() {
            parts.push_absent();
            return;
        }
        for group in 1..groups {
            match self.locations.get(group) {
                Some((start, end)) => parts.push(start..end),
                None => parts.push_unset(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(pattern: &str, record: &[u8]) -> Option<Vec<u8>> {
        let mut parts = Parts::default();
        Pattern::new(pattern).expect(pattern).read(record, &mut parts);
        parts.join(record, 0).map(<[u8]>::to_vec)
    }

    #[test]
    fn captures_are_the_key_and_without_them_the_match() {
        assert_eq!(key("id=[0-9]+", b"x id=17 y"), Some(b"id=17".to_vec()));
        assert_eq!(key("id=([0-9]+)", b"x id=17 y"), Some(b"17".to_vec()));
        assert_eq!(key("id=([0-9]+)", b"x id=y"), None);
        assert_ne!(key("(a+)(b*)", b"aab"), key("(a+)(b*)", b"aa"));
    }

    #[test]
    fn a_group_that_took_no_part_differs_from_an_empty_one() {
        assert_ne!(key("(x)(y*)?", b"x"), key("(x)(y)?", b"x"));
        assert_eq!(key("(x)|(y)", b"x").is_some(), key("(x)|(y)", b"y").is_some());
        assert_ne!(key("(x)|(x)y", b"x"), key("(z)|(x)", b"x"));
        assert_eq!(key("a(x)?", b"a"), None);
    }

    #[test]
    fn records_need_not_be_text() {
        assert_eq!(key("(?-u:\\xff(.))", b"\xff\xfe"), Some(b"\xfe".to_vec()));
    }
}
