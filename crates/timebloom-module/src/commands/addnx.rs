//! `APBF.ADDNX key item [item ...]`: records items that are new, and tells which. The first sighting decides.

use super::adding::add_and_tell;
use super::key_and_items;
use crate::docs::Doc;
use crate::error::CommandError;
use crate::filter::Repeat;
use crate::server::entry::Command;
use crate::server::{Arg, Context};

pub(crate) struct AddNx;

impl Command for AddNx {
    const DOC: Doc = Doc::recording(
        c"APBF.ADDNX",
        c"Records the items that are new and tells which are; those that are known keep their age.",
    );

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let (name, items) = key_and_items(args)?;
        add_and_tell(context, name, items, Repeat::Keep)
    }
}
