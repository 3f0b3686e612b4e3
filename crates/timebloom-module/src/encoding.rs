//! A filter as bytes, for RDB, AOF and DUMP: three bytes of ours, then the library's snapshot.
//!
//! ```text
//! version = 1 | kind: 1 = count, 2 = time | error as given: 0 = a fraction, 1 to 5 = 10^-n | snapshot (FORMAT.md)
//! ```
//!
//! Bytes come from anywhere: nothing is believed before the library has checked it.

use std::fmt;
use std::io::{self, Read, Write};

use timebloom::{CountBloom, DecodeError, TimeBloom};

use crate::filter::{Filter, GivenError, Window};

/// The version that is written, and the newest that is read.
pub(crate) const VERSION: u8 = 1;

/// No filter may take more than this, whatever a payload says: the ceiling of `timebloom.max-filter-bytes`.
pub(crate) const CEILING_BYTES: u64 = 1 << 40;

/// Bytes in one piece, in RDB and AOF.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

const HEAD_BYTES: u64 = 3;
const COUNT: u8 = 1;
const TIME: u8 = 2;
const FRACTION: u8 = 0;

/// Why bytes are not a filter that may be loaded.
#[derive(Debug)]
pub(crate) enum LoadError {
    Io(io::Error),
    Version {
        got: u8,
    },
    Kind {
        got: u8,
    },
    GivenError {
        got: u8,
        rate: f64,
    },
    Snapshot(DecodeError),
    Trailing {
        bytes: u64,
    },
    /// The filter could grow beyond the limit.
    MaxBytes {
        got: Option<u64>,
        limit: u64,
    },
    /// The window is not in whole milliseconds, as all of the module's are.
    Span,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Io(error) => error.fmt(f),
            LoadError::Version { got } => write!(f, "version {got} is not known: up to {VERSION} is"),
            LoadError::Kind { got } => write!(f, "there is no kind {got}"),
            LoadError::GivenError { got, rate } => write!(f, "an error rate of {rate} was not given as {got}"),
            LoadError::Snapshot(error) => error.fmt(f),
            LoadError::Trailing { bytes } => write!(f, "{bytes} bytes too many"),
            LoadError::MaxBytes { got: Some(got), limit } => {
                write!(f, "the filter may take {got} bytes, and the limit is {limit} (timebloom.max-filter-bytes)")
            }
            LoadError::MaxBytes { got: None, .. } => f.write_str("the filter has no memory limit"),
            LoadError::Span => f.write_str("the window is not in whole milliseconds"),
        }
    }
}

impl From<DecodeError> for LoadError {
    fn from(error: DecodeError) -> Self {
        LoadError::Snapshot(error)
    }
}

/// How many bytes [`write`] gives.
pub(crate) fn length(filter: &Filter) -> u64 {
    HEAD_BYTES
        + match &filter.window {
            Window::Time(time) => time.snapshot_bytes(),
            Window::Count(count) => count.snapshot_bytes(),
        }
}

pub(crate) fn write(filter: &Filter, mut output: impl Write) -> io::Result<()> {
    let error = match filter.error {
        GivenError::Exponent(n) => n,
        GivenError::Fraction(_) => FRACTION,
    };
    match &filter.window {
        Window::Time(time) => {
            output.write_all(&[VERSION, TIME, error])?;
            time.write_to(output)
        }
        Window::Count(count) => {
            output.write_all(&[VERSION, COUNT, error])?;
            count.write_to(output)
        }
    }
}

/// The filter that is exactly these `length` bytes and may not grow beyond `limit`.
pub(crate) fn read(input: impl Read, length: u64, limit: u64) -> Result<Filter, LoadError> {
    let mut input = input.take(length);
    let mut head = [0; 3];
    input.read_exact(&mut head).map_err(LoadError::Io)?;
    let [version, kind, given] = head;
    if version != VERSION {
        return Err(LoadError::Version { got: version });
    }
    let (window, rate) = match kind {
        TIME => {
            let time = TimeBloom::read_from(&mut input)?;
            if !time.span().as_nanos().is_multiple_of(1_000_000) {
                return Err(LoadError::Span);
            }
            let rate = time.plan().false_positive_rate();
            (Window::Time(time), rate)
        }
        COUNT => {
            let count = CountBloom::read_from(&mut input)?;
            let rate = count.plan().false_positive_rate();
            (Window::Count(count), rate)
        }
        _ => return Err(LoadError::Kind { got: kind }),
    };
    if input.limit() > 0 {
        return Err(LoadError::Trailing { bytes: input.limit() });
    }
    let error = match given {
        FRACTION => GivenError::Fraction(rate),
        1..=5 if GivenError::Exponent(given).rate().to_bits() == rate.to_bits() => GivenError::Exponent(given),
        _ => return Err(LoadError::GivenError { got: given, rate }),
    };
    let filter = Filter::new(window, error);
    match filter.max_bytes() {
        Some(bytes) if bytes <= limit.min(CEILING_BYTES) => Ok(filter),
        got => Err(LoadError::MaxBytes { got, limit: limit.min(CEILING_BYTES) }),
    }
}

/// A writer that hands out what it is given in pieces of [`CHUNK_BYTES`], the last one shorter.
pub(crate) struct Chunks<F> {
    piece: Vec<u8>,
    offset: u64,
    take: F,
}

impl<F: FnMut(u64, &[u8])> Chunks<F> {
    /// `take` gets the offset of each piece, and the piece.
    pub(crate) fn new(take: F) -> Self {
        Chunks { piece: Vec::with_capacity(CHUNK_BYTES), offset: 0, take }
    }

    fn hand_out(&mut self) {
        (self.take)(self.offset, &self.piece);
        self.offset += self.piece.len() as u64;
        self.piece.clear();
    }

    /// Hands out what is left.
    pub(crate) fn finish(mut self) {
        if !self.piece.is_empty() {
            self.hand_out();
        }
    }
}

impl<F: FnMut(u64, &[u8])> Write for Chunks<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == CHUNK_BYTES {
            self.hand_out();
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands out a filter's bytes in pieces.
pub(crate) fn write_chunks(filter: &Filter, take: impl FnMut(u64, &[u8])) {
    let mut chunks = Chunks::new(take);
    write(filter, &mut chunks).expect("a writer that takes everything does not fail");
    chunks.finish();
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use timebloom::Timestamp;

    use super::*;

    fn filters() -> [Filter; 2] {
        let mut time = TimeBloom::builder(Duration::from_secs(60)).max_bytes(8 << 20).seed(1).build().unwrap();
        let mut count = CountBloom::builder(200_000).false_positive_rate(0.02).seed(2).build().unwrap();
        for item in 0..200_000_u32 {
            time.insert_at(item.to_le_bytes(), Timestamp::from_millis(1_700_000_000_000 + u64::from(item / 9)))
                .unwrap();
            count.insert(item.to_le_bytes());
        }
        [
            Filter::new(Window::Time(time), GivenError::Exponent(2)),
            Filter::new(Window::Count(count), GivenError::Fraction(0.02)),
        ]
    }

    fn bytes(filter: &Filter) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_chunks(filter, |offset, piece| {
            assert_eq!(offset, bytes.len() as u64);
            assert!(piece.len() <= CHUNK_BYTES);
            bytes.extend_from_slice(piece);
        });
        assert_eq!(bytes.len() as u64, length(filter));
        bytes
    }

    #[test]
    fn filters_come_back_as_they_were() {
        for filter in filters() {
            let bytes_before = bytes(&filter);
            assert!(bytes_before.len() > CHUNK_BYTES, "more than one piece");
            let back = read(&bytes_before[..], bytes_before.len() as u64, CEILING_BYTES).unwrap();
            assert_eq!(bytes(&back), bytes_before);
            assert_eq!(back.error, filter.error);
        }
    }

    #[test]
    fn filters_that_may_outgrow_the_limit_are_refused() {
        for filter in filters() {
            let bytes = bytes(&filter);
            let limit = filter.max_bytes().unwrap();
            assert!(read(&bytes[..], bytes.len() as u64, limit).is_ok());
            let refused = read(&bytes[..], bytes.len() as u64, limit - 1);
            assert!(matches!(refused, Err(LoadError::MaxBytes { .. })));
        }
        let endless = TimeBloom::builder(Duration::from_secs(60)).build().unwrap();
        let bytes = bytes(&Filter::new(Window::Time(endless), GivenError::Exponent(2)));
        let refused = read(&bytes[..], bytes.len() as u64, CEILING_BYTES);
        assert!(matches!(refused, Err(LoadError::MaxBytes { got: None, .. })));
    }

    #[test]
    fn damaged_heads_cut_and_long_payloads_are_refused() {
        for filter in filters() {
            let bytes = bytes(&filter);
            let read = |bytes: &[u8]| read(bytes, bytes.len() as u64, CEILING_BYTES);
            for (place, value) in [(0, 0), (0, 2), (1, 0), (1, 3), (2, 1), (2, 6), (2, 255)] {
                let mut damaged = bytes.clone();
                damaged[place] = value;
                assert!(read(&damaged).is_err(), "{place} {value}");
            }
            for length in [0, 1, 2, 3, 10, bytes.len() / 2, bytes.len() - 1] {
                assert!(read(&bytes[..length]).is_err());
            }
            let mut long = bytes.clone();
            long.push(0);
            assert!(matches!(read(&long), Err(LoadError::Trailing { bytes: 1 })));
        }
    }
}
