//! `APBF.MADD key item [item ...]`: records items and tells which were new; one that is known starts anew.

use super::adding::add_and_tell;
use super::key_and_items;
use crate::docs::Doc;
use crate::error::CommandError;
use crate::filter::Repeat;
use crate::server::entry::Command;
use crate::server::{Arg, Context};

pub(crate) struct MAdd;

impl Command for MAdd {
    const DOC: Doc =
        Doc::recording(c"APBF.MADD", c"Records items and tells which were new; those that are known start anew.");

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let (name, items) = key_and_items(args)?;
        add_and_tell(context, name, items, Repeat::Refresh)
    }
}
