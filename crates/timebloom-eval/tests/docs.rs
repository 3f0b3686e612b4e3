//! The page of results: what it shows is what a run wrote, and everything it points to is there.

use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evaluation")
}

fn page() -> String {
    fs::read_to_string(folder().join("README.md")).expect("the page is there")
}

/// The names of marked places, and what stands in them.
fn places(page: &str) -> Vec<(String, String)> {
    let mut places = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "<!-- end -->").collect();
        places.push((name.to_owned(), text.join("\n").trim().to_owned()));
    }
    places
}

#[test]
fn every_marked_place_is_filled_and_tables_are_those_of_the_run() {
    let places = places(&page());
    assert!(places.len() > 10, "{}", places.len());
    for (name, text) in places {
        assert!(!text.is_empty(), "{name} is empty: run `timebloom eval --docs docs/evaluation`");
        if let Some(id) = name.strip_prefix("table ") {
            let file = fs::read_to_string(folder().join(format!("tables/{id}.md"))).expect("a table of its own");
            assert!(file.contains(&text), "{name} is not the table of the same run");
        }
        assert!(!text.contains("**fails**"), "{name}: {text}");
    }
}

#[test]
fn every_figure_and_table_is_linked_and_every_link_leads_somewhere() {
    let page = page();
    let linked: Vec<&str> = page
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.starts_with("http"))
        .collect();
    for link in &linked {
        assert!(folder().join(link).exists(), "{link} leads nowhere");
    }
    for kind in ["figures", "tables"] {
        let files = fs::read_dir(folder().join(kind)).expect("a run wrote them");
        for file in files {
            let name = file.expect("readable").file_name().into_string().expect("plain names");
            let id = name.trim_end_matches(".md");
            let shown =
                linked.contains(&format!("{kind}/{name}").as_str()) || page.contains(&format!("<!-- table {id} -->"));
            assert!(shown, "{kind}/{name} is not on the page");
        }
    }
}
