//! The command and the module together, in a real server: needs the module of this workspace and `redis-server`.

mod common;

use common::oracle::{Oracle, printed};
use common::real_server::{Server, keyed_events, module};
use common::{run, text_lines};

#[test]
fn the_module_decides_as_an_exact_window_would() {
    let module = module();
    let server = Server::start(&module, &[]);
    let events = keyed_events(61, 30_000);
    let input: Vec<String> = events.iter().map(|(line, ..)| line.clone()).collect();
    let bytes: Vec<u8> = input.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
    let time = ["--field", "2", "--time-field", "1", "--time-format", "unix-ms"];
    for (name, more) in [("one", &[][..]), ("many", &["--shards", "5"]), ("fresh", &["--refresh"])] {
        let options = ["dedup", "--window", "30s", "--redis", &server.url, "--key", name];
        let run = run(&[&options[..], &time, more].concat(), &bytes);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}");
        let mut oracle = Oracle::new(30_000, 0.01);
        if name == "fresh" {
            oracle = oracle.refreshing();
        }
        for ((_, key, at), printed) in events.iter().zip(printed(&input, &text_lines(&run.stdout))) {
            oracle.see(key, *at, printed);
        }
        oracle.finish();
        assert!(oracle.printed >= 3_000, "{name}: {} printed", oracle.printed);
    }
}

#[test]
fn processes_share_the_window_of_a_module() {
    let module = module();
    let server = Server::start(&module, &[]);
    let lines = |window: &[&str], name: &str, input: &[u8]| {
        let run = run(&[&["dedup", "--redis", &server.url, "--key", name], window].concat(), input);
        (run.code, text_lines(&run.stdout).join(" "), run.stderr)
    };
    for (name, window) in [("by-time", ["--window", "1h"]), ("by-count", ["--last", "1000"])] {
        assert_eq!(lines(&window, name, b"a\nb\na\n"), (0, "a b".to_owned(), String::new()));
        assert_eq!(lines(&window, name, b"c\nb\n"), (0, "c".to_owned(), String::new()));
    }
    let (code, printed, message) = lines(&["--window", "2h"], "by-time", b"d\n");
    assert_eq!((code, printed.as_str()), (1, ""));
    assert!(message.contains("a window of 3600000 ms"), "{message}");
    // a key that is something else
    let (code, _, message) = lines(&["--window", "2h"], "by-count", b"d\n");
    assert_eq!(code, 1, "{message}");
}
