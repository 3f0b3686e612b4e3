//! A long random history, with a replica, reloads, rewrites and restarts in between: every answer is that of the library
//! with the same seed, nothing inside a window is ever missed, and both servers hold the same.
//!
//! All times are in the future: both servers' clocks, one of them two hours off, are behind the filters' own, and what a
//! filter says then depends on the history alone.

use std::collections::HashMap;
use std::time::Duration;

use fastrand::Rng;
use timebloom::{CountBloom, OnFull, Policy, TimeBloom, Timestamp};
use timebloom_testkit::{ExactCount, ExactWindow};

use crate::client::{Client, Reply};
use crate::process::{Server, wait_for};
use crate::replication::{catch_up, follow};

/// A filter as the library has it, and an exact one.
enum Model {
    Time(Box<TimeBloom>, ExactWindow),
    Count(Box<CountBloom>, ExactCount),
}

fn capacity_of(capacity: u64) -> usize {
    usize::try_from(capacity).expect("a few thousand")
}

/// The number of an item, for the exact count window.
fn number(item: &str) -> u64 {
    item.trim_start_matches("item-").parse().expect("items have numbers")
}

struct History {
    rng: Rng,
    models: HashMap<String, Model>,
    /// Milliseconds; far in the future, and only forward.
    now: u64,
}

const KEYS: usize = 6;

impl History {
    fn item(&mut self) -> String {
        // most are repeats of a few, some are new
        let range = if self.rng.bool() { 40 } else { 4_000 };
        format!("item-{}", self.rng.u32(..range))
    }

    fn items(&mut self) -> Vec<String> {
        (0..self.rng.usize(1..12)).map(|_| self.item()).collect()
    }

    /// Creates a filter with random options.
    fn create(&mut self, key: &str, client: &mut Client) {
        let seed = self.rng.u64(..);
        let error = *self.rng.choice(["1", "2", "3", "0.02", "0.3"].iter()).expect("some");
        let rate: f64 = match error.parse::<u32>() {
            Ok(n) => [1e-1, 1e-2, 1e-3][n as usize - 1],
            Err(_) => error.parse().expect("a fraction"),
        };
        let mut words = vec!["APBF.RESERVE".to_owned(), key.to_owned()];
        let mut push = |line: String| words.extend(line.split(' ').map(str::to_owned));
        let pair = self.rng.bool().then(|| (self.rng.u32(5..14), self.rng.u32(3..40)));
        let model = if self.rng.u8(..3) == 0 {
            let capacity = self.rng.u64(1..3_000);
            push(format!("COUNT {error} {capacity} SEED {seed}"));
            let mut builder = CountBloom::builder(capacity).false_positive_rate(rate).seed(seed);
            if let Some((k, l)) = pair {
                push(format!("K {k} L {l}"));
                builder = builder.hashes_and_aging(k, l);
            }
            Model::Count(Box::new(builder.build().expect("legal")), ExactCount::new(capacity_of(capacity)))
        } else {
            let span = Duration::from_millis(self.rng.u64(1..20_000));
            let expected = self.rng.u64(..2_000);
            push(format!("TIME {error} {expected} PX {} SEED {seed}", span.as_millis()));
            let mut builder = TimeBloom::builder(span)
                .false_positive_rate(rate)
                .expected_items(expected)
                .seed(seed)
                .max_bytes(512 << 20);
            if let Some((k, l)) = pair {
                push(format!("K {k} L {l}"));
                builder = builder.hashes_and_aging(k, l);
            }
            if self.rng.u8(..4) == 0 {
                push("POLICY PAPER".to_owned());
                builder = builder.policy(Policy::Paper);
            } else if self.rng.u8(..3) == 0 {
                let on_full = if self.rng.bool() { OnFull::Reject } else { OnFull::Shorten };
                let word = if on_full == OnFull::Reject { "REJECT" } else { "SHORTEN" };
                let max_bytes = self.rng.u64(12_000..40_000);
                push(format!("MAXBYTES {max_bytes} ONFULL {word}"));
                builder = builder.max_bytes(max_bytes).on_full(on_full);
            }
            match builder.build() {
                Ok(filter) => Model::Time(Box::new(filter), ExactWindow::new(span)),
                Err(_) => {
                    // too small a limit for these proportions: the server must say so as well
                    assert!(client.call(&words).is_error(), "{words:?}");
                    return;
                }
            }
        };
        let reply = client.call(&words);
        if reply.is_error() {
            // the hint alone exceeds the limit: the library takes that, the module does not
            assert!(reply.text().contains("takes about"), "{words:?}: {reply}");
            return;
        }
        self.models.insert(key.to_owned(), model);
    }

    /// Records items in one of the ways there are, and compares the answers.
    fn add(&mut self, key: &str, client: &mut Client) {
        self.now += if self.rng.u8(..50) == 0 { self.rng.u64(..30_000) } else { self.rng.u64(..30) };
        // some come late
        let at = self.now - if self.rng.u8(..5) == 0 { self.rng.u64(..500) } else { 0 };
        let items = self.items();
        let only_new = self.rng.bool();
        let Some(model) = self.models.get_mut(key) else { return };
        let mut words: Vec<String> = Vec::new();
        let mut push = |line: String| words.extend(line.split(' ').map(str::to_owned));
        let mut expected: Vec<Option<bool>> = Vec::new();
        match model {
            Model::Time(filter, exact) => {
                // the servers' clocks are behind: without a time of its own, a command counts at the filter's latest
                let says_time = exact.clock() == Timestamp::MIN || self.rng.u8(..3) > 0;
                let time = if says_time { Timestamp::from_millis(at) } else { exact.clock() };
                match (says_time, only_new) {
                    (true, true) => push(format!("APBF.INSERT {key} NX AT {at} ITEMS")),
                    (true, false) => push(format!("APBF.INSERT {key} AT {at} ITEMS")),
                    (false, true) => push(format!("APBF.ADDNX {key}")),
                    (false, false) => push(format!("APBF.MADD {key}")),
                }
                for item in &items {
                    let verdict = if only_new {
                        filter.insert_if_new_at(item, time)
                    } else {
                        filter.check_and_insert_at(item, time)
                    };
                    expected.push(verdict.ok().map(|verdict| verdict.is_new()));
                    match verdict {
                        Ok(verdict) if !only_new || verdict.is_new() => exact.insert_at(item.as_bytes(), time),
                        Ok(_) => {}
                        // rejected: time moves on
                        Err(_) => exact.advance_to(time),
                    }
                }
            }
            Model::Count(filter, exact) => {
                push(format!("APBF.{} {key}", if only_new { "ADDNX" } else { "MADD" }));
                for item in &items {
                    let verdict = if only_new { filter.insert_if_new(item) } else { filter.check_and_insert(item) };
                    expected.push(Some(verdict.is_new()));
                    if !only_new || verdict.is_new() {
                        exact.insert(number(item));
                    }
                }
            }
        }
        words.extend(items);
        let reply = client.call(&words);
        let answers: Vec<Option<bool>> = reply
            .array()
            .iter()
            .map(|answer| match answer {
                Reply::Integer(value) => Some(*value == 1),
                Reply::Error(text) => {
                    assert!(text.contains("the filter is full"), "{text}");
                    None
                }
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(answers, expected, "{words:?}");
    }

    /// Asks both servers, the library and the exact window.
    fn ask(&mut self, key: &str, clients: &mut [&mut Client]) {
        let items = self.items();
        let Some(model) = self.models.get(key) else { return };
        let mut words = vec!["APBF.EXISTS".to_owned(), key.to_owned()];
        words.extend(items.iter().cloned());
        for client in clients {
            let seen = client.call(&words).bits();
            for (item, seen) in items.iter().zip(seen) {
                match model {
                    Model::Time(filter, exact) => {
                        // the servers' clocks are behind: the filter's own time counts
                        assert_eq!(seen, filter.contains_at(item, Timestamp::MIN), "{key} {item}");
                        let latest = exact.clock();
                        let cut_short = filter.stats(latest).shortened > 0;
                        assert!(
                            seen || cut_short || !exact.contains_at(item.as_bytes(), latest),
                            "{key} forgot {item}"
                        );
                    }
                    Model::Count(filter, exact) => {
                        assert_eq!(seen, filter.contains(item), "{key} {item}");
                        assert!(seen || !exact.items().any(|held| held == number(item)), "{key} forgot {item}");
                    }
                }
            }
        }
    }
}

#[test]
fn any_history_gives_the_librarys_answers_and_the_same_filters_everywhere() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let far = ["--timebloom.max-skew-ms", "3000000000000", "--appendonly", "yes", "--appendfsync", "no"];
    let mut primary = Server::start(&far);
    let mut second = Server::start_off(-7_200, &far);
    let (mut client, mut replica) = (primary.client(), second.client());
    follow(&mut replica, &primary);
    // the year 2100
    let mut history = History { rng: Rng::with_seed(seed), models: HashMap::new(), now: 4_102_444_800_000 };
    for step in 0..6_000 {
        let key = format!("key-{}", history.rng.usize(..KEYS));
        match history.rng.u32(..1_000) {
            0..700 => {
                if !history.models.contains_key(&key) {
                    history.create(&key, &mut client);
                }
                history.add(&key, &mut client);
            }
            700..960 => history.ask(&key, &mut [&mut client]),
            960..970 => {
                client.call(&["DEL", &key]);
                history.models.remove(&key);
            }
            970..980 => {
                catch_up(&mut client, &mut replica);
                assert_eq!(client.digest(), replica.digest(), "seed {seed}, step {step}");
                for number in 0..KEYS {
                    history.ask(&format!("key-{number}"), &mut [&mut client, &mut replica]);
                }
            }
            980..988 => assert_eq!(client.ask("DEBUG RELOAD"), "OK"),
            988..993 => {
                let preamble = if history.rng.bool() { "yes" } else { "no" };
                client.send(&format!("CONFIG SET aof-use-rdb-preamble {preamble}"));
                wait_for("no rewrite to run", || client.info("persistence", "aof_rewrite_in_progress") == "0");
                let before = client.digest();
                client.send("BGREWRITEAOF");
                wait_for("the rewrite", || client.info("persistence", "aof_rewrite_in_progress") == "0");
                assert_eq!(client.ask("DEBUG LOADAOF"), "OK");
                assert_eq!(client.digest(), before, "seed {seed}, step {step}");
            }
            993..997 => {
                catch_up(&mut client, &mut replica);
                let digest = client.digest();
                second.restart(Duration::ZERO);
                replica = second.client();
                assert_eq!(replica.digest(), digest, "seed {seed}, step {step}: the replica's own file");
                follow(&mut replica, &primary);
            }
            _ => {
                let digest = client.digest();
                primary.restart(Duration::ZERO);
                client = primary.client();
                assert_eq!(client.digest(), digest, "seed {seed}, step {step}");
                follow(&mut replica, &primary);
            }
        }
    }
    catch_up(&mut client, &mut replica);
    assert_eq!(client.digest(), replica.digest(), "seed {seed}");
    assert_eq!(client.info("timebloom", "timebloom_refused_payloads"), "0");
    assert_eq!(client.info("timebloom", "timebloom_panics"), "0");
}
