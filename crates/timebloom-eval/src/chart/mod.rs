//! Pictures as data: what is to be seen, before anything is drawn.
//!
//! A [`Figure`] is a column of [`Panel`]s under one title and one legend; `draw` makes an SVG of it. Points are thinned
//! to what a picture of this width can show, so a line through ten thousand insertions takes a few kilobytes.

mod axis;
mod bars;
mod draw;
mod legend;
mod palette;
mod thin;

pub use axis::{Axis, Scale};
pub use bars::{Bar, Bars};
pub use palette::{Colour, stylesheet};

/// A picture with a name, a title and a sentence that says what to see in it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its file, without the ending.
    pub id: String,
    /// In the picture, above everything.
    pub title: String,
    /// Beside the picture: what it shows and what to take from it.
    pub caption: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// In pixels, of each panel.
    pub panel_height: u32,
    /// Below the panels.
    pub bars: Option<Bars>,
}

impl Figure {
    /// A figure of one panel.
    pub fn single(id: impl Into<String>, title: impl Into<String>, caption: impl Into<String>, panel: Panel) -> Self {
        Figure::of_panels(id, title, caption, vec![panel], 240)
    }

    /// A figure of several panels, each this high.
    pub fn of_panels(
        id: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        panels: Vec<Panel>,
        panel_height: u32,
    ) -> Self {
        Figure { id: id.into(), title: title.into(), caption: caption.into(), panels, panel_height, bars: None }
    }

    /// A figure of bars.
    pub fn of_bars(id: impl Into<String>, title: impl Into<String>, caption: impl Into<String>, bars: Bars) -> Self {
        Figure { bars: Some(bars), ..Figure::of_panels(id, title, caption, vec![], 0) }
    }

    /// The colours of everything that shows data.
    pub fn colours(&self) -> Vec<Colour> {
        let series = self.panels.iter().flat_map(|panel| &panel.series).map(|series| series.colour);
        let bars = self.bars.iter().flat_map(|bars| &bars.bars).filter(|bar| bar.value > bars::NOTHING);
        series.chain(bars.map(|bar| bar.colour)).collect()
    }

    /// The picture, for a page that has the [`stylesheet`].
    pub fn to_inline_svg(&self) -> String {
        draw::svg(self, "")
    }

    /// The picture as a file of its own: it brings its colours along.
    pub fn to_svg(&self) -> String {
        draw::svg(self, &format!("<style>\n{}</style>\n", stylesheet("svg")))
    }
}

/// A pair of axes, and what is drawn between them.
#[derive(Clone, Debug)]
pub struct Panel {
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// Drawn in this order.
    pub series: Vec<Series>,
    /// Values to compare with: a thin line from left to right.
    pub levels: Vec<Level>,
}

/// A named row of points.
#[derive(Clone, Debug)]
pub struct Series {
    /// In the legend; series with the same name and colour share an entry.
    pub name: String,
    /// Its colour, light or dark.
    pub colour: Colour,
    /// How points are joined.
    pub shape: Shape,
    /// In order of x.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A line through the points.
    pub fn line(name: impl Into<String>, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), colour, shape: Shape::Line, points }
    }

    /// A value that stays until the next point.
    pub fn steps(name: impl Into<String>, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), colour, shape: Shape::Steps, points }
    }

    /// A mark at each point.
    pub fn dots(name: impl Into<String>, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), colour, shape: Shape::Dots, points }
    }

    /// A line with a mark at each point, for few points.
    pub fn marked(name: impl Into<String>, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), colour, shape: Shape::Marked, points }
    }
}

/// How the points of a series are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A straight line from point to point.
    Line,
    /// Level up to the next point.
    Steps,
    /// A mark for each point.
    Dots,
    /// A line, and a mark for each point.
    Marked,
    /// Vertical bars between pairs of points: `(x, low), (x, high)`.
    Ranges,
}

/// A value to compare with.
#[derive(Clone, Debug)]
pub struct Level {
    /// Written above its line.
    pub name: String,
    /// Where it is.
    pub y: f64,
}

impl Level {
    /// A named value.
    pub fn new(name: impl Into<String>, y: f64) -> Self {
        Level { name: name.into(), y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        let points = (0..10_000).map(|x| (f64::from(x), f64::from(x % 97))).collect();
        let panel = Panel {
            x: Axis::linear("insertion", 0.0, 10_000.0),
            y: Axis::linear("slices", 0.0, 100.0),
            series: vec![
                Series::line("a < b & c", Colour::GUARDED, points),
                Series::steps("stairs", Colour::PAPER, vec![(0.0, 1.0), (5_000.0, 50.0), (10_000.0, 50.0)]),
            ],
            levels: vec![Level::new("target", 80.0)],
        };
        Figure::single("test", "A figure", "What it shows.", panel)
    }

    #[test]
    fn pictures_are_small_and_have_all_their_series() {
        let svg = figure().to_svg();
        assert!(svg.len() < 40_000, "{} bytes for 10,000 points", svg.len());
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("a &lt; b &amp; c") && svg.contains("stairs") && svg.contains("target"));
        for colour in [Colour::GUARDED, Colour::PAPER] {
            assert!(svg.contains(&format!("stroke=\"{}\"", colour.light_hex())), "{colour:?}");
        }
        assert!(svg.contains("prefers-color-scheme: dark") && !figure().to_inline_svg().contains("<style>"));
    }

    #[test]
    fn points_outside_the_axes_are_cut_off_at_them() {
        let mut outside = figure();
        outside.panels[0].series = vec![Series::line("far", Colour::GUARDED, vec![(0.0, -1e9), (1e9, 1e9)])];
        let numbers = outside.to_svg();
        let line = numbers.lines().find(|line| line.contains("polyline")).expect("a line");
        let points = line.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("points");
        for number in points.split([',', ' ']).filter(|part| !part.is_empty()) {
            let number: i64 = number.parse().expect("whole numbers");
            assert!((0..=4_000).contains(&number), "{number}");
        }
    }
}
