//! `APBF.BETWEEN key from-unix-ms to-unix-ms item [item ...]`: whether items were seen at a certain time.

use crate::docs::{Argument, Doc, ITEMS, Type};
use crate::error::CommandError;
use crate::parse::{ParseError, unix_ms};
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::time::timestamp;

pub(crate) struct Between;

impl Command for Between {
    const DOC: Doc = Doc {
        arity: -5,
        arguments: &[
            Argument::new(c"from-unix-ms", Type::UnixTime),
            Argument::new(c"to-unix-ms", Type::UnixTime),
            ITEMS,
        ],
        ..Doc::asking(
            c"APBF.BETWEEN",
            c"Tells for each item whether it was recorded between two times, both included, within the window.",
        )
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let [name, from, to, items @ ..] = args else { return Err(ParseError::Arity.into()) };
        if items.is_empty() {
            return Err(ParseError::Arity.into());
        }
        let from = unix_ms("from", from.as_ref())?;
        let to = unix_ms("to", to.as_ref())?;
        if from > to {
            return Err(ParseError::Conflict("the first time must not be after the second").into());
        }
        // `to` stands for the whole of its millisecond
        let when = timestamp(from)..timestamp(to.saturating_add(1)).max(timestamp(from));
        let now = timestamp(context.now_ms());
        let key = context.open(name);
        let filter = key.filter()?.time()?;
        let seen: Vec<bool> = items.iter().map(|item| filter.contains_between_at(item, when.clone(), now)).collect();
        context.reply_bools(&seen);
        Ok(())
    }
}
