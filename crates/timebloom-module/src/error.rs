//! What clients are told when a command is refused.

use std::fmt;

use timebloom::Full;

use crate::filter::NotATimeWindow;
use crate::parse::ParseError;
use crate::spec::CreationError;
use crate::time::TooFarAhead;

/// Why a command was refused. Displayed with the prefix that clients look for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CommandError {
    /// The key holds something else.
    WrongType,
    /// There is no filter.
    Missing,
    /// There is a filter already.
    Exists,
    Parse(ParseError),
    Creation(CreationError),
    NotATimeWindow,
    TooFarAhead(TooFarAhead),
    /// Some items were not recorded.
    Full {
        rejected: u64,
        items: usize,
        full: Full,
    },
    /// `APBF.LOADCHUNK` outside an append-only file.
    NotLoading,
    /// A piece of a filter that does not continue the one before it, or a filter that cannot be loaded.
    Chunk(String),
    /// A bug.
    Internal,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::WrongType => f.write_str(
                "WRONGTYPE Operation against a key holding the wrong kind of value: APBF commands need a filter",
            ),
            CommandError::Missing => {
                f.write_str("ERR there is no filter at this key: create it with APBF.RESERVE or APBF.INSERT")
            }
            CommandError::Exists => f.write_str("ERR the key exists already: a filter is reserved once"),
            CommandError::Parse(error) => write!(f, "ERR {error}"),
            CommandError::Creation(error) => write!(f, "ERR {error}"),
            CommandError::NotATimeWindow => f.write_str("ERR this is for TIME windows: a COUNT window has no times"),
            CommandError::TooFarAhead(TooFarAhead { at, latest }) => {
                write!(f, "ERR the time {at} lies too far ahead: up to {latest} is allowed (timebloom.max-skew-ms)")
            }
            CommandError::Full { rejected, items, full } => {
                write!(f, "ERR {rejected} of {items} items not recorded: {full}")
            }
            CommandError::NotLoading => {
                f.write_str("ERR APBF.LOADCHUNK is for the server's own append-only file: use RESTORE")
            }
            CommandError::Chunk(why) => write!(f, "ERR {why}"),
            CommandError::Internal => {
                f.write_str("ERR internal error in the timebloom module; the server's log has more")
            }
        }
    }
}

impl From<ParseError> for CommandError {
    fn from(error: ParseError) -> Self {
        CommandError::Parse(error)
    }
}

impl From<CreationError> for CommandError {
    fn from(error: CreationError) -> Self {
        CommandError::Creation(error)
    }
}

impl From<NotATimeWindow> for CommandError {
    fn from(_: NotATimeWindow) -> Self {
        CommandError::NotATimeWindow
    }
}

impl From<TooFarAhead> for CommandError {
    fn from(error: TooFarAhead) -> Self {
        CommandError::TooFarAhead(error)
    }
}
