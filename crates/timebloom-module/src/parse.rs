//! From the words of a command to what they mean. Pure: no server, no filter, no clock.

use std::fmt;

use timebloom::{OnFull, Policy};

use crate::filter::GivenError;
use crate::time::MAX_SPAN_MS;

/// What is wrong with the words of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// Too few words, or too many.
    Arity,
    /// A word that means nothing here, or comes a second time.
    Unexpected { word: String },
    /// An option at the end, without its value.
    NoValue { option: &'static str },
    /// A value that is not what the option takes.
    Value { option: &'static str, got: String, allowed: &'static str },
    /// Options that exclude each other, or need each other.
    Conflict(&'static str),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Arity => f.write_str("wrong number of arguments"),
            ParseError::Unexpected { word } => write!(f, "'{word}' is unknown here, or given twice"),
            ParseError::NoValue { option } => write!(f, "{option} needs a value"),
            ParseError::Value { option, got, allowed } => write!(f, "{option} cannot be '{got}': use {allowed}"),
            ParseError::Conflict(what) => f.write_str(what),
        }
    }
}

/// The words of a command, taken one after the other.
pub(crate) struct Words<'a, T> {
    rest: &'a [T],
}

impl<'a, T: AsRef<[u8]>> Words<'a, T> {
    pub(crate) fn new(words: &'a [T]) -> Self {
        Words { rest: words }
    }

    pub(crate) fn next(&mut self) -> Option<&'a T> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn peek(&self) -> Option<&'a T> {
        self.rest.first()
    }

    pub(crate) fn rest(&self) -> &'a [T] {
        self.rest
    }

    pub(crate) fn value(&mut self, option: &'static str) -> Result<&'a [u8], ParseError> {
        self.next().map(AsRef::as_ref).ok_or(ParseError::NoValue { option })
    }
}

/// A word as it appears in an error: short, and without anything that could break a line.
pub(crate) fn shown(word: &[u8]) -> String {
    const LONGEST: usize = 40;
    let mut text: String = word[..word.len().min(LONGEST)].escape_ascii().to_string();
    if word.len() > LONGEST {
        text.push_str("...");
    }
    text
}

/// A number in decimal digits: no sign, no space, nothing else.
pub(crate) fn number(option: &'static str, word: &[u8], allowed: &'static str) -> Result<u64, ParseError> {
    let digits = (!word.is_empty() && word.iter().all(u8::is_ascii_digit)).then_some(word);
    digits
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| ParseError::Value { option, got: shown(word), allowed })
}

fn number_in(
    option: &'static str,
    word: &[u8],
    range: std::ops::RangeInclusive<u64>,
    allowed: &'static str,
) -> Result<u64, ParseError> {
    number(option, word, allowed).ok().filter(|value| range.contains(value)).ok_or_else(|| ParseError::Value {
        option,
        got: shown(word),
        allowed,
    })
}

/// An error rate: 1 to 5 for 10^-n, or a fraction.
pub(crate) fn error_rate(word: &[u8]) -> Result<GivenError, ParseError> {
    const ALLOWED: &str = "1 to 5, for 10^-n, or a fraction of at least 1e-12 and below 0.5";
    if let [digit @ b'1'..=b'5'] = word {
        return Ok(GivenError::Exponent(digit - b'0'));
    }
    let plain = word.iter().all(|byte| byte.is_ascii_digit() || b".eE-".contains(byte));
    let rate = std::str::from_utf8(word).ok().filter(|_| plain).and_then(|text| text.parse::<f64>().ok());
    match rate {
        Some(rate) if (1e-12..0.5).contains(&rate) => Ok(GivenError::Fraction(rate)),
        _ => Err(ParseError::Value { option: "error", got: shown(word), allowed: ALLOWED }),
    }
}

/// The kind of window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Count,
    Time,
}

/// Hash functions and aging slices, if they are not to be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proportions {
    Level(u32),
    Pair { hashes: u32, aging_slices: u32 },
}

/// What was said about a filter to be created; what was not is left to the defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Creation {
    pub(crate) kind: Option<Kind>,
    pub(crate) error: Option<GivenError>,
    pub(crate) capacity: Option<u64>,
    pub(crate) span_ms: Option<u64>,
    level: Option<u32>,
    hashes: Option<u32>,
    aging_slices: Option<u32>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) on_full: Option<OnFull>,
    pub(crate) seed: Option<u64>,
    pub(crate) policy: Option<Policy>,
}

/// Puts a value into its place, unless one is there.
fn once<V>(place: &mut Option<V>, value: V, word: &[u8]) -> Result<(), ParseError> {
    if place.replace(value).is_some() { Err(ParseError::Unexpected { word: shown(word) }) } else { Ok(()) }
}

fn keyword(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

fn span_ms(option: &'static str, word: &[u8], unit_ms: u64, allowed: &'static str) -> Result<u64, ParseError> {
    Ok(number_in(option, word, 1..=MAX_SPAN_MS / unit_ms, allowed)? * unit_ms)
}

fn seconds(option: &'static str, word: &[u8]) -> Result<u64, ParseError> {
    span_ms(option, word, 1_000, "1 to 3155760000 seconds")
}

fn small(
    option: &'static str,
    word: &[u8],
    range: std::ops::RangeInclusive<u64>,
    allowed: &'static str,
) -> Result<u32, ParseError> {
    Ok(u32::try_from(number_in(option, word, range, allowed)?).expect("the range is small"))
}

impl Creation {
    /// Takes one option that `RESERVE` and `INSERT` share; false if the next word is none.
    fn take<T: AsRef<[u8]>>(&mut self, words: &mut Words<'_, T>) -> Result<bool, ParseError> {
        let Some(word) = words.peek().map(AsRef::as_ref) else { return Ok(false) };
        let is = |name: &str| keyword(word, name);
        if is("EX") {
            words.next();
            once(&mut self.span_ms, seconds("EX", words.value("EX")?)?, word)?;
        } else if is("PX") {
            words.next();
            let value = span_ms("PX", words.value("PX")?, 1, "1 to 3155760000000 milliseconds")?;
            once(&mut self.span_ms, value, word)?;
        } else if is("LEVEL") {
            words.next();
            once(&mut self.level, small("LEVEL", words.value("LEVEL")?, 0..=5, "0 to 5")?, word)?;
        } else if is("K") {
            words.next();
            once(&mut self.hashes, small("K", words.value("K")?, 1..=64, "1 to 64")?, word)?;
        } else if is("L") {
            words.next();
            once(&mut self.aging_slices, small("L", words.value("L")?, 1..=1_024, "1 to 1024")?, word)?;
        } else if is("MAXBYTES") {
            words.next();
            let value = number("MAXBYTES", words.value("MAXBYTES")?, "a number of bytes")?;
            once(&mut self.max_bytes, value, word)?;
        } else if is("ONFULL") {
            words.next();
            let value = words.value("ONFULL")?;
            let on_full = match () {
                () if keyword(value, "REJECT") => OnFull::Reject,
                () if keyword(value, "SHORTEN") => OnFull::Shorten,
                () => {
                    let allowed = "REJECT or SHORTEN";
                    return Err(ParseError::Value { option: "ONFULL", got: shown(value), allowed });
                }
            };
            once(&mut self.on_full, on_full, word)?;
        } else if is("SEED") {
            words.next();
            once(&mut self.seed, number("SEED", words.value("SEED")?, "0 to 18446744073709551615")?, word)?;
        } else if is("POLICY") {
            words.next();
            let value = words.value("POLICY")?;
            let policy = match () {
                () if keyword(value, "PAPER") => Policy::Paper,
                () if keyword(value, "GUARDED") => Policy::Guarded,
                () => {
                    let allowed = "PAPER or GUARDED";
                    return Err(ParseError::Value { option: "POLICY", got: shown(value), allowed });
                }
            };
            once(&mut self.policy, policy, word)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Takes one option that only `INSERT` has: what `RESERVE` takes by its place.
    fn take_named<T: AsRef<[u8]>>(&mut self, words: &mut Words<'_, T>) -> Result<bool, ParseError> {
        let Some(word) = words.peek().map(AsRef::as_ref) else { return Ok(false) };
        if let Some(kind) = kind(word) {
            words.next();
            once(&mut self.kind, kind, word)?;
        } else if keyword(word, "ERROR") {
            words.next();
            once(&mut self.error, error_rate(words.value("ERROR")?)?, word)?;
        } else if keyword(word, "CAPACITY") {
            words.next();
            once(&mut self.capacity, capacity(words.value("CAPACITY")?)?, word)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What was said about hash functions and aging slices.
    pub(crate) fn proportions(&self) -> Result<Option<Proportions>, ParseError> {
        match (self.level, self.hashes, self.aging_slices) {
            (None, None, None) => Ok(None),
            (Some(level), None, None) => Ok(Some(Proportions::Level(level))),
            (None, Some(hashes), Some(aging_slices)) => Ok(Some(Proportions::Pair { hashes, aging_slices })),
            (None, ..) => Err(ParseError::Conflict("K and L must be given together")),
            (Some(_), ..) => Err(ParseError::Conflict("LEVEL and K with L exclude each other")),
        }
    }

    /// Whether anything was said.
    fn is_empty(&self) -> bool {
        *self == Creation::default()
    }

    /// Checks what must hold between options, given the kind that the filter will have.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), ParseError> {
        self.proportions()?;
        let for_time = [
            (self.span_ms.is_some(), "a span (seconds, EX, PX) is for TIME windows; COUNT windows have none"),
            (
                self.max_bytes.is_some(),
                "MAXBYTES is for TIME windows; the size of COUNT windows follows from their capacity",
            ),
            (self.on_full.is_some(), "ONFULL is for TIME windows; COUNT windows are never full"),
            (self.policy.is_some(), "POLICY is for TIME windows"),
        ];
        match for_time.into_iter().find(|&(given, _)| given && kind == Kind::Count) {
            Some((_, why)) => Err(ParseError::Conflict(why)),
            None => Ok(()),
        }
    }
}

fn kind(word: &[u8]) -> Option<Kind> {
    match () {
        () if keyword(word, "COUNT") => Some(Kind::Count),
        () if keyword(word, "TIME") => Some(Kind::Time),
        () => None,
    }
}

fn capacity(word: &[u8]) -> Result<u64, ParseError> {
    number("capacity", word, "a number of items")
}

/// `COUNT|TIME error capacity [span-seconds] [option ...]`: what follows the key of `APBF.RESERVE`.
pub(crate) fn reserve<T: AsRef<[u8]>>(words: &[T]) -> Result<(Kind, Creation), ParseError> {
    let mut words = Words::new(words);
    let (Some(window), Some(error), Some(items)) = (words.next(), words.next(), words.next()) else {
        return Err(ParseError::Arity);
    };
    let window = window.as_ref();
    let kind = kind(window).ok_or_else(|| ParseError::Value {
        option: "the window",
        got: shown(window),
        allowed: "COUNT or TIME",
    })?;
    let mut creation = Creation {
        kind: Some(kind),
        error: Some(error_rate(error.as_ref())?),
        capacity: Some(capacity(items.as_ref())?),
        ..Creation::default()
    };
    if let Some(word) = words.peek().map(AsRef::as_ref)
        && word.first().is_some_and(u8::is_ascii_digit)
    {
        words.next();
        creation.span_ms = Some(seconds("the span", word)?);
    }
    while creation.take(&mut words)? {}
    if let Some(word) = words.next() {
        return Err(ParseError::Unexpected { word: shown(word.as_ref()) });
    }
    creation.check(kind)?;
    if kind == Kind::Time && creation.span_ms.is_none() {
        return Err(ParseError::Conflict("a TIME window needs a span: seconds after the capacity, or PX milliseconds"));
    }
    Ok((kind, creation))
}

/// What follows the key of `APBF.INSERT`.
#[derive(Debug, PartialEq)]
pub(crate) struct Insert<'a, T> {
    /// How to create the filter if it is missing; `None` for `NOCREATE`.
    pub(crate) creation: Option<Creation>,
    pub(crate) only_new: bool,
    /// Unix time in milliseconds.
    pub(crate) at: Option<u64>,
    /// At least one.
    pub(crate) items: &'a [T],
}

/// `[creation option ...] [NOCREATE] [NX] [AT unix-ms] ITEMS item [item ...]`.
pub(crate) fn insert<T: AsRef<[u8]>>(words: &[T]) -> Result<Insert<'_, T>, ParseError> {
    let mut words = Words::new(words);
    let mut creation = Creation::default();
    let (mut no_create, mut only_new, mut at) = (None, None, None);
    loop {
        if creation.take(&mut words)? || creation.take_named(&mut words)? {
            continue;
        }
        let Some(word) = words.next().map(AsRef::as_ref) else {
            return Err(ParseError::Conflict("ITEMS is missing, and the items after it"));
        };
        if keyword(word, "ITEMS") {
            break;
        } else if keyword(word, "NOCREATE") {
            once(&mut no_create, (), word)?;
        } else if keyword(word, "NX") {
            once(&mut only_new, (), word)?;
        } else if keyword(word, "AT") {
            once(&mut at, unix_ms("AT", words.value("AT")?)?, word)?;
        } else {
            return Err(ParseError::Unexpected { word: shown(word) });
        }
    }
    if words.rest().is_empty() {
        return Err(ParseError::Conflict("ITEMS needs at least one item"));
    }
    if no_create.is_some() && !creation.is_empty() {
        return Err(ParseError::Conflict("NOCREATE excludes all options about creation"));
    }
    creation.check(creation.kind.unwrap_or(Kind::Time))?;
    if creation.kind == Some(Kind::Count) && at.is_some() {
        return Err(ParseError::Conflict("AT is for TIME windows; COUNT windows have no times"));
    }
    if creation.kind == Some(Kind::Count) && creation.capacity.is_none() {
        return Err(ParseError::Conflict("a COUNT window needs a CAPACITY"));
    }
    Ok(Insert {
        creation: no_create.is_none().then_some(creation),
        only_new: only_new.is_some(),
        at,
        items: words.rest(),
    })
}

/// A moment, as clients write it.
pub(crate) fn unix_ms(option: &'static str, word: &[u8]) -> Result<u64, ParseError> {
    number(option, word, "Unix time in milliseconds")
}

#[cfg(test)]
mod tests;
