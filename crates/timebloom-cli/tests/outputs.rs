//! What is printed, and how: modes, terminators, limits and summaries.

mod common;

use common::{lines_of, run, show, stats, temporary_file};

fn printed(options: &[&str], input: &[u8]) -> String {
    let run = run(&[&["dedup", "--window", "60s"], options].concat(), input);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{options:?}");
    show(&run.stdout)
}

#[test]
fn each_mode_prints_its_lines() {
    let input = b"a\nb\na\na\nc\n";
    assert_eq!(printed(&[], input), show(b"a\nb\nc\n"));
    assert_eq!(printed(&["--duplicates"], input), show(b"a\na\n"));
    assert_eq!(printed(&["--mark"], input), show(b"new\ta\nnew\tb\nseen\ta\nseen\ta\nnew\tc\n"));
    assert_eq!(printed(&["--count"], input), show(b"2\n"));
    assert_eq!(printed(&["--count"], b""), show(b"0\n"));
    let shadow = run(&["dedup", "--window", "60s", "--shadow"], input);
    assert_eq!(show(&shadow.stdout), show(input));
    assert_eq!(shadow.stderr, "2 of 5 lines would have been suppressed\n");
    let both = run(&["dedup", "--window", "60s", "--mark", "--count"], input);
    assert_eq!(both.code, 2, "{}", both.stderr);
}

#[test]
fn records_may_end_with_zero_bytes() {
    assert_eq!(printed(&["-0"], b"a\nb\0c\0a\nb\0"), show(b"a\nb\0c\0"));
    assert_eq!(printed(&["-0"], b"a\0b"), show(b"a\0b"));
    assert_eq!(printed(&["--null", "--field", "1", "-d", "/"], b"x/1\0x/2\0y"), show(b"x/1\0y"));
    assert_eq!(printed(&["-0", "--count"], b"a\0a\0"), show(b"1\0"));
}

#[test]
fn line_buffered_output_is_the_same_output() {
    let input: Vec<u8> = (0..5_000_u32).flat_map(|n| format!("line {}\n", n * n % 997).into_bytes()).collect();
    let expected = show(&common::first_sightings(&input));
    assert_eq!(printed(&["--line-buffered"], &input), expected);
    assert_eq!(printed(&[], &input), expected);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_one_line_or_an_error() {
    let long = vec![b'x'; 100_000_000];
    let input = [&long[..], b"\n", b"a\n", &long, b"\na\n", &long, b"y"].concat();
    let whole = run(&["dedup", "--window", "60s"], &input);
    assert_eq!((whole.code, whole.stderr.as_str()), (0, ""));
    assert!(whole.stdout == [&long[..], b"\na\n", &long, b"y"].concat(), "{} bytes came out", whole.stdout.len());

    let file = temporary_file("long-line", &[b"a\n", &long[..], b"\n"].concat());
    let refused = run(&["dedup", "--window", "60s", "--max-line", "64M", &file], b"");
    assert_eq!((refused.code, show(&refused.stdout)), (1, show(b"a\n")));
    assert!(
        refused.stderr.contains("line 2: longer than 67108864 bytes; --max-line allows more"),
        "{}",
        refused.stderr
    );
    std::fs::remove_file(file).expect("it was ours");
}

#[test]
fn a_line_may_be_exactly_as_long_as_allowed() {
    let at_most = |max: &str, input: &[u8]| {
        let run = run(&["dedup", "--window", "60s", "--max-line", max], input);
        (run.code, show(&run.stdout), run.stderr)
    };
    assert_eq!(at_most("4", b"abc\nabcd\ne"), (0, show(b"abc\nabcd\ne"), String::new()));
    for input in [&b"abc\nabcd\ne\n"[..], b"abc\nabcd"] {
        let (code, printed, message) = at_most("3", input);
        assert_eq!((code, printed), (1, show(b"abc\n")), "{}", show(input));
        assert!(message.contains("line 2: longer than 3 bytes"), "{message}");
    }
    // longer than what is read at once
    let long = [vec![b'x'; 200_000], b"\n".to_vec()].concat();
    assert_eq!(at_most("200000", &long), (0, show(&long), String::new()));
    assert_eq!(at_most("199999", &long).0, 1);
    assert_eq!(at_most("199999", &long[..200_000]).0, 1);
    assert_eq!(at_most("200000", &long[..200_000]).0, 0);
}

#[test]
fn an_endless_quote_is_an_error_and_not_all_of_memory() {
    let input = [b"a,\"".to_vec(), vec![b'\n'; 3 << 20]].concat();
    let run = run(&["dedup", "--window", "60s", "--csv", "1", "--max-line", "1M"], &input);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("line 1: longer than 1048576 bytes"), "{}", run.stderr);
}

#[test]
fn the_summary_has_the_figures() {
    let input = b"a\nb\na\n";
    let text = run(&["dedup", "--window", "90s", "--stats"], input);
    assert_eq!(show(&text.stdout), show(b"a\nb\n"));
    for figure in
        ["lines           3 (6 B)", "unique          2", "suppressed      1", "window          1m30s", "memory"]
    {
        assert!(text.stderr.contains(figure), "{figure}: {}", text.stderr);
    }
    let summary = stats(&run(&["dedup", "--window", "90s", "--error", "0.001", "--stats=json"], input));
    let number = |name: &str| summary[name].as_f64().unwrap_or_else(|| panic!("{name}: {summary}"));
    assert_eq!((number("lines"), number("bytes"), number("unique"), number("suppressed")), (3.0, 6.0, 2.0, 1.0));
    assert_eq!((number("window_ms"), number("error"), number("items_in_window")), (90_000.0, 0.001, 2.0));
    assert!(number("false_positive_rate") < 0.001 && number("memory_bytes") > 0.0 && number("seconds") >= 0.0);
    let nothing = stats(&run(&["dedup", "--window", "90s", "--stats=json"], b""));
    assert_eq!(nothing["lines"].as_u64(), Some(0));
}

#[test]
fn memory_is_limited_by_error_or_by_a_shorter_window() {
    let input: Vec<u8> = (0..200_000_u32).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
    let options = ["dedup", "--window", "1h", "--max-memory", "64K"];
    let full = run(&options, &input);
    assert_eq!(full.code, 1);
    let printed = common::text_lines(&full.stdout);
    assert!(printed.len() > 1_000, "what fitted is printed: {}", printed.len());
    assert!(full.stderr.contains("the filter is full") && full.stderr.contains("--on-full shorten"), "{}", full.stderr);
    // the error names the line that did not fit: all lines up to it were judged
    let line: usize = full
        .stderr
        .split("line ")
        .nth(1)
        .and_then(|rest| rest.split(':').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{}", full.stderr));
    let last: usize = printed[printed.len() - 1]["line ".len()..].parse().expect("a number");
    assert!(last + 1 < line && line <= last + 20, "printed up to line {}, stopped at {line}", last + 1);

    let shorter = run(&[&options[..], &["--on-full", "shorten", "--stats=json"]].concat(), &input);
    assert_eq!(shorter.code, 0);
    let summary = stats(&shorter);
    assert!(summary["memory_bytes"].as_u64().is_some_and(|bytes| bytes <= 65_536), "{summary}");
    assert!(summary["shortened"].as_u64().is_some_and(|slices| slices > 0), "{summary}");

    let tiny = run(&["dedup", "--window", "1h", "--max-memory", "10"], b"a\n");
    assert_eq!(tiny.code, 2);
    assert!(tiny.stderr.contains("--max-memory 10 is too small"), "{}", tiny.stderr);
    for bad in [&["--on-full", "shorten"][..], &["--max-memory", "lots"], &["--last", "5", "--max-memory", "1M"]] {
        assert_eq!(run(&[&["dedup", "--window", "1h"], bad].concat(), b"").code, 2, "{bad:?}");
    }
}

#[test]
fn the_last_line_of_a_run_needs_no_terminator() {
    let first = temporary_file("outputs-first", b"a\nb");
    let second = temporary_file("outputs-second", b"b\nc");
    let run = run(&["dedup", "--window", "60s", "--mark", &first, &second], b"");
    assert_eq!(show(&run.stdout), show(b"new\ta\nnew\tb\nseen\tb\nnew\tc"));
    assert_eq!(lines_of(&["dedup", "--window", "60s"], b""), [""; 0]);
}
