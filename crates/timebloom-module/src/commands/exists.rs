//! `APBF.EXISTS key item [item ...]`: whether items are in the window. Changes nothing.

use super::key_and_items;
use crate::docs::{Access, Doc, ITEMS};
use crate::error::CommandError;
use crate::filter::Filter;
use crate::observe::TOTALS;
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::time::timestamp;

pub(crate) struct Exists;

impl Command for Exists {
    const DOC: Doc = Doc {
        name: c"APBF.EXISTS",
        flags: c"readonly fast",
        categories: "read fast",
        summary: c"Tells for each item whether it is in the window of a filter.",
        complexity: c"O(k + l) for each item, k being the number of hash functions and l that of aging slices",
        arity: -3,
        access: Access::Read,
        arguments: &[ITEMS],
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let (name, items) = key_and_items(args)?;
        let now = timestamp(context.now_ms());
        let key = context.open(name);
        let filter = key.filter()?;
        if let [item] = items {
            let seen = filter.contains_one(item, now);
            count(filter, u64::from(seen), 1);
            context.reply_array(1);
            context.reply_bool(seen);
        } else {
            let seen = filter.contains(items, now);
            let hits = seen.iter().filter(|&&seen| seen).count() as u64;
            count(filter, hits, seen.len() as u64);
            context.reply_array(seen.len());
            for seen in seen {
                context.reply_bool(seen);
            }
        }
        Ok(())
    }
}

/// Counts answers.
pub(super) fn count(filter: &Filter, hits: u64, answers: u64) {
    TOTALS.hits.add(hits);
    TOTALS.misses.add(answers - hits);
    filter.count_lookups(hits, answers - hits);
}
