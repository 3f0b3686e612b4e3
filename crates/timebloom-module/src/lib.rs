//! Time windows inside Redis (7.0 and later) and Valkey (8.0 and later): the module around `timebloom`.
//!
//! ```text
//! server ──> server/entry ──> commands/* ──> parse ──> spec, filter ──> the library
//!            no panic out     one file each  words     what to build    all that is about bits and time
//!                                  │
//!                                  └──> server: replies, replication, notifications
//! ```
//!
//! - `parse`, `spec`, `filter`, `encoding` and `time` know nothing of a server and are tested without one.
//! - `server` calls the server for the commands; `data_type`, `config`, `docs` and `info_section` are called by
//!   it, or hand it their tables. These, and `allocator`, are where `unsafe` is.
//! - `observe` counts.
//!
//! Commands, replies and settings are described in `docs/redis.md`.

mod allocator;
mod commands;
mod config;
mod data_type;
mod docs;
mod encoding;
mod error;
mod filter;
mod info_section;
mod load;
mod observe;
mod parse;
mod server;
mod spec;
mod time;
