//! A server that speaks just enough of the protocol, has just enough of the module, and fails as it is told to.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What to do when a command comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Close the connection instead of doing anything.
    HangUp,
    /// Do it, and close the connection instead of replying.
    HangUpAfterwards,
    /// Say that the data is still being loaded.
    Loading,
}

#[derive(Debug, Default)]
struct Shared {
    /// Exact sets, by key.
    filters: HashMap<String, HashSet<Vec<u8>>>,
    /// The options each filter was reserved with.
    reserved: HashMap<String, Vec<String>>,
    /// For the insertions to come, counted from the first.
    troubles: HashMap<usize, Trouble>,
    insertions: usize,
    /// Every insertion, without its items.
    log: Vec<Vec<String>>,
    /// Refuse module commands, as a server without it.
    without_module: bool,
}

/// A server in a thread, for as long as the test runs.
#[derive(Clone, Debug)]
pub struct FakeServer {
    pub url: String,
    shared: Arc<Mutex<Shared>>,
}

impl FakeServer {
    /// A server with trouble ahead: at which insertion, and what.
    pub fn start(troubles: &[(usize, Trouble)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("redis://{}", listener.local_addr().expect("bound"));
        let shared = Arc::new(Mutex::new(Shared { troubles: troubles.iter().copied().collect(), ..Shared::default() }));
        let server = FakeServer { url, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        server
    }

    pub fn forget_the_module(&self) {
        self.shared.lock().expect("nobody panics under the lock").without_module = true;
    }

    /// The names of the filters, with the options they were reserved with.
    pub fn reserved(&self) -> Vec<(String, Vec<String>)> {
        let mut all: Vec<_> =
            self.shared.lock().expect("nobody panics under the lock").reserved.clone().into_iter().collect();
        all.sort();
        all
    }

    /// The insertions, without their items.
    pub fn log(&self) -> Vec<Vec<String>> {
        self.shared.lock().expect("nobody panics under the lock").log.clone()
    }

    /// The items of a filter.
    pub fn items(&self, key: &str) -> HashSet<Vec<u8>> {
        self.shared.lock().expect("nobody panics under the lock").filters.get(key).cloned().unwrap_or_default()
    }
}

fn serve(stream: TcpStream, shared: &Mutex<Shared>) {
    let mut output = stream.try_clone().expect("a second handle");
    let mut input = BufReader::new(stream);
    while let Some(command) = read_command(&mut input) {
        let Some(reply) = answer(&command, &mut shared.lock().expect("nobody panics under the lock")) else { return };
        if output.write_all(&reply).is_err() {
            return;
        }
    }
}

/// An array of bulk strings; `None` at the end.
fn read_command(input: &mut impl BufRead) -> Option<Vec<Vec<u8>>> {
    let count = read_number(input, '*')?;
    (0..count)
        .map(|_| {
            let mut bytes = vec![0; read_number(input, '$')? + 2];
            input.read_exact(&mut bytes).ok()?;
            bytes.truncate(bytes.len() - 2);
            Some(bytes)
        })
        .collect()
}

fn read_number(input: &mut impl BufRead, kind: char) -> Option<usize> {
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    line.trim_end().strip_prefix(kind)?.parse().ok()
}

/// The reply; `None` to hang up.
fn answer(command: &[Vec<u8>], shared: &mut Shared) -> Option<Vec<u8>> {
    let text =
        |index: usize| command.get(index).map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default();
    let name = text(0).to_ascii_uppercase();
    if name.starts_with("APBF.") && shared.without_module {
        return Some(format!("-ERR unknown command '{name}'\r\n").into_bytes());
    }
    Some(match name.as_str() {
        "INFO" => {
            let info = "# Cluster\r\ncluster_enabled:0\r\n";
            format!("${}\r\n{info}\r\n", info.len()).into_bytes()
        }
        "APBF.INFO" => match shared.reserved.get(&text(1)) {
            None => b"-ERR not found\r\n".to_vec(),
            Some(options) => {
                let span = options.iter().position(|option| option == "PX").map(|at| options[at + 1].clone());
                let capacity = &options[2];
                let span = span.unwrap_or_else(|| "0".to_owned());
                format!("*4\r\n+Capacity\r\n:{capacity}\r\n+Time Span\r\n:{span}\r\n").into_bytes()
            }
        },
        "APBF.RESERVE" => {
            let options = (2..command.len()).map(text).collect();
            if shared.reserved.contains_key(&text(1)) {
                return Some(b"-ERR the key exists\r\n".to_vec());
            }
            shared.reserved.insert(text(1), options);
            b"+OK\r\n".to_vec()
        }
        "APBF.INSERT" => {
            let trouble = shared.troubles.get(&shared.insertions).copied();
            shared.insertions += 1;
            match trouble {
                Some(Trouble::HangUp) => return None,
                Some(Trouble::Loading) => return Some(b"-LOADING the dataset is being loaded\r\n".to_vec()),
                Some(Trouble::HangUpAfterwards) | None => {}
            }
            let items = command.iter().position(|word| word == b"ITEMS").expect("there are items") + 1;
            shared.log.push((1..items).map(text).collect());
            let filter = shared.filters.entry(text(1)).or_default();
            let mut reply = format!("*{}\r\n", command.len() - items).into_bytes();
            for item in &command[items..] {
                reply.extend(format!(":{}\r\n", u8::from(filter.insert(item.clone()))).into_bytes());
            }
            if trouble.is_some() {
                return None;
            }
            reply
        }
        _ => b"+OK\r\n".to_vec(),
    })
}
