//! The commands, one file each; `adding` is what those that record items share.

pub(crate) mod add;
pub(crate) mod adding;
pub(crate) mod addnx;
pub(crate) mod age;
pub(crate) mod between;
pub(crate) mod card;
pub(crate) mod exists;
pub(crate) mod info;
pub(crate) mod insert;
pub(crate) mod loadchunk;
pub(crate) mod madd;
pub(crate) mod reserve;

use crate::error::CommandError;
use crate::parse::ParseError;
use crate::server::Arg;

/// The key and the words after it, of which there must be some.
fn key_and_items(args: &[Arg]) -> Result<(&Arg, &[Arg]), CommandError> {
    match args {
        [key, items @ ..] if !items.is_empty() => Ok((key, items)),
        _ => Err(ParseError::Arity.into()),
    }
}
