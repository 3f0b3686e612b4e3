//! Writing records as the user wants to see them.
//!
//! Neighbouring records that are all printed are copied as one piece, terminators included.

use std::io::{self, Write};
use std::ops::Range;

use crate::block::{Block, Kind};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Which records are printed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Those that are new.
    Unique,
    /// Those that are not.
    Duplicates,
    /// All, each behind a word that says which it is.
    Mark,
    /// None.
    Count,
    /// All, as if nothing had been asked.
    Shadow,
}

/// What was decided about a keyed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    New,
    Seen,
    /// Too late to be judged.
    Late,
}

/// Records by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// All but headers.
    pub(crate) records: u64,
    pub(crate) new: u64,
    pub(crate) seen: u64,
    pub(crate) late: u64,
    pub(crate) unkeyed: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Output<W> {
    writer: W,
    buffer: Vec<u8>,
    mode: Mode,
    terminator: u8,
    /// Each record is written by itself, at once.
    line_buffered: bool,
    /// The last record printed came without a terminator: the next one must not be glued to it.
    terminator_owed: bool,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(writer: W, mode: Mode, terminator: u8, line_buffered: bool) -> Self {
        let buffer = Vec::with_capacity(BUFFER_BYTES);
        Output { writer, buffer, mode, terminator, line_buffered, terminator_owed: false }
    }

    /// Prints what is to be printed of a block, and counts it. `fates` are those of its keyed records; if there are fewer,
    /// the run ended in the middle, and the records from the first without a fate on are left out.
    pub(crate) fn print(&mut self, block: &Block, fates: &[Fate], counts: &mut Counts) -> io::Result<()> {
        let mut fates = fates.iter();
        let mut piece = 0..0;
        for (index, record) in block.records.iter().enumerate() {
            let fate = match record.kind {
                Kind::Keyed => match fates.next() {
                    Some(&fate) => Some(fate),
                    None => break,
                },
                _ => None,
            };
            let terminated = !(block.unterminated && index + 1 == block.records.len());
            let range = record.start..record.end + usize::from(terminated);
            counts.note(record.kind, fate, range.len());
            if !self.is_printed(record.kind, fate) {
                continue;
            }
            if self.terminator_owed {
                self.terminator_owed = false;
                self.buffer.push(self.terminator);
            }
            if self.mode == Mode::Mark {
                self.copy(block, &mut piece)?;
                self.buffer.extend_from_slice(mark(record.kind, fate));
            }
            if piece.end == range.start {
                piece.end = range.end;
            } else {
                self.copy(block, &mut piece)?;
                piece = range;
            }
            if !terminated {
                self.terminator_owed = true;
            }
            if self.line_buffered {
                self.copy(block, &mut piece)?;
                self.flush()?;
            }
        }
        self.copy(block, &mut piece)
    }

    fn is_printed(&self, kind: Kind, fate: Option<Fate>) -> bool {
        match (kind, self.mode) {
            (_, Mode::Count) | (Kind::RepeatedHeader, _) => false,
            (Kind::Header, _) | (_, Mode::Shadow) => true,
            (Kind::Dropped, _) => false,
            (Kind::Unkeyed, mode) => mode != Mode::Duplicates,
            (Kind::Keyed, Mode::Mark) => true,
            (Kind::Keyed, Mode::Unique) => fate == Some(Fate::New),
            (Kind::Keyed, Mode::Duplicates) => fate == Some(Fate::Seen),
        }
    }

    /// Moves a piece of the block into the buffer, or past it if it is large.
    fn copy(&mut self, block: &Block, piece: &mut Range<usize>) -> io::Result<()> {
        let bytes = &block.data[piece.clone()];
        *piece = 0..0;
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.write_buffer()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            return self.writer.write_all(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes a line of our own.
    pub(crate) fn say(&mut self, line: &str) -> io::Result<()> {
        self.buffer.extend_from_slice(line.as_bytes());
        self.buffer.push(self.terminator);
        self.flush()
    }

    /// Lets the reader of the output have all there is.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.write_buffer()?;
        self.writer.flush()
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        // emptied even if it fails: an error is reported once, and nothing is written twice
        let written = self.writer.write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}

/// The word before a record, with a tab; headers have none.
fn mark(kind: Kind, fate: Option<Fate>) -> &'static [u8] {
    match (kind, fate) {
        (Kind::Keyed, Some(Fate::New)) => b"new\t",
        (Kind::Keyed, Some(Fate::Seen)) => b"seen\t",
        (Kind::Keyed, _) => b"late\t",
        (Kind::Unkeyed | Kind::Dropped, _) => b"nokey\t",
        (Kind::Header | Kind::RepeatedHeader, _) => b"",
    }
}

impl Counts {
    fn note(&mut self, kind: Kind, fate: Option<Fate>, bytes: usize) {
        self.bytes += bytes as u64;
        if matches!(kind, Kind::Header | Kind::RepeatedHeader) {
            return;
        }
        self.records += 1;
        match fate {
            Some(Fate::New) => self.new += 1,
            Some(Fate::Seen) => self.seen += 1,
            Some(Fate::Late) => self.late += 1,
            None => self.unkeyed += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Record;

    /// Lines and what became of them: `n`ew, `s`een, `l`ate, `u`nkeyed, `d`ropped, `h`eader.
    fn print(output: &mut Output<Vec<u8>>, lines: &str, fates: &str, unterminated: bool) -> Counts {
        let mut block = Block { data: lines.as_bytes().to_vec(), unterminated, ..Block::default() };
        let mut decided = Vec::new();
        let mut start = 0;
        for (line, fate) in lines.split_terminator('\n').zip(fates.chars()) {
            let kind = match fate {
                'u' => Kind::Unkeyed,
                'd' => Kind::Dropped,
                'h' => Kind::Header,
                _ => Kind::Keyed,
            };
            match fate {
                'n' => decided.push(Fate::New),
                's' => decided.push(Fate::Seen),
                'l' => decided.push(Fate::Late),
                _ => {}
            }
            block.records.push(Record { start, end: start + line.len(), kind });
            start += line.len() + 1;
        }
        let mut counts = Counts::default();
        output.print(&block, &decided, &mut counts).expect("memory takes it");
        counts
    }

    fn printed(mode: Mode) -> String {
        let mut output = Output::new(Vec::new(), mode, b'\n', false);
        let counts = print(&mut output, "h\na\nb\na\nc\nd\ne\n", "hnnsuld", false);
        output.flush().expect("memory takes it");
        let expected = Counts { records: 6, new: 2, seen: 1, late: 1, unkeyed: 2, bytes: 14 };
        assert_eq!(counts, expected, "{mode:?}");
        String::from_utf8(output.writer).expect("text in, text out")
    }

    #[test]
    fn each_mode_prints_its_records() {
        assert_eq!(printed(Mode::Unique), "h\na\nb\nc\n");
        assert_eq!(printed(Mode::Duplicates), "h\na\n");
        assert_eq!(printed(Mode::Mark), "h\nnew\ta\nnew\tb\nseen\ta\nnokey\tc\nlate\td\n");
        assert_eq!(printed(Mode::Count), "");
        assert_eq!(printed(Mode::Shadow), "h\na\nb\na\nc\nd\ne\n");
    }

    #[test]
    fn a_missing_terminator_is_made_up_for_only_when_more_follows() {
        let mut output = Output::new(Vec::new(), Mode::Unique, b'\n', false);
        print(&mut output, "a\nb", "nn", true);
        print(&mut output, "b", "s", true);
        output.flush().expect("memory takes it");
        assert_eq!(output.writer, b"a\nb");
        print(&mut output, "c\nd", "nn", true);
        output.flush().expect("memory takes it");
        assert_eq!(output.writer, b"a\nb\nc\nd");
    }

    #[test]
    fn large_pieces_keep_their_place() {
        let long = "x".repeat(BUFFER_BYTES);
        let mut output = Output::new(Vec::new(), Mode::Unique, b'\n', false);
        let lines = format!("a\n{long}\nb\nc\n{long}\n");
        print(&mut output, &lines, "nnsnn", false);
        output.flush().expect("memory takes it");
        assert!(output.writer == format!("a\n{long}\nc\n{long}\n").into_bytes());
    }
}
