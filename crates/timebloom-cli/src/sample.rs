//! Learning from a part of a stream: how many different items come in a window, and how long their keys are.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use timebloom::Timestamp;

use crate::args::PlanArgs;
use crate::block::Block;
use crate::error::Error;
use crate::input::Input;
use crate::progress::Progress;
use crate::reader::{Keying, Message, Missing, Reader};
use crate::record::Extractor;

/// What was learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) lines: u64,
    /// Lines that a filter would have called new.
    pub(crate) items: u64,
    /// From the first line to the last.
    pub(crate) span: Duration,
    /// The most items in any window of the sample.
    pub(crate) peak: u64,
    /// The length of a key, on average.
    pub(crate) key_bytes: u64,
}

impl Sample {
    /// Items a second.
    pub(crate) fn rate(&self) -> f64 {
        self.items as f64 / self.span.as_secs_f64()
    }
}

/// Longest line of a sample.
const MAX_LINE: usize = 256 << 20;

/// Reads a sample, exactly: it has to fit into memory.
pub(crate) fn read(args: &PlanArgs, input: &Input, window: Duration) -> Result<Sample, Error> {
    let key = args.key.as_key_args();
    let time = args.time.time(&key);
    if time.is_none() && args.sample_span.is_none() {
        let what =
            "a sample without times needs --sample-span, how long it took; or say where times are, with --time-...";
        return Err(Error::Usage(what.to_owned()));
    }
    let reader = Reader {
        splitter: key.splitter(false, args.time.is_csv()),
        extractor: Extractor::new(key.key(), time),
        missing: Missing::Drop,
        keying: Keying::Bytes,
        max_record: MAX_LINE,
        progress: Progress::new(std::slice::from_ref(input)),
    };
    let (messages, received) = mpsc::channel();
    let (empty, empties) = mpsc::channel();
    for _ in 0..2 {
        empty.send(Block::default()).expect("the other end is here");
    }
    let inputs = [input.clone()];
    thread::spawn(move || reader.run(&inputs, &empties, &messages));

    let mut exact = Exact { window, ..Exact::default() };
    loop {
        match received.recv() {
            Ok(Message::Block(block)) => {
                exact.take(&block);
                // the reader may have ended and taken its end with it
                let _ = empty.send(block);
            }
            Ok(Message::Failed(error)) => return Err(error),
            Ok(Message::End | Message::Signal(_)) | Err(_) => break,
        }
    }
    exact.finish(args.sample_span).map_err(|reason| Error::Sample { input: input.clone(), reason })
}

/// An exact window over a sample.
#[derive(Debug, Default)]
struct Exact {
    window: Duration,
    /// When each key was last called new.
    printed: HashMap<Vec<u8>, Timestamp>,
    /// The times of the items in the window that ends now.
    recent: VecDeque<Timestamp>,
    first: Option<Timestamp>,
    now: Timestamp,
    lines: u64,
    items: u64,
    peak: u64,
    key_bytes: u64,
}

impl Exact {
    fn take(&mut self, block: &Block) {
        for index in 0..block.keyed() {
            let time = block.times.get(index).copied().unwrap_or(Timestamp::MIN);
            self.see(block.keys.get(index), time);
        }
    }

    fn see(&mut self, key: &[u8], time: Timestamp) {
        self.now = self.now.max(time);
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.lines += 1;
        self.key_bytes += key.len() as u64;
        let held = |time: Timestamp| self.now.saturating_since(time) <= self.window;
        if self.printed.get(key).is_some_and(|&time| held(time)) {
            return;
        }
        while self.recent.front().is_some_and(|&time| !held(time)) {
            self.recent.pop_front();
        }
        self.printed.insert(key.to_vec(), self.now);
        self.recent.push_back(self.now);
        self.items += 1;
        self.peak = self.peak.max(self.recent.len() as u64);
    }

    fn finish(&self, known_span: Option<Duration>) -> Result<Sample, &'static str> {
        if self.items == 0 {
            return Err("has no lines with a key and a time");
        }
        let span = known_span.unwrap_or(self.now.saturating_since(self.first.unwrap_or(self.now)));
        if span.is_zero() {
            return Err("took no time at all: a rate needs some");
        }
        let Exact { lines, items, peak, .. } = *self;
        // without times, the sample was all in one moment
        let peak = if known_span.is_some() { 0 } else { peak };
        Ok(Sample { lines, items, span, peak, key_bytes: self.key_bytes / lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_what_is_new_in_each_window() {
        let mut exact = Exact { window: Duration::from_secs(10), ..Exact::default() };
        for second in 0..100_u64 {
            let key = format!("key-{}", second % 5);
            exact.see(key.as_bytes(), Timestamp::from_secs(1_000 + second));
        }
        let sample = exact.finish(None).expect("there are lines");
        // each of five keys at its first sighting, and then 15 s after the last one that counted
        assert_eq!((sample.lines, sample.items, sample.key_bytes), (100, 35, 5));
        assert_eq!(sample.span, Duration::from_secs(99));
        assert_eq!(sample.peak, 5);
        assert_eq!(Exact::default().finish(None), Err("has no lines with a key and a time"));
    }
}
