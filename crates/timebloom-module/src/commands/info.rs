//! `APBF.INFO key`: what a filter is, holds and did.

use crate::docs::{Access, Doc};
use crate::error::CommandError;
use crate::filter::{Filter, GivenError, Window};
use crate::parse::ParseError;
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::spec::{on_full_word, policy_word};
use crate::time::{millis, timestamp};

pub(crate) struct Info;

impl Command for Info {
    const DOC: Doc = Doc {
        name: c"APBF.INFO",
        flags: c"readonly",
        categories: "read",
        summary: c"Tells what a filter is, what it holds and what it did.",
        complexity: c"O(k * (k + l)), k being the number of hash functions and l that of aging slices",
        arity: 2,
        access: Access::Read,
        arguments: &[],
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let [name] = args else { return Err(ParseError::Arity.into()) };
        let now = context.now_ms();
        let key = context.open(name);
        let figures = figures(key.filter()?, now);
        context.reply_map(figures.len());
        for (name, value) in figures {
            context.reply_string(name);
            match value {
                Figure::Integer(value) => context.reply_integer(value),
                Figure::Double(value) => context.reply_double(value),
                Figure::Text(text) => context.reply_string(&text),
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Figure {
    Integer(i64),
    Double(f64),
    Text(String),
}

impl From<u64> for Figure {
    fn from(value: u64) -> Self {
        Figure::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Figure {
    fn from(value: usize) -> Self {
        Figure::from(value as u64)
    }
}

/// The published nine first, with their published names and values; then ours.
fn figures(filter: &Filter, now: u64) -> Vec<(&'static str, Figure)> {
    let stats = filter.stats(timestamp(now));
    let (kind, plan, capacity, span) = match &filter.window {
        Window::Count(count) => {
            ("Age Partitioned Bloom Filter - Count", count.plan(), count.capacity(), Figure::Integer(0))
        }
        Window::Time(time) => (
            "Age Partitioned Bloom Filter - Time",
            time.plan(),
            time.expected_items(),
            Figure::Integer(millis(time.span())),
        ),
    };
    let error = match filter.error {
        GivenError::Exponent(n) => Figure::Integer(i64::from(n)),
        fraction @ GivenError::Fraction(_) => Figure::Text(fraction.to_string()),
    };
    let (hits, misses) = filter.lookups();
    let mut figures = vec![
        ("Type", Figure::Text(kind.to_owned())),
        ("Size", filter.memory_bytes().into()),
        ("Capacity", capacity.into()),
        ("Error rate", error),
        ("Inserts count", stats.inserted.into()),
        ("Hash functions count", plan.hashes().into()),
        ("Periods count", plan.aging_slices().into()),
        ("Slices count", stats.slices.into()),
        ("Time Span", span),
        ("Items in window", stats.items_in_window.into()),
        ("Bits", stats.bits.into()),
        ("False positive rate", Figure::Double(stats.false_positive_rate)),
        ("Worst false positive rate", Figure::Double(stats.worst_false_positive_rate)),
        ("Shifts", stats.shifts.into()),
        ("Retired slices", stats.retired.into()),
        ("Fresh starts", stats.fresh_starts.into()),
        ("Shortened", stats.shortened.into()),
        ("Rejected", stats.rejected.into()),
        ("Hits", hits.into()),
        ("Misses", misses.into()),
    ];
    if let Window::Time(time) = &filter.window {
        figures.extend([
            ("Max bytes", time.max_bytes().unwrap_or(0).into()),
            ("On full", Figure::Text(on_full_word(time.on_full()).to_owned())),
            ("Policy", Figure::Text(policy_word(time.policy()).to_owned())),
        ]);
    }
    figures
}
