//! A table's rows as a file that other tools read: Parquet, NDJSON or CSV.
//!
//! - [`columns`]: the columns of an export and how stored rows become them. [`nested`]: those that hold several values.
//! - [`encode`]: the file formats.
//!
//! An [`Export`] reads from one snapshot of the store, piece by piece, and holds at most one row group of output.

pub mod columns;
pub mod encode;
mod nested;

use std::time::Instant;

use tidewatch_store::plan::{Filter, Plan, Shape};
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::tables::Table;
use tidewatch_store::{Cursor, StoreError};

use super::ask::all_columns;
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
    pub const ALL: [Format; 3] = [Format::Parquet, Format::Ndjson, Format::Csv];

    /// The name in requests, and the extension of a file.
    pub fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Ndjson => "ndjson",
            Format::Csv => "csv",
        }
    }

    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Parquet => "application/vnd.apache.parquet",
            Format::Ndjson => "application/x-ndjson",
            Format::Csv => "text/csv; charset=utf-8",
        }
    }
}

/// The table of this name.
pub fn table(name: &str) -> Option<Table> {
    Table::ALL.into_iter().find(|table| table.name() == name)
}

/// The names of all tables, for messages.
pub fn table_names() -> String {
    Table::ALL.map(Table::name).join(", ")
}

/// The question that an export answers: every row of these projects in this time.
pub fn plan(table: Table, projects: Vec<u32>, range: Range) -> Plan {
    let shape = Shape::Rows { columns: all_columns(table), order: Vec::new(), limit: usize::MAX, offset: 0 };
    Plan { table, projects, from: range.from, to: range.to, filter: Filter::True, shape }
}

/// An export that has begun.
pub struct Export {
    cursor: Box<dyn Cursor>,
    /// `None` once the file has ended.
    encoder: Option<Encoder>,
    columns: Columns,
}

impl Export {
    /// `cursor` reads a [`plan`] of `table`.
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

    /// The file's next bytes, possibly none yet; `None` after its last. Blocks.
    ///
    /// [`StoreError::Deadline`] leaves the export as it was: the call can be repeated.
    pub fn next(&mut self, memory: &RequestMemory, deadline: Instant) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(encoder) = &mut self.encoder else { return Ok(None) };
        let columns = &self.columns;
        let is_more = self.cursor.read(memory, deadline, &mut |batch| match batch.num_rows() {
            0 => Ok(()),
            _ => encoder.write(&columns.export(batch)?),
        })?;
        match is_more {
            true => Ok(Some(encoder.take())),
            false => self.encoder.take().map(Encoder::finish).transpose(),
        }
    }
}
