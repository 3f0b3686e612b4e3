//! Time from the data: formats, late lines, and clocks that jump.

mod common;

use common::{lines_of, run, show, stats};

fn kept(options: &[&str], lines: &[&str]) -> Vec<String> {
    let input = lines.join("\n");
    lines_of(&[&["dedup", "--window", "60s", "--field", "2", "--time-field", "1"], options].concat(), input.as_bytes())
}

#[test]
fn every_format_measures_the_same_window() {
    let cases: [(&[&str], [&str; 3]); 7] = [
        (&[], ["2024-06-01T10:00:00Z k", "2024-06-01T12:01:00+02:00 k", "2024-06-01T10:10:00.5Z k"]),
        (&["--time-format", "unix"], ["1717236000 k", "1717236060.0 k", "1717236600.5 k"]),
        (&["--time-format", "unix-ms"], ["1717236000000 k", "1717236060000 k", "1717236600500 k"]),
        (&["--time-format", "unix-us"], ["1717236000000000 k", "1717236060000000 k", "1717236600500000 k"]),
        (
            &["--time-format", "access-log"],
            ["[01/Jun/2024:10:00:00 k", "[01/Jun/2024:10:01:00 k", "[01/Jun/2024:10:10:00 k"],
        ),
        (&["--time-format", "%Y%m%d-%H%M%S"], ["20240601-100000 k", "20240601-100100 k", "20240601-101000 k"]),
        (
            &["--time-format", "%d.%m.%Y/%H:%M:%S%z"],
            ["01.06.2024/10:00:00+0000 k", "01.06.2024/12:01:00+0200 k", "01.06.2024/10:10:00+0000 k"],
        ),
    ];
    for (options, lines) in cases {
        // exactly a window later is within it; ten minutes later is not
        assert_eq!(kept(options, &lines), [lines[0], lines[2]], "{options:?}");
    }
}

#[test]
fn times_are_found_by_regex_json_and_column() {
    let options = ["dedup", "--window", "60s", "--time-format", "unix", "--missing", "drop"];
    let lines = |more: &[&str], input: &str| lines_of(&[&options, more].concat(), input.as_bytes());
    assert_eq!(lines(&["--regex", "k=(.)", "--time-regex", "t=([0-9]+)"], "k=a t=10\nk=a t=70\nk=a t=700\n").len(), 2);
    let json = "{\"t\":10,\"k\":1}\n{\"t\":\"70\",\"k\":1}\n{\"t\":700,\"k\":1}\n";
    assert_eq!(lines(&["--json", "/k", "--time-json", "/t"], json).len(), 2);
    assert_eq!(lines(&["--regex", "\"k\":.", "--time-json", "/t"], json).len(), 2);
    assert_eq!(lines(&["--csv", "k", "--time-csv", "t"], "t,k\n10,a\n\"70\",a\n700,a\n").len(), 3);
    // whole lines differ by their times
    assert_eq!(lines(&["--time-json", "/t"], json).len(), 3);
    // no time, no verdict
    let untimed = "{\"k\":1}\n{\"k\":1,\"t\":\"soon\"}\n{\"k\":1,\"t\":5}\n";
    assert_eq!(lines(&["--json", "/k", "--time-json", "/t"], untimed), ["{\"k\":1,\"t\":5}"]);
}

#[test]
fn late_lines_are_kept_or_dropped() {
    let lines = ["100 a", "200 b", "90 c", "150 d"];
    let unix = ["--time-format", "unix"];
    assert_eq!(kept(&unix, &lines), lines);
    assert_eq!(kept(&[&unix[..], &["--late", "drop"]].concat(), &lines), ["100 a", "200 b"]);
    let bounded = [&unix[..], &["--late", "drop", "--lateness", "60s"]].concat();
    assert_eq!(kept(&bounded, &lines), ["100 a", "200 b", "150 d"]);
    let marked = kept(&[&bounded[..], &["--mark"]].concat(), &lines);
    assert_eq!(marked, ["new\t100 a", "new\t200 b", "late\t90 c", "new\t150 d"]);
    let input = lines.join("\n");
    let options =
        ["dedup", "--window=60s", "-f2", "--time-field=1", "--time-format=unix", "--late=drop", "--stats=json"];
    let summary = stats(&run(&options, input.as_bytes()));
    assert_eq!((summary["dropped_late"].as_u64(), summary["unique"].as_u64()), (Some(2), Some(2)));
}

/// Files in the wrong order lose lines: nobody should have to find that out by counting.
#[test]
fn lines_far_out_of_order_are_warned_of() {
    let line = |second: u32| format!("{second} key-{second}\n");
    let (older, newer) = ((0..20).map(line).collect::<String>(), (1_000..1_020).map(line).collect::<String>());
    let warning = |options: &[&str], input: &str| {
        let unix = ["dedup", "--window", "60s", "--field", "2", "--time-field", "1", "--time-format", "unix"];
        run(&[&unix, options].concat(), input.as_bytes()).stderr
    };
    let wrong = format!("{newer}{older}");
    for (options, fate) in [(&["--late", "drop"][..], "dropped"), (&[], "judged as of the latest time")] {
        let told = warning(options, &wrong);
        let expected =
            format!("warning: 20 of 40 lines were more than a window behind what came before them, and {fate}");
        assert!(told.starts_with(&expected), "{told}");
        assert_eq!(warning(options, &format!("{older}{newer}")), "");
    }
    // a program finds it in the summary
    assert!(!warning(&["--stats=json"], &wrong).contains("warning"));
    // a single straggler is no reason to doubt the rest
    assert_eq!(warning(&[], &format!("{newer}{}", line(5))), "");
}

#[test]
fn the_summary_has_the_window_that_was_asked_for() {
    let options = ["dedup", "--window=60s", "-f2", "--time-field=1", "--time-format=unix", "--lateness=5s"];
    let input = b"1000 a\n";
    let text = run(&[&options[..], &["--stats"]].concat(), input).stderr;
    assert!(text.contains("window          1m\n"), "{text}");
    let summary = stats(&run(&[&options[..], &["--stats=json"]].concat(), input));
    assert_eq!(summary["window_ms"].as_u64(), Some(60_000), "{summary}");
}

#[test]
fn one_bad_timestamp_does_not_empty_the_window() {
    let unix = ["--time-format", "unix"];
    // the third line claims to be from far ahead; the fourth is still a repeat of the first
    let lines = ["1000 a", "1001 b", "9999999999 c", "1002 a", "1003 c"];
    assert_eq!(kept(&unix, &lines), lines[..3]);
    // two that agree are believed; what they brought is in the window from then on
    let moved = ["1000 a", "9000000 c", "9000001 d", "9000002 a", "9000003 c"];
    assert_eq!(kept(&unix, &moved), moved[..4]);
    // and the bound is for the user to set
    let jump = ["1000 a", "1100 b", "1001 a"];
    assert_eq!(kept(&[&unix[..], &["--max-jump", "10s"]].concat(), &jump), jump[..2]);
    assert_eq!(kept(&[&unix[..], &["--max-jump", "200s"]].concat(), &jump), jump);
}

#[test]
fn times_that_make_no_sense_are_usage_errors() {
    let cases: [(&[&str], &str); 7] = [
        (&["--time-field", "1", "--time-format", "iso"], "rfc3339"),
        (&["--time-field", "1", "--time-format", "%H:%M"], "does not describe a moment"),
        (&["--late", "drop"], "--time"),
        (&["--lateness", "5s"], "--time"),
        (&["--time-format", "unix"], "--time-field"),
        (&["--time-field", "1", "--time-json", "/t"], "cannot be used with"),
        (&["--time-field", "1", "--late", "maybe"], "keep"),
    ];
    for (options, message) in cases {
        let run = run(&[&["dedup", "--window", "60s"], options].concat(), b"a\n");
        assert_eq!(run.code, 2, "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{options:?}: {}", run.stderr);
        assert_eq!(show(&run.stdout), "", "{options:?}");
    }
    let both = run(&["dedup", "--last", "5", "--time-field", "1"], b"");
    assert_eq!(both.code, 2, "{}", both.stderr);
}
