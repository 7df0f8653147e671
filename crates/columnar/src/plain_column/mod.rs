//! One column chunk in the making of what is written without a list of values: identifiers, times and other numbers,
//! truths, texts of which few are equal.
//!
//! The `parquet` crate makes an object of each identifier, takes rows that are gathered from several arrays only as one
//! array more, and has for each column memory of its own to compress pages with. The pages are, value by value, what the
//! crate would write, and so is what is told of them.
//!
//! - `trace_id_index`: identifiers; `numbers`: as differences, or as they are; `texts`: as they are.
//! - `delta`: differences as Parquet packs them; `bounds`: the least and greatest values of pages and of the chunk.

mod bounds;
mod delta;
mod ids;
mod numbers;
#[cfg(test)]
mod tests;
mod texts;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnDescPtr;

use super::row_ranges::{Run, places};
use crate::plain_column::ids::IdChunk;
use numbers::NumberChunk;
use texts::TextChunk;

use super::page::Compressor;

pub struct FixedChunk(Kind);

enum Kind {
    Ids(IdChunk),
    Numbers(NumberChunk),
    Texts(TextChunk),
}

impl FixedChunk {
    /// `None` when values of this type, or with these properties, are not written here.
    pub fn new(
        column: ColumnDescPtr,
        kind: &DataType,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Result<Option<FixedChunk>> {
        let ids = IdChunk::new(&column, kind, properties, compressor)?.map(Kind::Ids);
        let chunk = ids
            .or_else(|| NumberChunk::new(&column, kind, properties, compressor).map(Kind::Numbers))
            .or_else(|| TextChunk::new(&column, kind, properties, compressor).map(Kind::Texts));
        Ok(chunk.map(FixedChunk))
    }

    /// Appends the rows of an array of the chunk's type.
    pub fn write(&mut self, array: &ArrayRef) -> Result<()> {
        self.write_runs(&[array], &[Run { batch: 0, rows: 0..array.len() }])
    }

    /// Appends the cells of these runs of arrays of the chunk's type.
    pub fn write_runs(&mut self, arrays: &[&ArrayRef], runs: &[Run]) -> Result<()> {
        match &mut self.0 {
            Kind::Ids(chunk) => chunk.write_runs(arrays, runs),
            Kind::Numbers(chunk) => chunk.write_runs(arrays, runs),
            Kind::Texts(chunk) => chunk.write_from(arrays, places(runs)),
        }
    }

    /// Appends the cells at these places (array, row) of arrays of the chunk's type.
    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl Iterator<Item = (usize, usize)>) -> Result<()> {
        match &mut self.0 {
            Kind::Ids(chunk) => chunk.write_from(arrays, places),
            Kind::Numbers(chunk) => chunk.write_from(arrays, places),
            Kind::Texts(chunk) => chunk.write_from(arrays, places),
        }
    }

    /// About what the chunk takes in memory.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Kind::Ids(chunk) => chunk.bytes(),
            Kind::Numbers(chunk) => chunk.bytes(),
            Kind::Texts(chunk) => chunk.bytes(),
        }
    }

    /// The chunk's bytes, and what is to be said of them; offsets count from the first.
    pub fn finish(self) -> Result<(Bytes, ColumnCloseResult)> {
        match self.0 {
            Kind::Ids(chunk) => chunk.finish(),
            Kind::Numbers(chunk) => chunk.finish(),
            Kind::Texts(chunk) => chunk.finish(),
        }
    }
}
