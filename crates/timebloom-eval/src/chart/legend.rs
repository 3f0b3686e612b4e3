//! The legend: which colour is which, in rows above the panels.

use super::{Colour, Figure, Shape};

/// An entry of a legend and where it stands, in pixels from the legend's corner.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) colour: Colour,
    pub(super) shape: Shape,
    pub(super) x: f64,
    pub(super) row: usize,
}

/// From the swatch to the name.
pub(super) const SWATCH: f64 = 20.0;
const BETWEEN: f64 = 16.0;

/// The entries of a figure, in rows of at most `width` pixels.
pub(super) fn entries(figure: &Figure, width: f64, size: f64) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut x, mut row) = (0.0, 0);
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        if series.name.is_empty() || entries.iter().any(|entry| entry.name == series.name) {
            continue;
        }
        let needed = SWATCH + text_width(&series.name, size);
        if x > 0.0 && x + needed > width {
            (x, row) = (0.0, row + 1);
        }
        entries.push(Entry { name: series.name.clone(), colour: series.colour, shape: series.shape, x, row });
        x += needed + BETWEEN;
    }
    entries
}

/// About how wide a text is: letters of a sans-serif font are a little over half as wide as high.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Panel, Series};

    #[test]
    fn names_appear_once_and_wrap() {
        let names = ["one", "two", "one", "a name that is rather long", "another that is rather long"];
        let series = names.iter().map(|name| Series::line(*name, Colour::GUARDED, vec![])).collect();
        let axis = || Axis::linear("", 0.0, 1.0);
        let panel = Panel { x: axis(), y: axis(), series, levels: vec![] };
        let entries = entries(&Figure::single("id", "", "", panel), 300.0, 13.0);
        assert_eq!(entries.len(), 4);
        assert!(entries[3].row > 0, "too much for one row");
        for entry in &entries {
            assert!(entry.x + SWATCH + text_width(&entry.name, 13.0) <= 300.0, "{entry:?}");
        }
    }
}
