//! Loading the module: the one function that the server looks for.
#![allow(unsafe_code, reason = "a function that C calls")]

use std::ffi::{CStr, c_int, c_void};

use redis_module::raw;

use crate::commands::{add, addnx, age, between, card, exists, info, insert, loadchunk, madd, reserve};
use crate::server::entry::guard;
use crate::server::{ERR, OK, server, warn};
use crate::{config, data_type, docs, info_section};

/// The name of the module, and what its settings begin with.
const NAME: &CStr = c"timebloom";
/// 0.1.0
const VERSION: c_int = 100;

/// The server calls this once. Everything that is refused here keeps the module from being loaded.
///
/// # Safety
/// For the server to call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut raw::RedisModuleCtx,
    _argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    // First of all, before anything is allocated: from here on, memory comes from the server.
    // SAFETY: the context is the server's, the name a constant.
    let code = unsafe {
        raw::Export_RedisModule_Init(context, NAME.as_ptr(), VERSION, raw::REDISMODULE_APIVER_1.cast_signed())
    };
    if code == ERR {
        return ERR;
    }
    // SAFETY: the context is the server's.
    match guard(c"loading", || unsafe { register(context, argc) }) {
        Some(true) => OK,
        Some(false) | None => ERR,
    }
}

/// # Safety
/// `context` is the context that the module is being loaded with.
unsafe fn register(context: *mut raw::RedisModuleCtx, argc: c_int) -> bool {
    if argc > 0 {
        warn("timebloom: the module takes no arguments: use settings such as timebloom.max-filter-bytes");
        return false;
    }
    // SAFETY: the context is alive, here and below.
    unsafe {
        // Errors while loading values are ours to handle; so is telling which keys changed.
        let options = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
            | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED
            | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD;
        server!(RedisModule_SetModuleOptions(context, options.cast_signed()));
        let has_category = docs::add_category(context);
        data_type::register(context)
            && docs::register::<reserve::Reserve>(context, has_category)
            && docs::register::<add::Add>(context, has_category)
            && docs::register::<exists::Exists>(context, has_category)
            && docs::register::<info::Info>(context, has_category)
            && docs::register::<addnx::AddNx>(context, has_category)
            && docs::register::<madd::MAdd>(context, has_category)
            && docs::register::<insert::Insert>(context, has_category)
            && docs::register::<age::Age>(context, has_category)
            && docs::register::<between::Between>(context, has_category)
            && docs::register::<card::Card>(context, has_category)
            && docs::register::<loadchunk::LoadChunk>(context, has_category)
            && info_section::register(context)
            && config::register(context)
            && subscribe(context)
    }
}

/// Asks the server to tell when it has loaded its data.
///
/// # Safety
/// `context` is the context that the module is being loaded with.
unsafe fn subscribe(context: *mut raw::RedisModuleCtx) -> bool {
    let loading = raw::RedisModuleEvent { id: raw::REDISMODULE_EVENT_LOADING, dataver: 1 };
    // SAFETY: the context is alive.
    let code = unsafe { server!(RedisModule_SubscribeToServerEvent(context, loading, Some(loading_event))) };
    code == OK
}

unsafe extern "C" fn loading_event(
    _context: *mut raw::RedisModuleCtx,
    _event: raw::RedisModuleEvent,
    what: u64,
    _data: *mut c_void,
) {
    if what == raw::REDISMODULE_SUBEVENT_LOADING_ENDED || what == raw::REDISMODULE_SUBEVENT_LOADING_FAILED {
        guard(c"the end of loading", loadchunk::loading_ended);
    }
}
