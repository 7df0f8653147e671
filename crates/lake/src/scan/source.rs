//! The locations of a table's rows: in memory, or in a part on disk. A scan reads a list of sources.

use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::part::Part;

/// A batch or a part. A list of sources has every row exactly once.
#[derive(Debug, Clone)]
pub enum Source {
    /// Rows of the memtable, schema [`tidewatch_store::arrow_schema()`], in no order.
    Memory(RecordBatch),
    /// An immutable Parquet file, sorted by [`tidewatch_store::tables::Table::sort_key`].
    Part(Arc<Part>),
}
