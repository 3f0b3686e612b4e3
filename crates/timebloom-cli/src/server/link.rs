//! The way to a server, or to a cluster of them: opened when it is needed, and anew when it is lost.

use std::fmt;
use std::thread;
use std::time::Duration;

use redis::cluster::{ClusterClient, ClusterConnection};
use redis::{Client, Cmd, ConnectionLike, RedisError, RedisResult, RetryMethod, Value};

use super::error::ServerError;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);

/// A server, to be reached again and again if need be.
#[derive(Debug)]
pub(super) struct Connection {
    client: Client,
    url: String,
    link: Option<Link>,
    /// Attempts to get back, after the first.
    retries: u32,
    /// Connections that were made anew.
    pub(super) reconnections: u64,
}

impl Connection {
    /// Makes sense of the address; nothing is sent yet.
    pub(super) fn new(url: &str, retries: u32) -> Result<Self, ServerError> {
        if url.starts_with("rediss:") {
            return Err(ServerError::Tls { url: without_secrets(url) });
        }
        let client = Client::open(url).map_err(|source| ServerError::Url { url: without_secrets(url), source })?;
        Ok(Connection { client, url: url.to_owned(), link: None, retries, reconnections: 0 })
    }

    /// Sends a command until there is an answer, be it a refusal.
    pub(super) fn ask(&mut self, command: &Cmd) -> Result<RedisResult<Value>, ServerError> {
        let mut attempt = 0;
        loop {
            let outcome = self.connected().and_then(|link| link.one(command));
            match outcome.and_then(Value::extract_error) {
                Err(error) if is_worth_another_try(&error) => self.pause(&mut attempt, error)?,
                outcome => return Ok(outcome),
            }
        }
    }

    /// Sends commands until all are answered, or refused. False if some may have been carried out twice.
    pub(super) fn send(&mut self, commands: &[Cmd]) -> Result<(RedisResult<Vec<Value>>, bool), ServerError> {
        let mut attempt = 0;
        let mut certain = true;
        loop {
            let error = match self.connected() {
                Err(error) => error,
                Ok(link) => match link.all(commands) {
                    Ok(replies) => return Ok((Ok(replies), certain)),
                    Err(error) => {
                        certain = false;
                        error
                    }
                },
            };
            if !is_worth_another_try(&error) {
                return Ok((Err(error), certain));
            }
            self.pause(&mut attempt, error)?;
        }
    }

    fn connected(&mut self) -> RedisResult<&mut Link> {
        let link = match self.link.take() {
            Some(link) => link,
            None => Link::open(&self.client, &self.url)?,
        };
        Ok(self.link.insert(link))
    }

    /// Waits before the next attempt, longer each time; gives up after the last.
    fn pause(&mut self, attempt: &mut u32, source: RedisError) -> Result<(), ServerError> {
        self.link = None;
        *attempt += 1;
        if *attempt > self.retries {
            return Err(ServerError::Unreachable { url: without_secrets(&self.url), attempts: *attempt, source });
        }
        self.reconnections += 1;
        let doublings = (*attempt - 1).min(16);
        thread::sleep(FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE));
        Ok(())
    }
}

/// A connection to one server or to a cluster.
enum Link {
    Single(Box<redis::Connection>),
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

fn is_worth_another_try(error: &RedisError) -> bool {
    !matches!(error.retry_method(), RetryMethod::NoRetry)
}

/// An address as it may be shown: what stands before the `@` is nobody's business.
pub(super) fn without_secrets(url: &str) -> String {
    let start = url.find("://").map_or(0, |scheme| scheme + 3);
    match url[start..].rfind('@') {
        Some(at) => format!("{}{}", &url[..start], &url[start + at + 1..]),
        None => url.to_owned(),
    }
}
