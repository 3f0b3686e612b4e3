//! `plan`, `inspect`, help, completions and manual pages.

mod common;

use std::time::Duration;

use serde_json::Value;
use timebloom::{TimeBloom, Timestamp};

use common::{Run, run, temporary_file, temporary_path, timebloom};

fn ok(arguments: &[&str]) -> String {
    let Run { stdout, stderr, code } = run(arguments, b"");
    assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}");
    String::from_utf8(stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&ok(arguments)).expect("JSON")
}

#[test]
fn a_plan_says_what_a_rate_takes() {
    let plan = json(&["plan", "--window", "1h", "--rate", "5000", "--json"]);
    let number = |path: &str| plan.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {plan}"));
    assert_eq!(number("/items_in_window"), 18_000_000.0);
    assert!((number("/plan/bytes") - 18e6 * number("/plan/bits_per_item") / 8.0).abs() < 2.0);
    assert!((19.0..21.0).contains(&number("/plan/bits_per_item")));
    assert!((number("/plan/overstay_ms") * number("/plan/aging_slices") - 3_600_000.0).abs() < 1.0);
    assert!(number("/plan/worst_case_rate") <= 0.01 && number("/plan/probes_per_miss") > 1.0);
    assert!(number("/set_nx_ex_bytes") > 30.0 * number("/plan/bytes"));
    assert!(number("/hash_map_bytes") > 10.0 * number("/plan/bytes"));
    assert!(plan["alternatives"].as_array().is_some_and(|plans| plans.len() >= 5), "{plan}");

    let text = ok(&["plan", "--window", "1h", "--rate", "5000"]);
    for part in ["18,000,000 items", "bits per item", "overstay", "alternatives", "SET key 1 NX EX", "hash map"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\x1b'), "no colours without a terminal");
    // the same rate, said otherwise
    assert_eq!(json(&["plan", "--window", "1h", "--rate", "300k/m", "--json"]), plan);
    assert_eq!(json(&["plan", "--last", "1000", "--json"])["items_in_window"].as_u64(), Some(1_000));
}

/// Small filters consist of more than bits, and a plan says so: within a sixth of what an even stream takes.
#[test]
fn a_plan_counts_all_bytes() {
    const HOUR: Duration = Duration::from_secs(3_600);
    for items in [100_u32, 1_000, 30_000] {
        let planned = json(&["plan", "--window", "1h", "--rate", &format!("{items}/h"), "--json"]);
        let planned = planned["plan"]["bytes"].as_f64().expect("a number");
        let mut filter = TimeBloom::builder(HOUR).seed(1).build().expect("a legal filter");
        for item in 0..5 * items {
            let now = Timestamp::from_secs(1_700_000_000).saturating_add(HOUR * item / items);
            filter.insert_at(item.to_le_bytes(), now).expect("no limit");
        }
        let taken = filter.memory_bytes() as f64;
        assert!((taken / planned - 1.0).abs() < 1.0 / 6.0, "{items} items: planned {planned} bytes, took {taken}");
    }
}

#[test]
fn a_plan_learns_from_a_sample() {
    // ten keys a second, each of five bytes, for 100 s; every line twice
    let lines: String =
        (0..1_000).flat_map(|n| [format!("{} k{n:04}\n", n / 10), format!("{} k{n:04}\n", n / 10)]).collect();
    let sample = temporary_file("plan-sample", lines.as_bytes());
    let options = ["plan", "--window", "20s", "--sample", &sample, "--field", "2", "--json"];
    let by_time = json(&[&options[..], &["--time-field", "1", "--time-format", "unix"]].concat());
    assert_eq!(by_time["key_bytes"].as_u64(), Some(5), "{by_time}");
    assert_eq!(by_time["sample"]["items"].as_u64(), Some(1_000), "{by_time}");
    assert_eq!(by_time["sample"]["peak_items_in_window"].as_u64(), Some(210), "{by_time}");
    let by_span = json(&[&options[..], &["--sample-span", "100s"]].concat());
    assert_eq!(by_span["items_in_window"].as_u64(), Some(200), "{by_span}");

    let without = run(&options, b"");
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("--sample-span"), "{}", without.stderr);
    let empty = temporary_file("plan-sample-empty", b"");
    let nothing = run(&["plan", "--window", "20s", "--sample", &empty, "--sample-span", "1s"], b"");
    assert_eq!(nothing.code, 1);
    assert!(nothing.stderr.contains("has no lines"), "{}", nothing.stderr);
}

#[test]
fn plans_that_make_no_sense_are_usage_errors() {
    let cases: [&[&str]; 8] = [
        &[],
        &["--window", "1h"],
        &["--rate", "5"],
        &["--window", "0s", "--rate", "5"],
        &["--window", "1h", "--rate", "many"],
        &["--window", "1h", "--rate", "5", "--error", "2"],
        &["--last", "0"],
        &["--last", "5", "--rate", "5"],
    ];
    for options in cases {
        let run = run(&[&["plan"], options].concat(), b"");
        assert_eq!(run.code, 2, "{options:?}: {}", run.stderr);
        assert!(!run.stderr.is_empty() && run.stdout.is_empty(), "{options:?}");
    }
}

#[test]
fn inspect_shows_what_a_state_holds() {
    let state = temporary_path("inspect-state");
    // an hour at one item a second, of which the last 600 s are in the window
    let input: String = (0..3_600).map(|second| format!("{} item-{second}\n", 1_700_000_000 + second)).collect();
    let options = ["dedup", "--window", "10m", "--time-field", "1", "--time-format", "unix", "--state", &state];
    assert_eq!(run(&options, input.as_bytes()).code, 0);
    let view = json(&["inspect", &state, "--json"]);
    let items = view["items_in_window"].as_u64().expect("a number");
    assert!((590..=625).contains(&items), "{items}");
    let rate = view["items_per_second"].as_f64().expect("a number");
    assert!((0.95..=1.05).contains(&rate), "{rate}");
    assert_eq!(view["window_ms"].as_u64(), Some(600_000));
    assert_eq!(view["newest_unix_ms"].as_u64(), Some(1_700_003_599_000));
    let slices = view["slice"].as_array().expect("slices");
    assert_eq!(slices.len() as u64, view["slices"].as_u64().expect("a number"));
    for slice in slices {
        let number = |name: &str| slice[name].as_f64().unwrap_or_else(|| panic!("{name}: {slice}"));
        assert!((number("fill") - number("ones") / number("bits")).abs() < 1e-9);
    }
    let arrivals = view["arrivals"].as_array().expect("arrivals");
    assert_eq!(arrivals.len(), 20);
    for bin in &arrivals[..18] {
        let items = bin["items"].as_f64().expect("a number");
        assert!((27.0..=33.0).contains(&items), "30 s at one a second: {items}");
    }

    let text = ok(&["inspect", &state]);
    for part in ["window            10m", "items/s", "youngest first", "arrivals over the window", "█"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\x1b'), "no colours without a terminal");
}

#[test]
fn inspect_shows_count_windows_and_empty_ones() {
    let state = temporary_path("inspect-count-state");
    let input: String = (0..500).map(|number| format!("item {number}\n")).collect();
    assert_eq!(run(&["dedup", "--last", "100", "--state", &state], input.as_bytes()).code, 0);
    let view = json(&["inspect", &state, "--json"]);
    assert_eq!(view["last"].as_u64(), Some(100));
    assert!(ok(&["inspect", &state]).contains("the last 100 items"));
    let empty = temporary_path("inspect-empty-state");
    assert_eq!(run(&["dedup", "--window", "1s", "--state", &empty], b"").code, 0);
    assert!(ok(&["inspect", &empty]).contains("nothing is in the window"));
    assert_eq!(run(&["inspect", "no/such/state"], b"").code, 1);
}

#[test]
fn help_has_examples_and_a_guide() {
    assert!(ok(&["dedup", "--help"]).contains("--time-format access-log"));
    assert!(ok(&["--help"]).contains("timebloom help guide"));
    let guide = ok(&["help", "guide"]);
    assert!(guide.contains("$ ") && guide.lines().count() > 50);
    assert!(guide.lines().all(|line| line.chars().count() <= 120));
    assert_eq!(ok(&["help", "dedup"]), ok(&["dedup", "--help"]));
    assert!(ok(&["help"]).contains("Commands:"));
    let unknown = run(&["help", "cooking"], b"");
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("topics are: guide, dedup"), "{}", unknown.stderr);
}

#[test]
fn the_commands_of_the_guide_are_understood() {
    // each is tried on nothing, up to the first pipe behind it: options that do not exist are usage errors
    let guide = ok(&["help", "guide"]).replace("\\\n", " ");
    let mut tried = 0;
    for line in guide.lines().filter_map(|line| line.trim_start().strip_prefix("$ ")) {
        let Some(command) = line.split(" | ").find(|part| part.starts_with("timebloom ")) else { continue };
        let command =
            command.replace(".log", ".missing").replace(".csv", ".missing").replace("seen.tb", "missing/seen.tb");
        let script = format!("{} --help >/dev/null", command.replacen("timebloom", env!("CARGO_BIN_EXE_timebloom"), 1));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {message}");
        // with its real options, short of anything to read
        let script =
            format!("{} </dev/null >/dev/null", command.replacen("timebloom", env!("CARGO_BIN_EXE_timebloom"), 1));
        let script =
            script.replace("redis://127.0.0.1:6379", "redis://127.0.0.1:1").replace(" --key", " --retries 0 --key");
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        assert_ne!(output.status.code(), Some(2), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        tried += 1;
    }
    assert!(tried > 10, "{tried} commands");
}

#[test]
fn completions_and_manual_pages_are_written() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(ok(&["completions", shell]).contains("window"), "{shell}");
    }
    let folder = temporary_path("manual");
    assert_eq!(ok(&["man", &folder]), "");
    for page in ["timebloom", "timebloom-dedup", "timebloom-plan", "timebloom-inspect"] {
        let text = std::fs::read_to_string(format!("{folder}/{page}.1")).expect(page);
        assert!(text.contains(".TH"), "{page}");
    }
    std::fs::remove_dir_all(&folder).expect("it was ours");
    let blocked = temporary_file("manual-blocked", b"");
    assert_eq!(run(&["man", &blocked], b"").code, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn colours_are_for_terminals_and_can_be_refused() {
    // `script` runs a command on a terminal of its own; without it there is nothing to see
    let on_terminal = |environment: &[(&str, &str)]| {
        let command = format!("{} plan --window 1h --rate 5", env!("CARGO_BIN_EXE_timebloom"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
        script.envs(environment.iter().copied()).output().ok().map(|output| output.stdout)
    };
    let Some(colourful) = on_terminal(&[]) else { return };
    assert!(colourful.contains(&b'\x1b'));
    let plain = on_terminal(&[("NO_COLOR", "1")]).expect("it ran before");
    assert!(!plain.contains(&b'\x1b'));
    let dumb = on_terminal(&[("TERM", "dumb")]).expect("it ran before");
    assert!(!dumb.contains(&b'\x1b'));
}

#[test]
fn a_closed_pipe_is_no_failure_anywhere() {
    for arguments in [&["help", "guide"][..], &["completions", "bash"], &["plan", "--last", "5"]] {
        let mut child =
            timebloom().args(arguments).stdout(std::process::Stdio::piped()).spawn().expect("the binary runs");
        drop(child.stdout.take());
        assert!(child.wait().expect("the process ends").success(), "{arguments:?}");
    }
}
