//! The server, as the commands see it: the one place where its C functions are called for them.
//!
//! - [`Context`]: replies, time, replication, notifications.
//! - [`Arg`]: a word of the command.
//! - [`Key`](key::Key): a key and the filter in it.
//! - [`entry`]: how the server calls us, and why no panic gets out.
#![allow(unsafe_code, reason = "calls into the server")]

pub(crate) mod entry;
pub(crate) mod key;

use std::ffi::{CStr, CString, c_int, c_long};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use redis_module::raw;

use crate::time::Clock;

/// Calls a function that every supported server has.
///
/// The functions are looked up once, while the module is loaded, and loading fails on servers older than 7.0.
macro_rules! server {
    ($function:ident($($argument:expr),* $(,)?)) => {
        (redis_module::raw::$function.expect("every server since 7.0 has it"))($($argument),*)
    };
}
pub(crate) use server;

/// What C functions return when all is well. The bindings have these two as other integers.
pub(crate) const OK: c_int = 0;
/// What C functions return when they refuse.
pub(crate) const ERR: c_int = 1;
const _: () = assert!(OK as isize == raw::REDISMODULE_OK && ERR as isize == raw::REDISMODULE_ERR);

/// A word of a command; any bytes.
///
/// The server owns it for as long as the command runs: only references to it are ever handed out.
#[repr(transparent)]
pub(crate) struct Arg(*mut raw::RedisModuleString);

impl Arg {
    /// # Safety
    /// The string is alive and unchanged for as long as the result is.
    pub(crate) unsafe fn borrow(raw: &*mut raw::RedisModuleString) -> &Self {
        // SAFETY: `Arg` has the layout of the pointer.
        unsafe { &*ptr::from_ref(raw).cast::<Self>() }
    }

    pub(super) fn as_raw(&self) -> *mut raw::RedisModuleString {
        self.0
    }
}

impl AsRef<[u8]> for Arg {
    fn as_ref(&self) -> &[u8] {
        let mut length = 0;
        // SAFETY: the string is alive as long as `self` is, and is not changed while the command runs.
        unsafe {
            let start = server!(RedisModule_StringPtrLen(self.0, &raw mut length));
            std::slice::from_raw_parts(start.cast(), length)
        }
    }
}

/// The words of a command.
///
/// # Safety
/// `argv` must be `argc` strings of the server, alive and unchanged for `'a`.
unsafe fn words<'a>(argv: *mut *mut raw::RedisModuleString, argc: c_int) -> &'a [Arg] {
    let length = usize::try_from(argc).unwrap_or(0);
    if argv.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: by the caller; `Arg` has the layout of a pointer.
    unsafe { std::slice::from_raw_parts(argv.cast::<Arg>(), length) }
}

/// The command that runs: where its replies go, and what it does to the rest of the server.
pub(crate) struct Context {
    raw: *mut raw::RedisModuleCtx,
}

impl Context {
    /// # Safety
    /// `raw` is a context of the server, alive as long as the result is used.
    pub(crate) unsafe fn new(raw: *mut raw::RedisModuleCtx) -> Self {
        Context { raw }
    }

    /// The clock that a change goes by.
    pub(crate) fn clock(&self) -> Clock {
        if self.is_replayed() { Clock::Primary } else { Clock::Own(self.now_ms()) }
    }

    /// Whether the command comes from the primary or from an append-only file: such a command is carried out whatever
    /// the limits and clocks of this server say.
    pub(crate) fn is_replayed(&self) -> bool {
        self.has_flags(raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING)
    }

    /// Whether the command comes from an append-only file.
    pub(crate) fn is_loading(&self) -> bool {
        self.has_flags(raw::REDISMODULE_CTX_FLAGS_LOADING)
    }

    fn has_flags(&self, any: u32) -> bool {
        // SAFETY: the context is alive.
        let flags = unsafe { server!(RedisModule_GetContextFlags(self.raw)) };
        flags.cast_unsigned() & any != 0
    }

    pub(crate) fn database(&self) -> i32 {
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_GetSelectedDb(self.raw)) }
    }

    /// The wall clock in milliseconds: that of the command where the server keeps one, or else of this moment.
    pub(crate) fn now_ms(&self) -> u64 {
        // SAFETY: functions without arguments; the first exists from 7.2 on.
        let millis = unsafe {
            match raw::RedisModule_CachedMicroseconds {
                Some(cached) => cached() / 1_000,
                None => server!(RedisModule_Milliseconds()),
            }
        };
        u64::try_from(millis).unwrap_or(0)
    }

    pub(crate) fn reply_ok(&self) {
        // SAFETY: the context is alive, the text is a constant.
        unsafe { server!(RedisModule_ReplyWithSimpleString(self.raw, c"OK".as_ptr())) };
    }

    pub(crate) fn reply_error(&self, error: &impl ToString) {
        let text = c_text(&error.to_string());
        // SAFETY: the context is alive, and the server copies the text.
        unsafe { server!(RedisModule_ReplyWithError(self.raw, text.as_ptr())) };
    }

    /// A boolean, or 1 and 0 for clients that do not know booleans.
    pub(crate) fn reply_bool(&self, value: bool) {
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_ReplyWithBool(self.raw, c_int::from(value))) };
    }

    /// The head of an array: `length` replies must follow.
    pub(crate) fn reply_array(&self, length: usize) {
        let length = c_long::try_from(length).unwrap_or(c_long::MAX);
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_ReplyWithArray(self.raw, length)) };
    }

    /// The head of a map, or of an array of twice the length for clients that do not know maps: `pairs` names and values
    /// must follow.
    pub(crate) fn reply_map(&self, pairs: usize) {
        let pairs = c_long::try_from(pairs).unwrap_or(c_long::MAX);
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_ReplyWithMap(self.raw, pairs)) };
    }

    /// An array of booleans.
    pub(crate) fn reply_bools(&self, values: &[bool]) {
        self.reply_array(values.len());
        values.iter().for_each(|&value| self.reply_bool(value));
    }

    pub(crate) fn reply_integer(&self, value: i64) {
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_ReplyWithLongLong(self.raw, value)) };
    }

    pub(crate) fn reply_double(&self, value: f64) {
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_ReplyWithDouble(self.raw, value)) };
    }

    pub(crate) fn reply_string(&self, text: &str) {
        // SAFETY: the context is alive, and the server copies the text.
        unsafe { server!(RedisModule_ReplyWithStringBuffer(self.raw, text.as_ptr().cast(), text.len())) };
    }

    pub(crate) fn reply_null(&self) {
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_ReplyWithNull(self.raw)) };
    }

    /// Tells everyone who watches the key that it changed.
    pub(crate) fn note_change(&self, name: &Arg, event: &CStr) {
        // SAFETY: the context and the name are alive; the server copies the event.
        unsafe {
            server!(RedisModule_SignalModifiedKey(self.raw, name.as_raw()));
            server!(RedisModule_NotifyKeyspaceEvent(
                self.raw,
                raw::REDISMODULE_NOTIFY_MODULE,
                event.as_ptr(),
                name.as_raw()
            ));
        }
    }

    /// Sends the command as it is to replicas and to the append-only file.
    pub(crate) fn replicate_as_said(&self) {
        // SAFETY: the context is alive.
        unsafe { server!(RedisModule_ReplicateVerbatim(self.raw)) };
    }

    /// Sends `APBF.INSERT name NOCREATE [AT at] ITEMS item ...` to replicas and to the append-only file.
    pub(crate) fn replicate_insert<'a>(&self, name: &Arg, at: Option<u64>, items: impl Iterator<Item = &'a Arg>) {
        let at = at.map(|at| Made::new(at.to_string()));
        let mut words = vec![name.as_raw(), NO_CREATE.get()];
        words.extend(at.iter().flat_map(|at| [AT.get(), at.0]));
        words.push(ITEMS.get());
        words.extend(items.map(Arg::as_raw));
        self.replicate(c"APBF.INSERT", &words);
    }

    /// Sends `APBF.RESERVE name word ...` to replicas and to the append-only file.
    pub(crate) fn replicate_reserve(&self, name: &Arg, words: &[String]) {
        let made: Vec<Made> = words.iter().map(Made::new).collect();
        let words: Vec<_> = std::iter::once(name.as_raw()).chain(made.iter().map(|word| word.0)).collect();
        self.replicate(c"APBF.RESERVE", &words);
    }

    fn replicate(&self, command: &CStr, words: &[*mut raw::RedisModuleString]) {
        let every_word = c"v".as_ptr();
        // SAFETY: the arguments are what the format says: an array of strings and its length. All are alive, and the
        // server keeps references of its own.
        unsafe {
            server!(RedisModule_Replicate(self.raw, command.as_ptr(), every_word, words.as_ptr(), words.len()));
        }
    }
}

/// A string of the server that we made, and give back.
pub(crate) struct Made(*mut raw::RedisModuleString);

impl Made {
    pub(crate) fn new(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        // SAFETY: a string without a context is ours; the server copies the bytes.
        Made(unsafe { server!(RedisModule_CreateString(ptr::null_mut(), bytes.as_ptr().cast(), bytes.len())) })
    }

    /// The string, for someone else to give back.
    pub(crate) fn into_raw(self) -> *mut raw::RedisModuleString {
        ManuallyDrop::new(self).0
    }

    /// # Safety
    /// `raw` came from [`into_raw`](Self::into_raw), and nobody else gives it back; or it is null.
    pub(crate) unsafe fn from_raw(raw: *mut raw::RedisModuleString) -> Option<Self> {
        (!raw.is_null()).then(|| Made(raw))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: made once, given back once; who still needs it has a reference of its own.
        unsafe { server!(RedisModule_FreeString(ptr::null_mut(), self.0)) };
    }
}

static NO_CREATE: Word = Word::new("NOCREATE");
static AT: Word = Word::new("AT");
static ITEMS: Word = Word::new("ITEMS");

/// A word that is sent with every insertion: made once, since making it each time is felt.
struct Word {
    text: &'static str,
    made: AtomicPtr<raw::RedisModuleString>,
}

impl Word {
    const fn new(text: &'static str) -> Self {
        Word { text, made: AtomicPtr::new(ptr::null_mut()) }
    }

    fn get(&self) -> *mut raw::RedisModuleString {
        let made = self.made.load(Ordering::Relaxed);
        if !made.is_null() {
            return made;
        }
        // kept for good; only the thread of the commands comes here
        let made = Made::new(self.text).into_raw();
        self.made.store(made, Ordering::Relaxed);
        made
    }
}

/// Writes a line into the server's log, as a warning.
pub(crate) fn warn(text: &str) {
    let text = c_text(text);
    // SAFETY: the server takes calls without a context; format and text are C strings.
    unsafe {
        if let Some(log) = raw::RedisModule_Log {
            log(ptr::null_mut(), c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr());
        }
    }
}

/// A text on one line, without what C cannot hold.
fn c_text(text: &str) -> CString {
    let line: Vec<u8> = text.bytes().map(|byte| if byte < b' ' { b' ' } else { byte }).collect();
    CString::new(line).expect("control characters, NUL among them, are gone")
}
