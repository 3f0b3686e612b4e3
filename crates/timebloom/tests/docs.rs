//! The tables in the documentation are what the code says.

#[test]
fn the_levels_of_the_documentation_are_the_computed_ones() {
    let page = include_str!("../../../docs/levels.md");
    let table: String = page.lines().filter(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    let computed = timebloom_testkit::levels_table().expect("published pairs are legal");
    assert_eq!(table, computed, "replace the table with what `cargo run -p timebloom --example levels` prints");
}
