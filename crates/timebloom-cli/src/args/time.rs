//! When a record happened.

use std::time::Duration;

use timebloom::Timestamp;

use super::KeyArgs;
use crate::duration;
use crate::event_clock::{EventClock, Late};
use crate::record::{Column, Columns, FieldRange, Fields, Pattern, Pointer, Pointers, Source, Time, TimeFormat};

/// A record further ahead than this is not believed without a witness.
const DEFAULT_MAX_JUMP: Duration = Duration::from_secs(86_400);

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Time: when a line happened (default: when it is read)")]
pub(crate) struct TimeArgs {
    /// The field that has the time
    #[arg(long, value_name = "N", value_parser = FieldRange::parse, group = "time")]
    time_field: Option<FieldRange>,

    /// A regular expression that matches the time, or captures it
    #[arg(long, value_name = "REGEX", value_parser = Pattern::new, group = "time")]
    time_regex: Option<Pattern>,

    /// The JSON pointer to the time
    #[arg(long, value_name = "POINTER", value_parser = Pointer::parse, group = "time")]
    time_json: Option<Pointer>,

    /// The CSV column that has the time, by number or by name
    #[arg(long, value_name = "COLUMN", value_parser = Column::parse, group = "time")]
    time_csv: Option<Column>,

    /// How the time is written: rfc3339, unix, unix-ms, unix-us, access-log, or a description such as '%Y-%m-%d
    /// %H:%M:%S'; UTC if it has no offset
    #[arg(long, value_name = "FORMAT", default_value = "rfc3339", value_parser = TimeFormat::parse,
          requires = "time")]
    time_format: TimeFormat,
}

/// How far times are to be trusted.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Time: when a line happened (default: when it is read)")]
pub(crate) struct ClockArgs {
    /// How far lines may be out of order and still be judged by their own time, with certainty
    ///
    /// The filter remembers for that much longer. Lines further behind the latest one are late.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::parse, requires = "time")]
    lateness: Duration,

    /// What to do with a line that is late
    #[arg(long, value_enum, default_value_t = Late::Keep, requires = "time")]
    late: Late,

    /// How far ahead a single line may set the clock [default: 1d, or two windows if that is more]
    ///
    /// A line further ahead counts as happening now, until the next line confirms the jump.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, requires = "time")]
    max_jump: Option<Duration>,
}

impl TimeArgs {
    /// Where times are found; `None` for the clock on the wall.
    pub(crate) fn time(&self, key: &KeyArgs) -> Option<Time> {
        let source = if let Some(field) = self.time_field {
            Source::Fields(Fields::new(&[field], key.delimiter()))
        } else if let Some(pattern) = &self.time_regex {
            Source::Pattern(pattern.clone())
        } else if let Some(pointer) = &self.time_json {
            Source::Json(Pointers::new(vec![pointer.clone()]))
        } else if let Some(column) = &self.time_csv {
            Source::Csv(Columns::new(vec![column.clone()], key.csv_delimiter()))
        } else {
            return None;
        };
        Some(Time { source, format: self.time_format.clone() })
    }

    pub(crate) fn is_csv(&self) -> bool {
        self.time_csv.is_some()
    }

    /// Whether a delimiter means anything for the time.
    pub(crate) fn has_delimited(&self) -> bool {
        self.time_field.is_some() || self.time_csv.is_some()
    }
}

impl ClockArgs {
    pub(crate) fn lateness(&self) -> Duration {
        self.lateness
    }

    pub(crate) fn clock(&self, window: Duration, now: Option<Timestamp>) -> EventClock {
        let max_jump = self.max_jump.unwrap_or(DEFAULT_MAX_JUMP.max(window.saturating_mul(2)));
        EventClock::new(now, self.lateness, max_jump, self.late)
    }
}
