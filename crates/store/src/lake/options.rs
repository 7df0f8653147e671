//! What an operator may choose about the lake. Every number has its unit in its name or its doc line.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidewatch_journal::disk::{Disk, RealDisk};

use super::pick::MergeOptions;
use crate::tables::Table;

pub struct LakeOptions {
    /// The data directory: `parts/` and `seen/` lie in it.
    pub dir: PathBuf,
    /// The SQLite file; always on the real disk.
    pub catalog: PathBuf,
    pub disk: Arc<dyn Disk>,
    /// A memtable is flushed at this many rows of all tables …
    pub flush_rows: usize,
    /// … or at half of this many bytes …
    ///
    /// It is what all rows in memory may take: with more, the lake is behind.
    pub memory_bytes: usize,
    /// … or when its first request came this long ago.
    pub flush_age: Duration,
    pub merge: MergeOptions,
    pub retention: Retention,
    /// Parts of at least so many rows get a column for each frequent attribute; `None`: no part does.
    pub attr_columns_from: Option<usize>,
    /// Flush, merge and retain on threads of the lake. False: only when asked to, as tests do.
    pub background: bool,
}

impl LakeOptions {
    /// The defaults, in this data directory.
    pub fn new(dir: impl Into<PathBuf>) -> LakeOptions {
        let dir = dir.into();
        LakeOptions {
            catalog: dir.join("catalog.sqlite"),
            dir,
            disk: Arc::new(RealDisk),
            flush_rows: 262_144,
            memory_bytes: 256 * 1024 * 1024,
            flush_age: Duration::from_secs(30),
            merge: MergeOptions::default(),
            retention: Retention::default(),
            attr_columns_from: Some(1024),
            background: true,
        }
    }
}

/// How many days rows are kept, by table; 0 keeps them for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention([u32; Table::ALL.len()]);

impl Default for Retention {
    /// 30 days of everything.
    fn default() -> Self {
        Retention::all(30)
    }
}

impl Retention {
    pub fn all(days: u32) -> Retention {
        Retention([days; Table::ALL.len()])
    }

    pub fn with(mut self, table: Table, days: u32) -> Retention {
        self.0[table as usize] = days;
        self
    }

    /// Days, 0: for ever.
    pub fn days(&self, table: Table) -> u32 {
        self.0[table as usize]
    }
}
