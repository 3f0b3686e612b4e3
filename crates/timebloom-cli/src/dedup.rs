//! `timebloom dedup`: print each line the first time it is seen within the window.
//!
//! ```text
//! reader thread                      main thread
//! inputs ──> records, keys, hashes ──> judge ──> output
//!    ^                                   │
//!    └────────── empty blocks ───────────┘     signals come in by the same door as blocks
//! ```

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use timebloom::Timestamp;

use crate::args::{DedupArgs, SaveEvery, StatsFormat};
use crate::block::Block;
use crate::error::Error;
use crate::filter;
use crate::input::Input;
use crate::judge::{Filter, Judge, JudgeError, Place};
use crate::output::{Counts, Fate, Mode, Output};
use crate::progress::Progress;
use crate::reader::{Keying, Message, Reader};
use crate::record::Extractor;
use crate::signals;
use crate::state::StateFile;
use crate::summary::Summary;

/// Blocks that go round: one being read, one being judged, and some between.
const BLOCKS: usize = 4;

/// A stream is out of order if one of so many lines is late by more than a window, and not just a single one.
const ORDERLY_LINES: u64 = 10;

/// How a run ended that did not fail.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Input,
    Signal(i32),
}

/// Reads all inputs in turn and prints what is new to standard output.
pub(crate) fn run(args: &DedupArgs) -> Result<ExitCode, Error> {
    if args.key.delimiter().is_some() && !args.key.has_delimited() && !args.time.has_delimited() {
        let what = "--delimiter means nothing without --field, --csv, --time-field or --time-csv";
        return Err(Error::Usage(what.to_owned()));
    }
    let (mut run, keying) = Run::new(args)?;
    let splitter = args.key.splitter(args.null, args.time.is_csv());
    let progress = Progress::new(&args.inputs);
    let reader = Reader {
        extractor: Extractor::new(args.key.key(), args.time.time(&args.key)),
        missing: args.missing,
        keying,
        max_record: usize::try_from(args.max_line).unwrap_or(usize::MAX),
        progress: progress.clone(),
        splitter: splitter.clone(),
    };
    let mut output = Output::new(io::stdout().lock(), args.mode(), splitter.terminator(), args.line_buffered);
    let (messages, empty) = start(reader, args.inputs.clone());

    let began = Instant::now();
    let mut counts = Counts::default();
    let outcome = run.copy(&messages, &empty, &mut output, &mut counts);
    // After a failure too: what was new before it should be seen.
    let written = match args.mode() {
        Mode::Count if outcome.is_ok() => output.say(&counts.seen.to_string()),
        _ => output.flush(),
    };
    let outcome = outcome.and_then(|end| written.map_err(Error::Write).map(|()| end));
    let saved = run.finish(&outcome);
    progress.finish();
    run.report(args, &counts, began.elapsed());
    match (outcome, saved) {
        (Err(error), saved) => {
            // the first error is the reason; the other must not go unsaid
            if let Err(unsaved) = saved {
                complain(&unsaved);
            }
            if error.is_closed_pipe() { Ok(ExitCode::SUCCESS) } else { Err(error) }
        }
        (Ok(_), Err(error)) => Err(error),
        (Ok(End::Input), Ok(())) => Ok(ExitCode::SUCCESS),
        (Ok(End::Signal(signal)), Ok(())) => Ok(signals::die_of(signal)),
    }
}

/// The time to go on from. Filters know theirs to a tiny share of the window; a record that comes at the very time of the
/// last one must not be late for that.
fn resumed_clock(filter: &Filter) -> Option<Timestamp> {
    let slack = match filter {
        Filter::Time(filter) => filter.span() / (1 << 20),
        Filter::Count(_) => Duration::ZERO,
    };
    filter.newest().map(|newest| newest.saturating_sub(slack))
}

/// Prints an error that does not end the run, or is not the first.
fn complain(error: &Error) {
    // standard error may be gone; there is nobody left to tell then
    let _ = writeln!(io::stderr(), "error: {error}");
}

/// Starts the reading half and the door for signals. Returns where messages come from, and where empty blocks go.
fn start(reader: Reader, inputs: Vec<Input>) -> (Receiver<Message>, Sender<Block>) {
    let (messages, received) = mpsc::channel();
    let (empty, empties) = mpsc::channel();
    for _ in 0..BLOCKS {
        empty.send(Block::default()).expect("the other end is here");
    }
    signals::watch(messages.clone());
    // Not joined: it may wait for input for ever. The end of the process is its end.
    thread::spawn(move || reader.run(&inputs, &empties, &messages));
    (received, empty)
}

/// The judging half of a run.
struct Run {
    judge: Judge,
    state: Option<StateFile>,
    save_every: Option<SaveEvery>,
    inputs: Vec<Input>,
    saves: u64,
    lines_at_save: u64,
    saved_at: Instant,
}

impl Run {
    fn new(args: &DedupArgs) -> Result<(Self, Keying), Error> {
        let (place, state, window, newest) = match filter::connect(args)? {
            Some(server) => (Place::There(Box::new(server)), None, args.window.unwrap_or_default(), None),
            None => {
                let (state, stored) = filter::open_state(args)?.unzip();
                let (filter, newest) = match stored.flatten() {
                    Some(filter) => {
                        let newest = resumed_clock(&filter);
                        (filter, newest)
                    }
                    None => (filter::build(args)?, None),
                };
                let window = filter::window(args, &filter);
                (Place::Here(filter), state, window, newest)
            }
        };
        let keying = match &place {
            Place::Here(filter) => Keying::Hashes { seed: filter.seed() },
            Place::There(_) => Keying::Bytes,
        };
        let clock = args.time.time(&args.key).map(|_| args.clock.clock(window, newest));
        if clock.is_some() && matches!(&place, Place::Here(Filter::Count(_))) {
            return Err(Error::Usage(
                "a state with a count window has no use for times: leave out --time-...".to_owned(),
            ));
        }
        let run = Run {
            judge: Judge::new(place, clock, window, args.refresh),
            state,
            save_every: args.save_every,
            inputs: args.inputs.clone(),
            saves: 0,
            lines_at_save: 0,
            saved_at: Instant::now(),
        };
        Ok((run, keying))
    }

    /// Judges and prints blocks until there are no more.
    fn copy(
        &mut self,
        messages: &Receiver<Message>,
        empty: &Sender<Block>,
        output: &mut Output<impl Write>,
        counts: &mut Counts,
    ) -> Result<End, Error> {
        let mut fates: Vec<Fate> = Vec::new();
        loop {
            let message = match messages.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Empty) => {
                    // The next line may be long in coming: let the reader of our output have what there is.
                    output.flush().map_err(Error::Write)?;
                    match self.wait(messages) {
                        Some(message) => message,
                        None => {
                            self.save_if_due(output, counts)?;
                            continue;
                        }
                    }
                }
                Err(TryRecvError::Disconnected) => return Ok(End::Input),
            };
            match message {
                Message::Block(block) => {
                    let judged = self.judge.judge(&block, &mut fates);
                    output.print(&block, &fates, counts).map_err(Error::Write)?;
                    judged.map_err(|error| self.error_at(error, &block, fates.len()))?;
                    // the reader may have ended and taken its end with it
                    let _ = empty.send(block);
                    self.save_if_due(output, counts)?;
                }
                Message::Failed(error) => return Err(error),
                Message::End => return Ok(End::Input),
                Message::Signal(signal) => return Ok(End::Signal(signal)),
            }
        }
    }

    /// The next message; `None` if it is time to save before there is one.
    fn wait(&self, messages: &Receiver<Message>) -> Option<Message> {
        let limit = match self.save_every {
            Some(SaveEvery::Time(every)) => every.saturating_sub(self.saved_at.elapsed()),
            _ => return Some(messages.recv().unwrap_or(Message::End)),
        };
        match messages.recv_timeout(limit.max(Duration::from_millis(1))) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::End),
        }
    }

    /// An error with the line that caused it: the first keyed one without a fate.
    fn error_at(&self, error: JudgeError, block: &Block, judged: usize) -> Error {
        match error {
            JudgeError::Server(error) => Error::Server(error),
            JudgeError::Full(full) => {
                let keyed = |index: &usize| block.records[*index].kind == crate::block::Kind::Keyed;
                let index = (0..block.records.len()).filter(keyed).nth(judged).unwrap_or(0);
                let input = self.inputs.get(block.input).cloned().unwrap_or(Input::Stdin);
                Error::Full { full, input, line: block.first_line + index as u64 }
            }
        }
    }

    /// Saves the state if it is time to, after what was printed: a crash in between repeats lines rather than lose them.
    fn save_if_due(&mut self, output: &mut Output<impl Write>, counts: &Counts) -> Result<(), Error> {
        let due = match self.save_every {
            None => false,
            Some(SaveEvery::Time(every)) => self.saved_at.elapsed() >= every,
            Some(SaveEvery::Lines(lines)) => counts.records - self.lines_at_save >= lines,
        };
        if due {
            self.saved_at = Instant::now();
            if counts.records > self.lines_at_save {
                output.flush().map_err(Error::Write)?;
                self.save()?;
                self.lines_at_save = counts.records;
            }
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), Error> {
        if let (Some(state), Place::Here(filter)) = (&self.state, &self.judge.place) {
            state.save(filter)?;
            self.saves += 1;
        }
        Ok(())
    }

    /// Saves the state at the end. Not after lines could not be written: they would never be printed then. That someone
    /// has read enough of them is another matter.
    fn finish(&mut self, outcome: &Result<End, Error>) -> Result<(), Error> {
        match outcome {
            Err(error @ Error::Write(_)) if !error.is_closed_pipe() => Ok(()),
            Err(Error::State(_)) => Ok(()),
            _ => self.save(),
        }
    }

    /// Tells what was asked for, on standard error.
    fn report(&self, args: &DedupArgs, counts: &Counts, elapsed: Duration) {
        let mut text = String::new();
        if let Place::There(server) = &self.judge.place
            && server.uncertain > 0
        {
            let lines = server.uncertain;
            text += &format!("warning: the connection was lost with lines on their way: {lines} may be repeats\n");
        }
        // a program reads it from the summary
        if counts.records > 0 && counts.unkeyed == counts.records && args.stats != Some(StatsFormat::Json) {
            let what = match args.time.time(&args.key) {
                Some(_) => "a key and a time in the format asked for",
                None => "a key",
            };
            text += &format!("warning: none of {} lines had {what}\n", counts.records);
        }
        let late = self.judge.windows_late;
        if late > 1 && late >= counts.records / ORDERLY_LINES && args.stats != Some(StatsFormat::Json) {
            let fate = if counts.late > 0 { "dropped" } else { "judged as of the latest time" };
            text += &format!(
                "warning: {late} of {} lines were more than a window behind what came before them, and {fate}: give inputs \
                 in the order of their times, and a state only what is later\n",
                counts.records
            );
        }
        if args.mode() == Mode::Shadow && args.stats.is_none() {
            text += &format!("{} of {} lines would have been suppressed\n", counts.seen + counts.late, counts.records);
        }
        let summary = Summary { counts, judge: &self.judge, elapsed, saves: self.saves };
        match args.stats {
            None => {}
            Some(StatsFormat::Text) => text += &format!("{}\n", summary.to_text()),
            Some(StatsFormat::Json) => text += &format!("{}\n", summary.to_json()),
        }
        // standard error may be gone; there is nobody left to tell then
        let _ = io::stderr().write_all(text.as_bytes());
    }
}
