//! The filter in a server that has the module: many processes share one window.
//!
//! Keys go there in batches, many commands in one write. One logical filter may be spread over several keys,
//! `NAME:{0}`, `NAME:{1}` and so on: an item with the XXH3-64 hash `h` (seed 0) belongs to shard `h * shards / 2^64`.
//!
//! A lost connection is made anew, with growing pauses. Whether a batch that was in flight arrived is not known then, so
//! it is sent again, and records of it that the server has seen by now are printed once: a repeat is better than a loss.
//! They are counted, and the summary and a warning tell.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use redis::cluster::{ClusterClient, ClusterConnection};
use redis::{Client, Cmd, Connection, ConnectionLike, FromRedisValue, RedisError, RedisResult, RetryMethod, Value};
use timebloom::{ItemHash, Timestamp, Verdict};

use crate::block::Keys;

/// Items in one command: long enough to pay, short enough not to keep the server from others.
const ITEMS_PER_COMMAND: usize = 512;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);

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
    /// The address as it may be shown: what stands before the `@` is nobody's business.
    pub(crate) fn url_without_secrets(&self) -> String {
        let start = self.url.find("://").map_or(0, |scheme| scheme + 3);
        match self.url[start..].rfind('@') {
            Some(at) => format!("{}{}", &self.url[..start], &self.url[start + at + 1..]),
            None => self.url.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerWindow {
    Time(Duration),
    Count(u64),
}

#[derive(Debug)]
pub(crate) enum ServerError {
    /// The address makes no sense.
    Url { url: String, source: RedisError },
    /// The server cannot be reached, or cannot any more.
    Unreachable { url: String, attempts: u32, source: RedisError },
    /// The server refuses.
    Refused { command: &'static str, key: String, source: RedisError },
    /// The filter there has another window.
    Window { key: String, there: String, asked: String },
    /// A reply is not what the module replies.
    Reply { command: &'static str, got: String },
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Url { url, source } => {
                write!(f, "--redis {url} is not an address: {source}; write redis://[user:password@]host:port[/number]")
            }
            ServerError::Unreachable { url, attempts, source } => {
                write!(f, "cannot reach the server at {url} after {attempts} attempts: {source}")
            }
            ServerError::Refused { command, key, source } => {
                write!(f, "the server refuses {command} for {key}: {source}")?;
                if source.to_string().to_ascii_lowercase().contains("unknown command") {
                    f.write_str("; is the timebloom module loaded?")?;
                }
                Ok(())
            }
            ServerError::Window { key, there, asked } => {
                write!(f, "the filter {key} on the server has a window of {there}, and this run asks for {asked}")
            }
            ServerError::Reply { command, got } => write!(f, "the reply to {command} makes no sense: {got}"),
        }
    }
}

impl std::error::Error for ServerError {}

/// A connection to one server or to a cluster.
enum Link {
    Single(Box<Connection>),
    Cluster(Box<ClusterConnection>),
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Link::Single(_) => "Single",
            Link::Cluster(_) => "Cluster",
        })
    }
}

impl Link {
    fn open(client: &Client, url: &str) -> RedisResult<Self> {
        let mut connection = client.get_connection_with_timeout(TIMEOUT)?;
        connection.set_read_timeout(Some(TIMEOUT))?;
        connection.set_write_timeout(Some(TIMEOUT))?;
        let info: String = redis::cmd("INFO").arg("cluster").query(&mut connection)?;
        if info.lines().any(|line| line.trim() == "cluster_enabled:1") {
            let client = ClusterClient::builder([url]).retries(0).response_timeout(TIMEOUT).build()?;
            return Ok(Link::Cluster(Box::new(client.get_connection()?)));
        }
        Ok(Link::Single(Box::new(connection)))
    }

    fn one(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Link::Single(connection) => connection.req_command(command),
            Link::Cluster(connection) => connection.req_command(command),
        }
    }

    /// Sends all commands before the first reply is read.
    fn all(&mut self, commands: &[Cmd]) -> RedisResult<Vec<Value>> {
        match self {
            Link::Single(connection) => {
                let mut pipeline = redis::Pipeline::with_capacity(commands.len());
                for command in commands {
                    pipeline.add_command(command.clone());
                }
                pipeline.query(connection)
            }
            Link::Cluster(connection) => {
                let mut pipeline = redis::cluster::ClusterPipeline::with_capacity(commands.len());
                for command in commands {
                    pipeline.add_command(command.clone());
                }
                pipeline.query(connection)
            }
        }
    }
}

/// One command's share of a batch: which items, by their place in the batch.
struct Share {
    shard: usize,
    items: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Server {
    options: ServerOptions,
    client: Client,
    link: Option<Link>,
    /// Lines printed because nobody knows whether the server had them before the connection was lost.
    pub(crate) uncertain: u64,
    /// Connections that were made anew.
    pub(crate) reconnections: u64,
}

impl Server {
    /// Connects, and makes sure that the filter is there.
    pub(crate) fn connect(options: ServerOptions) -> Result<Self, ServerError> {
        let client = Client::open(options.url.as_str())
            .map_err(|source| ServerError::Url { url: options.url_without_secrets(), source })?;
        let mut server = Server { options, client, link: None, uncertain: 0, reconnections: 0 };
        server.reserve()?;
        Ok(server)
    }

    pub(crate) fn options(&self) -> &ServerOptions {
        &self.options
    }

    fn shard_key(&self, shard: usize) -> String {
        match self.options.shards {
            1 => self.options.key.clone(),
            _ => format!("{}:{{{shard}}}", self.options.key),
        }
    }

    /// Creates the filters that are missing; those that are there must have the same window.
    fn reserve(&mut self) -> Result<(), ServerError> {
        for shard in 0..self.options.shards {
            let key = self.shard_key(shard);
            let mut info = redis::cmd("APBF.INFO");
            info.arg(&key);
            let known = match self.ask(&info)? {
                Ok(reply) => Some(reply),
                Err(_missing) => {
                    let refused = self.ask(&self.reserve_command(&key))?.err();
                    // another process may have been faster
                    match (refused, self.ask(&info)?) {
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

    /// Sends a command until there is an answer, be it a refusal.
    fn ask(&mut self, command: &Cmd) -> Result<RedisResult<Value>, ServerError> {
        let mut attempt = 0;
        loop {
            let outcome = self.connected().and_then(|link| link.one(command));
            match outcome.and_then(Value::extract_error) {
                Err(error) if is_worth_another_try(&error) => self.pause(&mut attempt, error)?,
                outcome => return Ok(outcome),
            }
        }
    }

    fn connected(&mut self) -> RedisResult<&mut Link> {
        let link = match self.link.take() {
            Some(link) => link,
            None => Link::open(&self.client, &self.options.url)?,
        };
        Ok(self.link.insert(link))
    }

    /// Waits before the next attempt, longer each time; gives up after the last.
    fn pause(&mut self, attempt: &mut u32, source: RedisError) -> Result<(), ServerError> {
        self.link = None;
        *attempt += 1;
        if *attempt > self.options.retries {
            return Err(ServerError::Unreachable {
                url: self.options.url_without_secrets(),
                attempts: *attempt,
                source,
            });
        }
        self.reconnections += 1;
        let doublings = (*attempt - 1).min(16);
        thread::sleep(FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE));
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
        let shares = self.shares(&items);
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

    /// Groups items by shard, in pieces of a command each.
    fn shares(&self, items: &[&[u8]]) -> Vec<Share> {
        let mut open: Vec<Option<Share>> = (0..self.options.shards).map(|_| None).collect();
        let mut shares = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let shard = shard_of(item, self.options.shards);
            let share =
                open[shard].get_or_insert_with(|| Share { shard, items: Vec::with_capacity(ITEMS_PER_COMMAND) });
            share.items.push(index);
            if share.items.len() == ITEMS_PER_COMMAND {
                shares.extend(open[shard].take());
            }
        }
        shares.extend(open.into_iter().flatten());
        shares
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

    /// Sends commands until all are answered. False if some may have been carried out twice.
    fn send(&mut self, commands: &[Cmd]) -> Result<(Vec<Value>, bool), ServerError> {
        let mut attempt = 0;
        let mut certain = true;
        loop {
            let error = match self.connected() {
                Err(error) => error,
                Ok(link) => match link.all(commands) {
                    Ok(replies) => return Ok((replies, certain)),
                    Err(error) => {
                        certain = false;
                        error
                    }
                },
            };
            if !is_worth_another_try(&error) {
                let key = self.options.key.clone();
                return Err(ServerError::Refused { command: "APBF.INSERT", key, source: error });
            }
            self.pause(&mut attempt, error)?;
        }
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

/// The shard that an item belongs to, among 1 or more.
pub(crate) fn shard_of(item: &[u8], shards: usize) -> usize {
    let scaled = u128::from(ItemHash::new(item, 0).as_u64()) * shards as u128;
    usize::try_from(scaled >> 64).expect("less than the number of shards")
}

fn is_worth_another_try(error: &RedisError) -> bool {
    !matches!(error.retry_method(), RetryMethod::NoRetry)
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
    fn shards_never_change() {
        // other programs shard by the same rule: these are facts, not choices
        assert_eq!(shard_of(b"", 1), 0);
        assert_eq!(shard_of(b"", 16), 2); // 0x2d06800538d394c2 is the published hash of nothing
        let mut sizes = [0; 3];
        for item in 0..30_000_u32 {
            sizes[shard_of(item.to_string().as_bytes(), 3)] += 1;
        }
        assert!(sizes.iter().all(|size| (9_700..10_300).contains(size)), "{sizes:?}");
    }

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
