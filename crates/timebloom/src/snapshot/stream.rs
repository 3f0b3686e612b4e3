//! Bytes that pass through a checksum, a chunk at a time.

use std::io::{self, Read, Write};

use super::error::DecodeError;
use super::layout::CHECKSUM_BYTES;

/// What is read, written or made room for at once, unless it is known that more is there.
const CHUNK: usize = 8 * 1024;

const WORD: usize = size_of::<u64>();

/// Where a snapshot is written to.
pub(super) struct Sink<W> {
    output: W,
    chunk: [u8; CHUNK],
    used: usize,
    /// Of everything so far but the checksums themselves.
    checksum: crc32fast::Hasher,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(output: W) -> Self {
        Sink { output, chunk: [0; CHUNK], used: 0, checksum: crc32fast::Hasher::new() }
    }

    /// Writes a few bytes: at most [`CHUNK`].
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.put_unsummed(bytes)
    }

    /// Writes words, each with one of up to eight masks in turn.
    pub(super) fn put_words(&mut self, words: &[u64], masks: &[u64]) -> io::Result<()> {
        // every chunk begins with the first mask
        let at_once = CHUNK / WORD / masks.len() * masks.len();
        for words in words.chunks(at_once) {
            let bytes = self.make_place(words.len() * WORD)?;
            for (place, word) in bytes.chunks_exact_mut(WORD).zip(words.iter().zip(masks.iter().cycle())) {
                place.copy_from_slice(&(word.0 & word.1).to_le_bytes());
            }
            let end = self.used;
            self.checksum.update(&self.chunk[end - words.len() * WORD..end]);
        }
        Ok(())
    }

    /// Writes the checksum of everything so far. What follows is summed on top of it.
    pub(super) fn put_checksum(&mut self) -> io::Result<()> {
        // not summed itself: a checksum of data that ends in its checksum is the same for all data
        self.put_unsummed(&self.checksum.clone().finalize().to_le_bytes())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush_chunk()?;
        self.output.flush()
    }

    fn put_unsummed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.make_place(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// The next `count` bytes of the output, at most [`CHUNK`], to be filled by the caller.
    fn make_place(&mut self, count: usize) -> io::Result<&mut [u8]> {
        if count > CHUNK - self.used {
            self.flush_chunk()?;
        }
        let begin = self.used;
        self.used += count;
        Ok(&mut self.chunk[begin..self.used])
    }

    fn flush_chunk(&mut self) -> io::Result<()> {
        self.output.write_all(&self.chunk[..self.used])?;
        self.used = 0;
        Ok(())
    }
}

/// Where a snapshot is read from: exactly as many bytes as it has. Memory is only taken for bytes that have come, or are
/// known to be there.
pub(super) struct Source<R> {
    input: R,
    chunk: [u8; CHUNK],
    /// Bytes read so far.
    offset: u64,
    /// At least this many bytes are still there.
    known: u64,
    checksum: crc32fast::Hasher,
}

impl<R: Read> Source<R> {
    /// A source that is known to have at least `known` bytes.
    pub(super) fn new(input: R, known: u64) -> Self {
        Source { input, chunk: [0; CHUNK], offset: 0, known, checksum: crc32fast::Hasher::new() }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads up to the end of `place`, and tells how many bytes came: fewer only when the input has ended.
    pub(super) fn read_up_to(&mut self, place: &mut [u8]) -> Result<usize, DecodeError> {
        let came = self.read_unsummed(place)?;
        self.checksum.update(&place[..came]);
        Ok(came)
    }

    /// Fills `place`.
    pub(super) fn read(&mut self, place: &mut [u8]) -> Result<(), DecodeError> {
        let came = self.read_up_to(place)?;
        self.all_of(place.len(), came)
    }

    /// Appends `count` bytes to `bytes`.
    pub(super) fn append(&mut self, bytes: &mut Vec<u8>, count: usize) -> Result<(), DecodeError> {
        let end = bytes.len() + count;
        while bytes.len() < end {
            let begin = bytes.len();
            let step = (end - begin).min(CHUNK);
            self.make_room(bytes, step, end)?;
            bytes.resize(begin + step, 0);
            self.read(&mut bytes[begin..])?;
        }
        Ok(())
    }

    /// Reads `count` words, into a vector that has room for `spare` more.
    pub(super) fn read_words(&mut self, count: usize, spare: usize) -> Result<Vec<u64>, DecodeError> {
        let mut words = Vec::new();
        while words.len() < count {
            let step = (count - words.len()).min(CHUNK / WORD);
            self.read_chunk(step * WORD)?;
            let step = if words.len() + step == count { step + spare } else { step };
            self.make_room(&mut words, step, count + spare)?;
            words.extend(words_of(&self.chunk[..step.min(count - words.len()) * WORD]));
        }
        Ok(words)
    }

    /// Reads a checksum and compares it with that of everything so far.
    pub(super) fn expect_checksum(&mut self) -> Result<(), DecodeError> {
        let offset = self.offset;
        let computed = self.checksum.clone().finalize();
        let mut bytes = [0; CHECKSUM_BYTES];
        let came = self.read_unsummed(&mut bytes)?;
        self.all_of(bytes.len(), came)?;
        let stored = u32::from_le_bytes(bytes);
        if stored == computed { Ok(()) } else { Err(DecodeError::Checksum { offset, stored, computed }) }
    }

    /// Fills the first `count` bytes of the chunk.
    fn read_chunk(&mut self, count: usize) -> Result<(), DecodeError> {
        let came = fill(&mut self.input, &mut self.chunk[..count])?;
        self.checksum.update(&self.chunk[..came]);
        self.account(came);
        self.all_of(count, came)
    }

    fn read_unsummed(&mut self, place: &mut [u8]) -> Result<usize, DecodeError> {
        let came = fill(&mut self.input, place)?;
        self.account(came);
        Ok(came)
    }

    fn account(&mut self, came: usize) {
        self.offset += came as u64;
        self.known = self.known.saturating_sub(came as u64);
    }

    fn all_of(&self, wanted: usize, came: usize) -> Result<(), DecodeError> {
        if came == wanted { Ok(()) } else { Err(DecodeError::Truncated { offset: self.offset }) }
    }

    /// Makes room in a vector that grows to `all` elements for the next `step`, and for more: for all of them if so many
    /// bytes are known to be there, give or take a chunk, else for as many as came already.
    fn make_room<T>(&self, vector: &mut Vec<T>, step: usize, all: usize) -> Result<(), DecodeError> {
        if vector.capacity() - vector.len() >= step {
            return Ok(());
        }
        let missing = all - vector.len();
        let is_known = (missing as u64).saturating_mul(size_of::<T>() as u64) <= self.known + CHUNK as u64;
        let room = if is_known { missing } else { missing.min(vector.len().max(step)) };
        vector.try_reserve_exact(room).map_err(|_| DecodeError::Io(io::ErrorKind::OutOfMemory.into()))
    }
}

/// Reads up to the end of `place`, and tells how many bytes came: fewer only when the input has ended.
fn fill(input: &mut impl Read, place: &mut [u8]) -> io::Result<usize> {
    let mut came = 0;
    while came < place.len() {
        match input.read(&mut place[came..]) {
            Ok(0) => break,
            Ok(more) => came += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(came)
}

fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(WORD).map(|word| u64::from_le_bytes(word.try_into().expect("chunks of eight bytes")))
}
