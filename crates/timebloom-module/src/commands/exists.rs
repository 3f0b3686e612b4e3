//! `APBF.EXISTS key item [item ...]`: whether items are in the window. Changes nothing.

use super::key_and_items;
use crate::docs::Doc;
use crate::error::CommandError;
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::time::timestamp;

pub(crate) struct Exists;

impl Command for Exists {
    const DOC: Doc = Doc::asking(c"APBF.EXISTS", c"Tells for each item whether it is in the window of a filter.");

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let (name, items) = key_and_items(args)?;
        let key = context.open(name);
        let filter = key.filter()?;
        if let [item] = items {
            // its memory arrives while the clock is read and the reply begins
            let hash = filter.prefetch(item);
            let now = timestamp(context.now_ms());
            context.reply_array(1);
            let seen = filter.contains_hash(hash, now);
            context.reply_bool(seen);
            filter.count_lookups(u64::from(seen), u64::from(!seen));
            return Ok(());
        }
        let seen = filter.contains(items, timestamp(context.now_ms()));
        let hits = seen.iter().filter(|&&seen| seen).count() as u64;
        filter.count_lookups(hits, seen.len() as u64 - hits);
        context.reply_bools(&seen);
        Ok(())
    }
}
