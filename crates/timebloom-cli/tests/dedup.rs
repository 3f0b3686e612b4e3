//! `timebloom dedup` as its users run it: a process with arguments, pipes and an exit code.
//!
//! Runs take far less than the 60 s window, so nothing expires and the exact answer is every line's first occurrence.
//! The filter may drop a new line by mistake, but it starts out for 100,000 items: for the thousand used here at most, the
//! chance that any test meets such a mistake is below one in a million.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{Random, dedup, dedup_stdin, first_sightings, show, start, temporary_file, timebloom};

const EXIT_OK: i32 = 0;
const EXIT_FAILURE: i32 = 1;
const EXIT_USAGE: i32 = 2;

#[test]
fn the_sample_log_loses_its_repeats_and_nothing_else() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/access.log");
    let log = std::fs::read(path).expect("the sample log is part of the repository");
    let expected = first_sightings(&log);
    assert!(expected.len() < log.len(), "the sample has repeats to show");

    let run = dedup(&[path], b"");
    assert_eq!(show(&run.stdout), show(&expected));
    assert_eq!(run.code, EXIT_OK);
}

#[test]
fn random_bytes_come_out_as_their_first_sightings() {
    for seed in 1..=20 {
        let mut random = Random::new(seed);
        let mut input = Vec::new();
        for _ in 0..random.below(1_000) {
            // Short lines repeat often; any byte may occur in them, a newline included.
            for _ in 0..random.below(4) {
                input.push(random.byte());
            }
            input.push(b'\n');
        }
        if random.below(2) == 0 {
            input.pop();
        }
        let run = dedup_stdin(&input);
        assert_eq!(show(&run.stdout), show(&first_sightings(&input)), "seed {seed}");
        assert_eq!((run.code, run.stderr.as_str()), (EXIT_OK, ""), "seed {seed}");
    }
}

#[test]
fn small_inputs_keep_every_byte_of_a_first_sighting() {
    let cases: [(&[u8], &[u8]); 10] = [
        (b"", b""),
        (b"\n", b"\n"),
        (b"\n\n\n", b"\n"),
        (b"a", b"a"),
        (b"a\na", b"a\n"),
        (b"a\nb\na\nc\nb\n", b"a\nb\nc\n"),
        (b"a\nb", b"a\nb"),
        (b"a\r\na\n", b"a\r\na\n"),
        (b"\xff\xfe\n\xff\xfe\n\xff\n", b"\xff\xfe\n\xff\n"),
        (b"a\0b\na\0c\na\0b\n", b"a\0b\na\0c\n"),
    ];
    for (input, expected) in cases {
        let run = dedup_stdin(input);
        assert_eq!(show(&run.stdout), show(expected), "input {}", show(input));
        assert_eq!((run.code, run.stderr.as_str()), (EXIT_OK, ""), "input {}", show(input));
    }
}

#[test]
fn a_line_longer_than_any_buffer_is_one_line() {
    let long = vec![b'x'; 1 << 20];
    let input = [&long[..], b"\n", &long[..], b"y\n", &long[..], b"\n"].concat();
    let run = dedup_stdin(&input);
    assert!(run.stdout == first_sightings(&input), "{} bytes came out", run.stdout.len());
}

#[test]
fn files_share_one_window_and_a_dash_is_standard_input() {
    let first = temporary_file("share-first", b"a\nb\n");
    let second = temporary_file("share-second", b"b\nd\na\n");
    let run = dedup(&[&first, "-", &second], b"c\nb\n");
    assert_eq!(show(&run.stdout), show(b"a\nb\nc\nd\n"));
    assert_eq!(run.code, EXIT_OK);
}

#[test]
fn a_missing_last_newline_never_glues_two_files_together() {
    let first = temporary_file("glue-first", b"a\nb");
    let second = temporary_file("glue-second", b"b\nc");
    assert_eq!(show(&dedup(&[&first, &second], b"").stdout), show(b"a\nb\nc"));
    assert_eq!(show(&dedup(&[&first, &first], b"").stdout), show(b"a\nb"));
}

#[test]
fn a_missing_file_is_named_after_what_came_before_it() {
    let good = temporary_file("before-missing", b"a\na\n");
    let run = dedup(&[&good, "no/such/file.log"], b"");
    assert_eq!(run.code, EXIT_FAILURE);
    assert_eq!(show(&run.stdout), show(b"a\n"));
    assert!(run.stderr.contains("cannot open no/such/file.log"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn an_unreadable_input_is_named() {
    let run = dedup(&[env!("CARGO_MANIFEST_DIR")], b"");
    assert_eq!(run.code, EXIT_FAILURE);
    assert!(run.stderr.contains(concat!("cannot read ", env!("CARGO_MANIFEST_DIR"))), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn file_names_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let output = timebloom()
        .args(["dedup", "--window", "60s"])
        .arg(OsStr::from_bytes(b"missing-\xff.log"))
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(EXIT_FAILURE));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot open missing-"));
}

#[test]
fn a_window_that_makes_no_sense_is_a_usage_error() {
    for window in ["", "60", "soon", "-5s", "1.5s", "30m1h", "99999999999999999999d", "0s"] {
        let run = common::run(&["dedup", &format!("--window={window}")], b"a\n");
        assert_eq!(run.code, EXIT_USAGE, "window {window:?}: {}", run.stderr);
        assert!(!run.stderr.is_empty() && !run.stderr.contains("panicked"), "window {window:?}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "window {window:?}");
    }
    let unit = common::run(&["dedup", "--window=60"], b"");
    assert!(unit.stderr.contains("`60` has no unit") && unit.stderr.contains("1h30m"), "{}", unit.stderr);
    // As an argument of its own, `-5s` is still a duration that is wrong, and not an option that does not exist.
    let negative = common::run(&["dedup", "--window", "-5s"], b"");
    assert!(negative.stderr.contains("expected a number at `-5s`"), "{}", negative.stderr);
    for window in ["0s", "213504d"] {
        let run = common::run(&["dedup", "--window", window], b"");
        assert!(run.stderr.contains("--window must be at least 1ms and at most 584 years"), "{}", run.stderr);
    }
}

#[test]
fn an_error_rate_out_of_range_is_a_usage_error() {
    for rate in ["0", "1", "-0.1", "7", "NaN", "inf", "-inf", "1e400", "few", ""] {
        let run = common::run(&["dedup", "--window=60s", &format!("--error={rate}")], b"a\n");
        assert_eq!(run.code, EXIT_USAGE, "rate {rate:?}: {}", run.stderr);
        assert!(!run.stderr.is_empty() && !run.stderr.contains("panicked"), "rate {rate:?}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "rate {rate:?}");
    }
    let outside = common::run(&["dedup", "--window=60s", "--error=1e-30"], b"");
    assert!(outside.stderr.contains("--error 1e-30 is not allowed: it must be at least 1e-12"), "{}", outside.stderr);
    let percent = common::run(&["dedup", "--window=60s", "--error=1%"], b"");
    assert!(percent.stderr.contains("such as 0.01"), "{}", percent.stderr);
}

#[test]
fn any_reasonable_window_and_error_rate_is_accepted() {
    for window in ["100ms", "1s", "5m", "1h30m", "24h", "30d"] {
        for rate in ["0.3", "0.01", "0.0025", "1e-5"] {
            let run = common::run(&["dedup", "--window", window, "--error", rate], b"a\n");
            assert_eq!((run.code, run.stderr.as_str()), (EXIT_OK, ""), "window {window}, rate {rate}");
            assert_eq!(show(&run.stdout), show(b"a\n"), "window {window}, rate {rate}");
        }
    }
}

#[test]
fn a_missing_window_or_command_is_a_usage_error() {
    for arguments in [&["dedup"][..], &[], &["undup"], &["dedup", "--window", "60s", "--frobnicate"]] {
        assert_eq!(common::run(arguments, b"").code, EXIT_USAGE, "{arguments:?}");
    }
    let told = common::run(&["dedup"], b"").stderr;
    assert!(told.contains("--window or --last is needed"), "{told}");
}

#[test]
fn help_and_version_succeed() {
    for arguments in [&["--help"][..], &["dedup", "--help"], &["--version"]] {
        let run = common::run(arguments, b"");
        assert_eq!((run.code, run.stderr.as_str()), (EXIT_OK, ""), "{arguments:?}");
        assert!(!run.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let (mut child, mut input) = start(&["dedup", "--window", "60s"]);
    drop(child.stdout.take());
    // More than any buffer on the way holds, until the process stops reading: our own pipe breaks then.
    let mut number = 0_u64;
    while writeln!(input, "line {number}").is_ok() {
        number += 1;
        assert!(number < 10_000_000, "the process keeps reading with nobody to write to");
    }
    drop(input);
    let output = child.wait_with_output().expect("the process ends");
    assert_eq!(output.status.code(), Some(EXIT_OK));
    assert_eq!(show(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let input = temporary_file("full-disk", b"a\n");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full");
    let output = timebloom()
        .args(["dedup", "--window", "60s", &input])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(EXIT_FAILURE));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("cannot write to standard output"), "{message}");
}

#[test]
fn a_line_is_printed_while_the_next_is_still_being_written() {
    let (mut child, mut input) = start(&["dedup", "--window", "60s"]);
    let mut output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    input.write_all(b"whole\nbegun").expect("the process reads");

    let (send, receive) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut first = String::new();
        output.read_line(&mut first).expect("output is text");
        send.send(first).expect("the test waits");
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("output is text");
        rest
    });
    // The input is still open: only a flush can bring the line here. The limit turns a hang into a failure.
    let first = receive.recv_timeout(Duration::from_secs(60)).expect("the whole line comes without waiting");
    assert_eq!(first, "whole\n");
    drop(input);
    assert_eq!(reader.join().expect("the reader does not panic"), "begun");
    assert_eq!(child.wait().expect("the process ends").code(), Some(EXIT_OK));
}
