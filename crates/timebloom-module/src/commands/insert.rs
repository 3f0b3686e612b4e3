//! `APBF.INSERT key [creation option ...] [NOCREATE] [NX] [AT unix-ms] ITEMS item [item ...]`: records items at a certain
//! time, in a filter that is created if it is missing. What replicas and append-only files get is this command too.

use super::adding::{publish, record, reply};
use super::reserve::RESERVED;
use crate::config;
use crate::docs::{Access, Argument, Doc, KINDS, MAX_BYTES, SEED, SHAPE, SIZING, Type, WHEN_FULL};
use crate::error::CommandError;
use crate::filter::Repeat;
use crate::parse::{self, ParseError};
use crate::server::entry::Command;
use crate::server::{Arg, Context};
use crate::spec;
use crate::time::Clock;

const SPAN: &[Argument] = &[
    Argument::new(c"seconds", Type::Integer).after(c"EX"),
    Argument::new(c"milliseconds", Type::Integer).after(c"PX"),
];

pub(crate) struct Insert;

impl Command for Insert {
    const DOC: Doc = Doc {
        name: c"APBF.INSERT",
        flags: c"write deny-oom",
        categories: "write",
        summary: c"Records items and tells which were new, in a filter that is created if it is missing.",
        complexity: c"O(k + l) for each item, k being the number of hash functions and l that of aging slices",
        arity: -4,
        access: Access::Update,
        arguments: &[
            Argument::new(c"window", Type::OneOf(KINDS)).optional(),
            Argument::new(c"error", Type::Double).after(c"ERROR").optional(),
            Argument::new(c"capacity", Type::Integer).after(c"CAPACITY").optional(),
            Argument::new(c"span", Type::OneOf(SPAN)).optional(),
            SHAPE,
            MAX_BYTES,
            WHEN_FULL,
            SEED,
            SIZING,
            Argument::token(c"nocreate", c"NOCREATE").optional(),
            Argument::token(c"nx", c"NX").optional(),
            Argument::new(c"unix-ms", Type::UnixTime).after(c"AT").optional(),
            Argument::new(c"item", Type::String).after(c"ITEMS").multiple(),
        ],
    };

    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError> {
        let [name, words @ ..] = args else { return Err(ParseError::Arity.into()) };
        let insert = parse::insert(words)?;
        let repeat = if insert.only_new { Repeat::Keep } else { Repeat::Refresh };
        let clock = context.clock();
        let is_replayed = clock == Clock::Primary;
        clock.check(insert.at, config::max_skew_ms())?;

        let mut key = context.open_to_write(name);
        let mut created = None;
        let filter = match (key.filter()?.is_some(), &insert.creation) {
            (true, _) => key.filter()?.ok_or(CommandError::Missing)?,
            (false, None) => return Err(CommandError::Missing),
            (false, Some(creation)) => {
                let filter = spec::create(creation, &config::defaults(is_replayed))?;
                created = Some(spec::words(&filter));
                key.set(filter)
            }
        };
        if insert.at.is_some() && !filter.is_time() {
            return Err(CommandError::NotATimeWindow);
        }
        let mut moment = filter.moment(insert.at, clock);
        let outcome = record(filter, insert.items, repeat, moment);
        drop(key);
        if let Some(words) = created {
            context.replicate_reserve(name, &words);
            context.note_change(name, RESERVED);
            moment.is_said = false; // the items come apart from the creation
        }
        publish(context, name, insert.items, repeat, &outcome, moment);
        if is_replayed && outcome.full.is_some() {
            // rejected there as well: nothing is wrong between the two servers
            context.reply_ok();
        } else {
            reply(context, &outcome);
        }
        Ok(())
    }
}
