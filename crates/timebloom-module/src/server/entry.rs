//! How the server calls commands: one C function for each, made from the [`Command`] behind it.
#![allow(unsafe_code, reason = "functions that C calls")]

use std::any::Any;
use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use redis_module::raw;

use super::{Arg, Context, OK, warn, words};
use crate::docs::Doc;
use crate::error::CommandError;
use crate::observe::TOTALS;

/// A command of the module.
pub(crate) trait Command {
    /// Its name, flags, arity and documentation.
    const DOC: Doc;

    /// Carries it out; `args` are the words after the command's name. Either replies once, in full, or fails before the
    /// first reply.
    fn run(context: &mut Context, args: &[Arg]) -> Result<(), CommandError>;
}

/// The function that the server calls for `C`.
pub(crate) unsafe extern "C" fn command<C: Command>(
    context: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    // SAFETY: the server keeps both alive until we return.
    let (mut context, args) = unsafe { (Context::new(context), words(argv, argc)) };
    let outcome = guard(C::DOC.name, || C::run(&mut context, args.get(1..).unwrap_or_default()));
    if let Err(error) = outcome.unwrap_or(Err(CommandError::Internal)) {
        context.reply_error(&error);
    }
    OK
}

/// Runs what the server asked for. A panic must not unwind into C: it ends here, in the log.
pub(crate) fn guard<T>(what: &CStr, run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).inspect_err(|panic| tell(what, panic.as_ref())).ok()
}

#[cold]
fn tell(what: &CStr, panic: &(dyn Any + Send)) {
    TOTALS.panics.add(1);
    warn(&format!("timebloom: a panic in {}: {}", what.to_string_lossy(), message(panic)));
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_at_the_guard_and_is_counted() {
        let before = TOTALS.panics.get();
        assert_eq!(guard(c"a test", || 5), Some(5));
        assert_eq!(guard(c"a test", || -> u32 { panic!("on purpose") }), None);
        assert_eq!(TOTALS.panics.get(), before + 1);
    }
}
