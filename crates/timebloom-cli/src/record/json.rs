//! Values in JSON records, by JSON Pointer (RFC 6901).
//!
//! A record is parsed once, and what no pointer leads to is skipped without being stored. A string is compared by what it
//! says, however it was escaped; anything else as it is written, so `1` and `1.0` differ. `null` counts as absent, and of
//! equal member names the last one counts.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::parts::Parts;

/// A path into a JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    tokens: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadPointer {
    text: String,
}

impl fmt::Display for BadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        write!(
            f,
            "`{text}` is not a JSON Pointer: write a path such as /id or /user/0/name, with ~1 for / and ~0 for ~"
        )
    }
}

impl std::error::Error for BadPointer {}

impl Pointer {
    /// Reads `/user/0/name`.
    pub(crate) fn parse(text: &str) -> Result<Self, BadPointer> {
        let bad = || BadPointer { text: text.to_owned() };
        let path = text.strip_prefix('/').ok_or_else(bad)?;
        let token = |token: &str| {
            let tildes_are_escapes = token.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
            tildes_are_escapes.then(|| token.replace("~1", "/").replace("~0", "~")).ok_or_else(bad)
        };
        Ok(Pointer { tokens: path.split('/').map(token).collect::<Result<_, _>>()? })
    }
}

/// Several paths, as a tree: what begins alike is walked once.
#[derive(Clone, Debug)]
pub(crate) struct Pointers {
    pointers: Vec<Pointer>,
    root: Node,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// The values that are found here, by their place in the order they were asked for.
    places: Vec<usize>,
    children: Vec<(String, Node)>,
}

impl Pointers {
    pub(crate) fn new(pointers: Vec<Pointer>) -> Self {
        let mut root = Node::default();
        for (place, pointer) in pointers.iter().enumerate() {
            let mut node = &mut root;
            for token in &pointer.tokens {
                let known = node.children.iter().position(|(name, _)| name == token);
                let index = known.unwrap_or_else(|| {
                    node.children.push((token.clone(), Node::default()));
                    node.children.len() - 1
                });
                node = &mut node.children[index].1;
            }
            node.places.push(place);
        }
        Pointers { pointers, root }
    }

    pub(super) fn merged(&self, other: &Pointers) -> Pointers {
        Pointers::new(self.pointers.iter().chain(&other.pointers).cloned().collect())
    }

    pub(super) fn read(&self, record: &[u8], parts: &mut Parts) {
        parts.reset(self.pointers.len());
        let mut deserializer = Deserializer::from_slice(record);
        let walk = Walk { node: &self.root, record, parts: &mut *parts };
        let whole = walk.deserialize(&mut deserializer).and_then(|()| deserializer.end());
        if whole.is_err() {
            // half a record may have half a key: as good as none
            parts.reset(self.pointers.len());
        }
    }
}

/// A walk through one value, below a node.
struct Walk<'a, 'p> {
    node: &'a Node,
    record: &'a [u8],
    parts: &'p mut Parts,
}

impl Walk<'_, '_> {
    /// Keeps the value that is written as `raw`.
    fn keep(self, raw: &RawValue) -> Result<(), serde_json::Error> {
        let text = raw.get();
        if text == "null" {
            return Ok(());
        }
        let decoded: Option<String> =
            if text.starts_with('"') && text.contains('\\') { Some(serde_json::from_str(text)?) } else { None };
        for &place in &self.node.places {
            match &decoded {
                // marked as a string, as below
                Some(string) => self.parts.set_decoded(place, |bytes| {
                    bytes.push(b'"');
                    bytes.extend_from_slice(string.as_bytes());
                    bytes.push(b'"');
                }),
                // with its quotes, so that "1" and 1 differ
                None => self.parts.set(place, range_in(self.record, text)),
            }
        }
        if !self.node.children.is_empty() {
            let walk = Walk { node: &Node { places: Vec::new(), ..self.node.clone() }, ..self };
            walk.deserialize(&mut Deserializer::from_str(text))?;
        }
        Ok(())
    }
}

/// Where `part`, borrowed from `whole`, lies in it.
fn range_in(whole: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.node.places.is_empty() {
            return deserializer.deserialize_any(self);
        }
        let raw = <&RawValue as serde::Deserialize>::deserialize(deserializer)?;
        self.keep(raw).map_err(serde::de::Error::custom)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(Name(self.node))? {
            match child {
                Some(node) => map.next_value_seed(Walk { node, record: self.record, parts: &mut *self.parts })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            let child = self.node.children.iter().find(|(name, _)| is_index(name, index));
            let more = match child {
                Some((_, node)) => {
                    sequence.next_element_seed(Walk { node, record: self.record, parts: &mut *self.parts })?.is_some()
                }
                None => sequence.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    // A pointer leads past a plain value: there is nothing there.
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Whether a token is the number of an array element: digits, without leading zeros.
fn is_index(token: &str, index: usize) -> bool {
    let plain = token == "0" || !token.starts_with('0');
    plain && token.bytes().all(|byte| byte.is_ascii_digit()) && token.parse() == Ok(index)
}

/// A member name: the child it leads to, if any.
struct Name<'a>(&'a Node);

impl<'de, 'a> DeserializeSeed<'de> for Name<'a> {
    type Value = Option<&'a Node>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Name<'a> {
    type Value = Option<&'a Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.children.iter().find(|(child, _)| child == name).map(|(_, node)| node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pointers: &[&str], record: &str) -> Vec<Option<String>> {
        let pointers = pointers.iter().map(|text| Pointer::parse(text).expect(text)).collect();
        let mut parts = Parts::default();
        Pointers::new(pointers).read(record.as_bytes(), &mut parts);
        let value = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (0..parts.len()).map(|index| parts.get(index, record.as_bytes()).map(value)).collect()
    }

    fn one(pointer: &str, record: &str) -> Option<String> {
        read(&[pointer], record).remove(0)
    }

    #[test]
    fn pointers_lead_into_objects_and_arrays() {
        let record = r#" {"id": 17, "user": {"names": ["ann", "bob"], "a/b": true, "m~n": 1e3}, "": {"": 0}} "#;
        assert_eq!(one("/id", record), Some("17".into()));
        assert_eq!(one("/user/names/1", record), Some("\"bob\"".into()));
        assert_eq!(one("/user/a~1b", record), Some("true".into()));
        assert_eq!(one("/user/m~0n", record), Some("1e3".into()));
        assert_eq!(one("//", record), Some("0".into()));
        assert_eq!(one("/user/names", record), Some("[\"ann\", \"bob\"]".into()));
        for nowhere in ["/no", "/id/x", "/user/names/2", "/user/names/01", "/user/names/x", "/user/names/-"] {
            assert_eq!(one(nowhere, record), None, "{nowhere}");
        }
        let both = read(&["/user/names/0", "/id", "/id"], record);
        assert_eq!(both, [Some("\"ann\"".into()), Some("17".into()), Some("17".into())]);
    }

    #[test]
    fn a_pointer_may_lead_through_another() {
        let record = r#"{"a": {"b": "x\ty", "c": 2}}"#;
        assert_eq!(
            read(&["/a", "/a/b", "/a/c"], record),
            [Some(r#"{"b": "x\ty", "c": 2}"#.into()), Some("\"x\ty\"".into()), Some("2".into())]
        );
    }

    #[test]
    fn strings_are_what_they_say_and_differ_from_numbers() {
        assert_eq!(one("/id", r#"{"id":"a\u0062"}"#), one("/id", r#"{"id": "ab"}"#));
        assert_eq!(one("/id", r#"{"\u0069d":1}"#), Some("1".into()));
        assert_ne!(one("/id", r#"{"id":"1"}"#), one("/id", r#"{"id":1}"#));
        // more digits than any machine number holds
        let long = "340282366920938463463374607431768211455";
        assert_eq!(one("/id", &format!("{{\"id\":{long}}}")), Some(long.into()));
    }

    #[test]
    fn what_is_not_json_has_no_values() {
        let cases = [
            "",
            "{",
            "{\"id\":1",
            "{\"id\":1}x",
            "{\"id\":1} {}",
            "id",
            "{\"id\":}",
            "{\"id\":null}",
            "[1]",
            "3",
            "\"id\"",
        ];
        for record in cases {
            assert_eq!(one("/id", record), None, "{record}");
        }
        // deeper than any parser should follow
        let deep = "[".repeat(100_000);
        assert_eq!(one("/0", &deep), None);
    }

    #[test]
    fn what_is_not_a_pointer_is_refused() {
        for text in ["", "id", "/a~2", "/a~"] {
            assert!(Pointer::parse(text).is_err(), "{text}");
        }
    }
}
