//! The state of a writer: the rows and values of one column chunk.

use parquet::schema::types::ColumnDescPtr;

use super::dictionary_indices::DictionaryIndices;
use super::source::CachedIndices;
use super::values::ValueList;

/// The writer of one column chunk, reused for the next row group.
pub struct DictionaryColumnWriter {
    pub(super) column: ColumnDescPtr,
    /// By row, the number of the value or [`NULL`].
    pub(super) rows: DictionaryIndices,
    pub(super) values: ValueList,
    /// By position in the caller's list of arrays: the dictionary of the latest array and the numbers of its values in
    /// the chunk.
    pub(super) cached: Vec<Option<CachedIndices>>,
}
