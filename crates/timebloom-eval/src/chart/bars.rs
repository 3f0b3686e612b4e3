//! Horizontal bars with names: one value for each of many things.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::draw::{Area, FINER, Failure, MARGIN, TEXT_SIZE, WIDTH, fine, font};
use super::legend::text_width;
use super::{Axis, Colour, Level};

/// A value with a name.
#[derive(Clone, Debug)]
pub struct Bar {
    /// To its left.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// To its right: the value as people read it.
    pub text: String,
    /// Of the bar.
    pub colour: Colour,
}

/// Bars on a common axis.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What is measured. Bars begin at its lower end.
    pub axis: Axis,
    /// From top to bottom.
    pub bars: Vec<Bar>,
    /// Values to compare with: thin upright lines.
    pub levels: Vec<Level>,
}

/// Bars below this are not seen, and need not be.
pub(super) const NOTHING: f64 = 1e-9;

const ROW: u32 = 21;
const HEAD: u32 = 24;
/// Where bars begin and end: names stand to the left, values to the right.
const FROM: f64 = 168.0;
const TO: f64 = 404.0;

/// In pixels.
pub(super) fn height(bars: &Bars) -> u32 {
    HEAD + ROW * u32::try_from(bars.bars.len()).expect("a few bars") + MARGIN
}

pub(super) fn draw(area: &Area<'_>, bars: &Bars) -> Result<(), Failure> {
    let axis = &bars.axis;
    let (low, high) = (axis.position(axis.low), axis.position(axis.high));
    let x = |value: f64| FROM + (TO - FROM) * (axis.position(value) - low) / (high - low);
    let centred = |horizontal| Pos::new(horizontal, VPos::Center);
    let head = font(TEXT_SIZE - 1, Colour::INK).pos(centred(HPos::Left));
    area.draw(&Text::new(axis.name.clone(), (fine(f64::from(MARGIN)), fine(8.0)), head))?;
    let bottom = f64::from(HEAD + ROW * u32::try_from(bars.bars.len()).expect("a few bars"));
    for level in &bars.levels {
        let at = x(level.y);
        let line = PathElement::new(
            [(fine(at), fine(f64::from(HEAD) - 4.0)), (fine(at), fine(bottom))],
            Colour::FAINT.rgb().stroke_width(FINER),
        );
        area.draw(&line)?;
        let style = font(TEXT_SIZE - 2, Colour::FAINT).pos(Pos::new(HPos::Left, VPos::Bottom));
        area.draw(&Text::new(level.name.clone(), (fine(at + 3.0), fine(f64::from(HEAD) - 1.0)), style))?;
    }
    for (row, bar) in bars.bars.iter().enumerate() {
        let middle = f64::from(HEAD) + f64::from(ROW) * (row as f64 + 0.5);
        let name = font(TEXT_SIZE - 1, Colour::INK).pos(centred(HPos::Right));
        area.draw(&Text::new(bar.name.clone(), (fine(FROM - 8.0), fine(middle)), name))?;
        let end = x(bar.value);
        if bar.value > NOTHING && end > FROM {
            let corners = [(fine(FROM), fine(middle - 6.5)), (fine(end), fine(middle + 6.5))];
            area.draw(&Rectangle::new(corners, bar.colour.rgb().filled()))?;
        }
        let text = font(TEXT_SIZE - 1, Colour::FAINT).pos(centred(HPos::Left));
        let mut at = end + 5.0;
        for level in bars.levels.iter().map(|level| x(level.y)) {
            // no line through a number
            if at < level && level < at + text_width(&bar.text, f64::from(TEXT_SIZE)) {
                at = level + 5.0;
            }
        }
        area.draw(&Text::new(bar.text.clone(), (fine(at), fine(middle)), text))?;
    }
    let base = [(fine(FROM), fine(f64::from(HEAD) - 2.0)), (fine(FROM), fine(bottom))];
    debug_assert!(TO + 60.0 < f64::from(WIDTH));
    area.draw(&PathElement::new(base, Colour::FAINT.rgb().stroke_width(FINER)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Figure;

    #[test]
    fn longer_bars_are_larger_values_and_nothing_is_no_bar() {
        let bar =
            |name: &str, value: f64| Bar { name: name.into(), value, text: value.to_string(), colour: Colour::GUARDED };
        let bars = Bars {
            axis: Axis::linear("bits", 0.0, 100.0),
            bars: vec![bar("none", 0.0), bar("some", 10.0), bar("many", 90.0)],
            levels: vec![Level::new("limit", 50.0)],
        };
        let figure = Figure::of_bars("bars", "Bars", "What they show.", bars);
        let svg = figure.to_svg();
        let colour = Colour::GUARDED.light_hex();
        let widths: Vec<u32> = svg
            .lines()
            .filter(|line| line.starts_with("<rect") && line.contains(&colour))
            .filter_map(|line| line.split("width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 2, "{svg}");
        assert!(widths[1].abs_diff(9 * widths[0]) <= 9, "{widths:?}");
        assert_eq!(figure.colours().len(), 2);
        assert!(svg.contains("many") && svg.contains("limit"));
    }
}
