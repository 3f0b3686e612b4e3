//! Columns of CSV records (RFC 4180): fields may be quoted, and then hold delimiters, line ends and doubled quotes.
//!
//! As most readers do, a quote counts only where a field begins; what follows a closing quote up to the delimiter is taken
//! as it is.

use std::fmt;

use super::parts::Parts;

pub(super) const QUOTE: u8 = b'"';

/// A column as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Counted from 0.
    Number(usize),
    Name(String),
}

impl Column {
    /// A number from 1 on, or a name.
    pub(crate) fn parse(text: &str) -> Result<Self, CsvError> {
        match text.parse::<usize>() {
            Ok(0) => Err(CsvError::ColumnZero),
            Ok(number) => Ok(Column::Number(number - 1)),
            Err(_) => Ok(Column::Name(text.to_owned())),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CsvError {
    ColumnZero,
    /// The header does not have this column.
    NoColumn {
        name: String,
        header: Vec<String>,
    },
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CsvError::ColumnZero => f.write_str("columns are counted from 1"),
            CsvError::NoColumn { name, header } => {
                write!(f, "there is no column `{name}`; the header has: {}", header.join(", "))
            }
        }
    }
}

impl std::error::Error for CsvError {}

/// The wanted columns of a record.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    delimiter: u8,
    columns: Vec<Column>,
    /// Each wanted column, counted from 0, with its place in the order they were asked for. Ascending. Names are missing
    /// until a header was read.
    wanted: Vec<(usize, usize)>,
}

impl Columns {
    pub(crate) fn new(columns: Vec<Column>, delimiter: u8) -> Self {
        let mut this = Columns { delimiter, columns, wanted: Vec::new() };
        this.find_columns(|_| None);
        this
    }

    pub(super) fn merged(&self, other: &Columns) -> Option<Columns> {
        let columns = self.columns.iter().chain(&other.columns).cloned().collect();
        (self.delimiter == other.delimiter).then(|| Columns::new(columns, self.delimiter))
    }

    /// Whether a header is needed to know where the columns are.
    pub(super) fn has_names(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, Column::Name(_)))
    }

    /// Looks the names up in the first record of an input.
    pub(crate) fn read_header(&mut self, record: &[u8]) -> Result<(), CsvError> {
        // a byte order mark is not part of the first name
        let record = record.strip_prefix(b"\xef\xbb\xbf").unwrap_or(record);
        let mut header: Vec<Vec<u8>> = Vec::new();
        for field in CsvFields::new(record, self.delimiter) {
            let mut name = Vec::new();
            field.unquote(record, &mut name);
            header.push(name);
        }
        let missing = self.find_columns(|name| header.iter().position(|column| column == name.as_bytes()));
        match missing {
            None => Ok(()),
            Some(name) => {
                let header = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                Err(CsvError::NoColumn { name, header })
            }
        }
    }

    /// Finds the numbers of all columns; returns the first name that has none.
    fn find_columns(&mut self, number_of: impl Fn(&str) -> Option<usize>) -> Option<String> {
        self.wanted.clear();
        let mut missing = None;
        for (place, column) in self.columns.iter().enumerate() {
            match column {
                Column::Number(number) => self.wanted.push((*number, place)),
                Column::Name(name) => match number_of(name) {
                    Some(number) => self.wanted.push((number, place)),
                    None => missing = missing.or_else(|| Some(name.clone())),
                },
            }
        }
        self.wanted.sort_unstable();
        missing
    }

    pub(super) fn read(&self, record: &[u8], parts: &mut Parts) {
        parts.reset(self.columns.len());
        let mut wanted = self.wanted.iter().peekable();
        for (number, field) in CsvFields::new(record, self.delimiter).enumerate() {
            while let Some(&(_, place)) = wanted.next_if(|(wanted, _)| *wanted == number) {
                if field.is_plain(record) {
                    parts.set(place, field.content.clone());
                } else {
                    parts.set_decoded(place, |bytes| field.unquote(record, bytes));
                }
            }
            if wanted.peek().is_none() {
                return;
            }
        }
    }
}

/// One field of a record.
struct CsvField {
    quoted: bool,
    /// Without the quotes around it.
    content: std::ops::Range<usize>,
    /// What stands between the closing quote and the delimiter: nothing, in a sound file.
    tail: std::ops::Range<usize>,
}

impl CsvField {
    /// Whether the content stands in the record as it is.
    fn is_plain(&self, record: &[u8]) -> bool {
        !self.quoted || self.tail.is_empty() && memchr::memchr(QUOTE, &record[self.content.clone()]).is_none()
    }

    /// Appends what the field says.
    fn unquote(&self, record: &[u8], bytes: &mut Vec<u8>) {
        let mut rest = &record[self.content.clone()];
        while self.quoted
            && let Some(quote) = memchr::memchr(QUOTE, rest)
        {
            bytes.extend_from_slice(&rest[..=quote]);
            // the second of the pair
            rest = rest.get(quote + 2..).unwrap_or_default();
        }
        bytes.extend_from_slice(rest);
        bytes.extend_from_slice(&record[self.tail.clone()]);
    }
}

/// The fields of a record, which comes without its line end.
struct CsvFields<'a> {
    record: &'a [u8],
    delimiter: u8,
    /// Where the next field begins; `None` after the last.
    next: Option<usize>,
}

impl<'a> CsvFields<'a> {
    fn new(record: &'a [u8], delimiter: u8) -> Self {
        // the carriage return belongs to the line end
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        CsvFields { record, delimiter, next: Some(0) }
    }

    /// Where the closing quote is, for a field whose content starts at `from`: the end of the record if there is none.
    fn closing_quote(&self, from: usize) -> usize {
        let mut position = from;
        while let Some(at) = memchr::memchr(QUOTE, &self.record[position..]) {
            if self.record.get(position + at + 1) != Some(&QUOTE) {
                return position + at;
            }
            position += at + 2;
        }
        self.record.len()
    }
}

impl Iterator for CsvFields<'_> {
    type Item = CsvField;

    fn next(&mut self) -> Option<CsvField> {
        let start = self.next?;
        let quoted = self.record.get(start) == Some(&QUOTE);
        let (content, tail_start) = if quoted {
            let closing = self.closing_quote(start + 1);
            (start + 1..closing, (closing + 1).min(self.record.len()))
        } else {
            (start..start, start)
        };
        let end =
            memchr::memchr(self.delimiter, &self.record[tail_start..]).map_or(self.record.len(), |at| tail_start + at);
        self.next = (end < self.record.len()).then_some(end + 1);
        Some(if quoted {
            CsvField { quoted, content, tail: tail_start..end }
        } else {
            CsvField { quoted, content: start..end, tail: end..end }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(columns: &[&str], header: Option<&str>, record: &str) -> Vec<Option<String>> {
        let columns = columns.iter().map(|text| Column::parse(text).expect(text)).collect();
        let mut columns = Columns::new(columns, b',');
        if let Some(header) = header {
            columns.read_header(header.as_bytes()).expect(header);
        }
        let mut parts = Parts::default();
        columns.read(record.as_bytes(), &mut parts);
        let value = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (0..parts.len()).map(|index| parts.get(index, record.as_bytes()).map(value)).collect()
    }

    fn fields(record: &str) -> Vec<String> {
        let columns: Vec<String> = (1..=4).map(|number: u32| number.to_string()).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        read(&columns, None, record).into_iter().flatten().collect()
    }

    #[test]
    fn quoting_is_undone() {
        let cases: [(&str, &[&str]); 10] = [
            ("a,b,c", &["a", "b", "c"]),
            ("a,b\r", &["a", "b"]),
            ("", &[""]),
            (",", &["", ""]),
            (r#""a,b",c"#, &["a,b", "c"]),
            ("\"a\nb\",c", &["a\nb", "c"]),
            (r#""say ""hi""",x"#, &[r#"say "hi""#, "x"]),
            (r#"5" pipe,x"#, &[r#"5" pipe"#, "x"]),
            (r#""a"b,c"#, &["ab", "c"]),
            (r#""open,c"#, &["open,c"]),
        ];
        for (record, expected) in cases {
            assert_eq!(fields(record), expected, "{record}");
        }
        assert_eq!(fields(r#""""""#), [r#"""#]);
        assert_eq!(fields(r#""a"",b"#), [r#"a",b"#]);
    }

    #[test]
    fn columns_are_found_by_name_and_by_number() {
        let header = Some("\u{feff}ip,\"app, name\",device");
        assert_eq!(read(&["device", "1"], header, "a,b,c"), [Some("c".into()), Some("a".into())]);
        assert_eq!(read(&["app, name", "ip"], header, "a,b"), [Some("b".into()), Some("a".into())]);
        assert_eq!(read(&["device"], header, "a,b"), [None]);
    }

    #[test]
    fn a_missing_column_is_named_with_those_there_are() {
        let mut columns = Columns::new(vec![Column::Name("user".into())], b';');
        let error = columns.read_header(b"ip;app").expect_err("no such column");
        assert_eq!(error.to_string(), "there is no column `user`; the header has: ip, app");
        assert_eq!(Column::parse("0"), Err(CsvError::ColumnZero));
    }
}
