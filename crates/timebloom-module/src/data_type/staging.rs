//! A filter that arrives in pieces, until it is whole. Pure: no server.

use crate::encoding::{self, CEILING_BYTES, CHUNK_BYTES};
use crate::filter::Filter;

/// The database and the name of a key.
pub(crate) type Place = (i32, Vec<u8>);

/// What has come of one filter.
pub(crate) struct Staging {
    open: Option<Open>,
}

struct Open {
    place: Place,
    length: u64,
    bytes: Vec<u8>,
}

impl Staging {
    pub(crate) const fn new() -> Self {
        Staging { open: None }
    }

    /// Takes the next piece; gives the filter if it was the last one. A piece at 0 begins anew; any other must go on where
    /// the one before ended. Memory is taken for what has come, not for what is announced.
    pub(crate) fn take(
        &mut self,
        place: Place,
        length: u64,
        offset: u64,
        piece: &[u8],
    ) -> Result<Option<Filter>, String> {
        if piece.is_empty() || piece.len() > CHUNK_BYTES {
            self.open = None;
            return Err(format!("a piece of {} bytes: 1 to {CHUNK_BYTES} are allowed", piece.len()));
        }
        let mut open = match (offset, self.open.take()) {
            (0, _) => Open { place, length, bytes: Vec::new() },
            (_, Some(open)) if open.place == place && open.length == length && open.bytes.len() as u64 == offset => {
                open
            }
            (_, _) => return Err(format!("a piece at {offset} that continues nothing")),
        };
        open.bytes.extend_from_slice(piece);
        let come = open.bytes.len() as u64;
        if come > open.length {
            return Err(format!("{come} bytes of {}", open.length));
        }
        if come < open.length {
            self.open = Some(open);
            return Ok(None);
        }
        encoding::read(&open.bytes[..], open.length, CEILING_BYTES).map(Some).map_err(|error| error.to_string())
    }

    /// Forgets what has come; tells whether there was anything.
    pub(crate) fn clear(&mut self) -> bool {
        self.open.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use timebloom::CountBloom;

    use super::*;
    use crate::filter::{GivenError, Window};

    fn bytes() -> Vec<u8> {
        let mut count = CountBloom::builder(1_000).seed(2).build().unwrap();
        count.extend((0..2_000_u32).map(u32::to_le_bytes));
        let mut bytes = Vec::new();
        encoding::write(&Filter::new(Window::Count(count), GivenError::Exponent(2)), &mut bytes).unwrap();
        bytes
    }

    fn place(name: &str) -> Place {
        (0, name.as_bytes().to_vec())
    }

    #[test]
    fn pieces_in_order_make_the_filter() {
        let bytes = bytes();
        let length = bytes.len() as u64;
        for size in [1, 7, 1_000, bytes.len()] {
            let mut staging = Staging::new();
            let mut whole = None;
            for (number, piece) in bytes.chunks(size).enumerate() {
                assert!(whole.is_none());
                whole = staging.take(place("a"), length, (number * size) as u64, piece).unwrap();
            }
            let mut back = Vec::new();
            encoding::write(&whole.expect("the last piece has come"), &mut back).unwrap();
            assert_eq!(back, bytes);
            assert!(!staging.clear());
        }
    }

    #[test]
    fn pieces_that_do_not_follow_are_refused_and_leave_nothing() {
        let bytes = bytes();
        let length = bytes.len() as u64;
        let begun = || {
            let mut staging = Staging::new();
            assert!(staging.take(place("a"), length, 0, &bytes[..100]).unwrap().is_none());
            staging
        };
        assert!(begun().clear());
        for (name, length, offset, piece) in [
            ("b", length, 100, &bytes[100..200]),
            ("a", length + 1, 100, &bytes[100..200]),
            ("a", length, 99, &bytes[100..200]),
            ("a", length, 101, &bytes[100..200]),
            ("a", length, u64::MAX, &bytes[100..200]),
            ("a", length, 100, &bytes[..]),
            ("a", length, 100, &[]),
        ] {
            let mut staging = begun();
            assert!(staging.take(place(name), length, offset, piece).is_err(), "{name} {offset}");
            assert!(!staging.clear());
        }
        let (last, most) = bytes.split_last().unwrap();
        let mut staging = Staging::new();
        assert!(staging.take(place("a"), length, 0, most).unwrap().is_none());
        assert!(staging.take(place("a"), length, length - 1, &[last ^ 1]).is_err());
    }
}
