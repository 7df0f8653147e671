//! Writes a dictionary-encoded column chunk of strings (or other bytes) or numbers.
//!
//! Each distinct value has a number, its dictionary index, and rows are lists of these numbers. Encoding, statistics
//! and comparisons cost per value and per run, not per row, which is why the writer of the `parquet` crate is not used.
//! The pages have the same format: a dictionary page and data pages of indices, or plain pages when a dictionary would
//! be too large to save space.
//!
//! - `source`: the arrays to write; `values`: the distinct values; `dictionary_indices`: the number of each row;
//!   `pages`: page boundaries and encoding; `bounds`: minimum and maximum.

mod bounds;
mod chunk;
mod dictionary_indices;
mod numbers;
mod pages;
mod source;
#[cfg(test)]
mod tests;
mod values;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnDescPtr;

use super::row_ranges::RowRange;
pub use chunk::DictionaryColumnWriter;
use dictionary_indices::DictionaryIndices;
use source::Source;
use values::ValueList;

use super::page::Compressor;

/// Number of rows that are checked at once for being equal.
const PIECE_ROWS: usize = 256;

impl DictionaryColumnWriter {
    /// Whether arrays of this type are supported.
    pub fn supports(kind: &DataType) -> bool {
        source::supports(kind)
    }

    /// Starts a chunk of at most `rows_max` rows.
    pub fn new(column: ColumnDescPtr, rows_max: usize) -> DictionaryColumnWriter {
        let values = ValueList::new(column.physical_type());
        DictionaryColumnWriter { column, rows: DictionaryIndices::within(rows_max), values, cached: Vec::new() }
    }

    /// Appends the rows of an array of a type that [`DictionaryColumnWriter::supports`].
    pub fn write(&mut self, array: &ArrayRef) {
        self.write_ranges(&[array], &[RowRange { batch: 0, rows: 0..array.len() }]);
    }

    /// Appends the cells of these ranges of arrays of types that [`DictionaryColumnWriter::supports`].
    pub fn write_ranges(&mut self, arrays: &[&ArrayRef], ranges: &[RowRange]) {
        let mut sources = self.open(arrays);
        let mut rows = Vec::with_capacity(PIECE_ROWS);
        for range in ranges {
            let source = &mut sources[range.batch];
            for start in range.rows.clone().step_by(PIECE_ROWS) {
                let piece = start..range.rows.end.min(start + PIECE_ROWS);
                if source.are_constant(piece.clone()) {
                    let number = source.number(start, &mut self.values);
                    self.rows.extend_constant(number, piece.len(), self.values.len());
                } else {
                    rows.clear();
                    source.append(piece, &mut self.values, &mut rows);
                    self.rows.extend(&rows, self.values.len());
                }
            }
        }
        self.close(sources);
    }

    /// Appends the cells at these places (array, row) of arrays of types that [`DictionaryColumnWriter::supports`].
    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl ExactSizeIterator<Item = (usize, usize)>) {
        let mut sources = self.open(arrays);
        let mut rows = Vec::new();
        source::append_from(&mut sources, places, &mut self.values, &mut rows);
        self.rows.extend(&rows, self.values.len());
        self.close(sources);
    }

    fn open<'a>(&mut self, arrays: &[&'a ArrayRef]) -> Vec<Source<'a>> {
        self.cached.resize_with(self.cached.len().max(arrays.len()), || None);
        let cached = self.cached.iter_mut().map(Option::take);
        arrays.iter().zip(cached).map(|(array, cached)| Source::new(array, cached)).collect()
    }

    /// Keeps the numbers that were looked up.
    fn close(&mut self, sources: Vec<Source<'_>>) {
        for (cached, source) in self.cached.iter_mut().zip(sources) {
            *cached = source.into_cached();
        }
    }

    /// Approximate memory use of the chunk, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.values.memory_bytes()
    }

    /// Returns the chunk's bytes and metadata, and clears the writer for the next row group without freeing its memory.
    /// Offsets count from the chunk's first byte.
    pub fn finish(
        &mut self,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let written = pages::write(self, properties, compressor);
        self.rows.clear();
        self.values.clear();
        self.cached.clear();
        written
    }
}
