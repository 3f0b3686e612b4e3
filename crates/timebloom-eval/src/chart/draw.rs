//! From a figure to an SVG.
//!
//! Everything is drawn four times as large as it is shown, as the backend knows whole pixels only.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::bars;
use super::legend::{SWATCH, entries};
use super::thin::{corners, thin};
use super::{Axis, Colour, Figure, Panel, Scale, Series, Shape};

/// How wide a figure is, in pixels: on a telephone it is shown at three quarters of that, and its letters are still read.
pub(super) const WIDTH: u32 = 480;
pub(super) const FINER: u32 = 4;
const TITLE_SIZE: u32 = 15;
pub(super) const TEXT_SIZE: u32 = 13;
/// The backend writes letters this much smaller than asked.
const FONT_FACTOR: f64 = 1.24;
pub(super) const MARGIN: u32 = 10;
const LEFT: u32 = 66;
const BELOW: u32 = 38;
const ROW: u32 = 19;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Failure = DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>;

/// The whole picture, with `head` in front of everything in it.
pub(super) fn svg(figure: &Figure, head: &str) -> String {
    let rows =
        entries(figure, f64::from(WIDTH - 2 * MARGIN), f64::from(TEXT_SIZE)).last().map_or(0, |last| last.row + 1);
    let rows = u32::try_from(rows).expect("a few rows");
    let top = MARGIN + 22 + rows * ROW + 6;
    let panels = u32::try_from(figure.panels.len()).expect("a few panels");
    let bars = figure.bars.as_ref().map_or(0, bars::height);
    let height = top + panels * figure.panel_height + bars + MARGIN / 2;
    let mut drawn = String::new();
    paint(figure, &mut drawn, top, height).expect("a string takes every picture");
    let body = drawn.split_once('>').map_or("", |(_, body)| body).trim_start();
    let (fine_width, fine_height) = (WIDTH * FINER, height * FINER);
    let title = escape(&format!("{}. {}", figure.title, figure.caption));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {fine_width} {fine_height}\" role=\"img\">\n<title>{title}</title>\n{head}{body}"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub(super) fn fine(pixels: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation)] // a picture is a few thousand pixels wide
    let fine = (pixels * f64::from(FINER)).round() as i32;
    fine
}

pub(super) fn font(size: u32, colour: Colour) -> TextStyle<'static> {
    ("sans-serif", f64::from(size * FINER) * FONT_FACTOR).into_font().color(&colour.rgb())
}

fn paint(figure: &Figure, into: &mut String, top: u32, height: u32) -> Result<(), Failure> {
    let root = SVGBackend::with_string(into, (WIDTH * FINER, height * FINER)).into_drawing_area();
    root.fill(&Colour::GROUND.rgb())?;
    let left = fine(f64::from(MARGIN));
    root.draw(&Text::new(figure.title.clone(), (left, fine(9.0)), font(TITLE_SIZE, Colour::INK)))?;
    legend(&root, figure)?;
    let bottom = f64::from(height) - f64::from(MARGIN) / 2.0;
    let (_, below) = root.split_vertically(top * FINER);
    let (below, _) = below.split_vertically(fine(bottom - f64::from(top)));
    if let Some(bars) = &figure.bars {
        bars::draw(&below, bars)?;
    }
    let areas = below.split_evenly((figure.panels.len().max(1), 1));
    for (area, panel) in areas.iter().zip(&figure.panels) {
        plot(area, panel)?;
    }
    root.present()
}

fn legend(root: &Area<'_>, figure: &Figure) -> Result<(), Failure> {
    for entry in entries(figure, f64::from(WIDTH - 2 * MARGIN), f64::from(TEXT_SIZE)) {
        let x = f64::from(MARGIN) + entry.x;
        let middle = f64::from(MARGIN + 22) + f64::from(ROW) * (entry.row as f64 + 0.5);
        let (from, to) = ((fine(x), fine(middle)), (fine(x + SWATCH - 6.0), fine(middle)));
        match entry.shape {
            Shape::Dots => {
                root.draw(&Circle::new((fine(x + 7.0), fine(middle)), fine(3.0), entry.colour.rgb().filled()))?;
            }
            Shape::Ranges => root.draw(&PathElement::new([from, to], entry.colour.rgb().stroke_width(8 * FINER)))?,
            _ => root.draw(&PathElement::new([from, to], entry.colour.rgb().stroke_width(3 * FINER)))?,
        }
        let style = font(TEXT_SIZE, Colour::FAINT).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(entry.name, (fine(x + SWATCH), fine(middle)), style))?;
    }
    Ok(())
}

/// The positions along an axis, and which of them are written.
#[derive(Clone)]
struct Positions {
    range: std::ops::Range<f64>,
    scale: Scale,
}

impl Ranged for Positions {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        #[allow(clippy::cast_possible_truncation)] // between two pixels
        let pixels = (share * f64::from(limit.1 - limit.0)).round() as i32;
        limit.0 + pixels
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let most = hint.bold_points().max(2);
        let width = self.range.end - self.range.start;
        let step = match self.scale {
            Scale::Linear => round_step(width / most as f64),
            Scale::Log => (width / most as f64).ceil().max(1.0),
        };
        let first = (self.range.start / step - 1e-9).ceil();
        let count = ((self.range.end / step + 1e-9).floor() - first).max(0.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few labels
        let count = count as u32;
        (0..=count).map(|number| (first + f64::from(number)) * step).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.clone()
    }
}

impl plotters::coord::ranged1d::ValueFormatter<f64> for Positions {
    fn format(value: &f64) -> String {
        value.to_string()
    }
}

/// The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is not below `step`.
fn round_step(step: f64) -> f64 {
    let magnitude = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|round| *round >= step * 0.999)
        .unwrap_or(10.0 * magnitude)
}

fn positions(axis: &Axis) -> Positions {
    Positions { range: axis.position(axis.low)..axis.position(axis.high), scale: axis.scale }
}

fn plot(area: &Area<'_>, panel: &Panel) -> Result<(), Failure> {
    let mut chart = ChartBuilder::on(area)
        .margin_right(26 * FINER)
        .margin_top(22 * FINER)
        .margin_left(4 * FINER)
        .x_label_area_size(BELOW * FINER)
        .y_label_area_size((LEFT - 14) * FINER)
        .build_cartesian_2d(positions(&panel.x), positions(&panel.y))?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(Colour::GRID.rgb().stroke_width(FINER))
        .axis_style(Colour::FAINT.rgb().stroke_width(FINER))
        .label_style(font(TEXT_SIZE - 1, Colour::FAINT))
        .axis_desc_style(font(TEXT_SIZE - 1, Colour::FAINT))
        .x_labels(panel.x.labels)
        .y_labels(panel.y.labels)
        .x_label_formatter(&|x| panel.x.label(*x))
        .y_label_formatter(&|y| panel.y.label(*y))
        .x_desc(panel.x.name.clone())
        .set_all_tick_mark_size(3 * FINER)
        .draw()?;
    // the name of the upright axis stands level above it: nobody has to turn the head
    let style = font(TEXT_SIZE - 1, Colour::INK).pos(Pos::new(HPos::Left, VPos::Center));
    area.draw(&Text::new(panel.y.name.clone(), (fine(f64::from(MARGIN)), fine(8.0)), style))?;
    let (left, right) = (panel.x.position(panel.x.low), panel.x.position(panel.x.high));
    for level in &panel.levels {
        let y = panel.y.position(level.y);
        let (dash, gap) = (5 * FINER, 4 * FINER);
        let line = DashedLineSeries::new(
            [(left, y), (right, y)],
            i32::try_from(dash).expect("small"),
            i32::try_from(gap).expect("small"),
            Colour::FAINT.rgb().stroke_width(FINER),
        );
        chart.draw_series(line)?;
        // on the left, where most lines have not yet risen
        let style = font(TEXT_SIZE - 2, Colour::FAINT).pos(Pos::new(HPos::Left, VPos::Bottom));
        let text = EmptyElement::at((left, y)) + Text::new(level.name.clone(), (fine(5.0), fine(-1.0)), style);
        chart.draw_series([text])?;
    }
    for series in &panel.series {
        draw_series(&mut chart, panel, series)?;
    }
    Ok(())
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Positions, Positions>>;

fn draw_series(chart: &mut Chart<'_, '_>, panel: &Panel, series: &Series) -> Result<(), Failure> {
    let place = |(x, y): (f64, f64)| (panel.x.position(x), panel.y.position(y));
    let points: Vec<_> = series.points.iter().copied().map(place).collect();
    let colour = series.colour.rgb();
    let stroke = colour.stroke_width(FINER * 2);
    let columns = usize::try_from(WIDTH - LEFT).expect("small");
    let (low, high) = (panel.x.position(panel.x.low), panel.x.position(panel.x.high));
    match series.shape {
        Shape::Line => {
            chart.draw_series([PathElement::new(thin(&points, low, high, columns), stroke)])?;
        }
        Shape::Steps => {
            chart.draw_series([PathElement::new(thin(&corners(&points), low, high, columns), stroke)])?;
        }
        Shape::Dots => {
            chart.draw_series(points.into_iter().map(|point| Circle::new(point, fine(2.5), colour.filled())))?;
        }
        Shape::Marked => {
            chart.draw_series([PathElement::new(points.clone(), stroke)])?;
            chart.draw_series(points.into_iter().map(|point| Circle::new(point, fine(3.5), colour.filled())))?;
        }
        Shape::Ranges => {
            let wide = colour.stroke_width(8 * FINER);
            chart.draw_series(points.chunks_exact(2).map(|ends| PathElement::new(ends.to_vec(), wide)))?;
        }
    }
    Ok(())
}
