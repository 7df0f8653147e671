//! Writes a column chunk without a dictionary: identifiers, times and other numbers, booleans, and strings that rarely
//! repeat.
//!
//! The writer of the `parquet` crate allocates an object per identifier, needs a copy of rows that are gathered from
//! several arrays, and has compression buffers per column. The pages and the metadata are the same, value by value, as
//! those of that writer.
//!
//! - `ids`: identifiers; `numbers`: numbers, delta-encoded or plain; `strings`: plain strings.
//! - `delta`: the `DELTA_BINARY_PACKED` encoding; `bounds`: minimum and maximum of the pages and of the chunk.

mod bounds;
mod delta;
mod ids;
mod numbers;
mod strings;
#[cfg(test)]
mod tests;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnDescPtr;

use super::row_ranges::{RowRange, places};
use crate::plain_column::ids::IdColumnWriter;
use numbers::NumberColumnWriter;
use strings::StringColumnWriter;

use super::page::Compressor;

/// The writer of one column chunk.
pub struct PlainColumnWriter(Kind);

enum Kind {
    Ids(IdColumnWriter),
    Numbers(NumberColumnWriter),
    Strings(StringColumnWriter),
}

impl PlainColumnWriter {
    /// `None` when this type, or these properties, are not supported.
    pub fn new(
        column: ColumnDescPtr,
        kind: &DataType,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Result<Option<PlainColumnWriter>> {
        let ids = IdColumnWriter::new(&column, kind, properties, compressor)?.map(Kind::Ids);
        let chunk = ids
            .or_else(|| NumberColumnWriter::new(&column, kind, properties, compressor).map(Kind::Numbers))
            .or_else(|| StringColumnWriter::new(&column, kind, properties, compressor).map(Kind::Strings));
        Ok(chunk.map(PlainColumnWriter))
    }

    /// Appends the rows of an array of the chunk's type.
    pub fn write(&mut self, array: &ArrayRef) -> Result<()> {
        self.write_ranges(&[array], &[RowRange { batch: 0, rows: 0..array.len() }])
    }

    /// Appends the cells of these ranges of arrays of the chunk's type.
    pub fn write_ranges(&mut self, arrays: &[&ArrayRef], ranges: &[RowRange]) -> Result<()> {
        match &mut self.0 {
            Kind::Ids(chunk) => chunk.write_ranges(arrays, ranges),
            Kind::Numbers(chunk) => chunk.write_ranges(arrays, ranges),
            Kind::Strings(chunk) => chunk.write_from(arrays, places(ranges)),
        }
    }

    /// Appends the cells at these places (array, row) of arrays of the chunk's type.
    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl Iterator<Item = (usize, usize)>) -> Result<()> {
        match &mut self.0 {
            Kind::Ids(chunk) => chunk.write_from(arrays, places),
            Kind::Numbers(chunk) => chunk.write_from(arrays, places),
            Kind::Strings(chunk) => chunk.write_from(arrays, places),
        }
    }

    /// Approximate memory use of the chunk, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Kind::Ids(chunk) => chunk.bytes(),
            Kind::Numbers(chunk) => chunk.bytes(),
            Kind::Strings(chunk) => chunk.bytes(),
        }
    }

    /// Returns the chunk's bytes and metadata. Offsets count from the chunk's first byte.
    pub fn finish(self) -> Result<(Bytes, ColumnCloseResult)> {
        match self.0 {
            Kind::Ids(chunk) => chunk.finish(),
            Kind::Numbers(chunk) => chunk.finish(),
            Kind::Strings(chunk) => chunk.finish(),
        }
    }
}
