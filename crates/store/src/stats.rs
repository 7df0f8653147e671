//! Statistics of an engine: its contents, and its background work.

use std::time::Duration;

use crate::tables::Table;

/// The contents of an engine at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Statistics of every table, in the order of [`Table::ALL`].
    pub tables: Vec<TableStats>,
    /// Bytes of the rows in memory, encoded.
    pub memory_bytes: usize,
    /// Bytes allocated for them, with their keys and spare capacity.
    pub held_bytes: usize,
    /// Number of memtables waiting to be flushed.
    pub sealed: usize,
    /// Number of dedup key files.
    pub key_files: usize,
    /// Bytes of the dedup key files.
    pub key_bytes: u64,
    /// Number of listed files that were missing or had another length at the start; queries that need them fail.
    pub missing_files: usize,
}

impl Stats {
    /// Bytes of parts and dedup key files on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.key_bytes + self.tables.iter().map(|table| table.bytes).sum::<u64>()
    }
}

/// The contents of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStats {
    /// The table.
    pub table: Table,
    /// Number of parts.
    pub parts: usize,
    /// Number of parts with a failed read.
    pub suspects: usize,
    /// Number of rows in parts.
    pub rows: u64,
    /// Bytes of the parts on disk.
    pub bytes: u64,
    /// Number of rows that are not in parts yet.
    pub memory_rows: usize,
    /// Earliest time in any part, nanoseconds since the epoch; `None` without parts.
    pub time_min: Option<i64>,
}

/// One completed piece of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedWork {
    /// The kind of work.
    pub work: Work,
    /// Elapsed time, pauses of a merge included.
    pub took: Duration,
    /// Number of rows written or removed; 0 when the work failed or was cancelled.
    pub rows: u64,
    /// Whether the work failed.
    pub has_failed: bool,
}

/// Kinds of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Writing a memtable to parts.
    Flush,
    /// Merging parts into one.
    Merge,
    /// Removing rows past their retention.
    Remove,
    /// Removing the oldest days to stay within the disk budget.
    MakeRoom,
}
