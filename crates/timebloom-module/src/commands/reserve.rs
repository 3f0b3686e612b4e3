//! `APBF.RESERVE key COUNT|TIME error capacity [span-seconds] [option ...]`: creates a filter.

use crate::config;
use crate::docs::{Access, Argument, Doc, KINDS, MAX_BYTES, SEED, SHAPE, SIZING, Type, WHEN_FULL};
use crate::error::CommandError;
use crate::parse::{self, ParseError};
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::spec;

/// The event that watchers of a key are told when a filter was created.
pub(super) const RESERVED: &std::ffi::CStr = c"apbf.reserve";

const SPAN: &[Argument] = &[
    Argument::new(c"span-seconds", Type::Integer),
    Argument::new(c"seconds", Type::Integer).after(c"EX"),
    Argument::new(c"milliseconds", Type::Integer).after(c"PX"),
];

pub(crate) struct Reserve;

impl Command for Reserve {
    const DOC: Doc = Doc {
        name: c"APBF.RESERVE",
        flags: c"write deny-oom",
        categories: "write",
        summary: c"Creates a filter over the last items, or over the last span of time.",
        complexity: c"O(1)",
        arity: -5,
        access: Access::Insert,
        arguments: &[
            Argument::new(c"window", Type::OneOf(KINDS)),
            Argument::new(c"error", Type::Double),
            Argument::new(c"capacity", Type::Integer),
            Argument::new(c"span", Type::OneOf(SPAN)).optional(),
            SHAPE,
            MAX_BYTES,
            WHEN_FULL,
            SEED,
            SIZING,
        ],
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let [name, words @ ..] = args else { return Err(ParseError::Arity.into()) };
        let (_, creation) = parse::reserve(words)?;
        let defaults = config::defaults(context.is_replayed());
        let mut key = context.open_to_write(name);
        if key.filter()?.is_some() {
            return Err(CommandError::Exists);
        }
        let filter = spec::create(&creation, &defaults)?;
        let words = spec::words(&filter);
        key.set(filter);
        drop(key);
        context.replicate_reserve(name, &words);
        context.note_change(name, RESERVED);
        context.reply_ok();
        Ok(())
    }
}
