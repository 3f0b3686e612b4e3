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
        let now = timestamp(context.now_ms());
        let key = context.open(name);
        let filter = key.filter()?;
        let seen = filter.contains(items, now);
        let hits = seen.iter().filter(|&&seen| seen).count() as u64;
        filter.count_lookups(hits, seen.len() as u64 - hits);
        context.reply_bools(&seen);
        Ok(())
    }
}
