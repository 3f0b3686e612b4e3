//! What users do with `timebloom dedup`, each against an exact oracle.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc;
use std::thread;

use common::oracle::{Oracle, printed};
use common::{Random, lines_of, run, start, temporary_path, text_lines, wait_until};

fn joined(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds after 2024-06-01 as an access log writes them; up to a month.
fn access_time(second: u64) -> String {
    let (day, rest) = (second / 86_400, second % 86_400);
    let (month, day) = (MONTHS[5], day + 1);
    format!("{day:02}/{month}/2024:{:02}:{:02}:{:02} +0000", rest / 3_600, rest / 60 % 60, rest % 60)
}

/// An access log: lines with their keys and times, up to `disorder` seconds out of order, with quiet hours.
fn access_log(seed: u64, lines: u64, disorder: u64) -> Vec<(String, String, u64)> {
    let mut random = Random::new(seed);
    let mut now = 100;
    (0..lines)
        .map(|_| {
            now += u64::from(random.below(10) == 0);
            if random.below(2_000) == 0 {
                now += random.below(300);
            }
            let time = now - random.below(disorder + 1);
            let address = format!("192.0.2.{}", random.below(100));
            let path = format!("/page/{}", random.below(20));
            let stamp = access_time(time);
            let size = random.below(10_000);
            let line = format!("{address} - - [{stamp}] \"GET {path} HTTP/1.1\" 200 {size} \"-\" \"test\"");
            (line, format!("{address} {path}"), time)
        })
        .collect()
}

const BY_LOG_TIME: [&str; 6] = ["--field", "1,7", "--time-field", "4", "--time-format", "access-log"];

#[test]
fn an_access_log_is_deduplicated_by_its_own_times() {
    for seed in 1..=5 {
        let log = access_log(seed, 40_000, 3);
        let input: Vec<String> = log.iter().map(|(line, ..)| line.clone()).collect();
        let output = lines_of(&[&["dedup", "--window", "60s"][..], &BY_LOG_TIME].concat(), &joined(&input));
        let mut oracle = Oracle::new(60, 0.01);
        for ((_, key, time), printed) in log.iter().zip(printed(&input, &output)) {
            oracle.see(key, *time, printed);
        }
        oracle.finish();
        let Oracle { unique, printed, .. } = oracle;
        assert!(unique > 2_000 && printed < 35_000, "seed {seed}: {unique} unique, {printed} printed");
    }
}

#[test]
fn lines_out_of_order_are_judged_by_their_own_times() {
    // Two lines with the same key and times within the window: at most one is printed, whichever comes first.
    for seed in 11..=15 {
        let log = access_log(seed, 40_000, 20);
        let input: Vec<String> = log.iter().map(|(line, ..)| line.clone()).collect();
        let options = ["dedup", "--window", "60s", "--lateness", "20s"];
        let output = lines_of(&[&options[..], &BY_LOG_TIME].concat(), &joined(&input));
        let mut times: std::collections::HashMap<&str, Vec<u64>> = std::collections::HashMap::new();
        let mut reprints = 0;
        for ((_, key, time), printed) in log.iter().zip(printed(&input, &output)) {
            if printed {
                let times = times.entry(key).or_default();
                for other in times.iter() {
                    let apart = other.abs_diff(*time);
                    assert!(apart > 60, "seed {seed}: {key} was printed for times {apart} s apart");
                }
                reprints += usize::from(!times.is_empty());
                times.push(*time);
            }
        }
        assert!(reprints > 1_000, "seed {seed}: {reprints} came back after their window");
    }
}

#[test]
fn without_lateness_the_disorder_shows() {
    // The law above is not one that any run would keep: judged as they come, some lines slip through.
    let log = access_log(11, 40_000, 20);
    let input: Vec<String> = log.iter().map(|(line, ..)| line.clone()).collect();
    let output = lines_of(&[&["dedup", "--window", "60s"][..], &BY_LOG_TIME].concat(), &joined(&input));
    let mut last: std::collections::HashMap<&str, u64> = std::collections::HashMap::new();
    let mut slips = 0;
    for ((_, key, time), printed) in log.iter().zip(printed(&input, &output)) {
        if printed && let Some(before) = last.insert(key, *time) {
            slips += u64::from(before.abs_diff(*time) <= 60);
        }
    }
    assert!(slips > 0, "lines 20 s out of order cannot all be judged right with a window of 60 s");
}

/// A storm: a few messages repeated all the time, many that come once, under timestamps that always differ.
fn storm(seed: u64, lines: u64) -> Vec<(String, String, u64)> {
    let mut random = Random::new(seed);
    let mut millisecond = 1_000;
    (0..lines)
        .map(|number| {
            millisecond += random.below(20);
            let message = match random.below(3) {
                0 => format!("disk {} is slow", random.below(5)),
                1 => format!("connection from 192.0.2.{} refused", random.below(250)),
                _ => format!("request {number} took {} ms", random.below(100)),
            };
            let stamp = format!("{}.{:03}", 1_700_000_000 + millisecond / 1_000, millisecond % 1_000);
            (format!("{stamp} host app[{}]: {message}", random.below(9)), message, millisecond)
        })
        .collect()
}

#[test]
fn a_storm_is_quietened_with_and_without_refresh() {
    let log = storm(21, 60_000);
    let input: Vec<String> = log.iter().map(|(line, ..)| line.clone()).collect();
    let base = ["dedup", "--window", "10s", "--regex", r"\]: (.*)", "--time-field", "1", "--time-format", "unix"];
    let mut counts = Vec::new();
    for refresh in [false, true] {
        let options = if refresh { [&base[..], &["--refresh"]].concat() } else { base.to_vec() };
        let output = lines_of(&options, &joined(&input));
        let mut oracle = Oracle::new(10_000, 0.01);
        if refresh {
            oracle = oracle.refreshing();
        }
        for ((_, message, time), printed) in log.iter().zip(printed(&input, &output)) {
            oracle.see(message, *time, printed);
        }
        oracle.finish();
        let slow = output.iter().filter(|line| line.contains("is slow")).count();
        counts.push((slow, output.len()));

        let suppressed = lines_of(&[&options[..], &["--count"]].concat(), &joined(&input));
        // seeds differ from run to run, and with them the few that are suppressed by mistake
        let suppressed: usize = suppressed[0].parse().expect("a number");
        assert!(suppressed.abs_diff(input.len() - output.len()) < 1_000, "{suppressed} of {}", input.len());
    }
    // 600 s: about 60 windows for each of five messages that never stop, or one printing for each with refresh
    assert!((200..=310).contains(&counts[0].0), "{counts:?}");
    assert_eq!(counts[1].0, 5, "{counts:?}");
    assert!(counts[1].1 < counts[0].1);
}

#[test]
fn clicks_are_capped_within_a_second_a_minute_and_an_hour() {
    let mut random = Random::new(31);
    let mut now = 1_700_000_000_000_u64;
    let header = "id,ip,app,device,at".to_owned();
    let clicks: Vec<(String, String, u64)> = (0..40_000)
        .map(|id| {
            now += random.below(400);
            let (ip, app) = (random.below(60), random.below(4));
            // quoted, with a comma and a quote inside
            let device = format!("\"phone, {}\"\"\"", random.below(3));
            let line = format!("{id},192.0.2.{ip},{app},{device},{now}");
            (line, format!("{ip}/{app}/{device}"), now)
        })
        .collect();
    let input: Vec<String> = std::iter::once(header).chain(clicks.iter().map(|(line, ..)| line.clone())).collect();
    let mut kept = Vec::new();
    for (window, milliseconds) in [("1s", 1_000), ("1m", 60_000), ("1h", 3_600_000)] {
        let options =
            ["dedup", "--window", window, "--csv", "ip,3,device", "--time-csv", "at", "--time-format", "unix-ms"];
        let output = lines_of(&options, &joined(&input));
        let printed = printed(&input, &output);
        assert!(printed[0], "the header is not a click");
        let mut oracle = Oracle::new(milliseconds, 0.01);
        for ((_, key, time), printed) in clicks.iter().zip(&printed[1..]) {
            oracle.see(key, *time, *printed);
        }
        oracle.finish();
        kept.push(oracle.printed);
    }
    assert!(kept[0] > kept[1] && kept[1] > kept[2] && kept[2] > 0, "{kept:?}");
}

/// Events with ids, 5% of them redelivered 0.5 to 20 s later.
fn events(seed: u64, count: u64) -> Vec<(String, String, u64)> {
    let mut random = Random::new(seed);
    let mut events = Vec::new();
    for id in 0..count {
        let at = 1_700_000_000_000 + id * 10 + random.below(10);
        events.push((at, id));
        if random.below(20) == 0 {
            events.push((at + 500 + random.below(19_500), id));
        }
    }
    events.sort_unstable();
    let describe = |(at, id)| (format!("{{\"at\": {at}, \"id\": \"event-{id}\"}}"), format!("event-{id}"), at);
    events.into_iter().map(describe).collect()
}

#[test]
fn redelivered_events_stay_out_though_the_process_is_killed() {
    let state = temporary_path("killed-state");
    let all = events(41, 20_000);
    let (before, after) = all.split_at(10_000);
    let save_every = before.len().to_string();
    let options = [
        &["dedup", "--window", "60s", "--json", "/id", "--time-json", "/at", "--time-format", "unix-ms"][..],
        &["--state", &state, "--save-every", &save_every],
    ]
    .concat();

    let (mut child, mut input) = start(&options);
    let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let (send, receive) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in output.lines() {
            if send.send(line.expect("output is text")).is_err() {
                break;
            }
        }
    });
    for (line, ..) in before {
        writeln!(input, "{line}").expect("the process reads");
    }
    wait_until("all of these are printed and saved", || std::path::Path::new(&state).exists());
    let mut first_output: Vec<String> = receive.try_iter().collect();
    // Lines that nobody has acknowledged, and then the end, without any warning.
    let unsaved = &after[..2_000];
    for (line, ..) in unsaved {
        writeln!(input, "{line}").expect("the process reads");
    }
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("the process ends");
    reader.join().expect("the reader does not panic");
    // what was printed before the save may still have been on its way
    first_output.extend(receive.try_iter());
    let first_input: Vec<String> = before.iter().map(|(line, ..)| line.clone()).collect();
    let saved: std::collections::HashSet<&String> = first_input.iter().collect();
    first_output.retain(|line| saved.contains(line));

    // They are delivered again to the next run, with what follows.
    let second_input: Vec<String> = after.iter().map(|(line, ..)| line.clone()).collect();
    let second_output = lines_of(&options, &joined(&second_input));

    let mut oracle = Oracle::new(60_000, 0.01);
    let printed = [printed(&first_input, &first_output), printed(&second_input, &second_output)].concat();
    for ((_, id, at), printed) in all.iter().zip(printed) {
        oracle.see(id, *at, printed);
    }
    oracle.finish();
    assert!(oracle.unique >= 20_000 && oracle.printed > 19_500, "{} printed", oracle.printed);
    // and without the state, redeliveries across the border do come through
    let fresh = lines_of(&options[..options.len() - 4], &joined(&second_input));
    assert!(fresh.len() > second_output.len(), "{} and {}", fresh.len(), second_output.len());
}

#[test]
fn wrong_suppressions_stay_within_the_rate_asked_for() {
    // As many lines as make the filter grow again and again, all different: each that is missing is a mistake.
    for (rate, lines) in [("0.1", 50_000_u64), ("0.01", 200_000), ("0.001", 200_000)] {
        let input: Vec<u8> = (0..lines).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        for window in [&["--window", "1h"][..], &["--last", "50000"]] {
            let run = run(&[&["dedup", "--error", rate][..], window].concat(), &input);
            let printed = text_lines(&run.stdout).len() as u64;
            let probability: f64 = rate.parse().expect("a number");
            let most = timebloom_testkit::at_most_with_confidence(lines, probability, 1e-9);
            assert!(lines - printed <= most, "{window:?}, rate {rate}: {} of {lines} are missing", lines - printed);
        }
    }
}

#[test]
fn a_count_window_never_prints_one_of_the_last_so_many() {
    let mut random = Random::new(51);
    let input: Vec<String> = (0..100_000).map(|_| format!("item {}", random.below(3_000))).collect();
    let output = lines_of(&["dedup", "--last", "1000"], &joined(&input));
    // the clock of a count window is the number of lines that were printed
    let mut last: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    for (number, line) in output.iter().enumerate() {
        if let Some(before) = last.insert(line, number) {
            assert!(number - before > 1_000, "{line} was printed again after {} others", number - before);
        }
    }
    assert!(output.len() > 30_000, "{} printed", output.len());
}
