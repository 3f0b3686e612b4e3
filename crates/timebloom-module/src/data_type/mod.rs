//! The type of our values, as the server sees it: how they are stored, copied, measured and freed.
#![allow(unsafe_code, reason = "functions that C calls")]

mod rdb;
pub(crate) mod staging;

use std::ffi::{CStr, c_int, c_longlong, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use redis_module::raw;

use crate::allocator::PLAIN_ALIGN;
use crate::encoding::{self, VERSION};
use crate::filter::Filter;
use crate::server::entry::guard;
use crate::server::server;

/// Nine characters, by the server's rule; they are in every RDB file.
const NAME: &CStr = c"timebloom";

static TYPE: AtomicPtr<raw::RedisModuleType> = AtomicPtr::new(ptr::null_mut());

/// The server's handle for the type.
pub(crate) fn handle() -> *mut raw::RedisModuleType {
    TYPE.load(Ordering::Relaxed)
}

/// Makes the type known to the server. False if the server refuses it.
///
/// # Safety
/// `context` is the context that the module is being loaded with.
pub(crate) unsafe fn register(context: *mut raw::RedisModuleCtx) -> bool {
    let mut methods = raw::RedisModuleTypeMethods {
        version: u64::from(raw::REDISMODULE_TYPE_METHOD_VERSION),
        rdb_load: Some(rdb::load),
        rdb_save: Some(rdb::save),
        aof_rewrite: Some(aof_rewrite),
        mem_usage: Some(mem_usage),
        digest: Some(digest),
        free: Some(free),
        aux_load: None,
        aux_save: None,
        aux_save_triggers: 0,
        free_effort: Some(free_effort),
        unlink: None,
        copy: Some(copy),
        defrag: Some(defrag),
        mem_usage2: None,
        free_effort2: None,
        unlink2: None,
        copy2: None,
        aux_save2: None,
    };
    // SAFETY: the context is alive; the server copies name and methods.
    let created =
        unsafe { server!(RedisModule_CreateDataType(context, NAME.as_ptr(), c_int::from(VERSION), &raw mut methods)) };
    TYPE.store(created, Ordering::Relaxed);
    !created.is_null()
}

/// The filter behind a value.
///
/// # Safety
/// `value` came from [`Filter`] through `Box::into_raw`, is alive for `'a`, and nobody changes it meanwhile.
unsafe fn filter<'a>(value: *const c_void) -> &'a Filter {
    // SAFETY: by the caller.
    unsafe { &*value.cast::<Filter>() }
}

/// The filter as commands: pieces that are put together by `APBF.LOADCHUNK`.
unsafe extern "C" fn aof_rewrite(aof: *mut raw::RedisModuleIO, key: *mut raw::RedisModuleString, value: *mut c_void) {
    guard(c"AOF rewrite", || {
        // SAFETY: a value of our type, which the server leaves alone while it is written.
        let filter = unsafe { filter(value) };
        let length = c_longlong::try_from(encoding::length(filter)).unwrap_or(c_longlong::MAX);
        encoding::write_chunks(filter, |offset, piece| {
            let offset = c_longlong::try_from(offset).unwrap_or(c_longlong::MAX);
            // SAFETY: the arguments are what the format says: s = string, l = long long, b = bytes and their length.
            unsafe {
                server!(RedisModule_EmitAOF(
                    aof,
                    c"APBF.LOADCHUNK".as_ptr(),
                    c"sllb".as_ptr(),
                    key,
                    length,
                    offset,
                    piece.as_ptr(),
                    piece.len()
                ));
            }
        });
    });
}

/// All bytes of the value.
unsafe extern "C" fn mem_usage(value: *const c_void) -> usize {
    // SAFETY: a value of our type, which nobody changes meanwhile.
    guard(c"MEMORY USAGE", || unsafe { filter(value) }.memory_bytes()).unwrap_or(0)
}

/// Everything that decides what the filter does next: equal digests mean equal answers for ever.
unsafe extern "C" fn digest(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    guard(c"DEBUG DIGEST", || {
        // SAFETY: a value of our type, which nobody changes meanwhile.
        let filter = unsafe { filter(value) };
        encoding::write_chunks(filter, |_, piece| {
            // SAFETY: the digest is alive, and the server reads the bytes only now.
            unsafe { server!(RedisModule_DigestAddStringBuffer(digest, piece.as_ptr().cast(), piece.len())) };
        });
        // SAFETY: the digest is alive.
        unsafe { server!(RedisModule_DigestEndSequence(digest)) };
    });
}

/// The end of a value; may come on another thread.
unsafe extern "C" fn free(value: *mut c_void) {
    // SAFETY: the value was made by `Box::into_raw`, and the server gives it back once.
    guard(c"free", || drop(unsafe { Box::from_raw(value.cast::<Filter>()) }));
}

/// How much work it is to free a value, in allocations: above 64 the server does it on another thread. A large filter
/// counts as if each page of it were one.
unsafe extern "C" fn free_effort(_key: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: a value of our type, which nobody changes meanwhile.
    guard(c"free effort", || unsafe { filter(value) }.memory_bytes() / 4_096).unwrap_or(1)
}

unsafe extern "C" fn copy(
    _from: *mut raw::RedisModuleString,
    _to: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: a value of our type, which nobody changes meanwhile.
    let copy = guard(c"COPY", || Box::into_raw(Box::new(unsafe { filter(value) }.clone())));
    copy.map_or(ptr::null_mut(), <*mut Filter>::cast)
}

/// Moves the value's own block where the server wants it. The panels stay: most are large, and they come and go with the
/// stream.
unsafe extern "C" fn defrag(
    context: *mut raw::RedisModuleDefragCtx,
    _key: *mut raw::RedisModuleString,
    value: *mut *mut c_void,
) -> c_int {
    guard(c"defragmentation", || {
        // the server moves blocks that it gave; one that was aligned further is inside of such a block
        const { assert!(align_of::<Filter>() <= PLAIN_ALIGN) };
        // SAFETY: `value` is the server's pointer to our value, a plain block, which may move: nothing points into it.
        unsafe {
            if let Some(move_block) = raw::RedisModule_DefragAlloc {
                let moved = move_block(context, *value);
                if !moved.is_null() {
                    *value = moved;
                }
            }
        }
    });
    0 // all done
}
