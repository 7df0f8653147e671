//! One column chunk of which many values are equal, in the making: texts (or other bytes) and numbers.
//!
//! Rows are numbers of values, each value is there once: encoding, statistics and comparing cost by value and run, not by
//! row, which is why the `parquet` crate's own writer of such columns is not used. The pages are what it would write:
//! a dictionary page and data pages of numbers; or plain pages, when a dictionary would be too large to be of use.
//!
//! - `source`: arrays to write from; `values`: each value once; `row_numbers`: which each row has; `pages`: pages and
//!   their places; `bounds`: between which values they lie.

mod bounds;
mod pages;
mod row_numbers;
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

use super::row_ranges::Run;
use row_numbers::RowNumbers;
use source::{Known, Source};
use values::ValueList;

use super::page::Compressor;

/// The number of a row without a value.
const NULL: u32 = u32::MAX;
/// A number of an array's own dictionary that has none here yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// So many rows are looked at for whether they are alike.
const PIECE_ROWS: usize = 256;

pub struct ValueChunk {
    column: ColumnDescPtr,
    /// By row, the number of its value or [`NULL`].
    rows: RowNumbers,
    values: ValueList,
    /// By place in the lists of arrays that come: the dictionary that came last, and the numbers of its values here.
    known: Vec<Option<Known>>,
}

impl ValueChunk {
    /// Arrays of this type can be written.
    pub fn takes(kind: &DataType) -> bool {
        source::takes(kind)
    }

    /// Of so many rows at most.
    pub fn new(column: ColumnDescPtr, rows_max: usize) -> ValueChunk {
        let values = ValueList::new(column.physical_type());
        ValueChunk { column, rows: RowNumbers::within(rows_max), values, known: Vec::new() }
    }

    /// Appends the rows of an array of a type that [`ValueChunk::takes`].
    pub fn write(&mut self, array: &ArrayRef) {
        self.write_runs(&[array], &[Run { batch: 0, rows: 0..array.len() }]);
    }

    /// Appends the cells of these runs of arrays of types that [`ValueChunk::takes`].
    pub fn write_runs(&mut self, arrays: &[&ArrayRef], runs: &[Run]) {
        let mut sources = self.open(arrays);
        let mut rows = Vec::with_capacity(PIECE_ROWS);
        for run in runs {
            let source = &mut sources[run.batch];
            for start in run.rows.clone().step_by(PIECE_ROWS) {
                let piece = start..run.rows.end.min(start + PIECE_ROWS);
                if source.are_alike(piece.clone()) {
                    let number = source.number(start, &mut self.values);
                    self.rows.extend_alike(number, piece.len(), self.values.len());
                } else {
                    rows.clear();
                    source.append(piece, &mut self.values, &mut rows);
                    self.rows.extend(&rows, self.values.len());
                }
            }
        }
        self.close(sources);
    }

    /// Appends the cells at these places (array, row) of arrays of types that [`ValueChunk::takes`].
    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl ExactSizeIterator<Item = (usize, usize)>) {
        let mut sources = self.open(arrays);
        let mut rows = Vec::new();
        source::append_from(&mut sources, places, &mut self.values, &mut rows);
        self.rows.extend(&rows, self.values.len());
        self.close(sources);
    }

    fn open<'a>(&mut self, arrays: &[&'a ArrayRef]) -> Vec<Source<'a>> {
        self.known.resize_with(self.known.len().max(arrays.len()), || None);
        let known = self.known.iter_mut().map(Option::take);
        arrays.iter().zip(known).map(|(array, known)| Source::new(array, known)).collect()
    }

    /// Remembers what was looked up.
    fn close(&mut self, sources: Vec<Source<'_>>) {
        for (known, source) in self.known.iter_mut().zip(sources) {
            *known = source.into_known();
        }
    }

    /// About what the chunk takes in memory.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.values.memory_bytes()
    }

    /// The chunk's bytes, and what is to be said of them; offsets count from the first. The values of the next row
    /// group are written to the memory of these.
    pub fn finish(
        &mut self,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let written = pages::write(self, properties, compressor);
        self.rows.clear();
        self.values.clear();
        self.known.clear();
        written
    }
}
