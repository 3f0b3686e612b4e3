//! Colour, where it is wanted: on a terminal, and not where NO_COLOR is set.

use std::io::{self, IsTerminal, Write};

use crate::error::Error;

/// Text with or without colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// For standard output.
    pub(crate) fn for_stdout() -> Self {
        // by convention, set means set to something
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Paint { on: io::stdout().is_terminal() && !refused && !dumb }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Writes a whole text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(Error::Write)
}

/// A bar of `width` characters of which `share`, in 0..=1, is full, to an eighth of a character.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=8 * width
    let eighths = (share * 8.0 * width as f64).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(EIGHTHS[eighths % 8]);
    let used = eighths.div_ceil(8);
    bar.push_str(&" ".repeat(width - used));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_their_width() {
        for share in [-1.0, 0.0, 0.01, 0.33, 0.5, 0.999, 1.0, 7.0, f64::NAN] {
            assert_eq!(bar(share, 10).chars().count(), 10, "{share}");
        }
        assert_eq!(bar(0.25, 4), "█   ");
        assert_eq!(bar(0.5625, 2), "█▏");
    }
}
