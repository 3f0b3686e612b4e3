//! Malformed argument lists: an error, and nothing changed.

use fastrand::Rng;

use crate::client::Client;
use crate::process::Server;

/// Words that are options, values, or neither.
const WORDS: &[&str] = &[
    "COUNT",
    "TIME",
    "ERROR",
    "CAPACITY",
    "EX",
    "PX",
    "LEVEL",
    "K",
    "L",
    "MAXBYTES",
    "ONFULL",
    "SEED",
    "POLICY",
    "NOCREATE",
    "NX",
    "AT",
    "ITEMS",
    "REJECT",
    "SHORTEN",
    "PAPER",
    "GUARDED",
    "0",
    "1",
    "2",
    "5",
    "6",
    "-1",
    "0.01",
    "0.6",
    "60",
    "1e3",
    "nan",
    "inf",
    "",
    "a",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "+5",
    " 5",
    "5 ",
    "\0",
    "\u{ff}",
    "0x10",
    "1.5",
    "-",
    "COUNTS",
    "NXX",
    "65",
    "1025",
    "t",
    "c",
];

const COMMANDS: &[&str] = &[
    "APBF.RESERVE",
    "APBF.ADD",
    "APBF.ADDNX",
    "APBF.MADD",
    "APBF.INSERT",
    "APBF.EXISTS",
    "APBF.AGE",
    "APBF.BETWEEN",
    "APBF.CARD",
    "APBF.INFO",
    "APBF.LOADCHUNK",
];

fn prepared(client: &mut Client) {
    client.send("APBF.RESERVE t TIME 2 10 60 SEED 1");
    client.send("APBF.RESERVE c COUNT 2 10 SEED 1");
    client.send("SET s x");
    client.send("APBF.INSERT t NOCREATE AT 1 ITEMS a");
}

/// Every command, with every wrong number of words and with a value missing or wrong at each place.
#[test]
fn every_malformed_list_is_refused_and_changes_nothing() {
    let server = Server::start(&[]);
    let mut client = server.client();
    prepared(&mut client);
    let digest = client.digest();
    let mut tried = 0;
    let mut refused = |client: &mut Client, words: &[&str]| {
        let reply = client.call(words);
        assert!(reply.is_error(), "{words:?} -> {reply}");
        tried += 1;
    };
    for command in COMMANDS {
        refused(&mut client, &[command]);
        for key in ["t", "c", "none", "s"] {
            if !["APBF.CARD", "APBF.INFO"].contains(command) {
                refused(&mut client, &[command, key]);
            }
        }
    }
    for key in ["t", "c", "none", "s"] {
        for command in ["APBF.CARD", "APBF.INFO"] {
            refused(&mut client, &[command, key, "extra"]);
        }
        for (from, to) in [("a", "5"), ("5", "a"), ("-5", "5"), ("6", "5"), ("", "5"), ("5", "1e3")] {
            refused(&mut client, &["APBF.BETWEEN", key, from, to, "a"]);
        }
        refused(&mut client, &["APBF.BETWEEN", key, "5", "6"]);
        // whole and good lists, each with one place spoiled; all name the key `s`, which is no filter
        let reserve =
            ["TIME", "2", "10", "PX", "5", "K", "9", "L", "31", "MAXBYTES", "99999", "ONFULL", "REJECT", "SEED", "5"];
        for place in 0..reserve.len() {
            for word in ["", "x", "-1", "1e99"] {
                let mut words = vec!["APBF.RESERVE", key];
                words.extend(reserve);
                words[place + 2] = word;
                refused(&mut client, &words);
            }
            let mut words = vec!["APBF.RESERVE", key];
            words.extend(&reserve[..place]);
            if place != 5 && place != 9 && place != 11 && place != 13 {
                refused(&mut client, &words);
            }
        }
        let insert = ["ERROR", "2", "CAPACITY", "10", "PX", "5", "LEVEL", "2", "MAXBYTES", "99999", "AT", "5"];
        for place in 0..insert.len() {
            for word in ["", "x", "-1", "1e99"] {
                let mut words = vec!["APBF.INSERT", key];
                words.extend(insert);
                words.extend(["ITEMS", "i"]);
                words[place + 2] = word;
                refused(&mut client, &words);
            }
            let mut words = vec!["APBF.INSERT", key];
            words.extend(&insert[..place]);
            refused(&mut client, &words);
            words.push("ITEMS");
            refused(&mut client, &words);
        }
    }
    assert_eq!(client.digest(), digest);
    assert!(tried > 600, "{tried}");
}

/// Random lists: those that are refused change nothing, and none of them ends the server.
#[test]
fn refused_lists_change_nothing_whatever_they_are() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let server = Server::start(&[]);
    let mut client = server.client();
    prepared(&mut client);
    let mut digest = client.digest();
    let mut refused = 0;
    for _ in 0..8_000 {
        let mut words = vec![COMMANDS[rng.usize(..COMMANDS.len())]];
        words.push(["t", "c", "s", "none", "new"][rng.usize(..5)]);
        for _ in 0..rng.usize(..9) {
            words.push(WORDS[rng.usize(..WORDS.len())]);
        }
        let reply = client.call(&words);
        let after = client.digest();
        if reply.is_error() {
            refused += 1;
            // an insertion that a full filter rejects moves its time on; none of these filters is limited so
            assert_eq!(after, digest, "seed {seed}: {words:?} -> {reply}");
        }
        if ["new"].contains(&words[1]) {
            client.send("DEL new");
            digest = client.digest();
        } else {
            digest = after;
        }
    }
    assert!((1_000..8_000).contains(&refused), "{refused}");
}
