//! How far a run has come, on a terminal.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

use crate::input::Input;

/// A bar on standard error, or nothing at all.
#[derive(Clone, Debug)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar if there is someone to see it, if nothing else is written there, and if it is known where the end is.
    pub(crate) fn new(inputs: &[Input]) -> Self {
        let seen = io::stderr().is_terminal() && !io::stdout().is_terminal();
        let size = Input::total_size(inputs);
        Progress(size.filter(|&size| seen && size > 0).map(|size| {
            let style =
                ProgressStyle::with_template("{bar:30} {percent:>3}%  {bytes}/{total_bytes}  {bytes_per_sec}  {eta}");
            ProgressBar::new(size).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }))
    }

    pub(crate) fn advance(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes);
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
