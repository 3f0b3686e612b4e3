//! Every command and its replies, in RESP2 and RESP3.

use crate::client::Reply;
use crate::process::{Server, now_ms};

#[test]
fn the_published_commands_answer_as_published() {
    let server = Server::start(&[]);
    let mut client = server.client();
    assert_eq!(client.ask("APBF.RESERVE t TIME 2 1000 60"), "OK");
    assert_eq!(client.ask("APBF.RESERVE c COUNT 3 500"), "OK");
    for key in ["t", "c"] {
        assert_eq!(client.ask(&format!("APBF.ADD {key} a b")), "OK");
        assert_eq!(client.ask(&format!("APBF.EXISTS {key} a x b")), "[1, 0, 1]");
        assert_eq!(client.ask(&format!("APBF.EXISTS {key} a")), "[1]");
    }
    let names = [
        "Type",
        "Size",
        "Capacity",
        "Error rate",
        "Inserts count",
        "Hash functions count",
        "Periods count",
        "Slices count",
        "Time Span",
    ];
    let info = client.send("APBF.INFO t");
    let published: Vec<String> = info.array().chunks(2).take(9).map(|pair| pair[0].text()).collect();
    assert_eq!(published, names);
    let values: Vec<String> = info.array().chunks(2).take(9).map(|pair| pair[1].to_string()).collect();
    assert_eq!(values[0], "\"Age Partitioned Bloom Filter - Time\"");
    assert_eq!(values[2..7], ["1000", "2", "2", "9", "31"]);
    assert_eq!(values[8], "60000");
    assert_eq!(client.figure("c", "Type").text(), "Age Partitioned Bloom Filter - Count");
    assert_eq!(client.figure("c", "Time Span"), Reply::Integer(0));
    assert_eq!(client.figure("c", "Error rate"), Reply::Integer(3));
    assert!(client.figure("t", "Size").integer() > 0);
    // as given, also when it was a fraction
    assert_eq!(client.ask("APBF.RESERVE f TIME 0.001 1 PX 1500"), "OK");
    assert_eq!(client.figure("f", "Error rate").text(), "0.001");
    assert_eq!(client.figure("f", "Time Span"), Reply::Integer(1_500));
}

#[test]
fn new_commands_tell_what_was_new() {
    let server = Server::start(&[]);
    let mut client = server.client();
    for (key, reserve) in [("t", "TIME 3 1000 60"), ("c", "COUNT 3 1000")] {
        assert_eq!(client.ask(&format!("APBF.RESERVE {key} {reserve} SEED 7")), "OK");
        assert_eq!(client.ask(&format!("APBF.ADDNX {key} a b a")), "[1, 1, 0]");
        assert_eq!(client.ask(&format!("APBF.ADDNX {key} a c")), "[0, 1]");
        assert_eq!(client.ask(&format!("APBF.MADD {key} a d d")), "[0, 1, 0]");
        assert_eq!(client.ask(&format!("APBF.CARD {key}")), "6");
        assert_eq!(client.ask(&format!("APBF.INSERT {key} NX ITEMS a e")), "[0, 1]");
        assert_eq!(client.ask(&format!("APBF.INSERT {key} NOCREATE ITEMS a f")), "[0, 1]");
        assert_eq!(client.ask(&format!("APBF.CARD {key}")), "9");
        assert_eq!(client.figure(key, "Items in window"), Reply::Integer(9));
        assert_eq!(client.figure(key, "Inserts count"), Reply::Integer(9));
    }
}

#[test]
fn items_are_any_bytes() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE t TIME 5 1000 60");
    let long = vec![b'x'; 100_000];
    let items: [&[u8]; 5] = [b"", b"\0", b"\0\0", b"\r\n\xff\xfe", &long];
    let mut words: Vec<&[u8]> = vec![b"APBF.ADDNX", b"t"];
    words.extend(items);
    assert_eq!(client.call(&words).to_string(), "[1, 1, 1, 1, 1]");
    assert_eq!(client.call(&words).to_string(), "[0, 0, 0, 0, 0]");
    words[0] = b"APBF.EXISTS";
    assert_eq!(client.call(&words).to_string(), "[1, 1, 1, 1, 1]");
}

#[test]
fn resp3_has_booleans_maps_and_doubles() {
    let server = Server::start(&[]);
    let mut client = server.client().hello3();
    assert_eq!(client.ask("APBF.INSERT t NX ITEMS a a"), "[true, false]");
    assert_eq!(client.ask("APBF.ADD t b"), "OK");
    assert_eq!(client.ask("APBF.EXISTS t a x"), "[true, false]");
    assert_eq!(client.ask("APBF.EXISTS t x"), "[false]");
    assert_eq!(client.ask("APBF.ADDNX t a y"), "[false, true]");
    assert_eq!(client.ask("APBF.MADD t a z"), "[false, true]");
    assert_eq!(client.ask(&format!("APBF.BETWEEN t 0 {} a x", now_ms() + 5_000)), "[true, false]");
    assert_eq!(client.ask("APBF.CARD t"), "5");
    let Reply::Array(ages) = client.send("APBF.AGE t a x") else { panic!("an array") };
    assert!(matches!(ages[..], [Reply::Array(_), Reply::Nil]));
    let Reply::Map(info) = client.send("APBF.INFO t") else { panic!("a map") };
    assert_eq!(info[0].0.text(), "Type");
    let rate = info.iter().find(|(name, _)| name.text() == "False positive rate").expect("is there");
    assert!(matches!(rate.1, Reply::Double(_)));
    assert_eq!(client.send("APBF.ADD t"), client.send("APBF.ADD"), "both have the wrong number of words");
}

#[test]
fn ages_and_times_are_told_by_event_time() {
    let server = Server::start(&[]);
    let mut client = server.client();
    let now = now_ms();
    assert_eq!(client.ask("APBF.RESERVE t TIME 3 1000 3600 SEED 1"), "OK");
    // a steady stream, and three of its items
    for minutes_ago in (0..60).rev() {
        let item = match minutes_ago {
            50 => "old",
            30 => "mid",
            10 => "new",
            _ => &format!("item-{minutes_ago}"),
        };
        assert_eq!(client.ask(&format!("APBF.INSERT t NX AT {} ITEMS {item}", now - minutes_ago * 60_000)), "[1]");
    }
    let step = 3_600_000 / 31 + 60_000; // and however long this test takes
    let ages = client.send("APBF.AGE t old mid new never");
    for (minutes, age) in [50, 30, 10].into_iter().zip(ages.array()) {
        let [at_least, at_most] = age.array() else { panic!("two bounds") };
        let true_age = minutes * 60_000;
        assert!(at_least.integer() <= true_age + 60_000 && at_most.integer() >= true_age, "{minutes}: {age}");
        assert!(at_most.integer() - at_least.integer() <= 4 * step, "{minutes}: {age}");
    }
    assert_eq!(ages.array()[3], Reply::Nil);
    let at = |minutes_ago: u64| now - minutes_ago * 60_000;
    let between = |from: u64, to: u64| format!("APBF.BETWEEN t {} {} old mid new never", at(from), at(to));
    assert_eq!(client.ask(&between(52, 48)), "[1, 0, 0, 0]");
    assert_eq!(client.ask(&between(32, 28)), "[0, 1, 0, 0]");
    assert_eq!(client.ask(&between(60, 0)), "[1, 1, 1, 0]");
    assert_eq!(client.ask(&format!("APBF.BETWEEN t {0} {0} mid", at(30))), "[1]", "both ends are included");
}

#[test]
fn count_windows_have_no_times() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE c COUNT 2 100");
    client.send("APBF.ADD c a");
    let digest = client.digest();
    for command in ["APBF.AGE c a", "APBF.BETWEEN c 0 5 a", "APBF.INSERT c AT 5 ITEMS a"] {
        assert!(client.ask(command).starts_with("-ERR this is for TIME windows"), "{command}");
    }
    assert_eq!(client.digest(), digest);
}

#[test]
fn errors_have_the_prefix_that_clients_look_for() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("SET string x");
    client.send("APBF.RESERVE t TIME 2 10 60");
    for command in [
        "APBF.ADD string a",
        "APBF.ADDNX string a",
        "APBF.MADD string a",
        "APBF.EXISTS string a",
        "APBF.INFO string",
        "APBF.CARD string",
        "APBF.AGE string a",
        "APBF.BETWEEN string 0 1 a",
        "APBF.INSERT string ITEMS a",
        "APBF.RESERVE string TIME 2 10 60",
        "INCR t",
        "LPUSH t a",
    ] {
        assert!(client.ask(command).starts_with("-WRONGTYPE "), "{command}");
    }
    for command in [
        "APBF.ADD none a",
        "APBF.ADDNX none a",
        "APBF.MADD none a",
        "APBF.EXISTS none a",
        "APBF.INFO none",
        "APBF.CARD none",
        "APBF.AGE none a",
        "APBF.BETWEEN none 0 1 a",
        "APBF.INSERT none NOCREATE ITEMS a",
    ] {
        let reply = client.ask(command);
        assert!(reply.starts_with("-ERR there is no filter at this key"), "{command}: {reply}");
    }
    assert_eq!(client.ask("EXISTS none"), "0");
    assert!(client.ask("APBF.RESERVE t TIME 2 10 60").starts_with("-ERR the key exists"));
    assert!(client.ask("APBF.LOADCHUNK k 5 0 abc").starts_with("-ERR APBF.LOADCHUNK is for"));
    assert_eq!(client.ask("GET string"), "\"x\"");
}

#[test]
fn a_full_filter_says_so_for_each_item_it_did_not_take() {
    let server = Server::start(&[]);
    let mut client = server.client();
    assert_eq!(client.ask("APBF.RESERVE t TIME 2 0 60 MAXBYTES 9000 ONFULL REJECT"), "OK");
    assert_eq!(client.ask("APBF.RESERVE s TIME 2 0 60 MAXBYTES 9000 ONFULL SHORTEN"), "OK");
    let items: Vec<String> = (0..5_000).map(|i| format!("item-{i}")).collect();
    let mut words = vec!["APBF.ADDNX", "t"];
    words.extend(items.iter().map(String::as_str));
    let reply = client.call(&words);
    let rejected = reply.array().iter().filter(|reply| reply.is_error()).count();
    assert!(rejected > 1_000, "{rejected}");
    assert!(
        reply.array().iter().filter(|reply| reply.is_error()).all(|error| error.text().contains("the filter is full"))
    );
    assert_eq!(client.figure("t", "Rejected").integer(), i64::try_from(rejected).expect("few"));
    assert!(client.figure("t", "Size").integer() <= 9_000 + 200);
    // what it took, it keeps
    let taken = reply.array().iter().position(|reply| *reply == Reply::Integer(1)).expect("some");
    assert_eq!(client.ask(&format!("APBF.EXISTS t item-{taken}")), "[1]");
    words[0] = "APBF.ADD";
    let error = client.call(&words).to_string();
    assert!(error.starts_with("-ERR ") && error.contains("of 5000 items not recorded"), "{error}");
    words[1] = "s";
    assert_eq!(client.call(&words).to_string(), "OK");
    assert!(client.figure("s", "Shortened").integer() > 0);
}

#[test]
fn insert_creates_what_is_missing_from_options_and_defaults() {
    let server = Server::start(&[]);
    let mut client = server.client();
    assert_eq!(client.ask("APBF.INSERT d ITEMS a"), "[1]");
    assert_eq!(client.figure("d", "Time Span"), Reply::Integer(60_000));
    assert_eq!(client.figure("d", "Error rate").text(), "0.01");
    let options = "TIME ERROR 3 CAPACITY 70 PX 2500 LEVEL 2 MAXBYTES 100000 ONFULL SHORTEN SEED 5 POLICY GUARDED";
    assert_eq!(client.ask(&format!("APBF.INSERT e {options} ITEMS a a")), "[1, 0]");
    for (name, value) in [
        ("Time Span", "2500"),
        ("Error rate", "3"),
        ("Capacity", "70"),
        ("Hash functions count", "12"),
        ("Periods count", "14"),
        ("Max bytes", "100000"),
        ("On full", "\"SHORTEN\""),
        ("Policy", "\"GUARDED\""),
    ] {
        assert_eq!(client.figure("e", name).to_string(), value, "{name}");
    }
    assert_eq!(client.ask("APBF.INSERT c COUNT CAPACITY 9 K 7 L 5 ITEMS a"), "[1]");
    assert_eq!(client.figure("c", "Periods count"), Reply::Integer(5));
    // options about creation mean nothing to a filter that is there
    assert_eq!(client.ask("APBF.INSERT d EX 5 ITEMS b"), "[1]");
    assert_eq!(client.figure("d", "Time Span"), Reply::Integer(60_000));
}

#[test]
fn watchers_are_told_of_changes_and_only_of_changes() {
    let server = Server::start(&["--notify-keyspace-events", "KEA"]);
    let (mut client, mut other) = (server.client(), server.client());
    let mut listener = server.client();
    listener.send("PSUBSCRIBE __keyspace@0__:*");
    client.send("APBF.RESERVE t TIME 2 10 60");
    client.send("APBF.ADD t a");
    // a transaction is not disturbed by an ADDNX that changes nothing, but is by one that does
    for (item, committed) in [("a", "[1]"), ("b", "nil")] {
        other.send("WATCH t");
        client.call(&["APBF.ADDNX", "t", item]);
        client.send("APBF.EXISTS t a b");
        other.send("MULTI");
        other.send("APBF.EXISTS t a");
        let reply = other.send("EXEC");
        let shown = if reply == Reply::Nil { "nil".to_owned() } else { reply.array()[0].to_string() };
        assert_eq!(shown, committed, "{item}");
    }
    let mut event = || listener.receive().expect("an event").array()[3].text();
    assert_eq!([event(), event(), event()], ["apbf.reserve", "apbf.add", "apbf.add"]);
}

#[test]
fn scripts_and_transactions_can_use_every_command() {
    let server = Server::start(&[]);
    let mut client = server.client();
    let script = "redis.call('APBF.RESERVE', KEYS[1], 'TIME', '2', '10', '60'); \
                  redis.call('APBF.ADD', KEYS[1], 'a'); \
                  return redis.call('APBF.ADDNX', KEYS[1], 'a', 'b')";
    assert_eq!(client.call(&["EVAL", script, "1", "t"]).to_string(), "[0, 1]");
    client.send("MULTI");
    client.send("APBF.ADDNX t b c");
    client.send("APBF.CARD t");
    assert_eq!(client.ask("EXEC"), "[[0, 1], 3]");
}
