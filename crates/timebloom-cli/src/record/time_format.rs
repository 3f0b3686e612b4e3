//! Times as data writes them.
//!
//! The formats that logs are full of are read by hand, in a few nanoseconds; anything else by its strftime description.
//! Times without an offset are taken for UTC.

use std::fmt;

use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use timebloom::Timestamp;

use super::parts::Parts;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    /// `2024-06-01T10:00:00.25Z`, `2024-06-01 12:00:00+02:00`
    Rfc3339,
    /// A decimal number of units of this many nanoseconds since 1970.
    Unix { unit: u64 },
    /// `01/Jun/2024:10:00:00 +0000`, in brackets or not.
    AccessLog,
    /// A description such as `%Y-%m-%d %H:%M:%S`.
    Strftime(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeFormatError {
    Unknown {
        name: String,
    },
    /// It cannot describe a moment.
    Incomplete {
        format: String,
        reason: String,
    },
}

impl fmt::Display for TimeFormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeFormatError::Unknown { name } => write!(
                f,
                "`{name}` is not a time format: use rfc3339, unix, unix-ms, unix-us, access-log, or a description such \
                 as '%Y-%m-%d %H:%M:%S'"
            ),
            TimeFormatError::Incomplete { format, reason } => {
                write!(f, "`{format}` does not describe a moment: {reason}; a date with a year and a time are needed")
            }
        }
    }
}

impl std::error::Error for TimeFormatError {}

const SECOND: u64 = 1_000_000_000;

impl TimeFormat {
    pub(crate) fn parse(text: &str) -> Result<Self, TimeFormatError> {
        Ok(match text {
            "rfc3339" => TimeFormat::Rfc3339,
            "unix" | "unix-s" => TimeFormat::Unix { unit: SECOND },
            "unix-ms" => TimeFormat::Unix { unit: 1_000_000 },
            "unix-us" => TimeFormat::Unix { unit: 1_000 },
            "access-log" | "clf" => TimeFormat::AccessLog,
            format if format.contains('%') => {
                // A moment written with the format and read back tells what the format leaves out.
                let reason = |error: jiff::Error| TimeFormatError::Incomplete {
                    format: format.to_owned(),
                    reason: error.to_string(),
                };
                let sample = BrokenDownTime::from(&jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC));
                let written = sample.to_string(format).map_err(reason)?;
                strftime(format, written.as_bytes()).map_err(reason)?;
                TimeFormat::Strftime(format.to_owned())
            }
            name => return Err(TimeFormatError::Unknown { name: name.to_owned() }),
        })
    }

    /// The time that value number `index` of a record says.
    pub(super) fn read(&self, parts: &Parts, index: usize, record: &[u8]) -> Option<Timestamp> {
        let mut value = parts.get(index, record)?;
        if let Some(inner) = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")) {
            value = inner; // a string of JSON
        }
        match self {
            // Blanks separate the offset from the rest, so a field holds only half of it.
            TimeFormat::AccessLog => access_log(parts.start_of(index).map_or(value, |start| &record[start..])),
            _ => self.read_text(value),
        }
    }

    fn read_text(&self, text: &[u8]) -> Option<Timestamp> {
        match self {
            TimeFormat::Rfc3339 => rfc3339(text),
            TimeFormat::Unix { unit } => unix(text, *unit),
            TimeFormat::AccessLog => access_log(text),
            TimeFormat::Strftime(format) => strftime(format, text).ok(),
        }
    }
}

/// Reads text from the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.0.first() == Some(&byte);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    /// A number of exactly this many digits, at most 9.
    fn digits(&mut self, count: usize) -> Option<u32> {
        let mut number = 0;
        for _ in 0..count {
            let digit = self.next().filter(u8::is_ascii_digit)?;
            number = number * 10 + u32::from(digit - b'0');
        }
        Some(number)
    }

    /// The digits after a point, as nanoseconds; those after the ninth are dropped.
    fn fraction(&mut self) -> Option<u64> {
        let mut nanos = 0;
        let mut unit = SECOND / 10;
        let mut any = false;
        while let Some(digit) = self.0.first().filter(|byte| byte.is_ascii_digit()) {
            nanos += u64::from(digit - b'0') * unit;
            unit /= 10;
            any = true;
            self.0 = &self.0[1..];
        }
        any.then_some(nanos)
    }

    /// `+hh:mm` or `+hhmm`, in seconds east of Greenwich.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.next()? {
            b'+' => 1,
            b'-' => -1,
            b'Z' | b'z' => return Some(0),
            _ => return None,
        };
        let hours = self.digits(2)?;
        self.eat(b':');
        let minutes = self.digits(2)?;
        (hours < 24 && minutes < 60).then(|| sign * i64::from(hours * 3_600 + minutes * 60))
    }

    /// `hh:mm:ss`, in seconds. A leap second counts as the one after it.
    fn clock(&mut self) -> Option<i64> {
        let hour = self.digits(2)?;
        self.expect(b':')?;
        let minute = self.digits(2)?;
        self.expect(b':')?;
        let second = self.digits(2)?;
        (hour < 24 && minute < 60 && second <= 60).then(|| i64::from(hour * 3_600 + minute * 60 + second))
    }
}

fn rfc3339(text: &[u8]) -> Option<Timestamp> {
    let mut text = Reader(text.trim_ascii());
    let year = text.digits(4)?;
    text.expect(b'-')?;
    let month = text.digits(2)?;
    text.expect(b'-')?;
    let days = days_since_epoch(year, month, text.digits(2)?)?;
    matches!(text.next()?, b'T' | b't' | b' ').then_some(())?;
    let seconds = text.clock()?;
    let nanos = if text.eat(b'.') || text.eat(b',') { text.fraction()? } else { 0 };
    let offset = if text.0.is_empty() { 0 } else { text.offset()? };
    text.0.is_empty().then(|| moment(days, seconds - offset, nanos))
}

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// What follows the time does not matter: it may be the rest of the record.
fn access_log(text: &[u8]) -> Option<Timestamp> {
    let mut text = Reader(text);
    text.eat(b'[');
    let day = text.digits(2)?;
    text.expect(b'/')?;
    let (name, rest) = text.0.split_at_checked(3)?;
    let month = MONTHS.iter().zip(1..).find(|(month, _)| name.eq_ignore_ascii_case(&month[..]))?.1;
    text.0 = rest;
    text.expect(b'/')?;
    let days = days_since_epoch(text.digits(4)?, month, day)?;
    text.expect(b':')?;
    let seconds = text.clock()?;
    let offset = if text.eat(b' ') && matches!(text.0.first(), Some(b'+' | b'-')) { text.offset()? } else { 0 };
    Some(moment(days, seconds - offset, 0))
}

fn unix(text: &[u8], unit: u64) -> Option<Timestamp> {
    let mut text = Reader(text.trim_ascii());
    let mut whole: u64 = 0;
    let digits = text.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    for &digit in &text.0[..digits] {
        whole = whole.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    text.0 = &text.0[digits..];
    let fraction = if text.eat(b'.') { text.fraction()? } else { 0 };
    let nanos = whole.checked_mul(unit)?.checked_add(fraction / (SECOND / unit))?;
    text.0.is_empty().then(|| Timestamp::from_nanos(nanos))
}

fn strftime(format: &str, text: &[u8]) -> Result<Timestamp, jiff::Error> {
    let broken_down = BrokenDownTime::parse(format, text)?;
    let moment = match broken_down.to_timestamp() {
        Ok(moment) => moment,
        // without an offset
        Err(_) => broken_down.to_datetime()?.to_zoned(TimeZone::UTC)?.timestamp(),
    };
    Ok(Timestamp::from_nanos(u64::try_from(moment.as_nanosecond().max(0)).unwrap_or(u64::MAX)))
}

/// Times before 1970 become the origin, as everywhere.
fn moment(days: i64, seconds: i64, nanos: u64) -> Timestamp {
    let seconds = u64::try_from(days * 86_400 + seconds).unwrap_or(0);
    Timestamp::from_nanos(Timestamp::from_secs(seconds).as_nanos().saturating_add(nanos))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; `None` if there is no such date.
fn days_since_epoch(year: u32, month: u32, day: u32) -> Option<i64> {
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // counted from March, so that the leap day is the last of its year
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
    Some(i64::from(days) - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &str, text: &str) -> Option<u64> {
        TimeFormat::parse(format).expect(format).read_text(text.as_bytes()).map(Timestamp::as_nanos)
    }

    #[test]
    fn every_day_of_six_centuries_is_counted() {
        // the calendar of another hand
        let mut date = jiff::civil::date(1970, 1, 1);
        let mut days = 0_u64;
        while date.year() < 2_554 {
            let text = format!("{date}T00:00:00Z");
            assert_eq!(read("rfc3339", &text), Some(days * 86_400 * SECOND), "{text}");
            date = date.tomorrow().expect("far from the end of time");
            days += 1;
        }
        assert_eq!(days, 213_302);
    }

    #[test]
    fn the_same_moment_is_read_from_every_format() {
        let moment = 1_717_236_000 * SECOND;
        let cases = [
            ("rfc3339", "2024-06-01T10:00:00Z"),
            ("rfc3339", "2024-06-01t10:00:00z"),
            ("rfc3339", "2024-06-01 12:00:00+02:00"),
            ("rfc3339", "2024-06-01T04:30:00.000-0530"),
            ("rfc3339", " 2024-06-01T10:00:00"),
            ("unix", "1717236000"),
            ("unix-s", "1717236000.0"),
            ("unix-ms", "1717236000000"),
            ("unix-us", "1717236000000000"),
            ("access-log", "[01/Jun/2024:10:00:00 +0000]"),
            ("clf", "01/jun/2024:12:00:00 +0200] \"GET"),
            ("access-log", "01/Jun/2024:10:00:00"),
            ("%Y-%m-%d %H:%M:%S", "2024-06-01 10:00:00"),
            ("%d.%m.%Y %H:%M:%S %z", "01.06.2024 12:00:00 +0200"),
            ("%s", "1717236000"),
        ];
        for (format, text) in cases {
            assert_eq!(read(format, text), Some(moment), "{format}: {text}");
        }
    }

    #[test]
    fn fractions_are_kept_to_the_nanosecond() {
        let whole = 1_717_236_000 * SECOND;
        assert_eq!(read("rfc3339", "2024-06-01T10:00:00.123456789Z"), Some(whole + 123_456_789));
        assert_eq!(read("rfc3339", "2024-06-01T10:00:00,5Z"), Some(whole + 500_000_000));
        assert_eq!(read("unix", "1717236000.25"), Some(whole + 250_000_000));
        assert_eq!(read("unix-ms", "1717236000000.5"), Some(whole + 500_000));
        assert_eq!(read("unix-us", "1717236000000000.0019"), Some(whole + 1));
    }

    #[test]
    fn what_is_not_a_time_is_none() {
        let cases = [
            ("rfc3339", ["", "2024-06-01", "2024-02-30T00:00:00Z", "2024-06-01T24:00:00Z", "2024-06-01T10:00:00Zx"]),
            ("unix", ["", "-1", "1e9", "99999999999999999999", "1717236000."]),
            ("access-log", ["", "[-]", "01/Foo/2024:10:00:00", "31/Jun/2024:10:00:00 +0000", "01/Jun/2024"]),
            ("%Y-%m-%d %H:%M:%S", ["", "2024-06-01", "x", "2024-06-01 10:00:00 ", "\u{fffd}"]),
        ];
        for (format, texts) in cases {
            for text in texts {
                assert_eq!(read(format, text), None, "{format}: {text:?}");
            }
        }
        assert_eq!(TimeFormat::Rfc3339.read_text(b"\xff\xfe"), None);
    }

    #[test]
    fn formats_that_describe_no_moment_are_refused() {
        let unknown = TimeFormat::parse("iso").expect_err("no such format");
        assert!(unknown.to_string().contains("rfc3339"), "{unknown}");
        for format in ["%H:%M:%S", "%b %d %H:%M:%S", "%Q!", "%"] {
            let error = TimeFormat::parse(format).expect_err(format);
            assert!(error.to_string().contains("does not describe a moment"), "{error}");
        }
    }
}
