//! Real servers with the module, alone or as a cluster.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use redis::FromRedisValue;
use tempfile::TempDir;

use super::{Random, wait_until};

/// Lines of a time in milliseconds and one of 3,000 keys, in order of time; with each its key and its time.
pub fn keyed_events(seed: u64, count: usize) -> Vec<(String, String, u64)> {
    let mut random = Random::new(seed);
    let mut now = 1_700_000_000_000_u64;
    let event = |_| {
        now += random.below(20);
        let key = format!("key-{}", random.below(3_000));
        (format!("{now} {key}"), key, now)
    };
    (0..count).map(event).collect()
}

/// The module, built if need be.
pub fn module() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../timebloom-module/Cargo.toml");
    assert!(manifest.exists(), "these tests need the whole workspace: {} is not there", manifest.display());
    // beside this test when the whole workspace is tested
    let test = std::env::current_exe().expect("this test has a path");
    let built = test.with_file_name("libtimebloom_module.so");
    if built.exists() {
        return built;
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_timebloom")).parent().expect("a binary is in a folder");
    let target = folder.parent().expect("a profile is in a folder");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--manifest-path"])
        .arg(&manifest)
        .env("CARGO_TARGET_DIR", target)
        .status()
        .expect("cargo built this test");
    assert!(status.success(), "the module does not build");
    target.join("debug/libtimebloom_module.so")
}

/// A server with the module, for as long as it is held.
pub struct Server {
    child: Child,
    port: u16,
    pub url: String,
    /// What it writes goes with it.
    _folder: TempDir,
}

impl Server {
    pub fn start(module: &Path, arguments: &[&str]) -> Self {
        let port = free_port();
        let folder = tempfile::tempdir().expect("a folder for a server");
        let mut child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .arg("--loadmodule")
            .arg(module)
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server must be installed");
        wait_until("the server listens", || {
            // should another process have taken the port, the server ends
            assert!(child.try_wait().expect("our own child").is_none(), "the server did not start");
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Server { child, port, url: format!("redis://127.0.0.1:{port}"), _folder: folder }
    }

    /// The reply to a command.
    pub fn ask<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut connection = redis::Client::open(self.url.as_str())
            .and_then(|client| client.get_connection())
            .expect("the server listens");
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut connection).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// How many keys it has.
    pub fn size(&self) -> u64 {
        self.ask(&["DBSIZE"])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // gone already is as good
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago, low enough for a cluster's second one, which is 10,000 above.
fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let lower = if port < 55_000 { port } else { port - 20_000 };
        if TcpListener::bind(("127.0.0.1", lower)).is_ok() && TcpListener::bind(("127.0.0.1", lower + 10_000)).is_ok() {
            return lower;
        }
    }
}

/// Three servers that share the keys.
pub struct Cluster {
    pub servers: Vec<Server>,
}

impl Cluster {
    pub fn start(module: &Path) -> Self {
        let arguments = ["--cluster-enabled", "yes"];
        let cluster = Cluster { servers: (0..3).map(|_| Server::start(module, &arguments)).collect() };
        let addresses: Vec<String> = cluster.servers.iter().map(address).collect();
        let words: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let (done, said) = manage(&[&["create"], &words[..], &["--cluster-yes"]].concat());
        assert!(done, "{said}");
        wait_until("the servers agree", || {
            let ready = |server: &Server| server.ask::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok");
            cluster.servers.iter().all(ready) && manage(&["check", &addresses[0]]).0
        });
        cluster
    }

    /// Moves every key of server `from` to server `to`. Each is in both hands for a while: its old place asks to look for
    /// it at the new one.
    pub fn move_keys(&self, from: usize, to: usize, a_while: Duration) {
        let (from, to) = (&self.servers[from], &self.servers[to]);
        let id = |server: &Server| server.ask::<String>(&["CLUSTER", "MYID"]);
        let (from_id, to_id, port) = (id(from), id(to), to.port.to_string());
        for key in from.ask::<Vec<String>>(&["KEYS", "*"]) {
            let slot = from.ask::<u64>(&["CLUSTER", "KEYSLOT", &key]).to_string();
            let set = |server: &Server, state: &str, id: &str| {
                assert_eq!(server.ask::<String>(&["CLUSTER", "SETSLOT", &slot, state, id]), "OK");
            };
            set(to, "IMPORTING", &from_id);
            set(from, "MIGRATING", &to_id);
            assert_eq!(from.ask::<String>(&["MIGRATE", "127.0.0.1", &port, &key, "0", "30000"]), "OK");
            thread::sleep(a_while);
            // the new owner first: until then it would turn clients away
            set(to, "NODE", &to_id);
            self.servers.iter().for_each(|server| set(server, "NODE", &to_id));
            thread::sleep(a_while);
        }
    }
}

fn address(server: &Server) -> String {
    format!("127.0.0.1:{}", server.port)
}

/// `redis-cli --cluster ...`: whether it went well, and what it said.
fn manage(words: &[&str]) -> (bool, String) {
    let output = Command::new("redis-cli").arg("--cluster").args(words).output().expect("redis-cli must be installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success() && !text.contains("[ERR]"), text)
}
