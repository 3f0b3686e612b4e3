//! Where records end.
//!
//! A splitter is fed one block after the other and remembers where in a record it is, so that no byte is looked at twice
//! however slowly a record comes in.

use super::csv::QUOTE;

#[derive(Clone, Debug)]
pub(crate) enum Splitter {
    /// Records end with this byte.
    Terminator(u8),
    /// Records end with a newline that is not inside quotes.
    Csv { delimiter: u8, place: Place },
}

/// Where in a CSV record the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    FieldStart,
    Unquoted,
    Quoted,
    /// After a quote inside quotes: the end of them, or the first of a pair.
    QuoteInQuoted,
}

impl Splitter {
    pub(crate) fn csv(delimiter: u8) -> Self {
        Splitter::Csv { delimiter, place: Place::FieldStart }
    }

    /// What stands at the end of a record.
    pub(crate) fn terminator(&self) -> u8 {
        match self {
            Splitter::Terminator(byte) => *byte,
            Splitter::Csv { .. } => b'\n',
        }
    }

    /// Calls `found` with the position of each terminator in `bytes`, which continue what was fed before.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(usize)) {
        match self {
            Splitter::Terminator(terminator) => {
                for end in memchr::memchr_iter(*terminator, bytes) {
                    found(end);
                }
            }
            Splitter::Csv { delimiter, place } => *place = feed_csv(*delimiter, *place, bytes, found),
        }
    }

    /// Forgets a record that has no end: the input ended.
    pub(crate) fn restart(&mut self) {
        if let Splitter::Csv { place, .. } = self {
            *place = Place::FieldStart;
        }
    }
}

fn feed_csv(delimiter: u8, mut place: Place, bytes: &[u8], mut found: impl FnMut(usize)) -> Place {
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        match place {
            Place::FieldStart if byte == QUOTE => place = Place::Quoted,
            Place::QuoteInQuoted if byte == QUOTE => place = Place::Quoted,
            Place::Quoted => {
                let Some(at) = memchr::memchr(QUOTE, &bytes[position..]) else { return place };
                position += at;
                place = Place::QuoteInQuoted;
            }
            Place::FieldStart | Place::Unquoted | Place::QuoteInQuoted => {
                let Some(at) = memchr::memchr2(delimiter, b'\n', &bytes[position..]) else { return Place::Unquoted };
                position += at;
                if bytes[position] == b'\n' {
                    found(position);
                }
                place = Place::FieldStart;
            }
        }
        position += 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(mut splitter: Splitter, input: &[u8], block: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        for (number, bytes) in input.chunks(block).enumerate() {
            splitter.feed(bytes, |end| ends.push(number * block + end));
        }
        ends
    }

    #[test]
    fn ends_do_not_depend_on_blocks() {
        let cases: [(&[u8], &[usize]); 7] = [
            (b"a,b\nc\n", &[3, 5]),
            (b"\"a\nb\"\nc\n", &[5, 7]),
            (b"\"a\"\"\nb\"\n", &[7]),
            (b"5\" pipe\nb\n", &[7, 9]),
            (b"x,\"\n\",\"\n\"\n", &[9]),
            (b"\"a\"x\n\n\n", &[4, 5, 6]),
            (b"\"never closed\n\n", &[]),
        ];
        for (input, expected) in cases {
            for block in 1..=input.len() {
                assert_eq!(ends(Splitter::csv(b','), input, block), expected, "{}", input.escape_ascii());
            }
        }
        for block in 1..=6 {
            assert_eq!(ends(Splitter::Terminator(0), b"a\0\nb\0c", block), [1, 4]);
        }
    }
}
