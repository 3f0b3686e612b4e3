//! Settings, INFO and COMMAND DOCS.

use crate::client::Reply;
use crate::process::{Server, wait_for};

#[test]
fn settings_are_shown_set_and_checked() {
    let server = Server::start(&["--timebloom.default-span-ms", "1234", "--timebloom.default-error", "0.2"]);
    let mut client = server.client();
    assert_eq!(client.ask("CONFIG GET timebloom.max-filter-bytes"), "[\"timebloom.max-filter-bytes\", \"536870912\"]");
    assert_eq!(client.ask("CONFIG GET timebloom.default-error"), "[\"timebloom.default-error\", \"0.2\"]");
    client.send("APBF.INSERT a ITEMS x");
    assert_eq!(client.figure("a", "Time Span"), Reply::Integer(1_234));
    assert_eq!(client.figure("a", "Error rate").text(), "0.2");
    for (setting, good, bad) in [
        ("max-filter-bytes", "1mb", "1"),
        ("max-skew-ms", "0", "-1"),
        ("default-span-ms", "5", "0"),
        ("default-capacity", "77", "-5"),
        ("default-error", "3", "7"),
    ] {
        assert!(client.send(&format!("CONFIG SET timebloom.{setting} {bad}")).is_error(), "{setting}");
        assert_eq!(client.ask(&format!("CONFIG SET timebloom.{setting} {good}")), "OK", "{setting}");
    }
    client.send("APBF.INSERT b ITEMS x");
    for (name, value) in [("Time Span", "5"), ("Capacity", "77"), ("Error rate", "3"), ("Max bytes", "1048576")] {
        assert_eq!(client.figure("b", name).to_string(), value, "{name}");
    }
    for command in ["APBF.RESERVE c TIME 2 1000000 60", "APBF.RESERVE c COUNT 2 1000000"] {
        let reply = client.ask(command);
        assert!(reply.contains("takes about") && reply.contains("may take 1048576"), "{reply}");
    }
    let reply = client.ask("APBF.RESERVE c TIME 2 10 60 MAXBYTES 1048577");
    assert!(reply.contains("the limit for a filter is 1048576 (timebloom.max-filter-bytes)"), "{reply}");
    // sizes are refused before memory is taken, however large
    for capacity in ["18446744073709551615", "1000000000000"] {
        assert!(client.send(&format!("APBF.RESERVE c TIME 2 {capacity} 60")).is_error());
        assert!(client.send(&format!("APBF.RESERVE c COUNT 2 {capacity}")).is_error());
    }
    assert_eq!(client.ask("EXISTS c"), "0");
}

#[test]
fn the_server_tells_what_all_filters_did() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE t TIME 2 10 60");
    client.send("APBF.ADD t a b c");
    client.send("APBF.ADDNX t a d");
    client.send("APBF.EXISTS t a b x");
    client.send("APBF.EXISTS t y");
    for (field, value) in
        [("filters", 1), ("adds", 4), ("hits", 3), ("misses", 3), ("fresh_starts", 1), ("rejected", 0)]
    {
        assert_eq!(client.info_number("timebloom", &format!("timebloom_{field}")), value, "{field}");
    }
    assert_eq!((client.figure("t", "Hits").integer(), client.figure("t", "Misses").integer()), (3, 3));
    client.send("DEL t");
    // some servers free what is deleted a little later
    wait_for("the filter to go", || client.info_number("timebloom", "timebloom_filters") == 0);
}

#[test]
fn every_command_is_documented() {
    let server = Server::start(&[]);
    let mut client = server.client();
    let commands = [
        ("apbf.reserve", -5, "RW insert"),
        ("apbf.add", -3, "RW access update"),
        ("apbf.addnx", -3, "RW access update"),
        ("apbf.madd", -3, "RW access update"),
        ("apbf.insert", -4, "RW access update"),
        ("apbf.exists", -3, "RO access"),
        ("apbf.age", -3, "RO access"),
        ("apbf.between", -5, "RO access"),
        ("apbf.card", 2, "RO access"),
        ("apbf.info", 2, "RO access"),
        ("apbf.loadchunk", 5, "RW insert"),
    ];
    let listed = client.send("COMMAND LIST FILTERBY MODULE timebloom");
    assert_eq!(listed.array().len(), commands.len());
    for (name, arity, key) in commands {
        let info = client.call(&["COMMAND", "INFO", name]);
        let info = info.array()[0].array();
        assert_eq!(info[1].integer(), arity, "{name}");
        let spec = info[8].array()[0].to_string();
        for word in key.split(' ') {
            assert!(spec.contains(word), "{name}: {spec}");
        }
        assert_eq!(spec.contains("RW"), key.contains("RW"), "{name}: {spec}");
        let docs = client.call(&["COMMAND", "DOCS", name]);
        let docs = docs.array()[1].to_string();
        for part in ["summary", "complexity", "since", "arguments", "key_spec_index"] {
            assert!(docs.contains(part), "{name}: {docs}");
        }
        let mut words = vec!["COMMAND", "GETKEYS", name, "k", "1", "2", "i"];
        words.truncate(if arity > 0 { usize::try_from(arity).expect("few") + 2 } else { words.len() });
        assert_eq!(client.call(&words).to_string(), "[\"k\"]", "{name}");
    }
    let docs = client.ask("COMMAND DOCS APBF.INSERT");
    for token in
        ["NOCREATE", "NX", "AT", "ITEMS", "MAXBYTES", "ONFULL", "SHORTEN", "LEVEL", "POLICY", "PX", "EX", "SEED"]
    {
        assert!(docs.contains(&format!("\"{token}\"")), "{token}: {docs}");
    }
}
