//! A client in another language: redis-py, plain and cluster.

use std::process::Command;

use crate::cluster::Cluster;
use crate::process::Server;

#[test]
#[ignore = "needs redis-py: `scripts/test module` installs it and runs this"]
fn redis_py_agrees() {
    let python = std::env::var("TIMEBLOOM_PYTHON").expect("TIMEBLOOM_PYTHON names a Python that has redis-py");
    let (server, cluster) = (Server::start(&[]), Cluster::start());
    let status = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/redis_py.py"))
        .args([server.port.to_string(), cluster.servers[0].port.to_string()])
        .status();
    assert!(status.expect("TIMEBLOOM_PYTHON is a program").success());
}
