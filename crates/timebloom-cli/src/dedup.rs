//! `timebloom dedup`: print each line the first time it is seen within the window.

use std::io::{self, BufWriter, Read, Write};

use timebloom::{Clock, Full, SystemClock, TimeBloom, Verdict};

use crate::args::DedupArgs;
use crate::error::Error;
use crate::input::Input;
use crate::lines::{Line, Lines};

/// Items per window the filter starts out for: some 250 kB at the default error rate. Smaller inputs are then
/// deduplicated all but exactly, and larger ones make the filter grow.
const EXPECTED_ITEMS: u64 = 100_000;

const OUTPUT_BUFFER: usize = 64 * 1024;

/// Reads all inputs in turn and prints what is new to standard output.
pub(crate) fn run(args: &DedupArgs) -> Result<(), Error> {
    let filter = build_filter(args)?;
    let output = BufWriter::with_capacity(OUTPUT_BUFFER, io::stdout().lock());
    let mut dedup = Dedup::new(filter, SystemClock, output);
    let outcome = args.inputs.iter().try_for_each(|input| dedup.copy_input(input));
    // After a failure too: what was new before it should be seen.
    let flushed = dedup.output.flush().map_err(Error::Write);
    outcome.and(flushed)
}

fn build_filter(args: &DedupArgs) -> Result<TimeBloom, Error> {
    let filter =
        TimeBloom::builder(args.window).false_positive_rate(args.error).expected_items(EXPECTED_ITEMS).build()?;
    Ok(filter)
}

/// Why copying one reader stopped early. Only the caller knows the reader's name.
#[derive(Debug)]
enum Stop {
    Read(io::Error),
    Write(io::Error),
    Full(Full),
}

/// A filter between readers and a writer.
struct Dedup<C, W> {
    filter: TimeBloom,
    clock: C,
    output: W,
    /// The last line printed came without a newline: the next one must not be glued to it.
    newline_owed: bool,
}

impl<C: Clock, W: Write> Dedup<C, W> {
    fn new(filter: TimeBloom, clock: C, output: W) -> Self {
        Self { filter, clock, output, newline_owed: false }
    }

    fn copy_input(&mut self, input: &Input) -> Result<(), Error> {
        let reader = input.open().map_err(|source| Error::Open { input: input.clone(), source })?;
        self.copy(reader).map_err(|stop| match stop {
            Stop::Read(source) => Error::Read { input: input.clone(), source },
            Stop::Write(source) => Error::Write(source),
            Stop::Full(source) => Error::Full(source),
        })
    }

    /// Prints the new lines of `reader`.
    fn copy(&mut self, reader: impl Read) -> Result<(), Stop> {
        let mut lines = Lines::new(reader);
        loop {
            if !lines.line_is_buffered() {
                // The next line may be long in coming: let the reader of our output have what there is.
                self.output.flush().map_err(Stop::Write)?;
            }
            let Some(line) = lines.next_line().map_err(Stop::Read)? else { return Ok(()) };
            let now = self.clock.now();
            match self.filter.insert_if_new_at(line.content, now).map_err(Stop::Full)? {
                Verdict::New => self.print(&line).map_err(Stop::Write)?,
                Verdict::Seen => {}
            }
        }
    }

    /// Writes the line as it came. A missing newline is made up for only when another line follows.
    fn print(&mut self, line: &Line<'_>) -> io::Result<()> {
        if self.newline_owed {
            self.output.write_all(b"\n")?;
        }
        self.output.write_all(line.content)?;
        if line.terminated {
            self.output.write_all(b"\n")?;
        }
        self.newline_owed = !line.terminated;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use timebloom::{ManualClock, Timestamp};

    use super::*;

    const WINDOW: Duration = Duration::from_secs(60);

    fn dedup() -> Dedup<ManualClock, Vec<u8>> {
        let filter = TimeBloom::builder(WINDOW).build().expect("a minute is a valid window");
        Dedup::new(filter, ManualClock::at(Timestamp::from_secs(1_000_000)), Vec::new())
    }

    impl Dedup<ManualClock, Vec<u8>> {
        fn prints(&mut self, line: &str, now: Timestamp) -> bool {
            self.clock.set(now);
            self.output.clear();
            self.copy(format!("{line}\n").as_bytes()).expect("memory can be read and written");
            !self.output.is_empty()
        }
    }

    #[test]
    fn the_first_sighting_decides() {
        let mut dedup = dedup();
        let start = dedup.clock.now();
        let after = |seconds| start.saturating_add(Duration::from_secs(seconds));
        assert!(dedup.prints("a", start));
        for seconds in [0, 1, 30, 59, 60] {
            assert!(!dedup.prints("a", after(seconds)), "{seconds} s is within the window");
        }
        // Had the repeats prolonged the window, this one would be within it. Nothing was recorded for more than a
        // window, so the filter is empty and the answer is certain.
        assert!(dedup.prints("a", after(119)));
        assert!(!dedup.prints("a", after(120)));
    }

    #[test]
    fn no_line_is_printed_twice_within_the_window() {
        let mut dedup = dedup();
        let mut printed: HashMap<String, Timestamp> = HashMap::new();
        let mut now = dedup.clock.now();
        let mut reprints = 0;
        for step in 0_u64..20_000 {
            // Steps of 0 to 96 ms, and every so often a pause that may outlast the window.
            now = now.saturating_add(Duration::from_millis(step * 31 % 97));
            if step % 1_000 == 999 {
                now = now.saturating_add(Duration::from_secs(step / 1_000 * 7));
            }
            let line = format!("line {}", step * step % 1_009);
            if dedup.prints(&line, now)
                && let Some(before) = printed.insert(line, now)
            {
                let age = now.saturating_since(before);
                assert!(age > WINDOW, "step {step}: printed again after {age:?}");
                reprints += 1;
            }
        }
        assert!(reprints > 1_000, "lines come back after the window: {reprints}");
    }

    #[test]
    fn output_errors_are_told_apart_from_input_errors() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        let stop = dedup().copy(Broken).expect_err("the reader is broken");
        // A broken pipe on the way in is a failure; only one on the way out ends a run quietly.
        assert!(matches!(stop, Stop::Read(_)), "{stop:?}");
    }
}
