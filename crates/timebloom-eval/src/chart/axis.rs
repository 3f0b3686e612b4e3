//! Axes: what is measured, from where to where, and how it is written.

use crate::numbers::grouped;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their order of magnitude.
    Log,
}

/// One axis of a panel.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is measured.
    pub name: String,
    /// Where it begins; above 0 on a logarithmic axis.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// How values are spread.
    pub scale: Scale,
    /// About how many values to write.
    pub labels: usize,
}

impl Axis {
    /// An axis with even steps.
    pub fn linear(name: impl Into<String>, low: f64, high: f64) -> Self {
        Axis { name: name.into(), low, high: high.max(low + 1e-12), scale: Scale::Linear, labels: 5 }
    }

    /// An axis with a step for each order of magnitude. Ends are moved outwards to whole orders.
    pub fn log(name: impl Into<String>, low: f64, high: f64) -> Self {
        let low = low.max(1e-300);
        let (from, to) = (low.log10().floor(), high.max(low).log10().ceil());
        let to = to.max(from + 1.0);
        Axis { name: name.into(), low: 10_f64.powf(from), high: 10_f64.powf(to), scale: Scale::Log, labels: 6 }
    }

    /// The same with these very ends.
    pub fn log_between(name: impl Into<String>, low: f64, high: f64) -> Self {
        Axis { low, high, ..Axis::log(name, low, high) }
    }

    /// With this many values written, about.
    pub fn labels(self, labels: usize) -> Self {
        Axis { labels, ..self }
    }

    /// An even axis from 0 to a little more than the highest of these values.
    pub fn from_zero(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let highest = values.into_iter().fold(0.0, f64::max);
        Axis::linear(name, 0.0, if highest > 0.0 { highest * 1.06 } else { 1.0 })
    }

    /// Where a value is along the axis, cut off at its ends.
    pub(super) fn position(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    /// The value at a position, as it is written beside the axis; nothing between orders of magnitude.
    pub(super) fn label(&self, position: f64) -> String {
        match self.scale {
            Scale::Linear => number(position),
            Scale::Log => order_of_magnitude(position),
        }
    }
}

fn order_of_magnitude(exponent: f64) -> String {
    if (exponent - exponent.round()).abs() > 1e-6 {
        return String::new();
    }
    match exponent.round() {
        exponent if exponent < -5.0 => format!("1e{exponent:.0}"),
        exponent if exponent < 0.0 => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 1..=5
            let decimals = -exponent as usize;
            format!("{:.decimals$}", 10_f64.powf(exponent))
        }
        exponent => number(10_f64.powf(exponent)),
    }
}

/// A number as short as it can be: `250k`, `3M`, `0.05`.
fn number(value: f64) -> String {
    let trimmed = |value: f64, decimals: usize| {
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    match value.abs() {
        size if size >= 999_999.5 => format!("{}M", trimmed(value / 1e6, 2)),
        size if size >= 99_999.5 => format!("{}k", trimmed(value / 1e3, 1)),
        size if size >= 999.5 => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 100,000
            let whole = grouped(size.round() as u64);
            if value < 0.0 { format!("-{whole}") } else { whole }
        }
        size if size >= 100.0 => trimmed(value, 0),
        size if size >= 1e-9 => trimmed(value, 6),
        _ => "0".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let pairs = [
            (0.0, "0"),
            (0.05, "0.05"),
            (2.5, "2.5"),
            (3_000.0, "3,000"),
            (12_500.0, "12,500"),
            (250_000.0, "250k"),
            (3e6, "3M"),
            (-0.1 + 0.1, "0"),
        ];
        for (value, text) in pairs {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn logarithmic_axes_end_at_whole_orders() {
        let axis = Axis::log("rate", 0.0004, 0.2);
        assert!((axis.low / 1e-4 - 1.0).abs() < 1e-9 && (axis.high - 1.0).abs() < 1e-9);
        assert_eq!(
            (axis.label(-4.0).as_str(), axis.label(-3.5).as_str(), axis.label(0.0).as_str()),
            ("0.0001", "", "1")
        );
        assert_eq!(axis.position(0.0), -4.0, "zero is cut off at the lower end");
        let flat = Axis::log("none", 1.0, 1.0);
        assert!(flat.high > flat.low);
    }

    #[test]
    fn axes_from_zero_have_room_above() {
        assert!(Axis::from_zero("bits", [3.0, 20.0]).high > 20.0);
        assert_eq!(Axis::from_zero("nothing", []).high, 1.0);
    }
}
