//! Durations as people write them: `100ms`, `60s`, `5m`, `1h30m`, `7d`.
//!
//! The grammar is one or more whole numbers, each with its unit, larger units first and each unit at most once. A bare
//! number is refused, as it could be meant as seconds or as milliseconds; so is `30m1h`, more likely a slip than meant.

use std::fmt;
use std::time::Duration;

/// Unit names and their length in milliseconds, largest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DurationError {
    Empty,
    /// A number was expected where `found` begins.
    NoNumber {
        found: String,
    },
    /// `number` is the last thing written.
    NoUnit {
        number: String,
    },
    UnknownUnit {
        unit: String,
    },
    /// `unit` follows `after`, which is not larger.
    UnitOrder {
        unit: &'static str,
        after: &'static str,
    },
    /// More milliseconds than 64 bits hold.
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationError::Empty => write!(f, "a duration is missing")?,
            DurationError::NoNumber { found } => write!(f, "expected a number at `{found}`")?,
            DurationError::NoUnit { number } => write!(f, "`{number}` has no unit")?,
            DurationError::UnknownUnit { unit } => write!(f, "`{unit}` is not a unit")?,
            DurationError::UnitOrder { unit, after } => write!(f, "`{unit}` cannot follow `{after}`")?,
            DurationError::TooLong => write!(f, "longer than 584 years")?,
        }
        f.write_str("; write whole numbers with the units d, h, m, s, ms, larger units first, such as 60s or 1h30m")
    }
}

impl std::error::Error for DurationError {}

/// Reads a duration such as `1h30m`.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    let mut rest = text;
    let mut total: u64 = 0;
    let mut last_unit: Option<usize> = None;
    while !rest.is_empty() {
        let (number, after_number) = split_at_first(rest, |c| !c.is_ascii_digit());
        let (unit, after_unit) = split_at_first(after_number, |c| !c.is_alphabetic());
        if number.is_empty() {
            return Err(DurationError::NoNumber { found: rest.to_owned() });
        }
        if after_number.is_empty() {
            return Err(DurationError::NoUnit { number: number.to_owned() });
        }
        let Some(position) = UNITS.iter().position(|&(name, _)| name == unit) else {
            // `1.5s` stops at the point, where no unit can be read: show what is there instead.
            let shown = if unit.is_empty() { after_number } else { unit };
            return Err(DurationError::UnknownUnit { unit: shown.to_owned() });
        };
        let (name, milliseconds) = UNITS[position];
        if let Some(last) = last_unit.filter(|&last| last >= position) {
            return Err(DurationError::UnitOrder { unit: name, after: UNITS[last].0 });
        }
        // The digits were checked above: all that can fail is the size.
        let count: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
        total =
            count.checked_mul(milliseconds).and_then(|part| total.checked_add(part)).ok_or(DurationError::TooLong)?;
        last_unit = Some(position);
        rest = after_unit;
    }
    Ok(Duration::from_millis(total))
}

/// A duration as [`parse`] would read it, to the millisecond.
pub(crate) fn show(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (name, milliseconds) in UNITS {
        let count = rest / milliseconds;
        if count > 0 {
            text.push_str(&format!("{count}{name}"));
            rest %= milliseconds;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// Splits before the first character that `stops`, or at the end.
fn split_at_first(text: &str, stops: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(stops).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_add_up() {
        let cases = [
            ("100ms", 100),
            ("60s", 60_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("7d", 604_800_000),
            ("1d2h3m4s5ms", 93_784_005),
            ("0s", 0),
            ("007s", 7_000),
            ("90m", 5_400_000),
            ("18446744073709551615ms", u64::MAX),
        ];
        for (text, milliseconds) in cases {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read() {
        for milliseconds in [0, 1, 999, 1_000, 60_000, 5_400_000, 93_784_005, u64::MAX] {
            let duration = Duration::from_millis(milliseconds);
            assert_eq!(parse(&show(duration)), Ok(duration));
        }
        assert_eq!(show(Duration::from_secs(5_400)), "1h30m");
    }

    #[test]
    fn what_is_not_a_duration_is_refused_with_the_reason() {
        let no_number = |found: &str| DurationError::NoNumber { found: found.to_owned() };
        let no_unit = |number: &str| DurationError::NoUnit { number: number.to_owned() };
        let unknown = |unit: &str| DurationError::UnknownUnit { unit: unit.to_owned() };
        let cases = [
            ("", DurationError::Empty),
            ("60", no_unit("60")),
            ("1h30", no_unit("30")),
            ("s", no_number("s")),
            ("-5s", no_number("-5s")),
            ("+5s", no_number("+5s")),
            (" 5s", no_number(" 5s")),
            ("5s ", no_number(" ")),
            ("1h 30m", no_number(" 30m")),
            ("5 s", unknown(" s")),
            ("1.5s", unknown(".5s")),
            ("5S", unknown("S")),
            ("5sec", unknown("sec")),
            ("5µs", unknown("µs")),
            ("٣s", no_number("٣s")),
            ("30m1h", DurationError::UnitOrder { unit: "h", after: "m" }),
            ("1s1s", DurationError::UnitOrder { unit: "s", after: "s" }),
            ("18446744073709551616ms", DurationError::TooLong),
            ("18446744073709551615s", DurationError::TooLong),
            ("213503982334d14h25m51s616ms", DurationError::TooLong),
        ];
        for (text, error) in cases {
            assert_eq!(parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn every_error_says_what_is_allowed() {
        for text in ["", "60", "s", "5sec", "30m1h", "18446744073709551615s"] {
            let message = parse(text).expect_err(text).to_string();
            assert!(message.contains("d, h, m, s, ms") && message.contains("1h30m"), "{message}");
        }
    }
}
