//! Colours that work on light and on dark paper.
//!
//! A picture is drawn in its light colours. A stylesheet finds them again by their exact values and replaces them where
//! the reader prefers dark: no other part of a picture knows that there are two.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// A colour of the palette, by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(usize);

/// A light and a dark value.
type Pair = [(u8, u8, u8); 2];

/// Neighbours in this order differ also for readers who see fewer colours.
const PAIRS: [Pair; 13] = [
    [(42, 120, 214), (57, 135, 229)],  // blue
    [(235, 104, 52), (217, 89, 38)],   // orange
    [(27, 175, 122), (25, 158, 112)],  // aqua
    [(237, 161, 0), (201, 133, 0)],    // yellow
    [(74, 58, 167), (144, 133, 233)],  // violet
    [(227, 73, 72), (230, 103, 103)],  // red
    [(0, 131, 0), (12, 163, 12)],      // green
    [(232, 123, 164), (213, 81, 129)], // magenta
    [(252, 252, 251), (26, 26, 25)],   // paper
    [(20, 20, 19), (250, 250, 248)],   // ink
    [(92, 91, 87), (186, 185, 176)],   // faint ink
    [(226, 225, 219), (52, 52, 49)],   // lines of the grid
    [(203, 201, 192), (84, 83, 78)],   // behind what was measured
];

/// How many colours there are for series.
pub(super) const SERIES: usize = 8;

impl Colour {
    /// `Policy::Guarded`, wherever it appears.
    pub const GUARDED: Colour = Colour(0);
    /// `Policy::Paper`, wherever it appears.
    pub const PAPER: Colour = Colour(1);
    /// What is printed in the paper itself: behind everything that was measured.
    pub const PRINTED: Colour = Colour(12);
    /// Behind everything.
    pub(super) const GROUND: Colour = Colour(8);
    /// Titles.
    pub(super) const INK: Colour = Colour(9);
    /// Labels and axes.
    pub(super) const FAINT: Colour = Colour(10);
    /// The grid.
    pub(super) const GRID: Colour = Colour(11);

    /// The colour of series `number`; they repeat after eight.
    pub fn of_series(number: usize) -> Self {
        Colour(number % SERIES)
    }

    /// As it is drawn.
    pub(super) fn rgb(self) -> RGBColor {
        let (red, green, blue) = PAIRS[self.0][0];
        RGBColor(red, green, blue)
    }

    /// As it is written in a picture.
    pub fn light_hex(self) -> String {
        hex(PAIRS[self.0][0])
    }
}

fn hex((red, green, blue): (u8, u8, u8)) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// Rules that turn the pictures inside `scope` dark where that is preferred.
pub fn stylesheet(scope: &str) -> String {
    let mut css = String::from("@media (prefers-color-scheme: dark) {\n");
    for [light, dark] in PAIRS {
        let (light, dark) = (hex(light), hex(dark));
        let _ = writeln!(css, "{scope} [fill=\"{light}\"] {{ fill: {dark} }}");
        let _ = writeln!(css, "{scope} [stroke=\"{light}\"] {{ stroke: {dark} }}");
    }
    css.push_str("}\n");
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as the Web Content Accessibility Guidelines define it.
    fn luminance((red, green, blue): (u8, u8, u8)) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(one: (u8, u8, u8), other: (u8, u8, u8)) -> f64 {
        let (a, b) = (luminance(one) + 0.05, luminance(other) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn every_colour_can_be_told_from_the_others_and_from_the_paper() {
        for (at, pair) in PAIRS.iter().enumerate() {
            for other in &PAIRS[..at] {
                assert_ne!(pair[0], other[0], "the stylesheet finds colours by their light value");
            }
        }
        for (mode, name) in ["light", "dark"].iter().enumerate() {
            let ground = PAIRS[Colour::GROUND.0][mode];
            for text in [Colour::INK, Colour::FAINT] {
                assert!(contrast(PAIRS[text.0][mode], ground) >= 4.5, "{name}: {text:?} is read");
            }
            for series in &PAIRS[..SERIES] {
                assert!(contrast(series[mode], ground) >= 2.0, "{name}: {:?} is seen", series[mode]);
            }
        }
    }
}
