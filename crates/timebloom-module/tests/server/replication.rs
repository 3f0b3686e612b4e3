//! Replicas hold what the primary holds, by the primary's clock.

use std::time::Duration;

use crate::client::{Client, Reply};
use crate::process::{Server, now_ms, wait_for};

/// Makes `replica` follow `primary`, and waits until it has everything.
pub fn follow(replica: &mut Client, primary: &Server) {
    // "OK", or that it does so already
    assert!(replica.ask(&format!("REPLICAOF 127.0.0.1 {}", primary.port)).starts_with("OK"));
    wait_for("the replica to be in sync", || {
        replica.info("replication", "master_link_status") == "up"
            && replica.info("replication", "master_sync_in_progress") == "0"
    });
}

/// Waits until the replica has everything that the primary has written.
pub fn catch_up(primary: &mut Client, replica: &mut Client) {
    let offset = primary.info_number("replication", "master_repl_offset");
    wait_for("the replica to catch up", || replica.info_number("replication", "slave_repl_offset") >= offset);
}

#[test]
fn a_replica_with_another_clock_holds_the_same() {
    let primary = Server::start(&[]);
    let mut client = primary.client();
    for offset in [-7_200, 7_200] {
        let server = Server::start_off(offset, &[]);
        let mut replica = server.client();
        let told = replica.send("TIME").array()[0].text().parse::<u64>().expect("seconds");
        let truth = now_ms() / 1_000;
        assert!(told.abs_diff(truth.saturating_add_signed(offset)) < 60, "the replica's clock is not off");
        follow(&mut replica, &primary);
        client.send("FLUSHALL");
        client.send("APBF.RESERVE t TIME 2 10 3600");
        client.send("APBF.ADD t a b");
        client.send("APBF.ADDNX t a c");
        client.send("APBF.MADD t b d");
        client.send("APBF.INSERT n EX 3600 ITEMS x y");
        client.send("APBF.INSERT c COUNT CAPACITY 100 ITEMS x y");
        client.send("APBF.ADDNX c x z");
        catch_up(&mut client, &mut replica);
        assert_eq!(client.digest(), replica.digest(), "clock off by {offset} s");
        // a replica's clock decides only what it answers: two hours ahead, the window of an hour is over
        let seen = if offset < 0 { "[1, 1, 1, 1, 0]" } else { "[0, 0, 0, 0, 0]" };
        assert_eq!(replica.ask("APBF.EXISTS t a b c d e"), seen);
        assert_eq!(replica.ask("APBF.EXISTS c x y z e"), "[1, 1, 1, 0]");
        assert_eq!(client.digest(), replica.digest(), "reads change nothing");
        // after a failover the items are still there for clients of the right time, and time does not run back
        assert_eq!(replica.ask("REPLICAOF NO ONE"), "OK");
        if offset < 0 {
            assert_eq!(replica.ask("APBF.ADDNX t a e"), "[0, 1]");
        }
    }
}

/// The commands that reach a replica, until PING is among them.
fn stream(server: &Server, act: impl FnOnce(&mut Client)) -> Vec<Vec<String>> {
    let mut listener = server.client();
    // what a replica says to get everything from now on: the stream follows an RDB file
    listener.queue(&["PSYNC", "?", "-1"]);
    listener.flush().expect("sent");
    let mut client = server.client();
    wait_for("a stream of commands", || client.info("replication", "connected_slaves") == "1");
    listener.skip_rdb();
    act(&mut client);
    client.send("SET the end");
    let mut commands = Vec::new();
    loop {
        let command: Vec<String> = listener
            .receive()
            .expect("a command")
            .array()
            .iter()
            .map(|word| word.bytes().escape_ascii().to_string())
            .collect();
        match command[0].to_uppercase().as_str() {
            "SET" => return commands,
            "SELECT" | "PING" => {}
            _ => commands.push(command),
        }
    }
}

#[test]
fn only_what_changed_is_replicated_and_every_parameter_is_resolved() {
    let server = Server::start(&[]);
    let before = now_ms();
    let commands = stream(&server, |client| {
        client.send("APBF.RESERVE t TIME 2 10 60");
        client.send("APBF.RESERVE c COUNT 0.02 10");
        client.send("APBF.ADD t a b");
        client.send("APBF.ADDNX t a");
        client.send("APBF.ADDNX t b c a d");
        client.send("APBF.EXISTS t a");
        client.send("APBF.AGE t a");
        client.send("APBF.MADD c x x");
        client.send("APBF.ADDNX c x");
        client.send("APBF.INSERT n NX PX 500 AT 12345 ITEMS i");
        client.send("APBF.INSERT none NOCREATE ITEMS i");
        client.send("APBF.RESERVE t TIME 2 10 60");
        client.send("APBF.ADD none i");
    });
    let shown: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
    let now: Vec<u64> = commands
        .iter()
        .filter(|words| words.starts_with(&["APBF.INSERT".to_owned(), "t".to_owned()]))
        .map(|words| words[4].parse().expect("AT"))
        .collect();
    assert!(now.iter().all(|at| (before..=now_ms()).contains(at)), "{now:?}");
    let head = |line: &str, words: usize| line.split(' ').take(words).collect::<Vec<_>>().join(" ");
    assert_eq!(
        head(&shown[0], 17),
        "APBF.RESERVE t TIME 2 10 PX 60000 MAXBYTES 536870912 ONFULL REJECT POLICY GUARDED K 9 L 31"
    );
    assert!(shown[0].contains(" SEED "), "{}", shown[0]);
    assert!(shown[1].starts_with("APBF.RESERVE c COUNT 0.02 10 K ") && shown[1].contains(" SEED "), "{}", shown[1]);
    let seeds: Vec<&str> = shown[..2].iter().filter_map(|line| line.split(" SEED ").nth(1)).collect();
    assert_ne!(seeds[0], seeds[1], "seeds are random");
    assert_eq!(shown[2], format!("APBF.INSERT t NOCREATE AT {} ITEMS a b", now[0]));
    assert_eq!(shown[3], format!("APBF.INSERT t NOCREATE AT {} ITEMS c d", now[1]), "those that were new");
    assert_eq!(shown[4], "APBF.MADD c x x", "a refresh is a change; what needs no time is passed on as it was said");
    // creation and items are one step
    assert_eq!(shown[5], "MULTI");
    assert!(shown[6].starts_with("APBF.RESERVE n TIME 0.01 0 PX 500 "), "{}", shown[6]);
    assert_eq!(shown[7], "APBF.INSERT n NOCREATE AT 12345 ITEMS i");
    assert_eq!(shown[8], "EXEC");
    assert_eq!(shown.len(), 9, "{shown:#?}");
}

#[test]
fn what_counts_at_a_time_that_the_filter_knows_is_replicated_as_it_was_said() {
    let server = Server::start(&["--timebloom.max-skew-ms", "3000000000000"]);
    // the year 2100: whatever the clock says, the filter knows a later time
    let ahead = "APBF.INSERT t NX AT 4102444800000 ITEMS a";
    let said = [
        "APBF.ADD t b",
        "APBF.MADD t b c",
        "APBF.ADDNX t d e",
        "APBF.INSERT t ERROR 0.4 NX ITEMS f g",
        "APBF.INSERT t ITEMS f h",
        "APBF.INSERT t AT 4102444800001 ITEMS i",
        "APBF.INSERT t AT 4102444799999 ITEMS j",
    ];
    let shown: Vec<String> = stream(&server, |client| {
        client.send("APBF.RESERVE t TIME 3 10 60");
        client.send(ahead);
        said.iter().for_each(|line| assert!(!client.send(line).is_error(), "{line}"));
        client.send("APBF.ADDNX t k b");
        client.send("APBF.ADDNX t k b");
    })
    .iter()
    .map(|words| words.join(" "))
    .collect();
    assert_eq!(shown[1], ahead, "the client said the time");
    assert_eq!(shown[2..9], said);
    let at = shown[9].strip_prefix("APBF.INSERT t NOCREATE AT ").and_then(|rest| rest.strip_suffix(" ITEMS k"));
    assert!(at.is_some_and(|at| at.parse::<u64>().is_ok()), "only the item that was new: {}", shown[9]);
    assert_eq!(shown.len(), 10, "{shown:#?}");
}

#[test]
fn a_busy_stream_is_the_same_on_a_replica_and_in_the_append_only_file() {
    let durable = ["--appendonly", "yes", "--appendfsync", "no"];
    let mut primary = Server::start(&durable);
    let server = Server::start_off(7_200, &durable);
    let (mut client, mut replica) = (primary.client(), server.client());
    follow(&mut replica, &primary);
    wait_for("the replica's file to begin", || replica.info("persistence", "aof_rewrite_in_progress") == "0");
    // many commands a millisecond, and many milliseconds: some tell a new time, most do not
    client.send("APBF.RESERVE t TIME 2 1000 PX 50");
    client.send("APBF.RESERVE full TIME 2 0 PX 200 MAXBYTES 9000");
    for block in 0..200 {
        for number in 0..100 {
            let number = block * 70 + number;
            let command = ["APBF.ADD", "APBF.ADDNX", "APBF.MADD"][number % 3];
            let key = if number % 4 == 0 { "full" } else { "t" };
            client.queue(&[command, key, &format!("item-{number}"), &format!("item-{}", number / 2)]);
        }
        client.flush().expect("sent");
        (0..100).for_each(|_| drop(client.receive().expect("answered")));
    }
    assert!(client.figure("t", "Shifts").integer() > 10);
    assert!(client.figure("full", "Rejected").integer() > 10);
    catch_up(&mut client, &mut replica);
    let digest = client.digest();
    assert_eq!(replica.digest(), digest);
    assert_eq!(replica.ask("DEBUG LOADAOF"), "OK");
    assert_eq!(replica.digest(), digest, "the replica's own file");
    primary.restart(Duration::ZERO);
    assert_eq!(primary.client().digest(), digest);
    assert!(!server.log().contains("CRITICAL"), "no error was sent to the primary");
}

#[test]
fn what_a_primary_sends_is_never_refused() {
    // the replica allows next to nothing, and its clock is an hour behind
    let server = Server::start_off(
        -3_600,
        &["--timebloom.max-filter-bytes", "65536", "--timebloom.max-skew-ms", "0", "--appendonly", "yes"],
    );
    let mut replica = server.client();
    let primary = Server::start(&[]);
    let mut client = primary.client();
    follow(&mut replica, &primary);
    client.send("APBF.RESERVE big TIME 2 1000000 60");
    client.send("APBF.RESERVE count COUNT 2 1000000");
    client.send(&format!("APBF.INSERT big AT {} ITEMS a", now_ms() + 9_000));
    client.send("APBF.RESERVE full TIME 2 0 60 MAXBYTES 9000");
    let items: Vec<String> = (0..5_000).map(|i| format!("item-{i}")).collect();
    let mut words = vec!["APBF.ADDNX", "full"];
    words.extend(items.iter().map(String::as_str));
    let rejected = client.call(&words).array().iter().filter(|reply| reply.is_error()).count();
    assert!(rejected > 0);
    client.call(&words); // rejected again: only time moves
    catch_up(&mut client, &mut replica);
    assert_eq!(client.digest(), replica.digest());
    assert_eq!(replica.figure("full", "Rejected"), client.figure("full", "Rejected"));
    // and a full synchronisation takes the filters over as well
    replica.send("REPLICAOF NO ONE");
    assert_eq!(replica.ask("FLUSHALL"), "OK");
    follow(&mut replica, &primary);
    assert_eq!(client.digest(), replica.digest());
    // so does the replica's own append-only file
    drop(replica);
    let mut server = server;
    server.restart(Duration::ZERO);
    let mut replica = server.client();
    assert_eq!(client.digest(), replica.digest());
    assert!(replica.ask("APBF.RESERVE mine TIME 2 1000000 60").starts_with("-ERR a capacity of 1000000 takes about"));
}

#[test]
fn dump_and_restore_copy_and_rename_keep_everything() {
    let servers = [Server::start(&[]), Server::start(&[])];
    let [mut from, mut to] = [servers[0].client(), servers[1].client()];
    from.send("APBF.RESERVE t TIME 2 10 3600");
    from.send("APBF.ADD t a b c");
    from.send("APBF.RESERVE c COUNT 2 10000");
    let items: Vec<String> = (0..5_000).map(|i| format!("item-{i}")).collect();
    let mut words = vec!["APBF.ADD", "c"];
    words.extend(items.iter().map(String::as_str));
    from.call(&words);
    for key in ["t", "c"] {
        let Reply::Bulk(payload) = from.call(&["DUMP", key]) else { panic!("a payload") };
        let restore: [&[u8]; 4] = [b"RESTORE", key.as_bytes(), b"0", &payload];
        assert_eq!(to.call(&restore).to_string(), "OK");
    }
    assert_eq!(from.digest(), to.digest());
    assert_eq!(to.ask("APBF.EXISTS t a b c d"), "[1, 1, 1, 0]");
    assert_eq!(to.ask("COPY t u"), "1");
    assert_eq!(to.ask("APBF.ADDNX u a d"), "[0, 1]");
    assert_eq!(to.ask("APBF.EXISTS t d"), "[0]", "the copy is a copy");
    assert_eq!(to.ask("RENAME u v"), "OK");
    assert_eq!(to.ask("APBF.EXISTS v d"), "[1]");
    let (usage, size) = (to.send("MEMORY USAGE c").integer(), to.figure("c", "Size").integer());
    assert!((size..size + 200).contains(&usage), "{usage} {size}");
    assert_eq!(to.ask("TYPE v"), "timebloom");
    // RESTORE is a client's: its payload is held to the limit
    to.send("CONFIG SET timebloom.max-filter-bytes 65536");
    let payload = from.call(&["DUMP", "t"]);
    let restore: [&[u8]; 4] = [b"RESTORE", b"w", b"0", payload.bytes()];
    assert!(to.call(&restore).is_error());
    assert_eq!(to.ask("EXISTS w"), "0");
}
