//! Keys of every kind: what makes two lines the same.

mod common;

use common::{lines_of, run, show, stats, temporary_file};

fn kept(options: &[&str], lines: &[&str]) -> Vec<String> {
    let input = lines.join("\n");
    lines_of(&[&["dedup", "--window", "60s"], options].concat(), input.as_bytes())
}

#[test]
fn fields_are_words_or_what_stands_between_delimiters() {
    assert_eq!(kept(&["--field", "2"], &["a x 1", "b  x\t2", "c y 3", " d x"]), ["a x 1", "c y 3"]);
    assert_eq!(kept(&["-f", "1,3"], &["a 1 b", "a 2 b", "a 3 c"]), ["a 1 b", "a 3 c"]);
    assert_eq!(kept(&["-f", "2-3"], &["1 a b", "2 a b", "3 a c"]), ["1 a b", "3 a c"]);
    assert_eq!(kept(&["-f", "2", "-d", ","], &["a,x", "b,x", "c,", "d,"]), ["a,x", "c,"]);
    assert_eq!(kept(&["-f", "2", "-d", "\\t"], &["a\tx y", "b\tx y", "c\tx"]), ["a\tx y", "c\tx"]);
}

#[test]
fn parts_of_a_key_are_never_mixed_up() {
    assert_eq!(kept(&["-f", "1,2"], &["ab c", "a bc"]), ["ab c", "a bc"]);
    assert_eq!(kept(&["-f", "1,2", "-d", ","], &["a,", ",a", "a,a"]), ["a,", ",a", "a,a"]);
    assert_eq!(kept(&["--regex", "(a*)(b*)c"], &["aabc", "abc", "aac", "aabc x"]), ["aabc", "abc", "aac"]);
    let lines = [r#"{"a":"x","b":"yz"}"#, r#"{"a":"xy","b":"z"}"#, r#"{"b":"yz","a":"x"}"#];
    assert_eq!(kept(&["--json", "/a,/b"], &lines), lines[..2]);
    assert_eq!(kept(&["--json", "/a", "--json", "/b"], &lines), lines[..2]);
    assert_eq!(kept(&["--csv", "1,2"], &["ab,c", "a,bc", "\"ab\",c"]), ["ab,c", "a,bc"]);
}

#[test]
fn json_is_compared_by_what_it_says() {
    let lines = [r#"{"id": "a\u0062"}"#, r#"{"x": [1, {}], "id":"ab"}"#, r#"{"id": 1}"#, r#"{"id": "1"}"#];
    assert_eq!(kept(&["--json", "/id"], &lines), [lines[0], lines[2], lines[3]]);
    let nested = [r#"{"u": [{"n": 1}, {"n": 2}]}"#, r#"{"u": [{"n": 0}, {"n": 2}]}"#];
    assert_eq!(kept(&["--json", "/u/1/n"], &nested), nested[..1]);
}

#[test]
fn csv_records_may_span_lines() {
    let input = b"id,text\n1,\"a\nb\"\n2,\"a\nb\"\n3,\"say \"\"a\"\"\"\n4,c\r\n5,c\n6,\"never closed\n";
    let run = run(&["dedup", "--window", "60s", "--csv", "text"], input);
    assert_eq!(show(&run.stdout), show(b"id,text\n1,\"a\nb\"\n3,\"say \"\"a\"\"\"\n4,c\r\n6,\"never closed\n"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn each_file_has_its_own_header_and_the_first_is_printed() {
    let first = temporary_file("header-first", b"id,user\n1,ann\n2,bob\n");
    let second = temporary_file("header-second", b"user,id\nann,3\ncid,4\n");
    let lines = lines_of(&["dedup", "--window", "60s", "--csv", "user", &first, &second], b"");
    assert_eq!(lines, ["id,user", "1,ann", "2,bob", "cid,4"]);
    // by number there is no header
    let lines = lines_of(&["dedup", "--window", "60s", "--csv", "1", &first, &first], b"");
    assert_eq!(lines, ["id,user", "1,ann", "2,bob"]);
}

#[test]
fn a_missing_column_is_an_error_that_names_those_there_are() {
    let run = run(&["dedup", "--window", "60s", "--csv", "user"], b"ip,app\n1,2\n");
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("standard input: there is no column `user`; the header has: ip, app"),
        "{}",
        run.stderr
    );
    assert_eq!(show(&run.stdout), "");
}

#[test]
fn lines_without_a_key_are_kept_dropped_or_an_error() {
    let input = b"{\"id\":1}\nnot json\n{\"id\":1}\nnot json\n{\"id\":null}\n";
    let options = ["dedup", "--window", "60s", "--json", "/id", "--stats=json", "--missing"];
    let with = |missing| run(&[&options[..], &[missing]].concat(), input);
    let kept = with("keep");
    assert_eq!(show(&kept.stdout), show(b"{\"id\":1}\nnot json\nnot json\n{\"id\":null}\n"));
    let counts = stats(&kept);
    let count = |name: &str| counts[name].as_u64().expect(name);
    assert_eq!((count("lines"), count("unique"), count("suppressed"), count("without_key")), (5, 1, 1, 3));
    assert_eq!(show(&with("drop").stdout), show(b"{\"id\":1}\n"));

    let error = with("error");
    assert_eq!(error.code, 1);
    assert_eq!(show(&error.stdout), show(b"{\"id\":1}\n"), "what came before is printed");
    assert!(error.stderr.contains("standard input, line 2: no key"), "{}", error.stderr);
}

#[test]
fn the_last_line_before_an_error_is_whole() {
    let run = run(&["dedup", "--window", "60s", "--field", "2", "--missing", "error"], b"a x\nb");
    assert_eq!((run.code, show(&run.stdout)), (1, show(b"a x\n")), "{}", run.stderr);
}

#[test]
fn a_key_that_no_line_has_is_worth_a_warning() {
    let warning = |options: &[&str], input: &[u8]| {
        let run = run(&[&["dedup", "--window", "60s"], options].concat(), input);
        assert_eq!(run.code, 0, "{options:?}");
        run.stderr
    };
    assert_eq!(warning(&["--field", "2"], b"a\nb\n"), "warning: none of 2 lines had a key\n");
    // the usual format, where the lines have another
    let untimed = warning(&["--field", "2", "--time-field", "1"], b"1700000000 a\n");
    assert_eq!(untimed, "warning: none of 1 lines had a key and a time in the format asked for\n");
    assert_eq!(warning(&["--field", "2"], b"a\nb b\n"), "");
    assert_eq!(warning(&["--field", "2"], b""), "");
    let counts: serde_json::Value =
        serde_json::from_str(&warning(&["--field", "2", "--stats=json"], b"a\n")).expect("nothing but JSON");
    assert_eq!(counts["without_key"].as_u64(), Some(1));
}

#[test]
fn lines_need_not_be_text() {
    let input = b"\xff\xfe a\n\xff\xfe b\n\xff a\n";
    let run = run(&["dedup", "--window", "60s", "--field", "1"], input);
    assert_eq!(show(&run.stdout), show(b"\xff\xfe a\n\xff a\n"));
    let regex = common::run(&["dedup", "--window", "60s", "--regex", r"(?-u)^\xff(.)"], input);
    assert_eq!(show(&regex.stdout), show(b"\xff\xfe a\n\xff a\n"));
    // invalid UTF-8 is not JSON, and such a line has no key
    let json = common::run(&["dedup", "--window", "60s", "--json", "/id", "--missing", "drop"], b"{\"id\":\"\xff\"}\n");
    assert_eq!((show(&json.stdout), json.code), (String::new(), 0));
}

#[test]
fn keys_that_make_no_sense_are_usage_errors() {
    let cases: [(&[&str], &str); 9] = [
        (&["--field", "0"], "1 to 65535"),
        (&["--field", "x"], "is not a field"),
        (&["--field", "-1"], "is not a field"),
        (&["--regex", "("], "unclosed group"),
        (&["--json", "id"], "is not a JSON Pointer"),
        (&["--csv", "0"], "counted from 1"),
        (&["--field", "1", "--json", "/id"], "cannot be used with"),
        (&["--field", "1", "--delimiter", "::"], "single byte"),
        (&["--delimiter", ","], "means nothing without"),
    ];
    for (options, message) in cases {
        let run = run(&[&["dedup", "--window", "60s"], options].concat(), b"a\n");
        assert_eq!(run.code, 2, "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{options:?}: {}", run.stderr);
        assert_eq!(show(&run.stdout), "", "{options:?}");
    }
}
