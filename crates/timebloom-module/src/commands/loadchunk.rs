//! `APBF.LOADCHUNK key length offset bytes`: a piece of a filter, as an append-only file without RDB preamble has it.
//!
//! Only the server's own file may say this: a client that wants to restore a filter uses RESTORE. Pieces of one filter
//! follow each other; the last one makes the filter. A filter whose last piece never comes is never there, and what was
//! kept of it is dropped when loading ends.

use std::sync::Mutex;

use crate::data_type::staging::Staging;
use crate::docs::{Access, Argument, Doc, Type};
use crate::error::CommandError;
use crate::observe::TOTALS;
use crate::parse::{ParseError, number};
use crate::server::entry::Command;
use crate::server::{Arg, Context, warn};

static STAGING: Mutex<Staging> = Mutex::new(Staging::new());

/// Drops what is left of a filter that never became whole.
pub(crate) fn loading_ended() {
    let left = STAGING.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    if left {
        warn("timebloom: the last filter of the append-only file is incomplete, and was left out");
    }
}

pub(crate) struct LoadChunk;

impl Command for LoadChunk {
    const DOC: Doc = Doc {
        name: c"APBF.LOADCHUNK",
        flags: c"write admin deny-script",
        categories: "write admin dangerous",
        summary: c"A piece of a filter in the server's own append-only file; refused from clients.",
        complexity: c"O(n), n being the size of the piece",
        arity: 5,
        access: Access::Insert,
        arguments: &[
            Argument::new(c"length", Type::Integer),
            Argument::new(c"offset", Type::Integer),
            Argument::new(c"bytes", Type::String),
        ],
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let [name, length, offset, bytes] = args else { return Err(ParseError::Arity.into()) };
        if !context.is_loading() {
            return Err(CommandError::NotLoading);
        }
        let length = number("length", length.as_ref(), "a number of bytes")?;
        let offset = number("offset", offset.as_ref(), "a number of bytes")?;
        let place = (context.database(), name.as_ref().to_vec());
        let whole = STAGING
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take(place, length, offset, bytes.as_ref())
            .map_err(|why| {
                TOTALS.refused_payloads.add(1);
                warn(&format!("timebloom: a filter in the append-only file was left out: {why}"));
                CommandError::Chunk(why)
            })?;
        if let Some(filter) = whole {
            let mut key = context.open_to_write(name);
            key.filter()?;
            key.set(filter);
        }
        context.reply_ok();
        Ok(())
    }
}
