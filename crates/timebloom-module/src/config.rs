//! The settings of the module: `CONFIG GET timebloom.*`, `CONFIG SET`, or lines in redis.conf.
#![allow(unsafe_code, reason = "functions that C calls")]

use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

use redis_module::raw;

use crate::encoding::CEILING_BYTES;
use crate::filter::GivenError;
use crate::parse;
use crate::server::entry::guard;
use crate::server::{Arg, ERR, Made, OK, server};
use crate::spec::{Defaults, Limit};
use crate::time::MAX_SPAN_MS;

/// A setting that is a number.
struct Number {
    name: &'static CStr,
    default: i64,
    min: i64,
    max: i64,
    flags: u32,
    value: AtomicI64,
}

impl Number {
    const fn new(name: &'static CStr, default: i64, min: i64, max: i64, flags: u32) -> Self {
        Number { name, default, min, max, flags, value: AtomicI64::new(default) }
    }

    fn get(&self) -> u64 {
        u64::try_from(self.value.load(Ordering::Relaxed)).unwrap_or(0)
    }
}

/// The most bytes a filter may take, unless `MAXBYTES` says less.
static MAX_FILTER_BYTES: Number =
    Number::new(c"max-filter-bytes", 512 << 20, 64 << 10, CEILING_BYTES.cast_signed(), raw::REDISMODULE_CONFIG_MEMORY);
/// How far ahead of the server's clock a client's `AT` may lie.
static MAX_SKEW_MS: Number =
    Number::new(c"max-skew-ms", 10_000, 0, MAX_SPAN_MS.cast_signed(), raw::REDISMODULE_CONFIG_DEFAULT);
/// The window of filters that `INSERT` creates.
static DEFAULT_SPAN_MS: Number =
    Number::new(c"default-span-ms", 60_000, 1, MAX_SPAN_MS.cast_signed(), raw::REDISMODULE_CONFIG_DEFAULT);
/// The expected items of filters that `INSERT` creates.
static DEFAULT_CAPACITY: Number = Number::new(c"default-capacity", 0, 0, i64::MAX, raw::REDISMODULE_CONFIG_DEFAULT);

static NUMBERS: [&Number; 4] = [&MAX_FILTER_BYTES, &MAX_SKEW_MS, &DEFAULT_SPAN_MS, &DEFAULT_CAPACITY];

/// The error rate of filters that `INSERT` creates.
static DEFAULT_ERROR: Mutex<GivenError> = Mutex::new(GivenError::Fraction(0.01));
/// Its text, as it was set: the server asks for a string that stays ours.
static DEFAULT_ERROR_TEXT: AtomicPtr<raw::RedisModuleString> = AtomicPtr::new(ptr::null_mut());

pub(crate) fn max_filter_bytes() -> u64 {
    MAX_FILTER_BYTES.get()
}

pub(crate) fn max_skew_ms() -> u64 {
    MAX_SKEW_MS.get()
}

/// What fills the gaps when a filter is created. A replayed creation is not held to the limits of this server.
pub(crate) fn defaults(is_replayed: bool) -> Defaults {
    Defaults {
        error: *DEFAULT_ERROR.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
        capacity: DEFAULT_CAPACITY.get(),
        span_ms: DEFAULT_SPAN_MS.get(),
        limit: Limit { bytes: max_filter_bytes(), enforced: !is_replayed },
    }
}

/// Makes the settings known to the server and takes over what its configuration says. False if that is refused.
///
/// # Safety
/// `context` is the context that the module is being loaded with.
pub(crate) unsafe fn register(context: *mut raw::RedisModuleCtx) -> bool {
    let is_ok = |code: c_int| code == OK;
    let numbers = NUMBERS.iter().all(|&number| {
        // SAFETY: the context is alive; name and private data are constants.
        is_ok(unsafe {
            server!(RedisModule_RegisterNumericConfig(
                context,
                number.name.as_ptr(),
                number.default,
                number.flags,
                number.min,
                number.max,
                Some(get_number),
                Some(set_number),
                None,
                ptr::from_ref(number).cast_mut().cast()
            ))
        })
    });
    // SAFETY: as above.
    numbers
        && unsafe {
            is_ok(server!(RedisModule_RegisterStringConfig(
                context,
                c"default-error".as_ptr(),
                c"0.01".as_ptr(),
                raw::REDISMODULE_CONFIG_DEFAULT,
                Some(get_error),
                Some(set_error),
                None,
                ptr::null_mut()
            ))) && is_ok(server!(RedisModule_LoadConfigs(context)))
        }
}

/// The setting behind the private data of a call.
fn number(data: *mut c_void) -> Option<&'static Number> {
    NUMBERS.into_iter().find(|&number| ptr::from_ref(number).cast::<c_void>() == data.cast_const())
}

unsafe extern "C" fn get_number(_name: *const c_char, data: *mut c_void) -> c_longlong {
    guard(c"CONFIG GET", || number(data).map_or(0, |number| number.value.load(Ordering::Relaxed))).unwrap_or(0)
}

unsafe extern "C" fn set_number(
    _name: *const c_char,
    value: c_longlong,
    data: *mut c_void,
    _error: *mut *mut raw::RedisModuleString,
) -> c_int {
    let set = guard(c"CONFIG SET", || {
        // the server has checked the range
        if let Some(number) = number(data) {
            number.value.store(value, Ordering::Relaxed);
        }
    });
    set.map_or(ERR, |()| OK)
}

unsafe extern "C" fn get_error(_name: *const c_char, _data: *mut c_void) -> *mut raw::RedisModuleString {
    DEFAULT_ERROR_TEXT.load(Ordering::Relaxed)
}

unsafe extern "C" fn set_error(
    _name: *const c_char,
    value: *mut raw::RedisModuleString,
    _data: *mut c_void,
    error: *mut *mut raw::RedisModuleString,
) -> c_int {
    let set = guard(c"CONFIG SET", || {
        // SAFETY: the server's string is alive during the call.
        let word = unsafe { Arg::borrow(&value) }.as_ref();
        match parse::error_rate(word) {
            Ok(rate) => {
                *DEFAULT_ERROR.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = rate;
                let old = DEFAULT_ERROR_TEXT.swap(Made::new(word).into_raw(), Ordering::Relaxed);
                // SAFETY: what was put there came from `into_raw`, and is taken out once.
                drop(unsafe { Made::from_raw(old) });
                true
            }
            Err(why) => {
                // SAFETY: the server's place for the text of the error, which it frees.
                unsafe { *error = Made::new(why.to_string()).into_raw() };
                false
            }
        }
    });
    if set == Some(true) { OK } else { ERR }
}
