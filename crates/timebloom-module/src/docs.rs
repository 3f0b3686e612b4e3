//! What the server tells about a command: arity, key, flags and arguments, for COMMAND DOCS, ACLs and cluster clients.
#![allow(unsafe_code, reason = "hands C structures to the server")]

use std::ffi::{CStr, CString, c_int};
use std::ptr;

use redis_module::raw;

use crate::server::entry::{Command, command};
use crate::server::{OK, server};

/// What a command does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Changes the value, and tells something about it.
    Update,
    /// Creates the value.
    Insert,
}

/// Everything that is said about a command.
pub(crate) struct Doc {
    pub(crate) name: &'static CStr,
    /// The server's words for what it may be used for.
    pub(crate) flags: &'static CStr,
    /// The server's categories for ACLs, where it lets modules have some.
    pub(crate) categories: &'static str,
    pub(crate) summary: &'static CStr,
    pub(crate) complexity: &'static CStr,
    /// The number of words, the name included; negative for "at least".
    pub(crate) arity: c_int,
    pub(crate) access: Access,
    /// What follows the key.
    pub(crate) arguments: &'static [Argument],
}

impl Doc {
    /// `key item [item ...]`, a question.
    pub(crate) const fn asking(name: &'static CStr, summary: &'static CStr) -> Self {
        Doc {
            name,
            flags: c"readonly fast",
            categories: "read fast",
            summary,
            complexity: c"O(k + l) for each item, k being the number of hash functions and l that of aging slices",
            arity: -3,
            access: Access::Read,
            arguments: &[ITEMS],
        }
    }

    /// `key item [item ...]`, which records the items.
    pub(crate) const fn recording(name: &'static CStr, summary: &'static CStr) -> Self {
        Doc {
            flags: c"write deny-oom fast",
            categories: "write fast",
            access: Access::Update,
            ..Doc::asking(name, summary)
        }
    }
}

/// The type of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    String,
    Integer,
    Double,
    UnixTime,
    /// A word that stands for itself.
    Token,
    OneOf(&'static [Argument]),
    Block(&'static [Argument]),
}

/// An argument of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    name: &'static CStr,
    kind: Type,
    token: Option<&'static CStr>,
    optional: bool,
    multiple: bool,
}

impl Argument {
    pub(crate) const fn new(name: &'static CStr, kind: Type) -> Self {
        Argument { name, kind, token: None, optional: false, multiple: false }
    }

    /// A word that stands for itself.
    pub(crate) const fn token(name: &'static CStr, token: &'static CStr) -> Self {
        Argument { token: Some(token), ..Argument::new(name, Type::Token) }
    }

    /// Announced by a word of its own.
    pub(crate) const fn after(self, token: &'static CStr) -> Self {
        Argument { token: Some(token), ..self }
    }

    pub(crate) const fn optional(self) -> Self {
        Argument { optional: true, ..self }
    }

    pub(crate) const fn multiple(self) -> Self {
        Argument { multiple: true, ..self }
    }
}

/// One or more items.
pub(crate) const ITEMS: Argument = Argument::new(c"item", Type::String).multiple();

const ON_FULL: &[Argument] = &[Argument::token(c"reject", c"REJECT"), Argument::token(c"shorten", c"SHORTEN")];
const POLICY: &[Argument] = &[Argument::token(c"paper", c"PAPER"), Argument::token(c"guarded", c"GUARDED")];
const PAIR: &[Argument] =
    &[Argument::new(c"hashes", Type::Integer).after(c"K"), Argument::new(c"aging-slices", Type::Integer).after(c"L")];
const PROPORTIONS: &[Argument] =
    &[Argument::new(c"level", Type::Integer).after(c"LEVEL"), Argument::new(c"pair", Type::Block(PAIR))];

/// `COUNT|TIME`.
pub(crate) const KINDS: &[Argument] = &[Argument::token(c"count", c"COUNT"), Argument::token(c"time", c"TIME")];
/// `LEVEL level | K k L l`.
pub(crate) const SHAPE: Argument = Argument::new(c"proportions", Type::OneOf(PROPORTIONS)).optional();
pub(crate) const MAX_BYTES: Argument = Argument::new(c"max-bytes", Type::Integer).after(c"MAXBYTES").optional();
pub(crate) const WHEN_FULL: Argument = Argument::new(c"on-full", Type::OneOf(ON_FULL)).after(c"ONFULL").optional();
pub(crate) const SEED: Argument = Argument::new(c"seed", Type::Integer).after(c"SEED").optional();
pub(crate) const SIZING: Argument = Argument::new(c"policy", Type::OneOf(POLICY)).after(c"POLICY").optional();

/// Makes a command known to the server. False if the server refuses it.
///
/// # Safety
/// `context` is the context that the module is being loaded with.
pub(crate) unsafe fn register<C: Command>(context: *mut raw::RedisModuleCtx, has_category: bool) -> bool {
    let doc = C::DOC;
    // SAFETY: the context is alive; all names are constants; the server copies everything.
    unsafe {
        let created = server!(RedisModule_CreateCommand(
            context,
            doc.name.as_ptr(),
            Some(command::<C>),
            doc.flags.as_ptr(),
            1,
            1,
            1
        ));
        if created != OK {
            return false;
        }
        let handle = server!(RedisModule_GetCommand(context, doc.name.as_ptr()));
        if handle.is_null() {
            return false;
        }
        categorise(handle, doc.categories, has_category);
        describe(handle, &doc)
    }
}

/// The category that all commands are in, on servers that let modules add one: 7.4 and later.
const CATEGORY: &CStr = c"apbf";

/// Adds the category, if the server can; tells whether it did.
///
/// # Safety
/// `context` is the context that the module is being loaded with.
pub(crate) unsafe fn add_category(context: *mut raw::RedisModuleCtx) -> bool {
    // SAFETY: the context is alive, the name a constant.
    unsafe { raw::RedisModule_AddACLCategory.is_some_and(|add| add(context, CATEGORY.as_ptr()) == OK) }
}

/// Puts a command into its categories, on servers from 7.2 on. A refusal costs nothing but the categories.
///
/// # Safety
/// `handle` is a command of this module.
unsafe fn categorise(handle: *mut raw::RedisModuleCommand, categories: &str, has_own: bool) {
    let own = if has_own { " apbf" } else { "" };
    let list = CString::new(format!("{categories}{own}")).expect("a constant without NUL");
    // SAFETY: the command is alive, and the server copies the list.
    unsafe {
        if let Some(set) = raw::RedisModule_SetCommandACLCategories {
            set(handle, list.as_ptr());
        }
    }
}

/// # Safety
/// `handle` is a command of this module.
unsafe fn describe(handle: *mut raw::RedisModuleCommand, doc: &Doc) -> bool {
    let version = raw::RedisModuleCommandInfoVersion {
        version: 1,
        sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
        sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
        sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
    };
    let mut key_specs = [key_spec(doc.access), no_key_spec()];
    // each list ends with an argument without a name; lists of subarguments live in `lists` until the server has copied
    let mut lists = Vec::new();
    let mut arguments = vec![key_argument()];
    arguments.extend(doc.arguments.iter().map(|argument| c_argument(argument, &mut lists)));
    arguments.push(no_argument());
    let info = raw::RedisModuleCommandInfo {
        version: &raw const version,
        summary: doc.summary.as_ptr(),
        complexity: doc.complexity.as_ptr(),
        since: c"0.1.0".as_ptr(),
        history: ptr::null_mut(),
        tips: ptr::null(),
        arity: doc.arity,
        key_specs: key_specs.as_mut_ptr(),
        args: arguments.as_mut_ptr(),
    };
    // SAFETY: the structures are as the version says, their lists end as they should, and the server copies them.
    unsafe { server!(RedisModule_SetCommandInfo(handle, &raw const info)) == OK }
}

fn key_spec(access: Access) -> raw::RedisModuleCommandKeySpec {
    let flags = match access {
        Access::Read => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
        Access::Update => {
            raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE
        }
        Access::Insert => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_INSERT,
    };
    raw::RedisModuleCommandKeySpec {
        flags: u64::from(flags),
        begin_search_type: raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX,
        bs: raw::RedisModuleCommandKeySpec__bindgen_ty_1 {
            index: raw::RedisModuleCommandKeySpec__bindgen_ty_1__bindgen_ty_1 { pos: 1 },
        },
        find_keys_type: raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE,
        fk: raw::RedisModuleCommandKeySpec__bindgen_ty_2 {
            range: raw::RedisModuleCommandKeySpec__bindgen_ty_2__bindgen_ty_1 { lastkey: 0, keystep: 1, limit: 0 },
        },
        ..no_key_spec()
    }
}

/// The end of a list of key specifications.
fn no_key_spec() -> raw::RedisModuleCommandKeySpec {
    // SAFETY: a structure of numbers, pointers and unions of numbers; zeros are what the server takes for the end.
    unsafe { std::mem::zeroed() }
}

/// The end of a list of arguments.
fn no_argument() -> raw::RedisModuleCommandArg {
    // SAFETY: a structure of numbers and pointers; zeros are what the server takes for the end.
    unsafe { std::mem::zeroed() }
}

fn key_argument() -> raw::RedisModuleCommandArg {
    raw::RedisModuleCommandArg {
        name: c"key".as_ptr(),
        type_: raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY,
        key_spec_index: 0,
        ..no_argument()
    }
}

fn c_argument(argument: &Argument, lists: &mut Vec<Vec<raw::RedisModuleCommandArg>>) -> raw::RedisModuleCommandArg {
    let (type_, inner): (_, &[Argument]) = match argument.kind {
        Type::String => (raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING, &[]),
        Type::Integer => (raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER, &[]),
        Type::Double => (raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_DOUBLE, &[]),
        Type::UnixTime => (raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_UNIX_TIME, &[]),
        Type::Token => (raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN, &[]),
        Type::OneOf(inner) => (raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF, inner),
        Type::Block(inner) => (raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK, inner),
    };
    let mut flags = raw::REDISMODULE_CMD_ARG_NONE;
    if argument.optional {
        flags |= raw::REDISMODULE_CMD_ARG_OPTIONAL;
    }
    if argument.multiple {
        flags |= raw::REDISMODULE_CMD_ARG_MULTIPLE;
    }
    let subargs = if inner.is_empty() {
        ptr::null_mut()
    } else {
        let mut list: Vec<_> = inner.iter().map(|argument| c_argument(argument, lists)).collect();
        list.push(no_argument());
        let start = list.as_mut_ptr(); // stays where it is when the list moves into `lists`
        lists.push(list);
        start
    };
    raw::RedisModuleCommandArg {
        name: argument.name.as_ptr(),
        type_,
        token: argument.token.map_or(ptr::null(), CStr::as_ptr),
        flags: flags.cast_signed(),
        subargs,
        ..no_argument()
    }
}
