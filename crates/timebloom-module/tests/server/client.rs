//! A client that sees replies as they are on the wire.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A reply of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Simple(String),
    Error(String),
    Integer(i64),
    Bulk(Vec<u8>),
    Nil,
    Array(Vec<Reply>),
    Boolean(bool),
    Double(f64),
    Map(Vec<(Reply, Reply)>),
}

/// Short, and different for each type: `OK`, `5`, `"text"`, `nil`, `[1, 0]`, `true`, `,0.5`, `{"name": 5}`, `-ERR why`.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Simple(text) => f.write_str(text),
            Reply::Error(text) => write!(f, "-{text}"),
            Reply::Integer(value) => write!(f, "{value}"),
            Reply::Bulk(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Reply::Nil => f.write_str("nil"),
            Reply::Boolean(value) => write!(f, "{value}"),
            Reply::Double(value) => write!(f, ",{value}"),
            Reply::Array(items) => {
                let items: Vec<String> = items.iter().map(Reply::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Reply::Map(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                write!(f, "{{{}}}", pairs.join(", "))
            }
        }
    }
}

impl Reply {
    pub fn is_error(&self) -> bool {
        matches!(self, Reply::Error(_))
    }

    pub fn integer(&self) -> i64 {
        match self {
            Reply::Integer(value) => *value,
            other => panic!("not an integer: {other}"),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Reply::Bulk(bytes) => bytes,
            other => panic!("not a string: {other}"),
        }
    }

    pub fn text(&self) -> String {
        match self {
            Reply::Simple(text) | Reply::Error(text) => text.clone(),
            other => String::from_utf8_lossy(other.bytes()).into_owned(),
        }
    }

    pub fn array(&self) -> &[Reply] {
        match self {
            Reply::Array(items) => items,
            other => panic!("not an array: {other}"),
        }
    }

    /// One bit for each item: 1 and true are true.
    pub fn bits(&self) -> Vec<bool> {
        let bit = |reply: &Reply| match reply {
            Reply::Integer(value) => *value == 1,
            Reply::Boolean(value) => *value,
            other => panic!("not a bit: {other}"),
        };
        self.array().iter().map(bit).collect()
    }
}

/// A connection.
pub struct Client {
    stream: BufReader<TcpStream>,
    buffer: Vec<u8>,
}

impl Client {
    pub fn connect(port: u16) -> std::io::Result<Client> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Client { stream: BufReader::new(stream), buffer: Vec::new() })
    }

    /// Asks with words that have no spaces in them, and shows the reply.
    pub fn ask(&mut self, line: &str) -> String {
        self.send(line).to_string()
    }

    /// Asks with words that have no spaces in them.
    pub fn send(&mut self, line: &str) -> Reply {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.call(&words)
    }

    /// Asks with any words.
    pub fn call<T: AsRef<[u8]>>(&mut self, words: &[T]) -> Reply {
        self.try_call(words).expect("the server answers")
    }

    pub fn try_call<T: AsRef<[u8]>>(&mut self, words: &[T]) -> std::io::Result<Reply> {
        self.queue(words);
        self.flush()?;
        self.receive()
    }

    /// Puts a command into the pipeline.
    pub fn queue<T: AsRef<[u8]>>(&mut self, words: &[T]) {
        self.buffer.extend(format!("*{}\r\n", words.len()).into_bytes());
        for word in words {
            let word = word.as_ref();
            self.buffer.extend(format!("${}\r\n", word.len()).into_bytes());
            self.buffer.extend(word);
            self.buffer.extend(b"\r\n");
        }
    }

    /// Sends the pipeline; as many [`receive`](Self::receive)s as commands were queued must follow.
    pub fn flush(&mut self) -> std::io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.stream.get_mut().write_all(&buffer)
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') || line.pop() != Some(b'\r') {
            return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the server hung up"));
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    pub fn receive(&mut self) -> std::io::Result<Reply> {
        let line = self.line()?;
        let (kind, rest) = line.split_at(1);
        let length = || rest.parse::<i64>().expect("a length");
        Ok(match kind {
            "+" => Reply::Simple(rest.to_owned()),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Integer(length()),
            "_" => Reply::Nil,
            "#" => Reply::Boolean(rest == "t"),
            "," => Reply::Double(rest.parse().expect("a double")),
            "$" | "=" => match usize::try_from(length()) {
                Ok(length) => {
                    let mut bytes = vec![0; length + 2];
                    self.stream.read_exact(&mut bytes)?;
                    bytes.truncate(length);
                    Reply::Bulk(bytes)
                }
                Err(_) => Reply::Nil,
            },
            "*" | "~" | ">" => {
                if length() < 0 {
                    return Ok(Reply::Nil);
                }
                Reply::Array((0..length()).map(|_| self.receive()).collect::<Result<_, _>>()?)
            }
            "%" => {
                let pair = |client: &mut Client| Ok((client.receive()?, client.receive()?));
                Reply::Map((0..length()).map(|_| pair(self)).collect::<std::io::Result<_>>()?)
            }
            other => panic!("a reply that begins with {other}"),
        })
    }

    /// Reads past the RDB file that begins a stream of replication.
    pub fn skip_rdb(&mut self) {
        let line = self.line().expect("an answer");
        assert!(line.starts_with("+FULLRESYNC"), "{line}");
        // empty lines keep the connection alive while the file is made
        let length = loop {
            let mut line = Vec::new();
            self.stream.read_until(b'\n', &mut line).expect("a stream");
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if let Some(length) = line.strip_prefix('$') {
                break length.to_owned();
            }
        };
        match length.strip_prefix("EOF:") {
            Some(mark) => {
                let mut tail = Vec::new();
                while !tail.ends_with(mark.as_bytes()) {
                    let mut byte = [0];
                    self.stream.read_exact(&mut byte).expect("a stream");
                    tail.push(byte[0]);
                }
            }
            None => {
                let mut bytes = vec![0; length.parse().expect("a length")];
                self.stream.read_exact(&mut bytes).expect("a stream");
            }
        }
    }

    /// Speaks RESP3 from here on.
    pub fn hello3(mut self) -> Self {
        let Reply::Map(_) = self.send("HELLO 3") else { panic!("no RESP3") };
        self
    }

    /// A field of INFO.
    pub fn info(&mut self, section: &str, field: &str) -> String {
        let text = self.call(&["INFO", section]).text();
        let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.unwrap_or_else(|| panic!("no {field} in {text}")).to_owned()
    }

    pub fn info_number(&mut self, section: &str, field: &str) -> u64 {
        self.info(section, field).parse().expect("a number")
    }

    /// A figure of `APBF.INFO`.
    pub fn figure(&mut self, key: &str, name: &str) -> Reply {
        let reply = self.call(&["APBF.INFO", key]);
        let mut pairs = reply.array().chunks(2);
        pairs.find(|pair| pair[0].text() == name).unwrap_or_else(|| panic!("no {name} in {reply}"))[1].clone()
    }

    /// The digest of all data.
    pub fn digest(&mut self) -> String {
        let digest = self.ask("DEBUG DIGEST");
        assert_eq!(digest.len(), 40, "{digest}");
        digest
    }
}
