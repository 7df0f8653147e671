//! Exports of a table as a file for other tools: Parquet, NDJSON or CSV.
//!
//! - [`columns`]: the columns of an export, and the conversion of stored rows. [`nested`]: columns of nested types.
//! - [`encode`]: the file formats.
//!
//! An [`Export`] reads one snapshot of the store, piece by piece, and buffers at most one row group of output.
//!
//! Invariant: every stored row of the range is in the file once.

pub mod columns;
pub mod encode;
mod nested;

use std::time::Instant;

use tidewatch_store::plan::{Filter, Plan, Shape};
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::tables::Table;
use tidewatch_store::{Cursor, StoreError};

use super::plans::all_columns;
use super::time::Range;
use columns::{Columns, ProjectIds};
use encode::Encoder;

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

/// The table of this name; `None` when there is none.
pub fn table(name: &str) -> Option<Table> {
    Table::ALL.into_iter().find(|table| table.name() == name)
}

/// The names of all tables, separated by commas, for messages.
pub fn table_names() -> String {
    Table::ALL.map(Table::name).join(", ")
}

/// The plan of an export: all rows of `projects` in `range`, with all columns, in any order.
pub fn plan(table: Table, projects: Vec<u32>, range: Range) -> Plan {
    let shape = Shape::Rows { columns: all_columns(table), order: Vec::new(), limit: usize::MAX, offset: 0 };
    Plan { table, projects, from: range.from, to: range.to, filter: Filter::True, shape }
}

/// A running export.
pub struct Export {
    cursor: Box<dyn Cursor>,
    /// `None` after the end of the file.
    encoder: Option<Encoder>,
    columns: Columns,
}

impl Export {
    /// Starts an export. `cursor` reads a [`plan`] of `table`.
    pub fn start(
        cursor: Box<dyn Cursor>,
        table: Table,
        format: Format,
        projects: ProjectIds,
    ) -> Result<Export, StoreError> {
        let columns = Columns::of(table, format, projects);
        let encoder = Some(Encoder::start(format, columns.schema(), table)?);
        Ok(Export { cursor, encoder, columns })
    }

    /// Reads one piece of rows and returns the bytes of the file that are complete, possibly none; `None` after the end
    /// of the file. Blocks.
    ///
    /// After [`StoreError::Deadline`] the call can be repeated.
    pub fn next(&mut self, memory: &RequestMemory, deadline: Instant) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(encoder) = &mut self.encoder else { return Ok(None) };
        let columns = &self.columns;
        let has_more = self.cursor.read(memory, deadline, &mut |batch| match batch.num_rows() {
            0 => Ok(()),
            _ => encoder.write(&columns.export(batch)?),
        })?;
        match has_more {
            true => Ok(Some(encoder.take())),
            false => self.encoder.take().map(Encoder::finish).transpose(),
        }
    }
}
