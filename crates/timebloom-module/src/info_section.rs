//! The section of the server's INFO: `INFO timebloom`.
#![allow(unsafe_code, reason = "functions that C calls")]

use std::ffi::c_int;

use redis_module::raw;

use crate::server::entry::guard;
use crate::server::{OK, server};
use crate::{allocator, observe};

/// Makes the section known to the server. False if the server refuses it.
///
/// # Safety
/// `context` is the context that the module is being loaded with.
pub(crate) unsafe fn register(context: *mut raw::RedisModuleCtx) -> bool {
    // SAFETY: the context is alive.
    unsafe { server!(RedisModule_RegisterInfoFunc(context, Some(fill))) == OK }
}

unsafe extern "C" fn fill(info: *mut raw::RedisModuleInfoCtx, _for_crash_report: c_int) {
    guard(c"INFO", || {
        let totals = &observe::TOTALS;
        // SAFETY: the server keeps it alive during the call; the name is a constant.
        let wanted = unsafe { server!(RedisModule_InfoAddSection(info, c"stats".as_ptr())) };
        if wanted != OK {
            return;
        }
        for (name, value) in [
            (c"filters", observe::filters()),
            (c"bytes", allocator::live_bytes() as u64),
            (c"adds", totals.adds.get()),
            (c"hits", totals.hits.get()),
            (c"misses", totals.misses.get()),
            (c"shifts", totals.shifts.get()),
            (c"retired_slices", totals.retired.get()),
            (c"fresh_starts", totals.fresh_starts.get()),
            (c"shortened", totals.shortened.get()),
            (c"rejected", totals.rejected.get()),
            (c"refused_payloads", totals.refused_payloads.get()),
            (c"panics", totals.panics.get()),
        ] {
            // SAFETY: as above.
            unsafe { server!(RedisModule_InfoAddFieldULongLong(info, name.as_ptr(), value)) };
        }
    });
}
