//! Bits per item: the paper's figure 3 and its table.

use std::f64::consts::LN_2;

use timebloom::{LEVEL_RATES, Policy};

use super::course::{Course, Look};
use super::published::{Published, bits_per_element};
use super::{CAPACITIES, insertions, lines, of, title_of};
use crate::chart::{Axis, Figure, Panel};
use crate::numbers::{grouped, rate};
use crate::section::Section;
use crate::table::Table;

const EPS: f64 = 0.1;
/// Higher values, those of the first insertions, are cut off.
const HIGHEST: f64 = 60.0;

pub(super) fn add(courses: &[Course], section: &mut Section) {
    for capacity in CAPACITIES {
        for policy in [Policy::Paper, Policy::Guarded] {
            section.figures.push(picture(&of(courses, policy, EPS, capacity), policy, capacity));
        }
    }
    let (table, findings) = table(courses);
    section.tables.push(table);
    section.findings.extend(findings);
}

fn picture(courses: &[&Course], policy: Policy, capacity: u64) -> Figure {
    let mut y = Axis::linear("bits per item inserted within the last span", 0.0, HIGHEST);
    y.labels = 6;
    let panel =
        Panel { x: insertions(), y, series: lines(courses, false, Look::bits_per_item_in_span), levels: vec![] };
    let policy_word = if policy == Policy::Guarded { "guarded" } else { "paper" };
    Figure::single(
        format!("bits-{capacity}-{policy_word}"),
        format!("Bits per item, told {}: {}", grouped(capacity), title_of(policy)),
        format!(
            "High while the window fills, then level. eps {EPS}, pairs (k, l); values above {HIGHEST:.0} are cut off."
        ),
        panel,
    )
}

/// The least and the most.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    /// Over the last tenth of some runs.
    fn of(courses: &[&Course], bits: fn(&Look) -> f64) -> Range {
        let nothing = Range { least: f64::INFINITY, most: 0.0 };
        courses
            .iter()
            .flat_map(|course| course.last_tenth())
            .map(bits)
            .fold(nothing, |range, bits| Range { least: range.least.min(bits), most: range.most.max(bits) })
    }

    /// What the formula for half-full slices gives, divided by the items held: k (k + l) / (l ln 2) bits an item in the
    /// window just after a shift, when l generations are held, and l / (l + 1) of that just before the next.
    fn by_formula(eps: f64) -> Range {
        let nothing = Range { least: f64::INFINITY, most: 0.0 };
        timebloom::levels(eps).iter().fold(nothing, |range, level| {
            let (k, l) = (f64::from(level.hashes), f64::from(level.aging_slices));
            let bits = k * (k + l) / (l * LN_2);
            Range { least: range.least.min(bits * l / (l + 1.0)), most: range.most.max(bits) }
        })
    }

    /// Whether the ends are those that the paper prints, which are whole numbers: rounded or cut off.
    fn matches(&self, published: Published) -> (bool, bool) {
        let same = |bits: f64, printed: f64| bits.round() == printed || bits.floor() == printed;
        (same(self.least, published.least), same(self.most, published.most))
    }

    fn to_text(self) -> String {
        format!("{:.1} - {:.1}", self.least, self.most)
    }
}

fn table(courses: &[Course]) -> (Table, Vec<String>) {
    let mut table = Table::new(
        "bits",
        "Bits per item: the least and the most, over all pairs",
        "Over the last 1,000 insertions of filters told to expect 1,000. In span: divided by the items inserted within the \
         last 300 s. Held: divided by the items held, l to l + 1 generations. By formula: half-full slices of any size, \
         divided by the items held. A star: both ends are the paper's, rounded or cut off.",
        &[
            "eps",
            "the paper prints",
            "by formula, held",
            "paper's rules, held",
            "paper's rules, in span",
            "guarded, held",
            "guarded, in span",
        ],
    );
    let (mut formula_matches, mut held_matches, mut span_matches, mut rows) = (0, 0, 0, 0);
    let mut differences = Vec::new();
    for eps in LEVEL_RATES {
        let Some(published) = bits_per_element(eps) else { continue };
        let range = |policy, bits| Range::of(&of(courses, policy, eps, CAPACITIES[0]), bits);
        let in_span = range(Policy::Paper, Look::bits_per_item_in_span);
        let held = range(Policy::Paper, Look::bits_per_item_held);
        let star = |range: Range| {
            let both = range.matches(published) == (true, true);
            format!("{}{}", range.to_text(), if both { " *" } else { "" })
        };
        let formula = Range::by_formula(eps);
        rows += 1;
        formula_matches += u32::from(formula.matches(published) == (true, true));
        span_matches += u32::from(in_span.matches(published) == (true, true));
        match held.matches(published) {
            (true, true) => held_matches += 1,
            _ => differences.push(format!(
                "at {} the paper prints {:.0} to {:.0} and we count {} held, {} in span",
                rate(eps),
                published.least,
                published.most,
                held.to_text(),
                in_span.to_text()
            )),
        }
        table.push(vec![
            rate(eps),
            format!("{:.0} - {:.0}", published.least, published.most),
            star(formula),
            star(held),
            star(in_span),
            range(Policy::Guarded, Look::bits_per_item_held).to_text(),
            range(Policy::Guarded, Look::bits_per_item_in_span).to_text(),
        ]);
    }
    let mut findings = vec![format!(
        "Bits per item: the paper seems to divide by the items held (l to l + 1 generations). So divided, the formula for \
         half-full slices gives both ends of {formula_matches} of its {rows} rows, and our runs those of {held_matches}; divided by \
         the items inserted within the last span, our runs give {span_matches}. Dividing by the items held flatters small \
         l: just before a shift a filter with l = 3 holds a third more items than were asked for."
    )];
    if !differences.is_empty() {
        findings.push(format!(
            "Where ours differ: {}. Our slices are whole words of 64 bits, which raises the least, where there are many small ones.",
            differences.join("; ")
        ));
    }
    findings.extend(unsettled(courses));
    (table, findings)
}

/// Which filters that were told too much still take more than those that were told too little.
fn unsettled(courses: &[Course]) -> Option<String> {
    let most = |course: &Course| Range::of(&[course], Look::bits_per_item_in_span).most;
    let (mut slow, mut all) = (Vec::new(), 0);
    for eps in LEVEL_RATES {
        let (under, over) =
            (of(courses, Policy::Paper, eps, CAPACITIES[0]), of(courses, Policy::Paper, eps, CAPACITIES[1]));
        for (under, over) in under.into_iter().zip(over) {
            all += 1;
            if most(over) > 1.02 * most(under) {
                slow.push(format!("{} at {} ({:.1} bits)", over.setting.pair(), rate(eps), most(over)));
            }
        }
    }
    let exceptions = if slow.is_empty() { String::new() } else { format!(", except for {}", slow.join(", ")) };
    (all > 0).then(|| {
        format!(
            "Filters told to expect 10,000 come down to the same bits as those told 1,000 by the last 1,000 insertions, to \
             within 2%, in {} of {all} pairs{exceptions}.",
            all - slow.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_gives_what_was_published_for_its_pairs() {
        let range = Range::by_formula(0.1);
        assert!((range.least - 10.1).abs() < 0.05 && (range.most - 13.5).abs() < 0.05, "{range:?}");
    }

    #[test]
    fn printed_ends_are_rounded_or_cut_off() {
        let published = Published { eps: 0.1, least: 10.0, most: 13.0 };
        assert_eq!(Range { least: 10.1, most: 13.5 }.matches(published), (true, true));
        assert_eq!(Range { least: 9.6, most: 14.0 }.matches(published), (true, false));
        assert_eq!(Range { least: 12.4, most: 13.5 }.matches(published), (false, true));
    }
}
