//! One filter spread over a cluster of real servers: needs the module of this workspace, `redis-server` and `redis-cli`.

mod common;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::thread;
use std::time::Duration;

use common::oracle::{Oracle, printed};
use common::real_server::{Cluster, Server, keyed_events, module};
use common::{run, start, text_lines, wait_until};

#[test]
fn the_shards_of_a_cluster_decide_as_one_window_would() {
    let module = module();
    let cluster = Cluster::start(&module);
    let events = keyed_events(71, 20_000);
    let input: Vec<String> = events.iter().map(|(line, ..)| line.clone()).collect();
    let mut oracle = Oracle::new(30_000, 0.01);
    // the second half comes by way of another server
    for (half, server) in input.chunks(10_000).zip(&cluster.servers) {
        let bytes: Vec<u8> = half.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
        let time = ["--field", "2", "--time-field", "1", "--time-format", "unix-ms"];
        let options = ["dedup", "--window", "30s", "--redis", &server.url, "--key", "seen", "--shards", "12"];
        let run = run(&[&options[..], &time].concat(), &bytes);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let judged = if oracle.printed == 0 { &events[..10_000] } else { &events[10_000..] };
        for ((_, key, at), printed) in judged.iter().zip(printed(half, &text_lines(&run.stdout))) {
            oracle.see(key, *at, printed);
        }
    }
    oracle.finish();
    assert!(oracle.printed >= 3_000, "{} printed", oracle.printed);
    let sizes: Vec<u64> = cluster.servers.iter().map(Server::size).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 12, "a key for each shard: {sizes:?}");
    assert!(sizes.iter().all(|&size| size > 0), "every server has some: {sizes:?}");
}

#[test]
fn no_line_is_lost_while_a_cluster_moves_its_keys() {
    let module = module();
    let cluster = Cluster::start(&module);
    let url = cluster.servers[2].url.clone();
    // so that no line is suppressed by mistake
    let options = ["dedup", "--window", "1h", "--error", "1e-9", "--redis", &url, "--key", "seen", "--shards", "12"];
    let (mut child, mut input) = start(&[&options[..], &["--stats=json"]].concat());
    let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let (printed, written) = thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut printed = HashMap::<String, u64>::new();
            for line in output.lines() {
                *printed.entry(line.expect("output is text")).or_default() += 1;
            }
            printed
        });
        let mover = scope.spawn(|| {
            wait_until("the filter is there", || cluster.servers.iter().map(Server::size).sum::<u64>() == 12);
            cluster.move_keys(0, 1, Duration::from_millis(100));
        });
        let mut written = 0_u64;
        // each line twice, until all has moved and some more was said
        let mut rounds_after = 0;
        while rounds_after < 20 {
            let lines: String = (0..100).map(|line| format!("line {}\n", written + line % 50)).collect();
            if input.write_all(lines.as_bytes()).is_err() {
                break; // the process has ended, and will be asked why
            }
            written += 50;
            rounds_after += u32::from(mover.is_finished());
            thread::sleep(Duration::from_millis(10));
        }
        drop(input);
        mover.join().expect("the keys can be moved");
        (reader.join().expect("the reader does not panic"), written)
    });
    let mut summary = String::new();
    child.stderr.take().expect("stderr is piped").read_to_string(&mut summary).expect("text");
    assert!(child.wait().expect("the process ends").success(), "{summary}");
    let stats: serde_json::Value = serde_json::from_str(summary.lines().last().expect("a summary")).expect("JSON");
    let count = |name: &str| stats[name].as_u64().expect(name);
    assert_eq!(printed.len() as u64, written, "every line is printed: {stats}");
    let repeats = printed.values().sum::<u64>() - written;
    assert!(repeats <= count("uncertain"), "{repeats} repeats, and only these are owned up to: {stats}");
    assert!(count("reconnections") > 0, "it was told to ask elsewhere: {stats}");
    assert_eq!(cluster.servers[0].size(), 0, "all keys have moved");
}
