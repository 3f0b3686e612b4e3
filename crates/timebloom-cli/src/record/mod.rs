//! From a record's bytes to its key and its time.
//!
//! ```text
//! record ──> Source ────────────> Parts ──────────────> key: one part, or several joined
//!            fields, columns,     where each value is,   time: one part, through a TimeFormat
//!            pointers, captures   or that it is absent
//! ```
//!
//! When key and time come from the same kind of source, the record is walked once for both.

mod csv;
mod fields;
mod json;
mod parts;
mod pattern;
mod scan;
mod split;
mod time_format;

use timebloom::Timestamp;

pub(crate) use csv::{Column, Columns, CsvError};
pub(crate) use fields::{FieldRange, Fields};
pub(crate) use json::{Pointer, Pointers};
pub(crate) use parts::Parts;
pub(crate) use pattern::Pattern;
pub(crate) use split::Splitter;
pub(crate) use time_format::TimeFormat;

/// Where values are found in a record.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Fields(Fields),
    Pattern(Pattern),
    Json(Pointers),
    Csv(Columns),
}

impl Source {
    /// Finds the wanted values of `record`, in the order they were asked for.
    fn read(&mut self, record: &[u8], parts: &mut Parts) {
        parts.clear();
        match self {
            Source::Fields(fields) => fields.read(record, parts),
            Source::Pattern(pattern) => pattern.read(record, parts),
            Source::Json(pointers) => pointers.read(record, parts),
            Source::Csv(columns) => columns.read(record, parts),
        }
    }

    /// One source that gives the values of both, those of `self` first; `None` if they are of different kinds.
    fn merged(&self, other: &Source) -> Option<Source> {
        match (self, other) {
            (Source::Fields(ours), Source::Fields(theirs)) => ours.merged(theirs).map(Source::Fields),
            (Source::Json(ours), Source::Json(theirs)) => Some(Source::Json(ours.merged(theirs))),
            (Source::Csv(ours), Source::Csv(theirs)) => ours.merged(theirs).map(Source::Csv),
            _ => None,
        }
    }
}

/// What makes a record the same as another.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// All of its bytes.
    Record,
    /// Values in it.
    Values(Source),
}

/// When a record happened.
#[derive(Clone, Debug)]
pub(crate) struct Time {
    pub(crate) source: Source,
    pub(crate) format: TimeFormat,
}

/// Reads keys, and times if asked to.
#[derive(Clone, Debug)]
pub(crate) struct Extractor {
    plan: Plan,
    key_parts: Parts,
    time_parts: Parts,
}

/// Which sources are read, and for what.
#[derive(Clone, Debug)]
enum Plan {
    /// The record is its own key, and there is no time.
    Record,
    Key(Source),
    /// The record is its own key.
    Time(Time),
    KeyAndTime(Source, Time),
    /// Both from one walk: the last value is the time.
    Together(Time),
}

/// A key and, where times are asked for, a time.
pub(crate) type Found<'a> = (&'a [u8], Option<Timestamp>);

impl Extractor {
    pub(crate) fn new(key: Key, time: Option<Time>) -> Self {
        let plan = match (key, time) {
            (Key::Record, None) => Plan::Record,
            (Key::Record, Some(time)) => Plan::Time(time),
            (Key::Values(source), None) => Plan::Key(source),
            (Key::Values(source), Some(time)) => match source.merged(&time.source) {
                Some(both) => Plan::Together(Time { source: both, ..time }),
                None => Plan::KeyAndTime(source, time),
            },
        };
        Extractor { plan, key_parts: Parts::default(), time_parts: Parts::default() }
    }

    /// Whether records are their own keys and have no times: nothing needs to be extracted.
    pub(crate) fn is_whole_record(&self) -> bool {
        matches!(self.plan, Plan::Record)
    }

    pub(crate) fn has_times(&self) -> bool {
        matches!(self.plan, Plan::Time(_) | Plan::KeyAndTime(..) | Plan::Together(_))
    }

    /// The key of a record and its time; `None` if either cannot be found.
    pub(crate) fn extract<'a>(&'a mut self, record: &'a [u8]) -> Option<Found<'a>> {
        let Extractor { plan, key_parts, time_parts } = self;
        match plan {
            Plan::Record => Some((record, None)),
            Plan::Key(source) => {
                source.read(record, key_parts);
                Some((key_parts.join(record, 0)?, None))
            }
            Plan::Time(time) => {
                time.source.read(record, time_parts);
                Some((record, Some(time.format.read(time_parts, 0, record)?)))
            }
            Plan::KeyAndTime(source, time) => {
                time.source.read(record, time_parts);
                let at = time.format.read(time_parts, 0, record)?;
                source.read(record, key_parts);
                Some((key_parts.join(record, 0)?, Some(at)))
            }
            Plan::Together(time) => {
                time.source.read(record, key_parts);
                let last = key_parts.len().checked_sub(1)?;
                let at = time.format.read(key_parts, last, record)?;
                Some((key_parts.join(record, 1)?, Some(at)))
            }
        }
    }

    /// The columns that are known by name, to be looked up in a header.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut Columns> {
        let sources = match &mut self.plan {
            Plan::Record => [None, None],
            Plan::Key(source) => [Some(source), None],
            Plan::Time(time) | Plan::Together(time) => [Some(&mut time.source), None],
            Plan::KeyAndTime(source, time) => [Some(source), Some(&mut time.source)],
        };
        sources.into_iter().flatten().filter_map(|source| match source {
            Source::Csv(columns) => Some(columns),
            _ => None,
        })
    }

    /// Whether the first record of each input only names the columns.
    pub(crate) fn has_header(&mut self) -> bool {
        self.columns_mut().any(|columns| columns.has_names())
    }
}
