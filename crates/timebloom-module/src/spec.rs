//! From what was said about a filter to the filter, and back to words that build the very same one.

use std::time::Duration;

use timebloom::{BuildError, CountBloom, OnFull, Planner, Policy, TimeBloom};

use crate::filter::{Filter, GivenError, Window};
use crate::parse::{Creation, Kind, ParseError, Proportions};
use crate::time::millis;

/// What fills the gaps of a [`Creation`], and what limits it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    pub(crate) error: GivenError,
    pub(crate) capacity: u64,
    pub(crate) span_ms: u64,
    /// The most bytes that a filter may take, if that is to be enforced: replicated and loading commands are not refused.
    pub(crate) limit: Limit,
}

/// The limit of bytes a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) bytes: u64,
    pub(crate) enforced: bool,
}

/// Why a filter cannot be created.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CreationError {
    Parse(ParseError),
    Build(BuildError),
    /// `MAXBYTES` exceeds the limit for all filters.
    MaxBytes {
        got: u64,
        limit: u64,
    },
    /// The capacity needs more than the filter may take.
    Capacity {
        capacity: u64,
        needed: u64,
        limit: u64,
    },
}

impl From<ParseError> for CreationError {
    fn from(error: ParseError) -> Self {
        CreationError::Parse(error)
    }
}

impl From<BuildError> for CreationError {
    fn from(error: BuildError) -> Self {
        CreationError::Build(error)
    }
}

impl std::fmt::Display for CreationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CreationError::Parse(error) => error.fmt(f),
            CreationError::Build(error) => error.fmt(f),
            CreationError::MaxBytes { got, limit } => {
                write!(f, "MAXBYTES cannot be {got}: the limit for a filter is {limit} (timebloom.max-filter-bytes)")
            }
            CreationError::Capacity { capacity, needed, limit } => write!(
                f,
                "a capacity of {capacity} takes about {needed} bytes, and the filter may take {limit}: use a smaller one, \
                 or raise MAXBYTES or timebloom.max-filter-bytes"
            ),
        }
    }
}

/// The filter that was asked for. Nothing large is allocated before its size is known to be allowed.
pub(crate) fn create(creation: &Creation, defaults: &Defaults) -> Result<Filter, CreationError> {
    let kind = creation.kind.unwrap_or(Kind::Time);
    let error = creation.error.unwrap_or(defaults.error);
    creation.check(kind)?;
    let window = match kind {
        Kind::Time => Window::Time(time_window(creation, error, defaults)?),
        Kind::Count => Window::Count(count_window(creation, error, defaults)?),
    };
    Ok(Filter::new(window, error))
}

fn time_window(creation: &Creation, error: GivenError, defaults: &Defaults) -> Result<TimeBloom, CreationError> {
    let limit = defaults.limit;
    let max_bytes = creation.max_bytes.unwrap_or(limit.bytes);
    if limit.enforced && max_bytes > limit.bytes {
        return Err(CreationError::MaxBytes { got: max_bytes, limit: limit.bytes });
    }
    let capacity = creation.capacity.unwrap_or(defaults.capacity);
    let mut planner = Planner::new(error.rate());
    let span = Duration::from_millis(creation.span_ms.unwrap_or(defaults.span_ms));
    let mut builder = TimeBloom::builder(span)
        .false_positive_rate(error.rate())
        .expected_items(capacity)
        .policy(creation.policy.unwrap_or_default())
        .max_bytes(max_bytes)
        .on_full(creation.on_full.unwrap_or_default());
    match creation.proportions()? {
        Some(Proportions::Level(level)) => {
            builder = builder.level(level);
            planner = planner.level(level);
        }
        Some(Proportions::Pair { hashes, aging_slices }) => {
            builder = builder.hashes_and_aging(hashes, aging_slices);
            planner = planner.hashes_and_aging(hashes, aging_slices);
        }
        None => {}
    }
    if limit.enforced {
        let bits = planner.plan().map_err(BuildError::Plan)?.bits_per_item() * capacity as f64;
        check_capacity(capacity, bits / 8.0, max_bytes)?;
    }
    if let Some(seed) = creation.seed {
        builder = builder.seed(seed);
    }
    Ok(builder.build()?)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a figure for people; casts saturate
fn check_capacity(capacity: u64, needed: f64, limit: u64) -> Result<(), CreationError> {
    if needed > limit as f64 {
        return Err(CreationError::Capacity { capacity, needed: needed as u64, limit });
    }
    Ok(())
}

fn count_window(creation: &Creation, error: GivenError, defaults: &Defaults) -> Result<CountBloom, CreationError> {
    let capacity = creation.capacity.unwrap_or(defaults.capacity);
    let mut builder = CountBloom::builder(capacity).false_positive_rate(error.rate());
    builder = match creation.proportions()? {
        Some(Proportions::Level(level)) => builder.level(level),
        Some(Proportions::Pair { hashes, aging_slices }) => builder.hashes_and_aging(hashes, aging_slices),
        None => builder,
    };
    if let Some(seed) = creation.seed {
        builder = builder.seed(seed);
    }
    let filter = builder.build()?; // no slice is opened before the first item
    if defaults.limit.enforced {
        check_capacity(capacity, filter.max_memory_bytes() as f64, defaults.limit.bytes)?;
    }
    Ok(filter)
}

/// The words that follow the key of an `APBF.RESERVE` for the very same filter, empty: every parameter resolved, the seed
/// included, so that no default and no chance has a say when they are replayed.
pub(crate) fn words(filter: &Filter) -> Vec<String> {
    let text = |word: &dyn ToString| word.to_string();
    let mut words: Vec<String>;
    let (plan, seed) = match &filter.window {
        Window::Time(time) => {
            words = vec!["TIME".into(), text(&filter.error), text(&time.expected_items())];
            words.extend(["PX".into(), text(&millis(time.span()))]);
            if let Some(max_bytes) = time.max_bytes() {
                words.extend(["MAXBYTES".into(), text(&max_bytes)]);
            }
            words.extend(["ONFULL".into(), on_full_word(time.on_full()).into()]);
            words.extend(["POLICY".into(), policy_word(time.policy()).into()]);
            (time.plan(), time.seed())
        }
        Window::Count(count) => {
            words = vec!["COUNT".into(), text(&filter.error), text(&count.capacity())];
            (count.plan(), count.seed())
        }
    };
    words.extend(["K".into(), text(&plan.hashes()), "L".into(), text(&plan.aging_slices())]);
    words.extend(["SEED".into(), text(&seed)]);
    words
}

pub(crate) fn on_full_word(on_full: OnFull) -> &'static str {
    match on_full {
        OnFull::Shorten => "SHORTEN",
        _ => "REJECT",
    }
}

pub(crate) fn policy_word(policy: Policy) -> &'static str {
    match policy {
        Policy::Paper => "PAPER",
        _ => "GUARDED",
    }
}

#[cfg(test)]
mod tests {
    use timebloom::Timestamp;

    use super::*;
    use crate::filter::Repeat;
    use crate::{encoding, parse};

    const DEFAULTS: Defaults = Defaults {
        error: GivenError::Exponent(2),
        capacity: 0,
        span_ms: 60_000,
        limit: Limit { bytes: 64 << 20, enforced: true },
    };

    fn created(line: &str, defaults: &Defaults) -> Result<Filter, CreationError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        create(&parse::reserve(&words)?.1, defaults)
    }

    fn bytes(filter: &Filter) -> Vec<u8> {
        let mut bytes = Vec::new();
        encoding::write(filter, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn words_build_the_very_same_filter() {
        let elsewhere = Defaults {
            error: GivenError::Fraction(0.3),
            capacity: 7,
            span_ms: 1,
            limit: Limit { bytes: 1, enforced: false },
        };
        for line in [
            "TIME 2 1000 60",
            "TIME 0.037 0 PX 1 MAXBYTES 1000000 ONFULL SHORTEN",
            "TIME 5 1 3600 LEVEL 3 POLICY PAPER",
            "TIME 1e-9 10 60 K 20 L 64 SEED 3",
            "COUNT 3 5000",
            "COUNT 0.2 1 K 7 L 3",
        ] {
            let mut filter = created(line, &DEFAULTS).expect(line);
            let words = words(&filter);
            let mut copy = create(&parse::reserve(&words).expect(line).1, &elsewhere).expect(line);
            assert_eq!(bytes(&filter), bytes(&copy), "{line}");
            for item in 0..3_000_u32 {
                let now = Timestamp::from_millis(1_700_000_000_000 + u64::from(item / 7));
                let (a, b) = (item.to_le_bytes(), (item / 2).to_le_bytes());
                assert_eq!(filter.add(&[a, b], Repeat::Keep, now), copy.add(&[a, b], Repeat::Keep, now), "{line}");
            }
            assert_eq!(bytes(&filter), bytes(&copy), "{line}");
        }
    }

    #[test]
    fn sizes_beyond_the_limit_are_refused_unless_they_are_replayed() {
        let replayed = Defaults { limit: Limit { bytes: 1 << 20, enforced: false }, ..DEFAULTS };
        for line in ["TIME 2 1000000000 60", "TIME 2 10 60 MAXBYTES 67108865", "COUNT 2 1000000000"] {
            assert!(created(line, &DEFAULTS).is_err(), "{line}");
            assert!(created(line, &replayed).is_ok(), "{line}");
        }
        for line in ["TIME 2 10 60 MAXBYTES 10", "COUNT 2 0", "COUNT 5 18446744073709551615", "TIME 0.02 5 60 LEVEL 1"]
        {
            assert!(created(line, &DEFAULTS).is_err(), "{line}");
        }
    }
}
