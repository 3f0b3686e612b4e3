//! RDB and AOF, with and without preamble, in bounded commands.

use std::fs;
use std::time::Duration;

use crate::client::Client;
use crate::process::{Server, wait_for};

/// Fills a few filters of all kinds, one of them larger than a piece.
fn fill(client: &mut Client) {
    client.send("APBF.RESERVE time TIME 2 10 3600");
    client.send("APBF.ADD time a b c");
    client.send("APBF.RESERVE empty TIME 0.003 0 PX 1");
    client.send("APBF.RESERVE paper TIME 2 1000 3600 POLICY PAPER LEVEL 3 ONFULL SHORTEN MAXBYTES 1000000");
    client.send("APBF.ADD paper a b c");
    client.send("APBF.RESERVE count COUNT 4 300000");
    for block in 0..300 {
        let items: Vec<String> = (0..1_000).map(|i| format!("item-{}", block * 1_000 + i)).collect();
        let mut words = vec!["APBF.ADD", "count"];
        words.extend(items.iter().map(String::as_str));
        client.queue(&words);
    }
    client.flush().expect("sent");
    (0..300).for_each(|_| assert_eq!(client.receive().expect("answered").to_string(), "OK"));
    assert!(client.figure("count", "Size").integer() > 1 << 20);
    client.send("PEXPIRE time 3600000");
    client.send("SELECT 3");
    client.send("APBF.INSERT other NX ITEMS a b c");
    client.send("SELECT 0");
}

fn rewrite(client: &mut Client) {
    wait_for("no rewrite to run", || client.info("persistence", "aof_rewrite_in_progress") == "0");
    assert!(!client.send("BGREWRITEAOF").is_error());
    wait_for("the rewrite", || client.info("persistence", "aof_rewrite_in_progress") == "0");
    assert_eq!(client.info("persistence", "aof_last_bgrewrite_status"), "ok");
}

#[test]
fn everything_survives_rdb() {
    let mut server = Server::start(&["--save", "3600 1"]);
    let mut client = server.client();
    fill(&mut client);
    let digest = client.digest();
    assert_eq!(client.ask("DEBUG RELOAD"), "OK");
    assert_eq!(client.digest(), digest);
    server.restart(Duration::ZERO);
    assert_eq!(server.client().digest(), digest);
}

#[test]
fn everything_survives_an_append_only_file_with_and_without_preamble() {
    for preamble in ["yes", "no"] {
        let mut server = Server::start(&["--appendonly", "yes", "--aof-use-rdb-preamble", preamble]);
        let mut client = server.client();
        fill(&mut client);
        let digest = client.digest();
        // as commands
        assert_eq!(client.ask("DEBUG LOADAOF"), "OK");
        assert_eq!(client.digest(), digest);
        rewrite(&mut client);
        let base = fs::read_dir(server.dir().join("appendonlydir"))
            .expect("the directory of the file")
            .filter_map(|entry| fs::read(entry.expect("a file").path()).ok())
            .find(|bytes| !bytes.is_empty() && !bytes.starts_with(b"file "))
            .expect("a base");
        let chunks = base.windows(14).filter(|window| window == b"APBF.LOADCHUNK").count();
        assert_eq!(chunks > 8, preamble == "no", "{chunks} pieces");
        assert_eq!(client.ask("DEBUG LOADAOF"), "OK");
        assert_eq!(client.digest(), digest);
        assert!(client.send("PTTL time").integer() > 0);
        // and what comes after the rewrite
        client.send("APBF.ADDNX time d");
        client.send("APBF.ADD count new");
        let digest = client.digest();
        server.restart(Duration::ZERO);
        assert_eq!(server.client().digest(), digest);
        assert_eq!(server.client().info("timebloom", "timebloom_refused_payloads"), "0");
    }
}

#[test]
fn a_damaged_piece_leaves_its_filter_out_and_the_server_alive() {
    let mut server = Server::start(&["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]);
    let mut client = server.client();
    fill(&mut client);
    rewrite(&mut client);
    server.kill();
    let directory = server.dir().join("appendonlydir");
    let base = fs::read_dir(directory)
        .expect("the directory of the file")
        .map(|entry| entry.expect("a file").path())
        .find(|path| path.to_string_lossy().contains(".base."))
        .expect("a base");
    let mut bytes = fs::read(&base).expect("the base");
    // in the middle of the large filter's bits: the second piece and later ones are whole, but do not fit
    let places: Vec<usize> = bytes
        .windows(14)
        .enumerate()
        .filter(|(_, window)| window == b"APBF.LOADCHUNK")
        .map(|(place, _)| place)
        .collect();
    let gap = places.windows(2).position(|pair| pair[1] - pair[0] > 200_000).expect("a large piece");
    let place = places[gap] + 100_000;
    bytes[place] ^= 1;
    fs::write(&base, bytes).expect("the base");
    server.files_are_damaged = true;
    server.start_again();
    let mut client = server.client();
    assert_eq!(client.ask("EXISTS count"), "0");
    assert_eq!(client.ask("APBF.EXISTS time a b c"), "[1, 1, 1]");
    assert_eq!(client.info_number("timebloom", "timebloom_refused_payloads"), 1);
    assert!(server.log().contains("a filter in the append-only file was left out"));
}

#[test]
fn used_memory_knows_every_byte_and_gets_it_back() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE warm COUNT 2 10");
    client.send("APBF.ADD warm a");
    let before = client.info_number("memory", "used_memory");
    client.send("APBF.RESERVE big COUNT 2 4000000");
    client.send("APBF.ADD big a");
    let size = client.figure("big", "Size").integer().cast_unsigned();
    let grown = client.info_number("memory", "used_memory") - before;
    assert!(size > 2 << 20 && grown.abs_diff(size) < size / 10, "{size} {grown}");
    // the size includes a little that is only taken while a lane is cleared
    assert!(client.info_number("timebloom", "timebloom_bytes") >= size - size / 100);
    assert_eq!(client.info("timebloom", "timebloom_filters"), "2");
    for end in ["DEL big", "UNLINK big", "FLUSHALL ASYNC"] {
        client.send(end);
        wait_for("memory to come back", || client.info_number("memory", "used_memory").abs_diff(before) < 200_000);
        client.send("APBF.RESERVE big COUNT 2 4000000");
        client.send("APBF.ADD big a");
    }
    // a server without room says so, as for any write
    client.send("CONFIG SET maxmemory 1mb");
    assert!(client.ask("APBF.ADD big a").starts_with("-OOM "));
    assert_eq!(client.ask("APBF.EXISTS big a"), "[1]");
}
