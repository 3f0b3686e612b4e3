//! `APBF.ADD key item [item ...]`: records items; one that is known starts anew.

use super::adding::{ADDED, Change};
use super::key_and_items;
use crate::docs::{Access, Doc, ITEMS};
use crate::error::CommandError;
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::time::timestamp;

pub(crate) struct Add;

impl Command for Add {
    const DOC: Doc = Doc {
        name: c"APBF.ADD",
        flags: c"write deny-oom fast",
        categories: "write fast",
        summary: c"Records items in a filter; those that are known start anew.",
        complexity: c"O(k) for each item, k being the number of hash functions",
        arity: -3,
        access: Access::Update,
        arguments: &[ITEMS],
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let (name, items) = key_and_items(args)?;
        let now = context.now_ms();
        let mut key = context.open_to_write(name);
        let filter = key.filter()?.ok_or(CommandError::Missing)?;
        let change = Change::begin(filter);
        let (rejected, full) = filter.insert(items, timestamp(now));
        change.end(filter);
        let at = filter.is_time().then_some(now);
        drop(key);
        // rejected items too: the filter's time moved on
        context.replicate_insert(name, at, items);
        context.note_change(name, ADDED);
        match full {
            Some(full) => Err(CommandError::Full { rejected, items: items.len(), full }),
            None => {
                context.reply_ok();
                Ok(())
            }
        }
    }
}
