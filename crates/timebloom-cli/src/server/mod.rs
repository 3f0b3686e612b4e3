//! The filter in a server that has the module: many processes share one window.
//!
//! Keys go there in batches, many commands in one write. One logical filter may be spread over several keys, by the rule
//! in `shards.rs`.
//!
//! A lost connection is made anew, with growing pauses. Whether a batch that was in flight arrived is not known then, so
//! it is sent again, and records of it that the server has seen by now are printed once: a repeat is better than a loss.
//! They are counted, and the summary and a warning tell.

mod error;
mod link;
mod shards;

use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

use redis::{Cmd, FromRedisValue, Value};
use timebloom::{Timestamp, Verdict};

use crate::block::Keys;
pub(crate) use error::ServerError;
use link::Connection;
use shards::{Share, shard_key, shard_of, shares};

/// Items in one command: long enough to pay, short enough not to keep the server from others.
const ITEMS_PER_COMMAND: usize = 512;

/// What the server is to keep.
#[derive(Clone, Debug)]
pub(crate) struct ServerOptions {
    pub(crate) url: String,
    pub(crate) key: String,
    /// At least 1; 1 is a single key, without a number.
    pub(crate) shards: usize,
    pub(crate) window: ServerWindow,
    pub(crate) error: f64,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) shorten: bool,
    pub(crate) refresh: bool,
    /// Attempts to get back to the server, after the first.
    pub(crate) retries: u32,
}

impl ServerOptions {
    /// The address as it may be shown.
    pub(crate) fn url_without_secrets(&self) -> String {
        link::without_secrets(&self.url)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerWindow {
    Time(Duration),
    Count(u64),
}

#[derive(Debug)]
pub(crate) struct Server {
    options: ServerOptions,
    connection: Connection,
    /// Lines printed because nobody knows whether the server had them before the connection was lost.
    pub(crate) uncertain: u64,
}

impl Server {
    /// Connects, and makes sure that the filter is there.
    pub(crate) fn connect(options: ServerOptions) -> Result<Self, ServerError> {
        let connection = Connection::new(&options.url, options.retries)?;
        let mut server = Server { options, connection, uncertain: 0 };
        server.reserve()?;
        Ok(server)
    }

    pub(crate) fn options(&self) -> &ServerOptions {
        &self.options
    }

    /// How often a connection was made anew.
    pub(crate) fn reconnections(&self) -> u64 {
        self.connection.reconnections
    }

    fn shard_key(&self, shard: usize) -> String {
        shard_key(&self.options.key, shard, self.options.shards)
    }

    /// Creates the filters that are missing; those that are there must have the same window.
    fn reserve(&mut self) -> Result<(), ServerError> {
        for shard in 0..self.options.shards {
            let key = self.shard_key(shard);
            let mut info = redis::cmd("APBF.INFO");
            info.arg(&key);
            let known = match self.connection.ask(&info)? {
                Ok(reply) => Some(reply),
                Err(_missing) => {
                    let refused = self.connection.ask(&self.reserve_command(&key))?.err();
                    // another process may have been faster
                    match (refused, self.connection.ask(&info)?) {
                        (None, _) => None,
                        (Some(_), Ok(reply)) => Some(reply),
                        (Some(source), Err(_)) => {
                            return Err(ServerError::Refused { command: "APBF.RESERVE", key, source });
                        }
                    }
                }
            };
            if let Some(reply) = known {
                self.check_window(key, &reply)?;
            }
        }
        Ok(())
    }

    fn reserve_command(&self, key: &str) -> Cmd {
        let options = &self.options;
        let shards = options.shards as u64;
        let mut command = redis::cmd("APBF.RESERVE");
        command.arg(key);
        match options.window {
            ServerWindow::Time(window) => {
                let expected = (crate::filter::EXPECTED_ITEMS / shards).max(1);
                command.arg("TIME").arg(options.error).arg(expected).arg("PX").arg(millis(window));
            }
            ServerWindow::Count(last) => {
                command.arg("COUNT").arg(options.error).arg(last.div_ceil(shards));
            }
        }
        if let Some(max_bytes) = options.max_bytes {
            command.arg("MAXBYTES").arg(max_bytes / shards);
            command.arg("ONFULL").arg(if options.shorten { "SHORTEN" } else { "REJECT" });
        }
        command
    }

    fn check_window(&self, key: String, info: &Value) -> Result<(), ServerError> {
        let (asked, field, unit) = match self.options.window {
            ServerWindow::Time(window) => (millis(window), "Time Span", " ms"),
            ServerWindow::Count(last) => (last.div_ceil(self.options.shards as u64), "Capacity", " items"),
        };
        let there = info_field(info, field)
            .ok_or_else(|| ServerError::Reply { command: "APBF.INFO", got: format!("{info:?}") })?;
        if there != asked {
            let (there, asked) = (format!("{there}{unit}"), format!("{asked}{unit}"));
            return Err(ServerError::Window { key, there, asked });
        }
        Ok(())
    }

    /// Decides about the keys of `range`, as of `at` or of the server's own clock.
    pub(crate) fn judge(
        &mut self,
        keys: &Keys,
        range: Range<usize>,
        at: Option<Timestamp>,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), ServerError> {
        verdicts.clear();
        let items: Vec<&[u8]> = keys.range(range).collect();
        let shares = shares(&items, self.options.shards, ITEMS_PER_COMMAND);
        let commands: Vec<Cmd> = shares
            .iter()
            .map(|share| self.insert_command(share.shard, share.items.iter().map(|&i| items[i]), at))
            .collect();
        let (replies, certain) = self.send(&commands)?;
        let mut fates = vec![Verdict::Seen; items.len()];
        for (share, reply) in shares.iter().zip(replies) {
            let fresh = self.flags(share, reply)?;
            for (&item, fresh) in share.items.iter().zip(fresh) {
                if fresh {
                    fates[item] = Verdict::New;
                }
            }
        }
        if !certain {
            self.give_the_benefit_of_the_doubt(&items, &mut fates);
        }
        verdicts.append(&mut fates);
        Ok(())
    }

    /// Records a key without asking.
    pub(crate) fn record(&mut self, key: &[u8], at: Timestamp) -> Result<(), ServerError> {
        let shard = shard_of(key, self.options.shards);
        let command = self.insert_command(shard, std::iter::once(key), Some(at));
        self.send(&[command]).map(|_| ())
    }

    fn insert_command<'a>(&self, shard: usize, items: impl Iterator<Item = &'a [u8]>, at: Option<Timestamp>) -> Cmd {
        let mut command = redis::cmd("APBF.INSERT");
        command.arg(self.shard_key(shard)).arg("NOCREATE");
        if !self.options.refresh {
            command.arg("NX");
        }
        if let Some(at) = at {
            command.arg("AT").arg(at.as_millis());
        }
        command.arg("ITEMS");
        for item in items {
            command.arg(item);
        }
        command
    }

    /// The replies to commands. False if some may have been carried out twice.
    fn send(&mut self, commands: &[Cmd]) -> Result<(Vec<Value>, bool), ServerError> {
        let (replies, certain) = self.connection.send(commands)?;
        let replies = replies.map_err(|source| {
            let key = self.options.key.clone();
            ServerError::Refused { command: "APBF.INSERT", key, source }
        })?;
        Ok((replies, certain))
    }

    /// Which items of a share the server calls new.
    fn flags(&self, share: &Share, reply: Value) -> Result<Vec<bool>, ServerError> {
        let got = || ServerError::Reply { command: "APBF.INSERT", got: "not one 0 or 1 for each item".to_owned() };
        let reply = reply.extract_error().map_err(|source| {
            let key = self.shard_key(share.shard);
            ServerError::Refused { command: "APBF.INSERT", key, source }
        })?;
        let flags = Vec::<bool>::from_redis_value(reply).map_err(|_| got())?;
        if flags.len() == share.items.len() { Ok(flags) } else { Err(got()) }
    }

    /// Lets each key of a batch that may have been sent twice be new once.
    fn give_the_benefit_of_the_doubt(&mut self, items: &[&[u8]], fates: &mut [Verdict]) {
        let mut seen = HashSet::new();
        for (item, fate) in items.iter().zip(fates) {
            let first = seen.insert(*item);
            if first && fate.is_seen() {
                self.uncertain += 1;
            }
            *fate = if first { Verdict::New } else { Verdict::Seen };
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A number in the reply to APBF.INFO: a map, or names and values in turn.
fn info_field(info: &Value, name: &str) -> Option<u64> {
    let matches = |value: &Value| String::from_redis_value_ref(value).is_ok_and(|text| text.eq_ignore_ascii_case(name));
    let value = match info {
        Value::Map(pairs) => pairs.iter().find(|(key, _)| matches(key)).map(|(_, value)| value),
        Value::Array(items) => items.chunks_exact(2).find(|pair| matches(&pair[0])).map(|pair| &pair[1]),
        _ => None,
    }?;
    u64::from_redis_value_ref(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_in_either_shape() {
        let text = |text: &str| Value::SimpleString(text.into());
        let pairs = Value::Array(vec![text("Capacity"), Value::Int(5), text("Time Span"), Value::Int(60_000)]);
        assert_eq!(info_field(&pairs, "Time Span"), Some(60_000));
        let map = Value::Map(vec![(text("Time Span"), Value::Int(7))]);
        assert_eq!(info_field(&map, "time span"), Some(7));
        assert_eq!(info_field(&map, "Capacity"), None);
    }
}
