//! What can go wrong with a server.

use std::fmt;

use redis::RedisError;

#[derive(Debug)]
pub(crate) enum ServerError {
    /// The address makes no sense.
    Url { url: String, source: RedisError },
    /// The address asks for TLS.
    Tls { url: String },
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
                let reason = source.to_string();
                let reason = reason.strip_suffix(" - InvalidClientConfig").unwrap_or(&reason);
                write!(f, "--redis {url} is not an address: {reason}; write redis://[user:password@]host:port[/number]")
            }
            ServerError::Tls { url } => write!(
                f,
                "--redis {url}: this program does not speak TLS; let a tunnel such as stunnel do it, and write its \
                 address as redis://host:port"
            ),
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
