//! A key, and the filter in it.
#![allow(unsafe_code, reason = "calls into the server")]

use std::marker::PhantomData;
use std::ptr;

use redis_module::raw;

use super::{Arg, Context, server};
use crate::data_type;
use crate::error::CommandError;
use crate::filter::Filter;

/// A key opened for reading: nothing in it can change through this.
pub(crate) struct ReadKey<'a> {
    raw: *mut raw::RedisModuleKey,
    command: PhantomData<&'a Context>,
}

/// A key opened for writing. There is one at a time in a command: the filter is borrowed from it mutably.
pub(crate) struct WriteKey<'a> {
    raw: *mut raw::RedisModuleKey,
    command: PhantomData<&'a Context>,
}

impl Context {
    pub(crate) fn open(&self, name: &Arg) -> ReadKey<'_> {
        ReadKey { raw: self.open_key(name, raw::REDISMODULE_READ), command: PhantomData }
    }

    pub(crate) fn open_to_write(&mut self, name: &Arg) -> WriteKey<'_> {
        let mode = raw::REDISMODULE_READ | raw::REDISMODULE_WRITE;
        WriteKey { raw: self.open_key(name, mode), command: PhantomData }
    }

    fn open_key(&self, name: &Arg, mode: u32) -> *mut raw::RedisModuleKey {
        // SAFETY: the context and the name are alive; the key is closed by the owner of the result.
        unsafe { server!(RedisModule_OpenKey(self.raw, name.as_raw(), mode.cast_signed())) }
    }
}

/// The filter of an open key, null if there is none; an error if there is something else.
///
/// # Safety
/// `key` is null or an open key.
unsafe fn value(key: *mut raw::RedisModuleKey) -> Result<*mut Filter, CommandError> {
    // SAFETY: by the caller; the server takes null for a key that is not there.
    unsafe {
        if server!(RedisModule_ModuleTypeGetType(key)) == data_type::handle() {
            return Ok(server!(RedisModule_ModuleTypeGetValue(key)).cast());
        }
        let kind = isize::try_from(server!(RedisModule_KeyType(key))).unwrap_or(-1);
        if kind == raw::REDISMODULE_KEYTYPE_EMPTY { Ok(ptr::null_mut()) } else { Err(CommandError::WrongType) }
    }
}

impl ReadKey<'_> {
    /// The filter.
    pub(crate) fn filter(&self) -> Result<&Filter, CommandError> {
        // SAFETY: the key is open; the value of our type is a filter that nobody else touches while the command runs, and
        // is borrowed for as long as the key is.
        unsafe { value(self.raw)?.as_ref().ok_or(CommandError::Missing) }
    }
}

impl WriteKey<'_> {
    /// The filter, if there is one.
    pub(crate) fn filter(&mut self) -> Result<Option<&mut Filter>, CommandError> {
        // SAFETY: as for reading, and `self` is borrowed mutably for as long.
        unsafe { Ok(value(self.raw)?.as_mut()) }
    }

    /// Puts a filter into the key, in place of whatever is there.
    pub(crate) fn set(&mut self, filter: Filter) -> &mut Filter {
        let value = Box::into_raw(Box::new(filter));
        // SAFETY: the key is open for writing and now owns the value, which `free` of the data type ends.
        unsafe {
            server!(RedisModule_ModuleTypeSetValue(self.raw, data_type::handle(), value.cast()));
            &mut *value
        }
    }
}

impl Drop for ReadKey<'_> {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once; null is allowed.
        unsafe { server!(RedisModule_CloseKey(self.raw)) };
    }
}

impl Drop for WriteKey<'_> {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once.
        unsafe { server!(RedisModule_CloseKey(self.raw)) };
    }
}
