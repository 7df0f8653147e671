//! Changes of stored rows by [`TelemetryStore::rewrite`](crate::TelemetryStore::rewrite).

use arrow::array::{BooleanArray, RecordBatch};

use crate::StoreError;
use crate::tables::Table;

/// The scope of a rewrite.
#[derive(Debug, Clone, Copy)]
pub struct Rewrite {
    /// The table of the rows.
    pub table: Table,
    /// Project number; parts without rows of the project are skipped.
    pub project: u32,
    /// Parts whose latest row is earlier are skipped. Nanoseconds since the epoch.
    pub since_ns: i64,
}

/// The changed rows of a batch.
#[derive(Debug)]
pub struct Changed {
    /// By row of the batch, whether it is changed; no nulls.
    pub rows: BooleanArray,
    /// The new values of the changed rows, with the table's columns; times and identities must not change.
    pub to: RecordBatch,
}

/// Returns the changed rows of a batch, or `None`. The batch has every column of the table, and may have rows of other
/// projects.
pub type Change<'c> = dyn FnMut(&RecordBatch) -> Result<Option<Changed>, StoreError> + 'c;
