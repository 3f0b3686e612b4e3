//! Servers of our own: started on a free port, in a directory of their own, ended when the test is.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{panicking, sleep};
use std::time::{Duration, Instant};

use crate::client::Client;

/// The module: `TIMEBLOOM_MODULE`, or what cargo built together with this test.
pub fn module() -> PathBuf {
    if let Some(path) = std::env::var_os("TIMEBLOOM_MODULE") {
        return fs::canonicalize(path).expect("TIMEBLOOM_MODULE is a file");
    }
    let test = std::env::current_exe().expect("this test is a file");
    let path = test.with_file_name("libtimebloom_module.so");
    assert!(path.exists(), "cargo builds the module beside its tests, but there is no {}", path.display());
    path
}

/// The server: `TIMEBLOOM_REDIS_SERVER`, or the `redis-server` that is installed.
fn server() -> OsString {
    std::env::var_os("TIMEBLOOM_REDIS_SERVER").unwrap_or_else(|| "redis-server".into())
}

/// A port that nobody uses, low enough for a cluster's second one.
pub fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        if port < 55_000 {
            return port;
        }
        // the system's range ends above: look further down
        let lower = port - 20_000;
        if TcpListener::bind(("127.0.0.1", lower)).is_ok() {
            return lower;
        }
    }
}

/// A directory that goes with its owner.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("timebloom-module-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory for a server");
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server with the module.
pub struct Server {
    child: Child,
    pub port: u16,
    scratch: Scratch,
    arguments: Vec<String>,
    clock_offset: Option<i64>,
    /// Whether the log may tell of errors in the server's own files.
    pub files_are_damaged: bool,
}

impl Server {
    /// Starts a server with these further arguments.
    pub fn start(arguments: &[&str]) -> Server {
        Self::start_with_clock(arguments, None)
    }

    /// Starts a server whose clock is so many seconds off.
    pub fn start_off(seconds: i64, arguments: &[&str]) -> Server {
        Self::start_with_clock(arguments, Some(seconds))
    }

    fn start_with_clock(arguments: &[&str], clock_offset: Option<i64>) -> Server {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let scratch = Scratch::new();
        for _ in 0..5 {
            let port = free_port();
            if let Ok(child) = launch(port, scratch.path(), &arguments, clock_offset) {
                return Server { child, port, scratch, arguments, clock_offset, files_are_damaged: false };
            }
        }
        panic!("no server started; its log:\n{}", log(scratch.path()));
    }

    pub fn client(&self) -> Client {
        Client::connect(self.port).expect("the server listens")
    }

    pub fn dir(&self) -> &Path {
        self.scratch.path()
    }

    pub fn log(&self) -> String {
        log(self.scratch.path())
    }

    /// Ends the server at once, whatever it is doing.
    pub fn kill(&mut self) {
        let _ = self.child.kill(); // it may have ended by itself
        self.child.wait().expect("our own child");
    }

    /// Starts it again, on the same port and the same files.
    pub fn start_again(&mut self) {
        for _ in 0..50 {
            match launch(self.port, self.scratch.path(), &self.arguments, self.clock_offset) {
                Ok(child) => {
                    self.child = child;
                    return;
                }
                Err(_) => sleep(Duration::from_millis(100)),
            }
        }
        panic!("the server does not start again; its log:\n{}", self.log());
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it starts with the files it has.
    pub fn tries_to_start(&mut self) -> bool {
        launch(self.port, self.scratch.path(), &self.arguments, self.clock_offset)
            .map(|child| self.child = child)
            .is_ok()
    }

    /// Shuts the server down in order, and starts it again after `pause`.
    pub fn restart(&mut self, pause: Duration) {
        // refused while a first append-only file is being written
        wait_for("the server to end", || {
            let _ = Client::connect(self.port).and_then(|mut client| client.try_call(&["SHUTDOWN"]));
            self.child.try_wait().expect("our own child").is_some()
        });
        sleep(pause);
        self.start_again();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let log = self.log();
        if panicking() {
            let tail: Vec<&str> = log.lines().rev().take(15).collect();
            eprintln!("the end of the log of the server on port {}:", self.port);
            tail.iter().rev().for_each(|line| eprintln!("  {line}"));
            return;
        }
        let errors = if self.files_are_damaged { "no such line" } else { "== CRITICAL ==" };
        for trouble in ["a panic in", "BUG REPORT", errors] {
            assert!(!log.contains(trouble), "the log of the server tells of trouble:\n{log}");
        }
    }
}

fn log(dir: &Path) -> String {
    String::from_utf8_lossy(&fs::read(dir.join("log")).unwrap_or_default()).into_owned()
}

/// A library that moves the clock of the server it is loaded into: built once, in `dir`.
fn moved_clock(dir: &Path) -> PathBuf {
    let (source, library) = (dir.join("clock.c"), dir.join("clock.so"));
    if !library.exists() {
        fs::write(&source, include_str!("clock.c")).expect("a file in a directory of our own");
        let compiler = Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(&source).status();
        assert!(compiler.expect("a C compiler must be installed").success(), "clock.c must compile");
    }
    library
}

fn launch(port: u16, dir: &Path, arguments: &[String], clock_offset: Option<i64>) -> Result<Child, String> {
    let file = File::options().create(true).append(true).open(dir.join("log")).expect("a log for a server");
    let mut command = Command::new(server());
    command
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--enable-debug-command", "yes"])
        .args(["--loadmodule", module().to_str().expect("a path in UTF-8")])
        .args(["--repl-diskless-sync-delay", "0", "--repl-timeout", "600"])
        .args(arguments)
        .arg("--dir")
        .arg(dir)
        .stdin(Stdio::null())
        .stdout(file.try_clone().expect("a log for a server"))
        .stderr(file);
    if let Some(seconds) = clock_offset {
        command.env("LD_PRELOAD", moved_clock(dir)).env("CLOCK_OFFSET_SECONDS", seconds.to_string());
    }
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{} must be installed: {error}", server().display()));
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().expect("our own child") {
            return Err(format!("ended with {status}"));
        }
        let ready = Client::connect(port).and_then(|mut client| client.try_call(&["PING"]));
        if ready.is_ok_and(|reply| reply.to_string() == "PONG") {
            // another server may answer at a port that was taken in between
            sleep(Duration::from_millis(5));
            match child.try_wait().expect("our own child") {
                None => return Ok(child),
                Some(status) => return Err(format!("ended with {status}")),
            }
        }
        sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err("not ready after a minute".to_owned())
}

/// Waits until `done` says so.
pub fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited a minute for {what}");
        sleep(Duration::from_millis(10));
    }
}

/// The wall clock in milliseconds.
pub fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_millis()).expect("before the year 584,000,000")
}
