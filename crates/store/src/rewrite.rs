//! Rows that come to mean something else, for [`TelemetryStore::rewrite`](crate::TelemetryStore::rewrite).

use arrow::array::{BooleanArray, RecordBatch};

use crate::StoreError;
use crate::tables::Table;

/// Which rows are looked at.
#[derive(Debug, Clone, Copy)]
pub struct Rewrite {
    pub table: Table,
    /// Its number; parts without its rows are left alone.
    pub project: u32,
    /// Parts that end earlier are left alone. Nanoseconds since the epoch.
    pub since_ns: i64,
}

/// Rows of a batch with other values.
#[derive(Debug)]
pub struct Changed {
    /// Which, by row of the batch; no nulls.
    pub rows: BooleanArray,
    /// Only these rows, with the table's columns, times and identities as they were.
    pub to: RecordBatch,
}

/// What changes of a batch, or `None`. Rows come with every column of the table, those of other projects among them.
pub type Change<'c> = dyn FnMut(&RecordBatch) -> Result<Option<Changed>, StoreError> + 'c;
