//! The number of slices and the size of slice 0: the paper's figures 1 and 2.

use timebloom::Policy;

use super::course::{Course, Look};
use super::{CAPACITIES, insertions, lines, of, title_of};
use crate::chart::{Axis, Figure, Panel};
use crate::numbers::grouped;
use crate::section::{Check, Section};
use crate::table::Table;

/// The rate of the paper's figures.
const EPS: f64 = 0.1;

/// What is drawn, of which file name, title and axis, and what to see in it.
type Picture = (&'static str, &'static str, &'static str, fn(&Look) -> f64);

const PICTURES: [Picture; 2] = [
    ("slices", "Slices", "slices", |look| f64::from(look.slices)),
    ("slice0", "Size of slice 0", "bits", |look| look.slice0_bits as f64),
];

pub(super) fn add(courses: &[Course], section: &mut Section) {
    for capacity in CAPACITIES {
        for (name, title, axis, value) in PICTURES {
            let both = [Policy::Paper, Policy::Guarded].map(|policy| (policy, of(courses, policy, EPS, capacity)));
            let all = both.iter().flat_map(|(_, courses)| courses).flat_map(|course| &course.looks).map(value);
            // one axis for both policies: they are to be compared
            let y = Axis::from_zero(axis, all);
            for (policy, courses) in &both {
                section.figures.push(picture((name, title, axis, value), *policy, capacity, courses, y.clone()));
            }
        }
    }
    section.tables.push(table(courses));
    add_findings(courses, section);
}

fn picture(picture: Picture, policy: Policy, capacity: u64, courses: &[&Course], y: Axis) -> Figure {
    let (name, title, _, value) = picture;
    let policy_word = if policy == Policy::Guarded { "guarded" } else { "paper" };
    let caption = match (name, capacity) {
        ("slices", 1_000) => "A filter that was told to expect too little grows, and comes back to k + l slices.",
        ("slices", _) => "A filter that was told to expect too much has no need to grow.",
        (_, 1_000) => "Each fresh slice is sized for the rate seen so far, until that is right.",
        (_, _) => "Slices that were far too large give way to ones of the right size at the first shifts.",
    };
    let panel = Panel { x: insertions(), y, series: lines(courses, true, value), levels: vec![] };
    Figure::single(
        format!("{name}-{capacity}-{policy_word}"),
        format!("{title}, told {}: {}", grouped(capacity), title_of(policy)),
        format!("{caption} eps {EPS}, pairs (k, l)."),
        panel,
    )
}

/// When a filter had k + l slices for good.
fn back_at(course: &Course) -> Option<u32> {
    let base = course.setting.base_slices();
    let away = course.looks.iter().rposition(|look| look.slices != base);
    match away {
        None => course.looks.first().map(|look| look.insertion),
        Some(last) => course.looks.get(last + 1).map(|look| look.insertion),
    }
}

fn most_slices(course: &Course) -> u32 {
    course.looks.iter().map(|look| look.slices).max().unwrap_or(0)
}

fn table(courses: &[Course]) -> Table {
    let mut table = Table::new(
        "growth",
        "Slices and the size of slice 0, eps 0.1",
        "most: the most slices at any time. back: the insertion after which there were k + l slices for good. slice 0: \
         its size at the end, in bits.",
        &["(k, l)", "told", "k + l", "paper: most", "back", "slice 0", "guarded: most", "back", "slice 0"],
    );
    for capacity in CAPACITIES {
        let (paper, guarded) = (of(courses, Policy::Paper, EPS, capacity), of(courses, Policy::Guarded, EPS, capacity));
        for (paper, guarded) in paper.iter().zip(guarded) {
            let mut row = vec![paper.setting.pair(), grouped(capacity), paper.setting.base_slices().to_string()];
            for course in [*paper, guarded] {
                row.push(most_slices(course).to_string());
                row.push(back_at(course).map_or("never".into(), |insertion| grouped(insertion.into())));
                row.push(course.looks.last().map_or("-".into(), |look| grouped(look.slice0_bits)));
            }
            table.push(row);
        }
    }
    table
}

fn add_findings(courses: &[Course], section: &mut Section) {
    let papers: Vec<&Course> = courses.iter().filter(|course| course.setting.policy == Policy::Paper).collect();
    let returned = papers.iter().filter(|course| back_at(course).is_some()).count();
    section.checks.push(Check::new(
        returned == papers.len() && !papers.is_empty(),
        "With the paper's rules every filter ends at exactly k + l slices",
        format!("{returned} of {} filters", papers.len()),
    ));
    let grows = |course: &&Course| most_slices(course) > course.setting.base_slices();
    let (under, over) =
        (of(courses, Policy::Paper, EPS, CAPACITIES[0]), of(courses, Policy::Paper, EPS, CAPACITIES[1]));
    let grew = under.iter().copied().filter(|course| grows(course)).count();
    let level = over.iter().copied().filter(|course| !grows(course)).count();
    section.checks.push(Check::new(
        grew == under.len() && level == over.len() && grew > 0,
        "Of the paper's ten filters, those told too little grow and those told too much do not",
        format!("{grew} of {} told 1,000 grew, {level} of {} told 10,000 did not", under.len(), over.len()),
    ));
    let told_little = || papers.iter().filter(|course| course.setting.capacity == CAPACITIES[0]);
    let all_grew = told_little().filter(|course| grows(course)).count();
    let last = of(courses, Policy::Paper, EPS, CAPACITIES[0]).iter().filter_map(|course| back_at(course)).max();
    section.findings.push(format!(
        "As in the paper, filters that were told to expect 1,000 items grow ({all_grew} of {} pairs do; in many small \
         slices rounding up may leave room enough) and return to exactly k + l slices ({returned} of {} runs; at eps 0.1 \
         the last of them at insertion {}), and those told to expect 10,000 do not grow. Small pairs take longest, as \
         their slices are the largest.",
        told_little().count(),
        papers.len(),
        last.map_or("-".into(), |insertion| grouped(insertion.into())),
    ));
    let (paper, guarded) = (of(courses, Policy::Paper, EPS, 1_000), of(courses, Policy::Guarded, EPS, 1_000));
    let sum = |courses: &[&Course]| courses.iter().map(|course| most_slices(course)).sum::<u32>();
    let back = guarded.iter().filter_map(|course| back_at(course)).max();
    section.findings.push(format!(
        "The guarded policy answers the same surprise at once, with k fresh slices for the new rate. It has more slices \
         while the old ones live ({} against {} at most, summed over the five pairs at eps 0.1) and is back at k + l later: \
         the last of the five at insertion {}.",
        sum(&guarded),
        sum(&paper),
        back.map_or("-".into(), |insertion| grouped(insertion.into())),
    ));
}
