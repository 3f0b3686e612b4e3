//! A quick run of everything, and what its files have to say: read back and judged here, apart from the run's own checks.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use timebloom_eval::{Experiment, Options, Section, run};
use timebloom_testkit::at_most_with_confidence;

/// The chance that a test of rates fails although all is well, each.
const FALSE_ALARM: f64 = 1e-9;

fn quick(folder: &Path, experiments: &[Experiment], seed: u64) -> Vec<Section> {
    let options = Options { out: folder.to_owned(), experiments: experiments.to_vec(), quick: true, seed, docs: None };
    run(&options, &mut |_, share| assert!((0.0..=1.0).contains(&share))).expect("a quick run")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn records(path: &Path) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("the run wrote it");
    reader.deserialize().collect::<Result<_, _>>().expect("well-formed")
}

fn number(record: &HashMap<String, String>, column: &str) -> f64 {
    record.get(column).unwrap_or_else(|| panic!("no column {column}")).parse().expect(column)
}

#[test]
fn the_papers_runs_are_one_file_with_the_columns_that_were_asked_for() {
    let folder = folder("paper");
    let sections = quick(&folder, &[Experiment::Paper], 1);
    let file = fs::read_to_string(folder.join("paper.csv")).expect("written");
    assert_eq!(
        file.lines().next(),
        Some("policy,eps,k,l,capacity,insertion,slices,slice0_bits,total_bits,items_in_span,items_held,rate")
    );
    let mut last: HashMap<String, HashMap<String, String>> = HashMap::new();
    for record in records(&folder.join("paper.csv")) {
        assert!(number(&record, "items_held") >= number(&record, "items_in_span"), "{record:?}");
        if record["policy"] == "guarded" {
            assert!(number(&record, "rate") <= number(&record, "eps"), "above its target: {record:?}");
        }
        let filter = ["policy", "eps", "k", "l", "capacity"].map(|column| record[column].as_str()).join(",");
        last.insert(filter, record);
    }
    // all five pairs at 0.1 and two of each other rate, told 1,000 and 10,000, with both policies
    assert_eq!(last.len(), (5 + 4 * 2) * 2 * 2);
    for (filter, record) in &last {
        assert_eq!(number(record, "insertion"), 10_000.0);
        if record["policy"] == "paper" {
            let base = number(record, "k") + number(record, "l");
            assert_eq!(number(record, "slices"), base, "{filter}: back at k + l slices");
        }
    }
    let mut asked = 0.0;
    for record in records(&folder.join("paper-queries.csv")) {
        if record["policy"] == "guarded" {
            asked += number(&record, "queries");
        }
    }
    assert!(asked > 1e6, "{asked} queries");
    let failing: Vec<_> = sections[0].checks.iter().filter(|check| !check.holds).collect();
    assert!(failing.is_empty(), "{failing:?}");
}

#[test]
fn absent_items_are_reported_within_the_target_and_none_of_the_window_is_missed() {
    let folder = folder("queries");
    let sections = quick(&folder, &[Experiment::Paper], 7);
    let mut totals: HashMap<String, (u64, u64, f64)> = HashMap::new();
    for record in records(&folder.join("paper-queries.csv")) {
        let filter = ["policy", "eps", "k", "capacity"].map(|column| record[column].as_str()).join(",");
        let total = totals.entry(filter).or_insert((0, 0, number(&record, "eps")));
        total.0 += record["queries"].parse::<u64>().expect("a count");
        total.1 += record["false_positives"].parse::<u64>().expect("a count");
    }
    let mut judged = 0;
    for (filter, (queries, reported, eps)) in totals.iter().filter(|(filter, _)| filter.starts_with("guarded")) {
        assert!(*reported <= at_most_with_confidence(*queries, *eps, FALSE_ALARM), "{filter}: {reported} of {queries}");
        judged += 1;
    }
    assert!(judged >= 20, "{judged} filters");
    let missed = sections[0].checks.iter().find(|check| check.claim.contains("ever missed")).expect("it is checked");
    assert!(missed.holds, "{missed:?}");
}

#[test]
fn the_other_experiments_hold_what_they_claim() {
    let folder = folder("others");
    let others: Vec<Experiment> =
        Experiment::ALL.into_iter().filter(|&experiment| experiment != Experiment::Paper).collect();
    let sections = quick(&folder, &others, 1);
    for section in &sections {
        assert!(!section.checks.is_empty() && !section.figures.is_empty() && !section.findings.is_empty());
        for check in &section.checks {
            assert!(check.holds, "{}: {check:?}", section.id);
        }
        for figure in &section.figures {
            assert!(folder.join(format!("figures/{}.svg", figure.id)).exists());
        }
    }
    let stress = records(&folder.join("stress.csv"));
    let bound = 1.0 / 25.0 + 1e-6;
    for record in stress.iter().filter(|record| record["policy"] == "guarded") {
        assert!(number(record, "rate") <= 0.01 && number(record, "overstay_spans") <= bound, "{record:?}");
    }
    let overstayed = stress.iter().any(|record| record["policy"] == "paper" && number(record, "overstay_spans") > 1.0);
    assert!(overstayed, "the paper's rules hold items for whole windows too long, and it is seen");
}

#[test]
fn the_same_seed_gives_the_same_files_and_another_seed_others() {
    let run = |name: &str, seed| {
        let folder = folder(name);
        quick(&folder, &[Experiment::Tail, Experiment::Memory], seed);
        ["tail.csv", "memory.csv", "report.html"].map(|file| fs::read(folder.join(file)).expect("written"))
    };
    let first = run("seed-a", 3);
    assert!(first == run("seed-b", 3), "equal seeds");
    assert!(first[0] != run("seed-c", 4)[0], "another seed");
}
