//! File formats of exports.

/// The file format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One file of row groups, compressed.
    Parquet,
    /// A JSON object per line.
    Ndjson,
    /// RFC 4180, with a line of column names.
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 3] = [Format::Parquet, Format::Ndjson, Format::Csv];

    /// The name in requests, and the extension of files.
    pub fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Ndjson => "ndjson",
            Format::Csv => "csv",
        }
    }

    /// The format of this name; `None` when there is none.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type of files.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Parquet => "application/vnd.apache.parquet",
            Format::Ndjson => "application/x-ndjson",
            Format::Csv => "text/csv; charset=utf-8",
        }
    }
}
