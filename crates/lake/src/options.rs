//! What an operator may choose about the lake. Every number has its unit in its name or its doc line.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidewatch_journal::Position;
use tidewatch_journal::disk::{Disk, RealDisk};

use super::clock::Clock;
use super::lost::Lost;
use tidewatch_store::StoreError;
use tidewatch_store::retention::{Keeping, Retention};

/// Copies the journal's records of `from < position <= to` into the folder. Durable when it returns.
pub type KeepRecords = Arc<dyn Fn(&Lost, Position, Position) -> Result<(), StoreError> + Send + Sync>;
/// Gets the reason.
pub type GiveUp = Arc<dyn Fn(&str) + Send + Sync>;

pub struct LakeOptions {
    /// The data directory: `parts/` and `seen/` lie in it.
    pub dir: PathBuf,
    /// The SQLite file; always on the real disk.
    pub catalog: PathBuf,
    pub disk: Arc<dyn Disk>,
    /// A memtable is flushed at this many rows of all tables …
    pub flush_rows: usize,
    /// … or at a third of what rows may have of this many bytes: one is flushed while the next fills, with one to spare …
    ///
    /// It is what rows in memory may take together with filters and indexes of keys, with writing rows as parts and
    /// merging those ([`LakeOptions::row_bytes_max`]).
    pub memory_bytes: usize,
    /// … or when its first request came this long ago.
    pub flush_age: Duration,
    pub merge: MergeOptions,
    pub retention: Retention,
    /// What retention and the expiry of retry keys follow in the background, see `trusted_time`; `None`: neither happens
    /// there.
    pub clock: Option<Arc<dyn Clock>>,
    /// The operator vouches for the clock: a jump ahead is followed at once.
    pub trusts_clock: bool,
    pub budget: DiskBudget,
    /// What projects ask for beside it, until [`super::Lake::set_keeping`] says more.
    pub keeping: Keeping,
    /// Parts of at least so many rows get a column for each frequent attribute; `None`: no part does.
    pub attr_columns_from: Option<usize>,
    pub rollups: RollupOptions,
    /// Keeps journal records whose rows cannot be written as parts; `None`: such rows stay in memory, and nothing after
    /// them is flushed.
    pub keep_records: Option<KeepRecords>,
    /// Ends the process, because the state in memory cannot be trusted any more; gets the reason. What was acknowledged
    /// is in the journal.
    pub give_up: GiveUp,
    /// Names of Endpoints that a service may have on one UTC day, and as many of Tasks and of AI Traces; further ones
    /// become [`super::OTHER_NAME`]. 0: any number. DECISIONS 27.
    pub names_max: usize,
    /// What all questions together may hold.
    pub query_bytes_max: usize,
    /// Asked before each step of a catalog transaction.
    #[cfg(test)]
    pub catalog_probe: Option<super::catalog::Probe>,
    /// Flush, merge and retain on threads of the lake. False: only when asked to, as tests do.
    pub background: bool,
}

/// When parts are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeOptions {
    /// Parts of one level that become one of the next.
    pub fan_in: usize,
    /// Rows of a merged part, about. Parts of more than half of it are left alone, and while their day gets rows, those
    /// of more than an eighth.
    pub rows_max: u64,
    /// Bytes of the parts that are merged into one.
    pub bytes_max: u64,
}

impl Default for MergeOptions {
    fn default() -> Self {
        MergeOptions { fan_in: 8, rows_max: 8 * 262_144, bytes_max: 1 << 30 }
    }
}

impl LakeOptions {
    /// What all rows in memory may take, with their keys and room for more, when filters and indexes of the keys before
    /// them take `index_bytes`: with more, the lake is behind. The rest is for a flush and a merge.
    pub fn row_bytes_max(&self, index_bytes: usize) -> usize {
        self.memory_bytes.saturating_sub(index_bytes).max(self.memory_bytes / 2) / 8 * 3
    }

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
            clock: None,
            trusts_clock: false,
            budget: DiskBudget::default(),
            keeping: Keeping::default(),
            attr_columns_from: Some(1024),
            rollups: RollupOptions::default(),
            keep_records: None,
            give_up: Arc::new(|why| {
                tracing::error!("{why}: ending the process");
                std::process::abort();
            }),
            names_max: 10_000,
            query_bytes_max: 1 << 30,
            #[cfg(test)]
            catalog_probe: None,
            background: true,
        }
    }
}

/// What the lake may take of the disk. Beyond it the oldest days go, see `disk_budget`.
#[derive(Clone, Default)]
pub struct DiskBudget {
    /// Bytes of parts and key files at most; `None`: any number.
    pub bytes_max: Option<u64>,
    /// Bytes that stay free on the file system at least; `None`: it may become full.
    pub free_min: Option<u64>,
    /// How many bytes are free there now; `None`: `free_min` has no effect.
    pub free: Option<FreeBytes>,
}

/// Bytes that are free on the file system of the data directory.
pub type FreeBytes = Arc<dyn Fn() -> io::Result<u64> + Send + Sync>;

/// When roll-ups are made and asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollupOptions {
    /// Parts of at least so many rows are rolled up.
    pub part_rows: usize,
    /// Cells of a width are kept when so many times of them are at most as many as the rows they are made of, or the
    /// next narrower cells that are kept. 0: always.
    pub shrink: u64,
    /// A question that would look at fewer rows is answered from the rows, exactly.
    pub ask_rows: u64,
}

impl Default for RollupOptions {
    fn default() -> Self {
        RollupOptions { part_rows: 4096, shrink: 2, ask_rows: 200_000 }
    }
}

impl RollupOptions {
    /// Every part is rolled up at every width, and every question that can be is answered from it.
    pub const ALWAYS: RollupOptions = RollupOptions { part_rows: 1, shrink: 0, ask_rows: 0 };
}
