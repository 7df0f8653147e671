//! What an engine says of itself: what it holds, and the work it has done in the background.

use std::time::Duration;

use crate::tables::Table;

/// What an engine holds at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// By table number.
    pub tables: Vec<TableStats>,
    /// Rows in memory, encoded.
    pub memory_bytes: usize,
    /// What they take, with their keys and room for more.
    pub held_bytes: usize,
    /// Memtables waiting to be flushed.
    pub sealed: usize,
    pub key_files: usize,
    pub key_bytes: u64,
    /// Listed files that were missing or had another length at the start; questions that need them fail.
    pub missing_files: usize,
}

impl Stats {
    /// Bytes of parts and key files.
    pub fn disk_bytes(&self) -> u64 {
        self.key_bytes + self.tables.iter().map(|table| table.bytes).sum::<u64>()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStats {
    pub table: Table,
    pub parts: usize,
    /// Of them, those that could not be read once.
    pub suspects: usize,
    /// In parts.
    pub rows: u64,
    /// On disk.
    pub bytes: u64,
    /// Not yet in parts.
    pub memory_rows: usize,
    /// Oldest time in any part, nanoseconds.
    pub time_min: Option<i64>,
}

/// Something the lake did for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worked {
    pub work: Work,
    /// A merge's pauses included.
    pub took: Duration,
    /// Written, or removed; 0 when it failed or was given up.
    pub rows: u64,
    pub has_failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A memtable to parts.
    Flush,
    /// Some parts to one.
    Merge,
    /// Rows that are kept no longer; `rows` are those that went.
    Remove,
    /// The oldest days, for lack of room on the disk; `rows` are those that went.
    MakeRoom,
}
