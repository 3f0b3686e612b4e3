//! A cluster of three primaries with a replica each: routing, resharding under load, and a failover in mid-stream.

use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{Client, Reply};
use crate::process::{Server, wait_for};

pub struct Cluster {
    pub servers: Vec<Server>,
}

impl Cluster {
    pub fn start() -> Cluster {
        let arguments = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--appendonly", "yes"];
        let servers: Vec<Server> = (0..6).map(|_| Server::start(&arguments)).collect();
        let addresses: Vec<String> = servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        let mut words = vec!["create"];
        words.extend(addresses.iter().map(String::as_str));
        words.extend(["--cluster-replicas", "1", "--cluster-yes"]);
        let (done, output) = manage(&words);
        assert!(done, "{output}");
        let cluster = Cluster { servers };
        cluster.wait_until_settled();
        cluster
    }

    /// Waits until all nodes agree, and every primary has its replica.
    fn wait_until_settled(&self) {
        wait_for("the cluster to settle", || {
            let address = format!("127.0.0.1:{}", self.servers[0].port);
            let states = self.servers.iter().all(|server| {
                let mut client = server.client();
                client.send("CLUSTER INFO").text().contains("cluster_state:ok")
                    && (client.info("replication", "role") == "master"
                        || client.info("replication", "master_link_status") == "up")
            });
            let (checked, output) = manage(&["check", &address]);
            states && checked && !output.contains("[WARNING]")
        });
    }

    fn with_role(&self, role: &str) -> Vec<usize> {
        let is = |server: &Server| server.client().info("replication", "role") == role;
        (0..self.servers.len()).filter(|&number| is(&self.servers[number])).collect()
    }

    fn id(&self, number: usize) -> String {
        self.servers[number].client().send("CLUSTER MYID").text()
    }
}

/// `redis-cli --cluster ...`: whether it went well, and what it said.
fn manage(words: &[&str]) -> (bool, String) {
    let output = Command::new("redis-cli").arg("--cluster").args(words).output().expect("redis-cli must be installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success() && !text.contains("[ERR]"), text)
}

/// A client that goes where the cluster sends it.
struct Router {
    ports: Vec<u16>,
    connections: HashMap<u16, Client>,
    /// The port for each key.
    places: HashMap<String, u16>,
}

impl Router {
    fn new(cluster: &Cluster) -> Self {
        let ports = cluster.servers.iter().map(|server| server.port).collect();
        Router { ports, connections: HashMap::new(), places: HashMap::new() }
    }

    fn connection(&mut self, port: u16) -> std::io::Result<&mut Client> {
        match self.connections.entry(port) {
            std::collections::hash_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::hash_map::Entry::Vacant(entry) => Ok(entry.insert(Client::connect(port)?)),
        }
    }

    /// Calls, and waits for a replica if `replicas` says so. Gives the reply, and how many replicas have it.
    fn call(&mut self, words: &[&str], replicas: u32) -> (Reply, i64) {
        let key = words[1].to_owned();
        let begun = Instant::now();
        let mut attempt = 0;
        let mut ask = None;
        loop {
            assert!(begun.elapsed() < Duration::from_secs(60), "no answer for a minute: {words:?}");
            attempt += 1;
            let port = ask.or(self.places.get(&key).copied()).unwrap_or(self.ports[attempt % self.ports.len()]);
            let is_asking = ask.take().is_some();
            let outcome = self.connection(port).and_then(|client| {
                if is_asking {
                    client.try_call(&["ASKING"])?;
                }
                let reply = client.try_call(words)?;
                // a server that was a primary a moment ago may refuse to wait
                let mut replicated = 0;
                if replicas > 0 && !reply.is_error() {
                    let waited = client.try_call(&["WAIT", &replicas.to_string(), "1000"])?;
                    replicated = if waited.is_error() { 0 } else { waited.integer() };
                }
                Ok((reply, replicated))
            });
            match outcome {
                Ok((Reply::Error(text), _)) if text.starts_with("MOVED ") || text.starts_with("ASK ") => {
                    let port = text.rsplit(':').next().and_then(|port| port.parse().ok()).expect("an address");
                    if text.starts_with("ASK ") {
                        ask = Some(port);
                    } else {
                        self.places.insert(key.clone(), port);
                    }
                }
                Ok((Reply::Error(text), _))
                    if ["TRYAGAIN", "CLUSTERDOWN", "LOADING", "READONLY"].iter().any(|word| text.starts_with(word)) =>
                {
                    thread::sleep(Duration::from_millis(50));
                }
                Ok(answer) => {
                    if !is_asking {
                        self.places.insert(key, port);
                    }
                    return answer;
                }
                Err(_) => {
                    self.connections.remove(&port);
                    self.places.remove(&key);
                    thread::sleep(Duration::from_millis(50));
                }
            }
        }
    }
}

const KEYS: u64 = 24;

/// Tells the writers to end, also when the test fails: nobody would wait for them otherwise.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn key(item: u64) -> String {
    format!("filter-{}", item % KEYS)
}

#[test]
fn resharding_and_failover_lose_nothing_that_was_replicated() {
    let mut cluster = Cluster::start();
    let mut router = Router::new(&cluster);
    for number in 0..KEYS {
        assert_eq!(router.call(&["APBF.RESERVE", &key(number), "TIME", "3", "1000", "3600"], 0).0.to_string(), "OK");
    }
    let is_over = AtomicBool::new(false);
    let first = cluster.servers[0].port;
    let acknowledged = thread::scope(|scope| {
        let writers: Vec<_> = (0..2_u64)
            .map(|writer| {
                let (mut router, is_over) = (Router::new(&cluster), &is_over);
                scope.spawn(move || {
                    let mut acknowledged = Vec::new();
                    for number in 0.. {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        let item = number * 2 + writer;
                        let (reply, replicas) = router.call(&["APBF.ADD", &key(item), &format!("item-{item}")], 1);
                        assert_eq!(reply.to_string(), "OK");
                        if replicas >= 1 {
                            acknowledged.push(item);
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        let _end = Ending(&is_over);
        // slots move from each primary to the next
        let primaries = cluster.with_role("master");
        assert_eq!(primaries.len(), 3);
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let (from, to) = (cluster.id(primaries[from]), cluster.id(primaries[to]));
            let address = format!("127.0.0.1:{first}");
            let (done, output) = manage(&[
                "reshard",
                &address,
                "--cluster-from",
                &from,
                "--cluster-to",
                &to,
                "--cluster-slots",
                "1000",
                "--cluster-yes",
            ]);
            assert!(done, "{output}");
            cluster.wait_until_settled();
        }
        // a primary dies while everybody writes
        let victim = cluster.with_role("master")[1];
        let id = cluster.servers[victim].id().to_string();
        assert!(Command::new("kill").args(["-9", &id]).status().expect("kill").success());
        let survivor = cluster.servers.iter().enumerate().find(|(number, _)| *number != victim).expect("five").1.port;
        wait_for("the failover", || {
            let nodes = Client::connect(survivor).expect("it lives").send("CLUSTER NODES").text();
            let alive = |line: &&str| line.contains("master") && !line.contains("fail") && line.contains("connected ");
            nodes.lines().filter(alive).filter(|line| line.split(' ').count() > 8).count() == 3
        });
        thread::sleep(Duration::from_millis(500));
        is_over.store(true, Ordering::Relaxed);
        let all: Vec<u64> = writers.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect();
        (all, victim)
    });
    let (acknowledged, victim) = acknowledged;
    cluster.servers[victim].kill(); // collects what is left of it
    cluster.servers[victim].start_again();
    cluster.wait_until_settled();
    let mut router = Router::new(&cluster);
    for item in &acknowledged {
        let (reply, _) = router.call(&["APBF.EXISTS", &key(*item), &format!("item-{item}")], 0);
        assert_eq!(reply.to_string(), "[1]", "item {item} of {}", acknowledged.len());
    }
    println!("{} acknowledged and replicated", acknowledged.len());
    assert!(acknowledged.len() > 1_000, "{}", acknowledged.len());
    // replicas hold what their primaries hold
    for number in cluster.with_role("slave") {
        let mut replica = cluster.servers[number].client();
        let port: u16 = replica.info("replication", "master_port").parse().expect("a port");
        let mut primary = Client::connect(port).expect("it lives");
        wait_for("equal digests", || primary.digest() == replica.digest());
    }
}

#[test]
fn a_cluster_client_that_has_never_heard_of_the_module_routes_by_key() {
    let cluster = Cluster::start();
    let nodes: Vec<String> =
        cluster.servers.iter().map(|server| format!("redis://127.0.0.1:{}/", server.port)).collect();
    let client = redis::cluster::ClusterClient::new(nodes).expect("addresses");
    let mut connection = client.get_connection().expect("a cluster");
    let mut places = std::collections::HashSet::new();
    for number in 0..30 {
        let key = format!("key-{number}");
        let answer: Vec<bool> =
            redis::cmd("APBF.INSERT").arg(&key).arg("ITEMS").arg("a").arg("b").query(&mut connection).expect("routed");
        assert_eq!(answer, [true, true]);
        let answer: Vec<bool> =
            redis::cmd("APBF.EXISTS").arg(&key).arg("a").arg("c").query(&mut connection).expect("routed");
        assert_eq!(answer, [true, false]);
        for (place, server) in cluster.servers.iter().enumerate() {
            if server.client().info("replication", "role") == "master"
                && server.client().ask(&format!("EXISTS {key}")) == "1"
            {
                places.insert(place);
            }
        }
    }
    assert_eq!(places.len(), 3, "keys are everywhere");
}
