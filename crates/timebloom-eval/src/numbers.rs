//! Numbers as people read them.

/// With commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits, and not more decimals than that takes; very small ones with an exponent.
pub fn significant(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() || size == 0.0 {
        return if size == 0.0 { "0".into() } else { "-".into() };
    }
    if size < 1e-5 {
        return format!("{number:.1e}");
    }
    let decimals = (2.0 - size.log10().floor()).clamp(0.0, 7.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=7
    let decimals = decimals as usize;
    format!("{number:.decimals$}")
}

/// A share in hundredths.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A target rate as it was given: `0.1` to `0.00001`.
pub fn rate(eps: f64) -> String {
    let decimals = (-eps.log10()).ceil().clamp(1.0, 12.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 1..=12
    let decimals = decimals as usize;
    format!("{eps:.decimals$}")
}

/// A count and its noun, in the plural unless it is one.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(number as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (grouped(0), grouped(999), grouped(1_000), grouped(12_345_678)),
            ("0".into(), "999".into(), "1,000".into(), "12,345,678".into())
        );
        assert_eq!(
            (significant(0.0), significant(12.345), significant(0.001_234), significant(1_234.5)),
            ("0".into(), "12.3".into(), "0.00123".into(), "1234".into())
        );
        assert_eq!((significant(1.23e-7), significant(f64::NAN)), ("1.2e-7".into(), "-".into()));
        assert_eq!((rate(0.1), rate(1e-5), rate(0.01)), ("0.1".into(), "0.00001".into(), "0.01".into()));
        assert_eq!(
            (percent(0.0324), counted(1, "filter"), counted(2_000, "filter")),
            ("3.2%".into(), "1 filter".into(), "2,000 filters".into())
        );
    }
}
