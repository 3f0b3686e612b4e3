//! The reading half of a run, in a thread of its own: inputs are cut into records, and their keys found and hashed, while
//! the other half asks the filter and writes.
//!
//! Each read becomes a block as soon as it completes a record, so a slow pipe flows and a file goes through in large
//! steps. The blocks go round: there are only so many, and a reader that is ahead waits for one to come back.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender};

use timebloom::ItemHash;

use crate::block::{BLOCK_BYTES, Block, Kind, Record};
use crate::error::Error;
use crate::input::Input;
use crate::progress::Progress;
use crate::record::{Extractor, Splitter};

/// What reaches the other half, in order.
#[derive(Debug)]
pub(crate) enum Message {
    Block(Block),
    /// Reading is over, because of this.
    Failed(Error),
    /// All inputs were read.
    End,
    /// Someone asked the process to stop.
    Signal(i32),
}

/// What becomes of a record without a key, or without a time where times are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Missing {
    /// Print it, whether or not it was seen before
    Keep,
    /// Do not print it
    Drop,
    /// End the run with an error that names the line
    Error,
}

/// What a block is to say about keys.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keying {
    /// Their hashes under this seed.
    Hashes { seed: u64 },
    /// The keys themselves.
    Bytes,
}

#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) extractor: Extractor,
    pub(crate) splitter: Splitter,
    pub(crate) missing: Missing,
    pub(crate) keying: Keying,
    /// The longest record, in bytes.
    pub(crate) max_record: usize,
    pub(crate) progress: Progress,
}

/// Why an input was not read to its end.
enum Stop {
    Failed(Error),
    /// Nobody waits for blocks any more.
    Gone,
}

impl Reader {
    /// Reads all inputs in turn. Returns when they end, at the first failure, or when nobody listens.
    pub(crate) fn run(mut self, inputs: &[Input], empty: &Receiver<Block>, messages: &Sender<Message>) {
        for (number, input) in inputs.iter().enumerate() {
            match self.read_input(number, input, empty, messages) {
                Ok(()) => {}
                Err(Stop::Gone) => return,
                Err(Stop::Failed(error)) => {
                    // if nobody listens, nobody needs to know
                    let _ = messages.send(Message::Failed(error));
                    return;
                }
            }
        }
        let _ = messages.send(Message::End);
    }

    fn read_input(
        &mut self,
        number: usize,
        input: &Input,
        empty: &Receiver<Block>,
        messages: &Sender<Message>,
    ) -> Result<(), Stop> {
        let failed = |source| Stop::Failed(Error::Open { input: input.clone(), source });
        let mut file = input.open().map_err(failed)?;
        let mut header_due = self.extractor.has_header();
        let mut rest = Vec::new();
        let mut line = 1;
        loop {
            let Ok(mut block) = empty.recv() else { return Err(Stop::Gone) };
            block.clear();
            (block.input, block.first_line) = (number, line);
            let ended = self.fill(&mut block, &mut rest, &mut file, input)?;
            line += block.records.len() as u64;
            let lengths = self.check_lengths(&mut block, input);
            let complete = self.examine(&mut block, &mut header_due, input).and(lengths);
            messages.send(Message::Block(block)).map_err(|_| Stop::Gone)?;
            complete.map_err(Stop::Failed)?;
            if ended {
                return Ok(());
            }
        }
    }

    /// Reads until there is a whole record, or the input ends: then returns true. Begins with `rest`, the beginning of a
    /// record that the last block had no end for, and leaves such a beginning there.
    fn fill(
        &mut self,
        block: &mut Block,
        rest: &mut Vec<u8>,
        file: &mut impl Read,
        input: &Input,
    ) -> Result<bool, Stop> {
        let Block { data, records, .. } = block;
        let mut filled = rest.len();
        if data.len() < BLOCK_BYTES.max(2 * filled) {
            data.resize(BLOCK_BYTES.max(2 * filled), 0);
        }
        data[..filled].copy_from_slice(rest);
        rest.clear();
        let mut start = 0;
        loop {
            if filled == data.len() {
                if filled > self.max_record {
                    return Err(Stop::Failed(self.too_long(input, block.first_line)));
                }
                // no more than it takes to see that a record is too long
                data.resize(filled.saturating_mul(2).min(self.max_record.saturating_add(1)), 0);
            }
            let read = match file.read(&mut data[filled..]) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(Stop::Failed(Error::Read { input: input.clone(), source })),
            };
            if read == 0 {
                if filled > start {
                    records.push(Record { start, end: filled, kind: Kind::Keyed });
                    block.unterminated = true;
                }
                self.splitter.restart();
                return Ok(true);
            }
            self.progress.advance(read as u64);
            self.splitter.feed(&data[filled..filled + read], |end| {
                let end = filled + end;
                records.push(Record { start, end, kind: Kind::Keyed });
                start = end + 1;
            });
            filled += read;
            if !records.is_empty() {
                rest.extend_from_slice(&data[start..filled]);
                return Ok(false);
            }
        }
    }

    /// Cuts the block off before the first record that is too long; the error is for after what is left.
    fn check_lengths(&self, block: &mut Block, input: &Input) -> Result<(), Error> {
        if block.data.len() <= self.max_record {
            return Ok(());
        }
        let too_long = |record: &Record| record.end - record.start > self.max_record;
        let Some(index) = block.records.iter().position(too_long) else { return Ok(()) };
        block.records.truncate(index);
        block.unterminated = false;
        Err(self.too_long(input, block.first_line + index as u64))
    }

    fn too_long(&self, input: &Input, line: u64) -> Error {
        Error::LongRecord { input: input.clone(), line, max: self.max_record }
    }

    /// Finds the keys and times of a block's records. At an error, the block ends before the record that caused it.
    fn examine(&mut self, block: &mut Block, header_due: &mut bool, input: &Input) -> Result<(), Error> {
        let mut first = 0;
        if *header_due && let Some(&record) = block.records.first() {
            *header_due = false;
            first = 1;
            block.records[0].kind = if block.input == 0 { Kind::Header } else { Kind::RepeatedHeader };
            for columns in self.extractor.columns_mut() {
                if let Err(source) = columns.read_header(block.content(record)) {
                    block.records.clear();
                    return Err(Error::Csv { input: input.clone(), source });
                }
            }
        }
        let Block { data, records, hashes, keys, times, .. } = block;
        if let Keying::Hashes { seed } = self.keying
            && self.extractor.is_whole_record()
        {
            hashes.extend(records[first..].iter().map(|record| ItemHash::new(&data[record.start..record.end], seed)));
            return Ok(());
        }
        for index in first..records.len() {
            let record = records[index];
            let Some((key, time)) = self.extractor.extract(&data[record.start..record.end]) else {
                match self.missing {
                    Missing::Keep => records[index].kind = Kind::Unkeyed,
                    Missing::Drop => records[index].kind = Kind::Dropped,
                    Missing::Error => {
                        let line = block.first_line + index as u64;
                        records.truncate(index);
                        block.unterminated = false;
                        return Err(Error::NoKey { input: input.clone(), line, timed: self.extractor.has_times() });
                    }
                }
                continue;
            };
            match self.keying {
                Keying::Hashes { seed } => hashes.push(ItemHash::new(key, seed)),
                Keying::Bytes => keys.push(key),
            }
            times.extend(time);
        }
        Ok(())
    }
}
