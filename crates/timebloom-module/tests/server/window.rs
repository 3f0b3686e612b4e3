//! The window holds: idle, busy, after gaps, in bursts, and in few bytes.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::process::{Server, now_ms};

#[test]
fn an_item_of_an_idle_filter_leaves_when_its_time_is_up() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE t TIME 3 1000 2");
    client.send("APBF.ADD t one");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1_900) {
        assert_eq!(client.ask("APBF.EXISTS t one"), "[1]", "after {:?}", begun.elapsed());
        sleep(Duration::from_millis(50));
    }
    // 2 s, one step of 2 s / 31, and a little for the way to the server
    sleep(Duration::from_millis(2_100).saturating_sub(begun.elapsed()));
    assert_eq!(client.ask("APBF.EXISTS t one"), "[0]");
    assert_eq!(client.ask("APBF.CARD t"), "0");
}

#[test]
fn items_expire_under_a_load_faster_than_the_clock() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE t TIME 3 1000 1");
    let early: Vec<String> = (0..200).map(|i| format!("early-{i}")).collect();
    let mut words = vec!["APBF.ADD", "t"];
    words.extend(early.iter().map(String::as_str));
    client.call(&words);
    let begun = Instant::now();
    let mut round = 0_u64;
    while begun.elapsed() < Duration::from_millis(1_600) {
        // more than one command a millisecond: reads and writes in turns
        for _ in 0..50 {
            client.queue(&["APBF.ADD", "t", &format!("load-{round}")]);
            client.queue(&["APBF.EXISTS", "t", &format!("load-{}", round / 2)]);
            round += 1;
        }
        client.flush().expect("sent");
        for _ in 0..100 {
            client.receive().expect("answered");
        }
        if begun.elapsed() < Duration::from_millis(900) {
            words[0] = "APBF.EXISTS";
            assert!(client.call(&words).bits().into_iter().all(|seen| seen), "within the window");
        }
    }
    assert!(round > 1_600, "one a millisecond is the least: {round}");
    // 0.6 s past the window, 18 steps: only the ordinary error rate of 0.001 is left. At most 4 of 200 by chance: more
    // happen less than once in 10,000 runs.
    let left = client.call(&words).bits().into_iter().filter(|&seen| seen).count();
    assert!(left <= 4, "{left} of 200");
}

#[test]
fn a_gap_between_two_runs_of_the_server_counts() {
    for arguments in [vec!["--save", "3600 1"], vec!["--appendonly", "yes"]] {
        let mut server = Server::start(&arguments);
        let mut client = server.client();
        client.send("APBF.RESERVE short TIME 3 1000 1");
        client.send("APBF.RESERVE long TIME 3 1000 3600");
        client.send("APBF.ADD short a");
        client.send("APBF.ADD long a");
        server.restart(Duration::from_millis(1_200));
        let mut client = server.client();
        assert_eq!(client.ask("APBF.EXISTS short a"), "[0]");
        assert_eq!(client.ask("APBF.EXISTS long a"), "[1]");
        assert_eq!(client.ask("APBF.ADDNX short a"), "[1]");
        assert_eq!(client.ask("APBF.ADDNX long a"), "[0]");
    }
}

/// The chance of an item never inserted to be reported must be at most 0.01. Of 40,000 trials, 400 are expected then, with
/// a standard deviation of 20: more than 480 happen less than once in 10,000 runs.
#[test]
fn a_burst_into_a_small_filter_keeps_the_error_rate() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE t TIME 2 64 60");
    for block in 0..200 {
        let items: Vec<String> = (0..100).map(|i| format!("burst-{}", block * 100 + i)).collect();
        let mut words = vec!["APBF.ADD", "t"];
        words.extend(items.iter().map(String::as_str));
        assert_eq!(client.call(&words).to_string(), "OK");
        words[0] = "APBF.EXISTS";
        assert!(client.call(&words).bits().into_iter().all(|seen| seen));
    }
    let mut wrong = 0;
    for block in 0..400 {
        let items: Vec<String> = (0..100).map(|i| format!("never-{}", block * 100 + i)).collect();
        let mut words = vec!["APBF.EXISTS", "t"];
        words.extend(items.iter().map(String::as_str));
        wrong += client.call(&words).bits().into_iter().filter(|&seen| seen).count();
    }
    assert!(wrong <= 480, "{wrong} of 40,000");
    assert_eq!(client.ask("APBF.CARD t"), "20000");
}

#[test]
fn few_items_in_a_long_window_take_few_bytes() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE t TIME 2 0 86400");
    let now = now_ms() - 1_000;
    for i in 0..60 {
        client.send(&format!("APBF.INSERT t AT {} ITEMS item-{i}", now + i));
    }
    assert_eq!(client.ask("APBF.CARD t"), "60");
    let bytes = client.send("MEMORY USAGE t").integer();
    assert!(bytes < 16 << 10, "{bytes}");
}

#[test]
fn a_clock_that_lies_ahead_is_refused_and_one_behind_is_clamped() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.send("APBF.RESERVE t TIME 3 1000 60");
    client.send("APBF.ADD t a");
    let digest = client.digest();
    let ahead = client.ask(&format!("APBF.INSERT t AT {} ITEMS b", now_ms() + 11_000));
    assert!(ahead.starts_with("-ERR the time ") && ahead.contains("timebloom.max-skew-ms"), "{ahead}");
    let ahead = client.ask(&format!("APBF.INSERT new AT {} ITEMS b", u64::MAX));
    assert!(ahead.starts_with("-ERR the time "), "{ahead}");
    assert_eq!(client.digest(), digest, "nothing changed, and nothing was created");
    // late by a day, which is far before the window: it counts as seen at the latest time known
    let late = client.ask(&format!("APBF.INSERT t AT {} ITEMS late", now_ms() - 86_400_000));
    assert_eq!(late, "[1]");
    assert_eq!(client.ask("APBF.EXISTS t a late"), "[1, 1]");
    // within the skew it is taken, and the server's own clock stands still behind it
    assert_eq!(client.ask(&format!("APBF.INSERT t AT {} ITEMS soon", now_ms() + 5_000)), "[1]");
    assert_eq!(client.ask("APBF.ADDNX t now"), "[1]");
    assert_eq!(client.ask("APBF.EXISTS t a late soon now"), "[1, 1, 1, 1]");
}
