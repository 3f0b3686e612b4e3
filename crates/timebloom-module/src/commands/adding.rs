//! Recording items: what ADD, ADDNX, MADD and INSERT share.
//!
//! The order is always the same. The time is resolved once; the filter changes; then, with the key closed, replicas and
//! the append-only file get what changed with that time, watchers of the key are told, and the client is answered.

use std::ffi::CStr;

use timebloom::Counts;

use crate::error::CommandError;
use crate::filter::{Added, Filter, Repeat};
use crate::observe::TOTALS;
use crate::server::{Arg, Context, select};
use crate::time::timestamp;

/// The event that watchers of a key are told when items were recorded.
pub(crate) const ADDED: &CStr = c"apbf.add";

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
    let now = context.now_ms();
    let mut key = context.open_to_write(name);
    let filter = key.filter()?.ok_or(CommandError::Missing)?;
    let (added, is_time) = (record(filter, items, repeat, now), filter.is_time());
    drop(key);
    publish(context, name, items, repeat, &added, is_time.then_some(now));
    reply(context, &added);
    Ok(())
}

/// Records items at `now`, and counts what happened.
pub(crate) fn record(filter: &mut Filter, items: &[Arg], repeat: Repeat, now: u64) -> Vec<Added> {
    let change = Change::begin(filter);
    let added = filter.add(items, repeat, timestamp(now));
    change.end(filter);
    let (mut hits, mut misses) = (0, 0);
    for outcome in &added {
        match outcome {
            Added::Seen => hits += 1,
            Added::New => misses += 1,
            Added::Rejected(_) => {}
        }
    }
    TOTALS.hits.add(hits);
    TOTALS.misses.add(misses);
    filter.count_lookups(hits, misses);
    added
}

/// Passes on what changed the filter. An item that was seen and keeps its age changed nothing. One that was rejected did:
/// the filter's time moved on, and replicas must move with it.
pub(crate) fn publish(context: &Context, name: &Arg, items: &[Arg], repeat: Repeat, added: &[Added], at: Option<u64>) {
    let all = repeat == Repeat::Refresh || !added.contains(&Added::Seen);
    if all {
        context.replicate_insert(name, at, items);
    } else {
        let changed = select(items, |place| added[place] != Added::Seen);
        if changed.is_empty() {
            return;
        }
        context.replicate_insert(name, at, &changed);
    }
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
