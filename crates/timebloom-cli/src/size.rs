//! Sizes in bytes as people write them: `64M`, `1G`, `500K`.

use std::fmt;

/// Unit names and their binary logarithms.
const UNITS: [(&str, u32); 4] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadSize {
    text: String,
}

impl fmt::Display for BadSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a size: write a whole number of bytes, or with K, M, G or T, such as 64M", self.text)
    }
}

impl std::error::Error for BadSize {}

/// Reads a size. Units are powers of 1024; `64M`, `64MB` and `64MiB` are the same.
pub(crate) fn parse(text: &str) -> Result<u64, BadSize> {
    let bad = || BadSize { text: text.to_owned() };
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| bad())?;
    let unit = unit.to_ascii_uppercase();
    if unit.is_empty() || unit == "B" {
        return Ok(number);
    }
    let prefix = unit.strip_suffix("IB").or_else(|| unit.strip_suffix('B')).unwrap_or(&unit);
    let &(_, log) = UNITS.iter().find(|(name, _)| *name == prefix).ok_or_else(bad)?;
    number.checked_mul(1 << log).ok_or_else(bad)
}

/// Reads a number of items or lines, 1 or more: `5000`, `20k`, `1M`, `2G`. Units are powers of 1000.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let bad =
        || format!("`{text}` is not a number of lines: write a whole one, 1 or more, or with k, M or G, such as 1M");
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err(bad()),
    };
    let number: u64 = number.parse().map_err(|_| bad())?;
    number.checked_mul(factor).filter(|&count| count > 0).ok_or_else(bad)
}

/// A size for people: three digits and a unit.
pub(crate) fn show(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    let mut unit = "B";
    for (name, _) in UNITS {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = name;
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ if scaled < 10.0 => format!("{scaled:.2} {unit}iB"),
        _ if scaled < 100.0 => format!("{scaled:.1} {unit}iB"),
        _ => format!("{scaled:.0} {unit}iB"),
    }
}

/// A count for people, in groups of three digits.
pub(crate) fn group(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        let cases = [("0", 0), ("100", 100), ("1K", 1 << 10), ("64m", 64 << 20), ("2GiB", 2 << 30), ("3KB", 3 << 10)];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1.5M", "64X", "64 M", "99999999999999999999", "99999999T", "1iB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_have_decimal_units() {
        for (text, count) in
            [("1", 1), ("5000", 5_000), ("20k", 20_000), ("3K", 3_000), ("1M", 1_000_000), ("2G", 2_000_000_000)]
        {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["", "0", "0k", "k", "-1", "1.5M", "1,000", "1m", "1 M", "99999999999999999999", "99999999999G"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn figures_are_readable() {
        assert_eq!(show(0), "0 B");
        assert_eq!(show(1_023), "1023 B");
        assert_eq!(show(1_536), "1.50 KiB");
        assert_eq!(show(5 << 20), "5.00 MiB");
        assert_eq!(show(100 << 20), "100 MiB");
        assert_eq!(show(u64::MAX), "16777216 TiB");
        assert_eq!(group(0), "0");
        assert_eq!(group(999), "999");
        assert_eq!(group(1_234_567), "1,234,567");
    }
}
