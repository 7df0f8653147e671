//! Where rows of a table lie: in memory, or in a part on disk. A scan runs over a list of these.

use std::sync::Arc;

use arrow::array::RecordBatch;

use super::part::Part;

/// A list of sources holds every row exactly once.
#[derive(Debug, Clone)]
pub enum Source {
    /// Rows of the memtable, schema [`tidewatch_store::arrow_schema()`], in no order.
    Memory(RecordBatch),
    /// An immutable Parquet file, sorted by [`tidewatch_store::tables::Table::sort_key`].
    Part(Arc<Part>),
}
