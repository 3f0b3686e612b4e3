//! Running the binary, and the exact answers to compare it with.

#![allow(dead_code)] // every test file uses another part

pub mod fake_server;
pub mod oracle;
pub mod real_server;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a finished process left behind.
pub struct Run {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub code: i32,
}

pub fn timebloom() -> Command {
    Command::new(env!("CARGO_BIN_EXE_timebloom"))
}

/// Starts `timebloom` with these arguments, and pipes to all sides. Returns it and where it reads from.
pub fn start(arguments: &[&str]) -> (Child, ChildStdin) {
    let mut child = timebloom()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let input = child.stdin.take().expect("stdin is piped");
    (child, input)
}

/// Waits for something that another process is about to do. The limit turns a hang into a failure.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `timebloom` with these arguments and this standard input.
pub fn run(arguments: &[&str], input: &[u8]) -> Run {
    let (child, mut stdin) = start(arguments);
    let output = thread::scope(|scope| {
        // Beside the reading below, as either pipe may fill up. A process that ends early leaves a broken pipe.
        scope.spawn(move || {
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("the process ends")
    });
    Run {
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code().expect("the process exits, and is not killed"),
    }
}

/// The same, for a run that must succeed and say nothing: its output as lines.
pub fn lines_of(arguments: &[&str], input: &[u8]) -> Vec<String> {
    let run = run(arguments, input);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
    text_lines(&run.stdout)
}

pub fn text_lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

/// A summary from `--stats=json`.
pub fn stats(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stderr).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}

/// Runs `timebloom dedup --window 60s` on these files.
pub fn dedup(files: &[&str], input: &[u8]) -> Run {
    run(&[&["dedup", "--window", "60s"], files].concat(), input)
}

pub fn dedup_stdin(input: &[u8]) -> Run {
    dedup(&[], input)
}

/// The exact answer: each line where it first occurs, byte for byte.
pub fn first_sightings(input: &[u8]) -> Vec<u8> {
    let mut seen = HashSet::new();
    input
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| seen.insert(line.strip_suffix(b"\n").unwrap_or(line)))
        .flatten()
        .copied()
        .collect()
}

/// Bytes made readable, so that a failed comparison can be understood.
pub fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Writes a file for one test. Its name must be unique among the tests of this folder.
pub fn temporary_file(name: &str, content: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("the temporary folder is writable");
    path.into_os_string().into_string().expect("cargo's folder has a UTF-8 path")
}

/// A name in the folder for temporary files, where nothing is yet. It must be unique among the tests of all files.
pub fn temporary_path(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    for path in [path.clone(), path.with_file_name(format!("{name}.lock"))] {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{}: {error}", path.display()),
            _ => {}
        }
    }
    path.into_os_string().into_string().expect("cargo's folder has a UTF-8 path")
}

/// A small generator of repeatable random numbers (xorshift64*).
pub struct Random(u64);

impl Random {
    /// `seed` must not be 0.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number in `0..limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((self.next() >> 32) * limit) >> 32
    }

    pub fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}
