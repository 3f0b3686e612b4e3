//! Reading the fields of a header: each one in its place, in its range.

use std::ops::RangeInclusive;

use super::error::DecodeError;

/// The bytes before the first checksum, read from front to back. They are all there: running past the end is a mistake
/// in this library, not in the snapshot.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, at: 0 }
    }

    /// Where the next field stands.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let field = self.bytes[self.at..].first_chunk().expect("the layout counts every field");
        self.at += N;
        *field
    }

    pub(super) fn u8(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub(super) fn f64(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }

    pub(super) fn u16_in(&mut self, field: &'static str, allowed: RangeInclusive<u16>) -> Result<u16, DecodeError> {
        let offset = self.offset();
        in_range(self.u16(), field, allowed, offset)
    }

    pub(super) fn u32_in(&mut self, field: &'static str, allowed: RangeInclusive<u32>) -> Result<u32, DecodeError> {
        let offset = self.offset();
        in_range(self.u32(), field, allowed, offset)
    }

    pub(super) fn u64_in(&mut self, field: &'static str, allowed: RangeInclusive<u64>) -> Result<u64, DecodeError> {
        let offset = self.offset();
        in_range(self.u64(), field, allowed, offset)
    }

    pub(super) fn f64_in(&mut self, field: &'static str, allowed: RangeInclusive<f64>) -> Result<f64, DecodeError> {
        let offset = self.offset();
        let got = self.f64();
        if allowed.contains(&got) {
            return Ok(got);
        }
        let (min, max) = allowed.into_inner();
        Err(DecodeError::Invalid { field, what: format!("{got:e} is not in {min:e}..={max:e}"), offset })
    }

    /// A field of one byte that stands for something.
    pub(super) fn code<T>(&mut self, field: &'static str, meaning: impl Fn(u8) -> Option<T>) -> Result<T, DecodeError> {
        let offset = self.offset();
        let code = self.u8();
        meaning(code).ok_or_else(|| DecodeError::Invalid { field, what: format!("nothing has code {code}"), offset })
    }

    /// Bytes without a meaning, so far: they are 0, or a later version that gives them one could not be told apart.
    pub(super) fn zeros<const N: usize>(&mut self) -> Result<(), DecodeError> {
        let offset = self.offset();
        let bytes: [u8; N] = self.take();
        if bytes == [0; N] {
            return Ok(());
        }
        Err(DecodeError::Invalid { field: "an unused field", what: format!("{bytes:?} is not zero"), offset })
    }
}

/// The whole number that was found at `offset`, if it is allowed.
fn in_range<T: PartialOrd + Into<u64>>(
    got: T,
    field: &'static str,
    allowed: RangeInclusive<T>,
    offset: u64,
) -> Result<T, DecodeError> {
    if allowed.contains(&got) {
        return Ok(got);
    }
    let (min, max) = allowed.into_inner();
    Err(DecodeError::OutOfRange { field, got: got.into(), min: min.into(), max: max.into(), offset })
}
