//! What someone at a terminal sees. `script`, which every Debian has, pretends to be one.

#![cfg(target_os = "linux")]

mod common;

use std::process::{Command, Stdio};

use common::temporary_file;

/// What a terminal is sent by a shell command, in which `timebloom` is the binary.
fn on_a_terminal(command: &str) -> String {
    let binary = env!("CARGO_BIN_EXE_timebloom");
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &format!("timebloom() {{ '{binary}' \"$@\"; }}; {command}")])
        .arg("/dev/null")
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .output()
        .expect("script must be installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command}: {text}");
    text
}

/// Some megabytes, so that there is progress to be seen.
fn large_file(name: &str) -> String {
    let lines: String = (0..30_000).map(|number| format!("{number:0100}\n")).collect();
    temporary_file(name, lines.as_bytes())
}

#[test]
fn a_bar_shows_how_far_a_file_has_been_read_and_goes_away() {
    let file = large_file("bar-input");
    let output = temporary_file("bar-output", b"");
    for input in [format!("'{file}'"), format!("<'{file}'")] {
        let seen = on_a_terminal(&format!("timebloom dedup --last 1000 --error 1e-9 {input} >'{output}'"));
        assert!(seen.contains("% ") && seen.contains("MiB/s"), "{input}: {seen:?}");
        let (_, after) = seen.rsplit_once('\r').expect("the bar is drawn over");
        assert_eq!(after, "\u{1b}[2K", "{input}: nothing is left of it");
        assert!(std::fs::read(&output).expect("the output") == std::fs::read(&file).expect("the input"));
    }
}

#[test]
fn there_is_no_bar_where_it_would_be_in_the_way_or_mean_nothing() {
    let file = temporary_file("no-bar-input", b"a\nb\na\n");
    // lines go to the same terminal
    assert_eq!(on_a_terminal(&format!("timebloom dedup --window 1h '{file}'")), "a\r\nb\r\n");
    // nobody knows where a pipe ends
    assert_eq!(on_a_terminal(&format!("cat '{file}' | timebloom dedup --window 1h >/dev/null")), "");
    // a terminal elsewhere
    assert_eq!(on_a_terminal(&format!("timebloom dedup --window 1h '{file}' >/dev/null 2>/dev/null")), "");
}

#[test]
fn colours_are_for_terminals_and_can_be_refused() {
    assert!(on_a_terminal("timebloom help guide").contains("\u{1b}["));
    assert!(!on_a_terminal("NO_COLOR=1 timebloom help guide").contains('\u{1b}'));
    assert!(!on_a_terminal("timebloom help guide | cat").contains('\u{1b}'));
}
