//! `APBF.ADD key item [item ...]`: records items; one that is known starts anew.

use super::adding::{Change, pass_on, pass_on_as_said};
use super::key_and_items;
use crate::docs::Doc;
use crate::error::CommandError;
use crate::server::entry::Command;
use crate::server::{Arg, Context};

pub(crate) struct Add;

impl Command for Add {
    const DOC: Doc = Doc {
        complexity: c"O(k) for each item, k being the number of hash functions",
        ..Doc::recording(c"APBF.ADD", c"Records items in a filter; those that are known start anew.")
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let (name, items) = key_and_items(args)?;
        let clock = context.clock();
        let mut key = context.open_to_write(name);
        let filter = key.filter()?.ok_or(CommandError::Missing)?;
        let moment = filter.moment(None, clock);
        let change = Change::begin(filter);
        let (rejected, full) = filter.insert(items, moment.time);
        change.end(filter);
        drop(key);
        if moment.is_said && full.is_none() {
            pass_on_as_said(context, name);
        } else {
            // rejected items too: the filter's time moved on
            pass_on(context, name, items.iter(), moment);
        }
        match full {
            Some(full) => Err(CommandError::Full { rejected, items: items.len(), full }),
            None => {
                context.reply_ok();
                Ok(())
            }
        }
    }
}
