//! What makes two records the same.

use crate::record::{Column, Columns, FieldRange, Fields, Key, Pattern, Pointer, Pointers, Source, Splitter};

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Key: what makes two lines the same (default: all of the line)")]
pub(crate) struct KeyArgs {
    /// Fields, such as 1,7 or 2-4: words between blanks, or what stands between delimiters
    #[arg(long, short, value_name = "N,...", value_delimiter = ',', value_parser = FieldRange::parse,
          group = "key", allow_hyphen_values = true)]
    field: Vec<FieldRange>,

    /// What divides fields (default: any number of spaces and tabs) or columns (default: a comma); \t is a tab
    #[arg(long, short, value_name = "BYTE", value_parser = super::byte)]
    delimiter: Option<u8>,

    /// The groups captured by a regular expression, or all that matches if it has none
    #[arg(long, value_name = "REGEX", value_parser = Pattern::new, group = "key")]
    regex: Option<Pattern>,

    /// Values in JSON, by pointers such as /id or /user/name; may be repeated
    #[arg(long, value_name = "POINTER", value_delimiter = ',', value_parser = Pointer::parse, group = "key")]
    json: Vec<Pointer>,

    /// Columns of CSV, by number or by the names in the first line, such as user,item
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = Column::parse, group = "key")]
    csv: Vec<Column>,
}

impl KeyArgs {
    pub(crate) fn key(&self) -> Key {
        self.source().map_or(Key::Record, Key::Values)
    }

    fn source(&self) -> Option<Source> {
        if !self.field.is_empty() {
            return Some(Source::Fields(Fields::new(&self.field, self.delimiter)));
        }
        if let Some(pattern) = &self.regex {
            return Some(Source::Pattern(pattern.clone()));
        }
        if !self.json.is_empty() {
            return Some(Source::Json(Pointers::new(self.json.clone())));
        }
        if !self.csv.is_empty() {
            return Some(Source::Csv(Columns::new(self.csv.clone(), self.csv_delimiter())));
        }
        None
    }

    pub(crate) fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    pub(crate) fn csv_delimiter(&self) -> u8 {
        self.delimiter.unwrap_or(b',')
    }

    /// Whether a delimiter means anything for the key.
    pub(crate) fn has_delimited(&self) -> bool {
        !self.field.is_empty() || !self.csv.is_empty()
    }

    /// How records are told apart: `null` is for those that end with a zero byte.
    pub(crate) fn splitter(&self, null: bool, csv_time: bool) -> Splitter {
        match (null, csv_time || !self.csv.is_empty()) {
            (true, _) => Splitter::Terminator(0),
            (false, true) => Splitter::csv(self.csv_delimiter()),
            (false, false) => Splitter::Terminator(b'\n'),
        }
    }
}

/// The same for commands whose `--json` says how to print.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Keys of the sample (default: all of each line)")]
pub(crate) struct SampleKeyArgs {
    /// Fields, such as 1,7 or 2-4: words between blanks, or what stands between delimiters
    #[arg(long, short, value_name = "N,...", value_delimiter = ',', value_parser = FieldRange::parse,
          group = "key", allow_hyphen_values = true, requires = "sample")]
    field: Vec<FieldRange>,

    /// What divides fields (default: any number of spaces and tabs) or columns (default: a comma); \t is a tab
    #[arg(long, short, value_name = "BYTE", value_parser = super::byte, requires = "sample")]
    delimiter: Option<u8>,

    /// The groups captured by a regular expression, or all that matches if it has none
    #[arg(long, value_name = "REGEX", value_parser = Pattern::new, group = "key", requires = "sample")]
    regex: Option<Pattern>,

    /// Values in JSON, by pointers such as /id or /user/name; may be repeated
    #[arg(long, value_name = "POINTER", value_delimiter = ',', value_parser = Pointer::parse, group = "key",
          requires = "sample")]
    pointer: Vec<Pointer>,

    /// Columns of CSV, by number or by the names in the first line, such as user,item
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = Column::parse, group = "key",
          requires = "sample")]
    csv: Vec<Column>,
}

impl SampleKeyArgs {
    pub(crate) fn as_key_args(&self) -> KeyArgs {
        let SampleKeyArgs { field, delimiter, regex, pointer, csv } = self.clone();
        KeyArgs { field, delimiter, regex, json: pointer, csv }
    }
}
