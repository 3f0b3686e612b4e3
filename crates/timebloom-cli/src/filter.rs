//! The filter that the options ask for: a new one, the one in the state file, or the one in a server.

use std::time::Duration;

use timebloom::{CountBloom, DEFAULT_FALSE_POSITIVE_RATE, OnFull, TimeBloom};

use crate::args::{DedupArgs, OnFullArg};
use crate::duration;
use crate::error::Error;
use crate::input::Input;
use crate::judge::Filter;
use crate::server::{Server, ServerOptions, ServerWindow};
use crate::state::{StateError, StateFile};

/// Items per window that a filter starts out for when nothing is known. Smaller inputs are then deduplicated all but
/// exactly, and larger ones make the filter grow.
pub(crate) const EXPECTED_ITEMS: u64 = 100_000;

/// The most it starts out for, in a few hundred kilobytes.
const MOST_EXPECTED_ITEMS: u64 = 1_000_000;

/// What a line is guessed to have, before any was read.
const LINE_BYTES: u64 = 100;

/// Items per window to start out for. A file comes in one go, and a filter that has to grow less often is smaller and
/// faster.
fn expected_items(inputs: &[Input]) -> u64 {
    let lines = Input::total_size(inputs).map_or(0, |bytes| bytes / LINE_BYTES);
    lines.clamp(EXPECTED_ITEMS, MOST_EXPECTED_ITEMS)
}

/// A new filter.
pub(crate) fn build(args: &DedupArgs) -> Result<Filter, Error> {
    let error = args.error.unwrap_or(DEFAULT_FALSE_POSITIVE_RATE);
    if let Some(last) = args.last {
        return Ok(Filter::Count(CountBloom::builder(last).false_positive_rate(error).build()?));
    }
    let Some(window) = args.window else {
        let why = if args.state.is_some() { "; the state has no filter yet" } else { "" };
        let what = format!("--window or --last is needed, such as --window 60s or --last 1M{why}");
        return Err(Error::Usage(what));
    };
    // what is out of order is looked for a window before its own time
    let span = window.saturating_add(args.clock.lateness());
    let mut builder = TimeBloom::builder(span).false_positive_rate(error).expected_items(expected_items(&args.inputs));
    if let Some(max_bytes) = args.max_memory {
        builder = builder.max_bytes(max_bytes).on_full(on_full(args.on_full));
    }
    Ok(Filter::Time(builder.build()?))
}

fn on_full(argument: Option<OnFullArg>) -> OnFull {
    match argument {
        None | Some(OnFullArg::Reject) => OnFull::Reject,
        Some(OnFullArg::Shorten) => OnFull::Shorten,
    }
}

/// The filter in the state file, if there is one, and the hold on the file.
pub(crate) fn open_state(args: &DedupArgs) -> Result<Option<(StateFile, Option<Filter>)>, Error> {
    let Some(path) = &args.state else { return Ok(None) };
    let (file, filter) = StateFile::open(path)?;
    if let Some(filter) = &filter {
        check(args, filter, &file)?;
    }
    Ok(Some((file, filter)))
}

/// A stored filter is what it is: options that say otherwise are a mistake, not a wish.
fn check(args: &DedupArgs, filter: &Filter, file: &StateFile) -> Result<(), Error> {
    let check = |option, stored: String, asked: Option<String>| match asked {
        Some(asked) if asked != stored => {
            Err(Error::State(StateError::Differs { path: file.path().to_owned(), option, stored, asked }))
        }
        _ => Ok(()),
    };
    let lateness = args.clock.lateness();
    let asked_window = args.window.map(duration::show);
    let asked_last = args.last.map(|last| last.to_string());
    let plan = match filter {
        Filter::Time(filter) => {
            let window = filter.span().checked_sub(lateness).unwrap_or(Duration::ZERO);
            check("--window", duration::show(window), asked_window)?;
            check("--window", duration::show(window), asked_last.map(|last| format!("--last {last}")))?;
            let stored = filter.max_bytes().map_or("unlimited".to_owned(), |bytes| bytes.to_string());
            check("--max-memory", stored, args.max_memory.map(|bytes| bytes.to_string()))?;
            let stored = if filter.on_full() == OnFull::Shorten { "shorten" } else { "reject" };
            let asked = args.on_full.map(|policy| if policy == OnFullArg::Shorten { "shorten" } else { "reject" });
            check("--on-full", stored.to_owned(), asked.map(str::to_owned))?;
            filter.plan()
        }
        Filter::Count(filter) => {
            check("--last", filter.capacity().to_string(), asked_last)?;
            check("--last", filter.capacity().to_string(), asked_window.map(|window| format!("--window {window}")))?;
            filter.plan()
        }
    };
    check("--error", plan.false_positive_rate().to_string(), args.error.map(|error| error.to_string()))
}

/// The window that lines are judged by.
pub(crate) fn window(args: &DedupArgs, filter: &Filter) -> Duration {
    match filter {
        Filter::Time(filter) => filter.span().saturating_sub(args.clock.lateness()),
        Filter::Count(_) => Duration::ZERO,
    }
}

/// The filter in a server, if one is asked for.
pub(crate) fn connect(args: &DedupArgs) -> Result<Option<Server>, Error> {
    let (Some(url), Some(key)) = (&args.redis, &args.key_name) else { return Ok(None) };
    if !args.clock.lateness().is_zero() {
        let what = "--lateness works only with a filter in this process: with --redis, late lines count as they come";
        return Err(Error::Usage(what.to_owned()));
    }
    // refuses what cannot be before it gets as far as the server
    build(args)?;
    let window = match (args.window, args.last) {
        (Some(window), _) => ServerWindow::Time(window),
        (None, Some(last)) => ServerWindow::Count(last),
        (None, None) => unreachable!("a filter was built from them"),
    };
    let server = Server::connect(ServerOptions {
        url: url.clone(),
        key: key.clone(),
        shards: usize::try_from(args.shards).expect("at most 16,384"),
        window,
        error: args.error.unwrap_or(DEFAULT_FALSE_POSITIVE_RATE),
        max_bytes: args.max_memory,
        shorten: on_full(args.on_full) == OnFull::Shorten,
        refresh: args.refresh,
        retries: args.retries,
    })?;
    Ok(Some(server))
}
