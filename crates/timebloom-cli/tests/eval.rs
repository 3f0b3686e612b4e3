//! `timebloom eval`, run as a process.
#![cfg(feature = "eval")]

mod common;

use common::{run, temporary_file, temporary_path};

#[test]
fn one_experiment_leaves_a_report_its_figures_and_its_values() {
    let folder = temporary_path("eval-tail");
    let tail = run(&["eval", "--quick", "--only", "tail", "--out", &folder, "--seed", "5"], b"");
    assert_eq!(tail.code, 0, "{}", tail.stderr);
    let said = String::from_utf8(tail.stdout).expect("text");
    assert!(said.contains("After the window") && said.contains("ok    ") && !said.contains("FAIL"), "{said}");
    assert!(said.contains(&format!("report: {folder}/report.html")), "{said}");
    assert!(tail.stderr.is_empty(), "{}", tail.stderr);
    for file in ["report.html", "tail.csv", "figures/tail.svg", "tables/tail.md"] {
        let text = std::fs::read_to_string(format!("{folder}/{file}")).expect(file);
        assert!(text.len() > 200, "{file}");
    }
    std::fs::remove_dir_all(&folder).expect("it was ours");
}

#[test]
fn unknown_experiments_are_answered_with_the_known_ones() {
    let unknown = run(&["eval", "--only", "cooking"], b"");
    assert_eq!(unknown.code, 2);
    let expected = "there is no experiment `cooking`; the experiments are: paper, stress, tail, memory, aging, compare";
    assert!(unknown.stderr.contains(expected), "{}", unknown.stderr);
    assert!(unknown.stdout.is_empty());
}

#[test]
fn a_run_that_cannot_be_is_refused_before_it_begins() {
    let both = run(&["eval", "--quick", "--docs", "nowhere"], b"");
    assert_eq!(both.code, 2, "documentation is not made of quick runs");
    let seed = run(&["eval", "--seed", "many"], b"");
    assert_eq!(seed.code, 2);
    let blocked = temporary_file("eval-blocked", b"");
    let out = run(&["eval", "--quick", "--only", "memory", "--out", &blocked], b"");
    assert_eq!(out.code, 1);
    assert!(out.stderr.contains("cannot write"), "{}", out.stderr);
}
