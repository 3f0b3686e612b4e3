//! `APBF.CARD key`: how many items are recorded in the window.

use crate::docs::{Access, Doc};
use crate::error::CommandError;
use crate::parse::ParseError;
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::time::timestamp;

pub(crate) struct Card;

impl Command for Card {
    const DOC: Doc = Doc {
        name: c"APBF.CARD",
        flags: c"readonly fast",
        categories: "read fast",
        summary: c"Tells how many items are recorded in the window of a filter, repeats counted.",
        complexity: c"O(k * (k + l)), k being the number of hash functions and l that of aging slices",
        arity: 2,
        access: Access::Read,
        arguments: &[],
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let [name] = args else { return Err(ParseError::Arity.into()) };
        let now = timestamp(context.now_ms());
        let key = context.open(name);
        let items = key.filter()?.stats(now).items_in_window;
        context.reply_integer(i64::try_from(items).unwrap_or(i64::MAX));
        Ok(())
    }
}
