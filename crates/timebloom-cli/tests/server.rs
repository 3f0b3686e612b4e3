//! A filter in a server, which may be slow, gone, or without the module.

mod common;

use std::collections::HashSet;
use std::net::TcpListener;

use common::fake_server::{FakeServer, Trouble};
use common::{Random, first_sightings, run, show, stats, text_lines};

fn at<'a>(server: &'a FakeServer, more: &[&'a str]) -> Vec<&'a str> {
    [&["dedup", "--redis", &server.url, "--key", "seen"], more].concat()
}

fn some_lines(seed: u64, count: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..count).flat_map(|_| format!("line {}\n", random.below(count / 2)).into_bytes()).collect()
}

#[test]
fn the_server_decides_what_is_new() {
    let server = FakeServer::start(&[]);
    let input = some_lines(1, 20_000);
    let first = run(&at(&server, &["--window", "60s"]), &input);
    assert_eq!((first.code, first.stderr.as_str()), (0, ""));
    assert!(first.stdout == first_sightings(&input));
    // another process, the same window
    let known = text_lines(&input).remove(0);
    let second = run(&at(&server, &["--window", "60s"]), format!("{known}\nnever\n").as_bytes());
    assert_eq!(show(&second.stdout), show(b"never\n"));

    let options = ["TIME", "0.01", "100000", "PX", "60000"].map(str::to_owned).to_vec();
    assert_eq!(server.reserved(), [("seen".to_owned(), options)]);
    assert!(server.log().iter().all(|words| words[..] == ["seen", "NOCREATE", "NX", "ITEMS"]), "{:?}", server.log()[0]);
}

#[test]
fn keys_times_and_policies_reach_the_server() {
    let server = FakeServer::start(&[]);
    let options = ["--last", "1000", "--error", "0.001", "--refresh", "--field", "2", "--shards", "1"];
    let counted = run(&at(&server, &options), b"a x\nb x\n");
    assert_eq!(show(&counted.stdout), show(b"a x\n"), "{}", counted.stderr);
    assert_eq!(server.items("seen"), HashSet::from([b"x".to_vec()]));
    assert_eq!(server.log(), [["seen", "NOCREATE", "ITEMS"]]);
    assert_eq!(server.reserved()[0].1, ["COUNT", "0.001", "1000"]);

    let timed = FakeServer::start(&[]);
    let options = ["--window", "5s", "--max-memory", "1M", "--on-full", "shorten"];
    let time = ["--field", "2", "--time-field", "1", "--time-format", "unix"];
    let run = run(&at(&timed, &[&options[..], &time].concat()), b"10 a\n10 b\n11.5 c\n9 d\n");
    assert_eq!(text_lines(&run.stdout).len(), 4, "{}", run.stderr);
    let inserted: Vec<_> = timed.log().into_iter().map(|words| words[3..].join(" ")).collect();
    assert_eq!(inserted, ["AT 10000 ITEMS", "AT 11500 ITEMS"]);
    let reserved = ["TIME", "0.01", "100000", "PX", "5000", "MAXBYTES", "1048576", "ONFULL", "SHORTEN"];
    assert_eq!(timed.reserved()[0].1, reserved);
}

#[test]
fn shards_divide_the_items_between_them() {
    let server = FakeServer::start(&[]);
    let input = some_lines(2, 10_000);
    let run = run(&at(&server, &["--window", "60s", "--shards", "4"]), &input);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout == first_sightings(&input));
    let names: Vec<_> = server.reserved().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["seen:{0}", "seen:{1}", "seen:{2}", "seen:{3}"]);
    let shards: Vec<_> = names.iter().map(|name| server.items(name)).collect();
    let all: HashSet<_> = shards.iter().flatten().collect();
    assert_eq!(all.len(), shards.iter().map(HashSet::len).sum::<usize>(), "an item has one shard");
    assert!(shards.iter().all(|shard| shard.len() > all.len() / 5), "{:?}", shards.iter().map(HashSet::len));
}

#[test]
fn a_lost_connection_is_made_anew_and_nothing_is_lost() {
    // insertion 1 never arrives; the server needs a while for number 3
    let server = FakeServer::start(&[(1, Trouble::HangUp), (2, Trouble::HangUp), (3, Trouble::Loading)]);
    let input = some_lines(3, 100_000);
    let run = run(&at(&server, &["--window", "60s", "--stats=json"]), &input);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout == first_sightings(&input), "each line once, {} bytes", run.stdout.len());
    let json = run.stderr.lines().last().expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(json).expect(json);
    assert!(summary["reconnections"].as_u64().is_some_and(|count| count >= 3), "{summary}");
}

#[test]
fn lines_whose_fate_is_unknown_are_printed_and_counted() {
    // The server takes the first batch and dies before it says so: asked again, it has seen them all.
    let server = FakeServer::start(&[(0, Trouble::HangUpAfterwards)]);
    let run = run(&at(&server, &["--window", "60s"]), b"a\nb\na\nc\n");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(show(&run.stdout), show(b"a\nb\nc\n"), "none is lost, and none comes twice");
    assert!(run.stderr.contains("warning") && run.stderr.contains("3 may be repeats"), "{}", run.stderr);
}

#[test]
fn a_server_that_stays_away_is_an_error() {
    let gone = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound");
    let url = format!("redis://user:secret@{gone}");
    let run = run(&["dedup", "--window", "60s", "--redis", &url, "--key", "k", "--retries", "2"], b"a\n");
    assert_eq!((run.code, show(&run.stdout)), (1, String::new()));
    assert!(run.stderr.contains("cannot reach the server") && run.stderr.contains("3 attempts"), "{}", run.stderr);
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);

    let troubles: Vec<_> = (1..20).map(|number| (number, Trouble::HangUp)).collect();
    let server = FakeServer::start(&troubles);
    let input = some_lines(4, 100_000);
    let away = common::run(&at(&server, &["--window", "60s", "--retries", "2"]), &input);
    assert_eq!(away.code, 1);
    assert!(away.stderr.contains("cannot reach the server"), "{}", away.stderr);
    assert!(first_sightings(&input).starts_with(&away.stdout), "what was decided is printed");
}

#[test]
fn a_server_without_the_module_or_with_another_window_is_an_error() {
    let server = FakeServer::start(&[]);
    server.forget_the_module();
    let without = run(&at(&server, &["--window", "60s"]), b"a\n");
    assert_eq!((without.code, show(&without.stdout)), (1, String::new()));
    assert!(without.stderr.contains("is the timebloom module loaded?"), "{}", without.stderr);

    let other = FakeServer::start(&[]);
    assert_eq!(run(&at(&other, &["--window", "60s"]), b"a\n").code, 0);
    let differs = run(&at(&other, &["--window", "5m"]), b"b\n");
    assert_eq!((differs.code, show(&differs.stdout)), (1, String::new()));
    assert!(differs.stderr.contains("a window of 60000 ms, and this run asks for 300000 ms"), "{}", differs.stderr);
}

#[test]
fn server_options_that_make_no_sense_are_usage_errors() {
    let cases: [&[&str]; 7] = [
        &["--redis", "redis://127.0.0.1"],
        &["--key", "k"],
        &["--shards", "4"],
        &["--redis", "nonsense", "--key", "k"],
        &["--redis", "redis://127.0.0.1", "--key", "k", "--shards", "0"],
        &["--redis", "redis://127.0.0.1", "--key", "k", "--state", "s"],
        &["--redis", "redis://127.0.0.1", "--key", "k", "--time-field", "1", "--lateness", "5s"],
    ];
    for options in cases {
        let run = run(&[&["dedup", "--window", "60s"], options].concat(), b"a\n");
        assert_eq!(run.code, 2, "{options:?}: {}", run.stderr);
        assert!(!run.stderr.is_empty() && run.stdout.is_empty(), "{options:?}");
    }
}

#[test]
fn tls_is_refused_with_a_way_out() {
    let url = "rediss://user:secret@127.0.0.1:6379";
    let run = run(&["dedup", "--window", "60s", "--redis", url, "--key", "k"], b"a\n");
    assert_eq!((run.code, show(&run.stdout)), (2, String::new()));
    assert!(run.stderr.contains("does not speak TLS") && run.stderr.contains("tunnel"), "{}", run.stderr);
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);
}

#[test]
fn the_summary_tells_about_the_server() {
    let server = FakeServer::start(&[]);
    let summary = stats(&run(&at(&server, &["--window", "60s", "--stats=json"]), b"a\na\n"));
    assert_eq!((summary["unique"].as_u64(), summary["key"].as_str()), (Some(1), Some("seen")));
    assert_eq!((summary["window_ms"].as_u64(), summary["uncertain"].as_u64()), (Some(60_000), Some(0)));
}
