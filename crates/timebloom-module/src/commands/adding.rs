//! Recording items: what ADD, ADDNX, MADD and INSERT share.
//!
//! The order is always the same. The time is resolved once; the filter changes; then, with the key closed, replicas and
//! the append-only file get what changed with that time, watchers of the key are told, and the client is answered.

use std::ffi::CStr;

use timebloom::Counts;

use crate::error::CommandError;
use crate::filter::{Added, Answers, Filter, Repeat};
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
    let added = record(filter, items, repeat, moment);
    drop(key);
    publish(context, name, items, repeat, &added, moment);
    reply(context, &added);
    Ok(())
}

/// Records items, and counts what happened.
pub(crate) fn record(filter: &mut Filter, items: &[Arg], repeat: Repeat, moment: Moment) -> Answers<Added> {
    let change = Change::begin(filter);
    let added = filter.add(items, repeat, moment.time);
    change.end(filter);
    let (mut hits, mut misses) = (0, 0);
    for outcome in &*added {
        match outcome {
            Added::Seen => hits += 1,
            Added::New => misses += 1,
            Added::Rejected(_) => {}
        }
    }
    filter.count_lookups(hits, misses);
    added
}

/// Passes on what changed the filter. An item that was seen and keeps its age changed nothing. One that was rejected did:
/// the filter's time moved on, and replicas must move with it.
pub(crate) fn publish(context: &Context, name: &Arg, items: &[Arg], repeat: Repeat, added: &[Added], moment: Moment) {
    let is_change = |outcome: &Added| repeat == Repeat::Refresh || *outcome != Added::Seen;
    if !added.iter().any(is_change) {
        return;
    }
    // an answer with an error in it would be one on a replica as well, where errors are alarming
    let is_plain = |outcome: &Added| is_change(outcome) && !matches!(outcome, Added::Rejected(_));
    if moment.is_said && added.iter().all(is_plain) {
        pass_on_as_said(context, name);
    } else {
        let changed = items.iter().zip(added).filter(|(_, outcome)| is_change(outcome)).map(|(item, _)| item);
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
pub(crate) fn reply(context: &Context, added: &[Added]) {
    context.reply_array(added.len());
    for outcome in added {
        match outcome {
            Added::New => context.reply_bool(true),
            Added::Seen => context.reply_bool(false),
            Added::Rejected(full) => context.reply_error(&CommandError::Full { rejected: 1, items: 1, full: *full }),
        }
    }
}
