//! The module inside a real server: every test starts its own, on a free port, and ends it.
//!
//! `redis-server`, `redis-cli` and a C compiler must be installed; a test that cannot find them fails. Another server is
//! tried with `TIMEBLOOM_REDIS_SERVER=path`.

mod acl;
mod arguments;
mod client;
mod cluster;
mod commands;
mod crash;
mod docs;
mod history;
mod hostile;
mod persistence;
mod process;
mod python;
mod replication;
mod settings;
mod window;
