//! Cutting a reader into lines, without copying them and without assuming that they are text.
//!
//! [`Lines`] keeps one buffer. A line is handed out as a slice of it; when no whole line is left, the remainder moves
//! to the front and the next read fills the space behind it. The buffer grows only for a line longer than itself.
//!
//! [`Lines::line_is_buffered`] tells whether the next line can be had without waiting for the reader: the moment to
//! flush what was printed so far, so that `tail -f log | timebloom dedup ...` is up to date while files still go
//! through in large blocks.

use std::io::{self, Read};
use std::ops::Range;

const INITIAL_BUFFER: usize = 64 * 1024;

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The bytes before the newline.
    pub(crate) content: &'a [u8],
    /// False only for a last line whose newline is missing.
    pub(crate) terminated: bool,
}

#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The bytes read and not yet handed out.
    unread: Range<usize>,
    /// Everything from the start of `unread` up to here is known to hold no newline. In `unread`.
    searched: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self::with_buffer_size(reader, INITIAL_BUFFER)
    }

    /// `size` is at least 1.
    fn with_buffer_size(reader: R, size: usize) -> Self {
        debug_assert!(size > 0, "doubling an empty buffer would not grow it");
        Self { reader, buffer: vec![0; size], unread: 0..0, searched: 0 }
    }

    /// Whether [`next_line`](Self::next_line) can answer without reading. False at the end of the input.
    pub(crate) fn line_is_buffered(&mut self) -> bool {
        self.find_newline().is_some()
    }

    /// The next line, or `None` at the end of the input.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(newline) = self.find_newline() {
                let content = self.unread.start..newline;
                self.unread.start = newline + 1;
                self.searched = self.unread.start;
                return Ok(Some(Line { content: &self.buffer[content], terminated: true }));
            }
            if self.fill()? == 0 {
                break;
            }
        }
        if self.unread.is_empty() {
            return Ok(None);
        }
        let content = self.unread.clone();
        self.unread.start = self.unread.end;
        Ok(Some(Line { content: &self.buffer[content], terminated: false }))
    }

    /// The position of the first newline in `unread`. No byte is searched twice, except a newline that was found.
    fn find_newline(&mut self) -> Option<usize> {
        let unsearched = &self.buffer[self.searched..self.unread.end];
        match memchr::memchr(b'\n', unsearched) {
            Some(offset) => {
                self.searched += offset;
                Some(self.searched)
            }
            None => {
                self.searched = self.unread.end;
                None
            }
        }
    }

    /// Reads once, behind what is unread. Returns the number of bytes read, 0 at the end of the input.
    fn fill(&mut self) -> io::Result<usize> {
        if self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.searched -= self.unread.start;
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.unread.end..]) {
                Ok(read) => {
                    self.unread.end += read;
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out its chunks one per read, as a pipe does, with an interruption before each.
    struct Pipe {
        chunks: Vec<Vec<u8>>,
        interrupted: bool,
    }

    impl Pipe {
        fn new(input: &[u8], chunk_size: usize) -> Self {
            let mut chunks: Vec<_> = input.chunks(chunk_size).map(<[u8]>::to_vec).collect();
            chunks.reverse();
            Self { chunks, interrupted: false }
        }
    }

    impl Read for Pipe {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let Some(mut chunk) = self.chunks.pop() else { return Ok(0) };
            let read = chunk.len().min(space.len());
            space[..read].copy_from_slice(&chunk[..read]);
            if read < chunk.len() {
                self.chunks.push(chunk.split_off(read));
            }
            Ok(read)
        }
    }

    fn read_all(mut lines: Lines<impl Read>) -> Vec<(Vec<u8>, bool)> {
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().expect("nothing but interruptions goes wrong") {
            all.push((line.content.to_vec(), line.terminated));
        }
        assert_eq!(lines.next_line().expect("the end stays the end"), None);
        all
    }

    #[test]
    fn lines_do_not_depend_on_chunks_or_buffer_size() {
        let inputs: [&[u8]; 8] = [
            b"",
            b"\n",
            b"a",
            b"a\n",
            b"\n\na\r\n\n",
            b"one\ntwo\nthree",
            b"\xff\xfe\0\n\x80\n",
            b"a line much longer than the buffer it starts in\nb\n",
        ];
        for input in inputs {
            let expected: Vec<_> = input
                .split_inclusive(|&byte| byte == b'\n')
                .map(|line| match line.strip_suffix(b"\n") {
                    Some(content) => (content.to_vec(), true),
                    None => (line.to_vec(), false),
                })
                .collect();
            for chunk_size in 1..10 {
                for buffer_size in 1..10 {
                    let lines = Lines::with_buffer_size(Pipe::new(input, chunk_size), buffer_size);
                    let context = format!("{input:?}, chunks of {chunk_size}, buffer of {buffer_size}");
                    assert_eq!(read_all(lines), expected, "{context}");
                }
            }
        }
    }

    #[test]
    fn a_buffered_line_needs_no_read() {
        let mut lines = Lines::new(Pipe::new(b"a\nb\nc\n", 5));
        assert!(!lines.line_is_buffered(), "nothing was read yet");
        lines.next_line().expect("first chunk");
        assert!(lines.line_is_buffered(), "`b` came with the first chunk");
        lines.next_line().expect("still the first chunk");
        assert!(!lines.line_is_buffered(), "`c` came without its newline");
        lines.next_line().expect("second chunk");
        assert!(!lines.line_is_buffered(), "the end of the input is not a line");
    }

    #[test]
    fn read_errors_are_passed_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        let error = Lines::new(Broken).next_line().expect_err("the reader is broken");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
