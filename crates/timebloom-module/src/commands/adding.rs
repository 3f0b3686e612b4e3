//! Recording items: what ADD, ADDNX, MADD and INSERT share.
//!
//! The order is always the same. The time is resolved once; the filter changes; then, with the key closed, replicas and
//! the append-only file get what changed with that time, watchers of the key are told, and the client is answered.

use std::ffi::CStr;

use timebloom::Counts;

use crate::error::CommandError;
use crate::filter::{Added, Filter, Outcome, Repeat};
use crate::observe::TOTALS;
use crate::server::{Arg, Context};
use crate::time::Moment;

/// The event that watchers of a key are told when items were recorded.
const ADDED: &CStr = c"apbf.add";

/// What a filter did, measured around a change.
pub(crate) struct Change {
    before: Counts,
}

impl Change {
    pub(crate) fn begin(filter: &Filter) -> Self {
        Change { before: filter.counts() }
    }

    pub(crate) fn end(self, filter: &Filter) {
        TOTALS.add_change(self.before, filter.counts());
    }
}

/// Records items in a filter that exists, and answers for each: true if it is new.
pub(crate) fn add_and_tell(
    context: &mut Context,
    name: &Arg,
    items: &[Arg],
    repeat: Repeat,
) -> Result<(), CommandError> {
    let clock = context.clock();
    let mut key = context.open_to_write(name);
    let filter = key.filter()?.ok_or(CommandError::Missing)?;
    let moment = filter.moment(None, clock);
    let outcome = record(filter, items, repeat, moment);
    drop(key);
    publish(context, name, items, repeat, &outcome, moment);
    reply(context, &outcome);
    Ok(())
}

/// Records items, and counts what happened.
pub(crate) fn record(filter: &mut Filter, items: &[Arg], repeat: Repeat, moment: Moment) -> Outcome {
    let change = Change::begin(filter);
    let outcome = filter.add(items, repeat, moment.time);
    change.end(filter);
    let count = |what| outcome.added.iter().filter(|&&added| added == what).count() as u64;
    filter.count_lookups(count(Added::Seen), count(Added::New));
    outcome
}

/// Passes on what changed the filter. An item that was seen and keeps its age changed nothing. One that was rejected did:
/// the filter's time moved on, and replicas must move with it.
pub(crate) fn publish(context: &Context, name: &Arg, items: &[Arg], repeat: Repeat, outcome: &Outcome, moment: Moment) {
    let added = &*outcome.added;
    let is_change = |added: &Added| repeat == Repeat::Refresh || *added != Added::Seen;
    if !added.iter().any(is_change) {
        return;
    }
    // an answer with an error in it would be one on a replica as well, where errors are alarming
    if moment.is_said && outcome.full.is_none() && added.iter().all(is_change) {
        pass_on_as_said(context, name);
    } else {
        let changed = items.iter().zip(added).filter(|(_, added)| is_change(added)).map(|(item, _)| item);
        pass_on(context, name, changed, moment);
    }
}

/// Tells replicas, the append-only file and watchers of a command that changed the filter by each of its items, at a
/// moment that its words say.
pub(crate) fn pass_on_as_said(context: &Context, name: &Arg) {
    context.replicate_as_said();
    context.note_change(name, ADDED);
}

/// Tells replicas, the append-only file and watchers that these items changed the filter at this moment.
pub(crate) fn pass_on<'a>(context: &Context, name: &Arg, items: impl Iterator<Item = &'a Arg>, moment: Moment) {
    context.replicate_insert(name, moment.at, items);
    context.note_change(name, ADDED);
}

/// One answer for each item: true for new, false for seen, or why it was not recorded.
pub(crate) fn reply(context: &Context, outcome: &Outcome) {
    context.reply_array(outcome.added.len());
    for added in &*outcome.added {
        match (added, outcome.full) {
            (Added::Rejected, Some(full)) => {
                context.reply_error(&CommandError::Full { rejected: 1, items: 1, full });
            }
            (added, _) => context.reply_bool(*added == Added::New),
        }
    }
}
