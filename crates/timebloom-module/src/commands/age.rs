//! `APBF.AGE key item [item ...]`: how long ago items were last seen.

use super::key_and_items;
use crate::docs::Doc;
use crate::error::CommandError;
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::time::{millis, timestamp};

pub(crate) struct Age;

impl Command for Age {
    const DOC: Doc = Doc::asking(
        c"APBF.AGE",
        c"Tells for each item the least and the most milliseconds since it was last recorded.",
    );

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let (name, items) = key_and_items(args)?;
        let now = timestamp(context.now_ms());
        let key = context.open(name);
        let filter = key.filter()?;
        let ages = items.iter().map(|item| filter.age(item, now)).collect::<Result<Vec<_>, _>>()?;
        context.reply_array(ages.len());
        for age in ages {
            match age {
                Some(age) => {
                    context.reply_array(2);
                    context.reply_integer(millis(age.at_least));
                    context.reply_integer(millis(age.at_most));
                }
                None => context.reply_null(),
            }
        }
        Ok(())
    }
}
