//! The state file: saved whole or not at all, for one run at a time, and never overwritten by guesswork.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command};

use common::{lines_of, run, show, start, temporary_file, temporary_path, timebloom, wait_until};

fn with_state<'a>(state: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["dedup", "--window", "1h", "--state", state], more].concat()
}

/// A run that waits for more input, after it has printed its first line, `first`.
fn waiting_run(arguments: &[&str]) -> (Child, ChildStdin) {
    let (mut child, mut input) = start(arguments);
    writeln!(input, "first").expect("the process reads");
    let mut output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("output is text");
    assert_eq!(line, "first\n");
    // nothing more is written to it in these tests
    child.stdout = Some(output.into_inner());
    (child, input)
}

#[test]
fn a_run_goes_on_where_the_last_one_ended() {
    // of its own: in the one that tests share, others may be saving
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a new folder");
    let state = folder.path().join("state").into_os_string().into_string().expect("cargo's folder has a UTF-8 path");
    assert_eq!(lines_of(&with_state(&state, &[]), b"a\nb\n"), ["a", "b"]);
    assert_eq!(lines_of(&with_state(&state, &[]), b"b\nc\n"), ["c"]);
    // the state knows its window
    assert_eq!(lines_of(&["dedup", "--state", &state], b"a\nc\nd\n"), ["d"]);
    let left: Vec<_> = fs::read_dir(folder.path())
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".timebloom-"))
        .collect();
    assert!(left.is_empty(), "temporary files stay behind: {left:?}");

    let counted = temporary_path("continue-count-state");
    assert_eq!(lines_of(&["dedup", "--last", "10", "--state", &counted], b"a\nb\n"), ["a", "b"]);
    assert_eq!(lines_of(&["dedup", "--state", &counted], b"b\nc\n"), ["c"]);
}

#[test]
fn a_new_state_needs_a_window() {
    let state = temporary_path("no-window-state");
    let run = run(&["dedup", "--state", &state], b"a\n");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--window or --last is needed"), "{}", run.stderr);
    assert!(!fs::exists(&state).expect("the folder can be read"));
}

#[test]
fn options_that_contradict_the_state_are_refused() {
    let state = temporary_path("contradict-state");
    lines_of(&with_state(&state, &["--error", "0.001", "--max-memory", "1M"]), b"a\n");
    let before = fs::read(&state).expect("the state was saved");
    let cases: [(&[&str], &str); 5] = [
        (&["--window", "2h"], "--window 1h, and this run says 2h"),
        (&["--last", "5"], "--window 1h, and this run says --last 5"),
        (&["--error", "0.01"], "--error 0.001, and this run says 0.01"),
        (&["--max-memory", "2M"], "--max-memory 1048576, and this run says 2097152"),
        (&["--max-memory", "1M", "--on-full", "shorten"], "--on-full reject, and this run says shorten"),
    ];
    for (options, message) in cases {
        let run = run(&[&["dedup", "--state", &state], options].concat(), b"b\n");
        assert_eq!((run.code, show(&run.stdout)), (1, String::new()), "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{options:?}: {}", run.stderr);
    }
    assert!(fs::read(&state).expect("still there") == before, "the state was overwritten");
    assert_eq!(lines_of(&with_state(&state, &["--error", "0.001", "--max-memory", "1M"]), b"a\nb\n"), ["b"]);
}

#[test]
fn a_damaged_state_is_an_error_and_stays_as_it_is() {
    let good = temporary_path("damage-state");
    let input: Vec<u8> = (0..1_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
    assert_eq!(lines_of(&with_state(&good, &[]), &input).len(), 1_000);
    let bytes = fs::read(&good).expect("the state was saved");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("flipped", flipped, "damaged"),
        ("cut", bytes[..bytes.len() / 2].to_vec(), "cut off"),
        ("longer", [&bytes[..], b"x"].concat(), "more follow"),
        ("empty", Vec::new(), "is not a state that can be continued"),
        ("text", b"this is my thesis\n".to_vec(), "is not a state that can be continued"),
    ];
    for (name, content, message) in cases {
        let path = temporary_file(&format!("damage-{name}"), &content);
        for command in [with_state(&path, &[]), vec!["inspect", &path]] {
            let run = run(&command, b"a\n");
            assert_eq!((run.code, show(&run.stdout)), (1, String::new()), "{name}: {}", run.stderr);
            assert!(run.stderr.contains(message) && run.stderr.contains(&path), "{name}: {}", run.stderr);
            assert!(fs::read(&path).expect("still there") == content, "{name}: overwritten");
        }
    }
}

#[test]
fn a_state_that_cannot_be_read_or_saved_is_an_error() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    for no_file in [folder, "/dev/null"] {
        let refused = run(&with_state(no_file, &[]), b"a\n");
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains(&format!("{no_file} is not a regular file")), "{}", refused.stderr);
        assert!(!Path::new(&format!("{no_file}.lock")).exists(), "nothing is left behind");
    }
    let nowhere = run(&with_state("no/such/folder/state", &[]), b"a\n");
    assert_eq!(nowhere.code, 1);
    assert!(nowhere.stderr.contains("cannot lock no/such/folder/state.lock"), "{}", nowhere.stderr);
}

/// A link leads to one state with one lock, and stays a link.
#[cfg(unix)]
#[test]
fn a_link_to_a_state_is_that_state() {
    let state = temporary_path("linked-state");
    let link = temporary_path("link-to-state");
    let _ = fs::remove_file(&link);
    assert_eq!(lines_of(&with_state(&state, &[]), b"a\n"), ["a"]);
    std::os::unix::fs::symlink(&state, &link).expect("links can be made");
    assert_eq!(lines_of(&with_state(&link, &[]), b"a\nb\n"), ["b"]);
    assert_eq!(lines_of(&with_state(&state, &[]), b"b\nc\n"), ["c"]);
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    let (mut child, input) = waiting_run(&with_state(&link, &[]));
    let second = run(&with_state(&state, &[]), b"d\n");
    assert!(second.code == 1 && second.stderr.contains("in use by another run"), "{}", second.stderr);
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[cfg(unix)]
#[test]
fn a_state_too_large_for_the_disk_leaves_the_old_one() {
    let state = temporary_path("large-state");
    lines_of(&with_state(&state, &[]), b"a\n");
    let before = fs::read(&state).expect("the state was saved");
    // No file may be larger than 512 bytes, and the process is told so with an error instead of a signal.
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; seq 1 20000 | {} dedup --state {state} >/dev/null",
        env!("CARGO_BIN_EXE_timebloom")
    );
    let output = Command::new("bash").args(["-c", &script]).output().expect("there is a shell");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot save the state") && message.contains("is still there"), "{message}");
    assert!(fs::read(&state).expect("still there") == before);
}

#[test]
fn a_state_belongs_to_one_run_at_a_time() {
    let state = temporary_path("locked-state");
    let (mut child, input) = waiting_run(&with_state(&state, &[]));
    let second = run(&with_state(&state, &[]), b"a\n");
    assert_eq!((second.code, show(&second.stdout)), (1, String::new()));
    assert!(second.stderr.contains("is in use by another run"), "{}", second.stderr);
    drop(input);
    assert!(child.wait().expect("the process ends").success());
    assert_eq!(lines_of(&with_state(&state, &[]), b"first\na\n"), ["a"]);
}

#[test]
fn the_state_is_saved_from_time_to_time_also_while_nothing_comes() {
    for every in ["1", "1ms"] {
        let state = temporary_path("every-state");
        let (mut child, input) = waiting_run(&with_state(&state, &["--save-every", every]));
        wait_until("the state is saved", || fs::exists(&state).expect("the folder can be read"));
        // no chance to save anything at the end
        child.kill().expect("SIGKILL is sent");
        child.wait().expect("the process ends");
        drop(input);
        assert_eq!(lines_of(&with_state(&state, &[]), b"first\na\n"), ["a"], "every {every}");
    }
    for every in ["0", "0s", "soon"] {
        assert_eq!(run(&with_state("unused", &["--save-every", every]), b"").code, 2, "every {every}");
    }
    assert_eq!(run(&["dedup", "--window", "1h", "--save-every", "1s"], b"").code, 2, "without a state");
}

#[cfg(unix)]
#[test]
fn polite_signals_save_the_state_and_print_the_summary() {
    use std::os::unix::process::ExitStatusExt;

    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let state = temporary_path(&format!("signal-{name}-state"));
        let (child, input) = waiting_run(&with_state(&state, &["--stats"]));
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().expect("there is a kill");
        assert!(sent.success());
        let output = child.wait_with_output().expect("the process ends");
        drop(input);
        assert_eq!(output.status.signal(), Some(number), "the shell is told why: {:?}", output.status);
        let summary = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(summary.contains("unique          1"), "{summary}");
        assert_eq!(lines_of(&with_state(&state, &[]), b"first\na\n"), ["a"], "{name}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_lose_the_state() {
    let state = temporary_path("pipe-state");
    let (mut child, mut input) = waiting_run(&with_state(&state, &["--stats"]));
    drop(child.stdout.take());
    let mut number = 0_u64;
    while writeln!(input, "line {number}").is_ok() {
        number += 1;
        assert!(number < 10_000_000, "the process keeps reading with nobody to write to");
    }
    drop(input);
    let output = child.wait_with_output().expect("the process ends");
    let summary = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{summary}");
    assert!(summary.contains("state saved     1 times"), "{summary}");
    assert_eq!(lines_of(&with_state(&state, &[]), b"first\na\n"), ["a"]);
}

#[cfg(target_os = "linux")]
#[test]
fn lines_that_could_not_be_written_are_not_remembered() {
    let state = temporary_path("full-disk-state");
    assert_eq!(lines_of(&with_state(&state, &[]), b"a\n"), ["a"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full");
    let input = temporary_file("full-disk-state-input", b"a\nb\n");
    let output = timebloom().args(with_state(&state, &[&input])).stdout(full).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("cannot write to standard output"), "{message}");
    assert_eq!(lines_of(&with_state(&state, &[]), b"a\nb\n"), ["b"], "b was never printed");
}
