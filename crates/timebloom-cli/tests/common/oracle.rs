//! What a run should have printed: an exact window, and how far a filter may deviate from it.
//!
//! A filter owes two things. It never prints a key again within the window: that is checked without any tolerance. And it
//! seldom suppresses a key that is not in the window: that is checked against a bound which a right filter exceeds with a
//! chance of less than one in a billion. Keys that left the window a short while ago may be treated either way; so may
//! those that were sighted since: what made the filter suppress them then may do so again, and trials must be independent.

use std::collections::HashMap;

use timebloom_testkit::at_most_with_confidence;

/// How often a right filter may fail a test.
const FALSE_ALARM: f64 = 1e-9;

/// After so many shares of the window, an expired key is as good as never seen: 12 of 31 steps.
const TAIL: f64 = 12.0 / 31.0;

/// Judges what a run printed, line by line, in order.
pub struct Oracle {
    /// In the unit of the times given.
    window: u64,
    error: f64,
    refresh: bool,
    /// When each key was last recorded.
    recorded: HashMap<String, u64>,
    /// When each key last came, printed or not.
    sighted: HashMap<String, u64>,
    now: u64,
    /// Lines that were certainly new.
    pub unique: u64,
    /// Of those, the ones that were suppressed.
    pub wrongly_suppressed: u64,
    pub printed: u64,
}

impl Oracle {
    pub fn new(window: u64, error: f64) -> Self {
        let (recorded, sighted) = (HashMap::new(), HashMap::new());
        Oracle {
            window,
            error,
            refresh: false,
            recorded,
            sighted,
            now: 0,
            unique: 0,
            wrongly_suppressed: 0,
            printed: 0,
        }
    }

    pub fn refreshing(mut self) -> Self {
        self.refresh = true;
        self
    }

    /// A line with this key came at `time`, and was `printed` or not. Time never goes back: a line behind counts as now.
    pub fn see(&mut self, key: &str, time: u64, printed: bool) {
        self.now = self.now.max(time);
        let age = self.recorded.get(key).map(|recorded| self.now - recorded);
        if let Some(age) = age {
            assert!(!printed || age > self.window, "{key} was printed again after {age}, within {}", self.window);
        }
        let quiet = self.sighted.insert(key.to_owned(), self.now).map(|sighted| self.now - sighted);
        if quiet.is_none_or(|quiet| quiet as f64 > self.window as f64 * (1.0 + TAIL)) {
            self.unique += 1;
            self.wrongly_suppressed += u64::from(!printed);
        }
        self.printed += u64::from(printed);
        if printed || self.refresh {
            self.recorded.insert(key.to_owned(), self.now);
        }
    }

    /// Whether unique lines were suppressed too often.
    pub fn finish(&self) {
        let most = at_most_with_confidence(self.unique, self.error, FALSE_ALARM);
        let wrong = self.wrongly_suppressed;
        assert!(wrong <= most, "{wrong} of {} unique lines were suppressed, at most {most} are likely", self.unique);
    }
}

/// Which lines of `input` are in `output`, its subsequence.
pub fn printed(input: &[String], output: &[String]) -> Vec<bool> {
    let mut output = output.iter().peekable();
    let printed = input.iter().map(|line| output.next_if_eq(&line).is_some()).collect();
    assert_eq!(output.next(), None, "lines come out that did not go in, or in another order");
    printed
}
