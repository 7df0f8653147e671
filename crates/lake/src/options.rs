//! Configuration of the lake. Every number has its unit in its name or its documentation.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidewatch_journal::disk::{Disk, RealDisk};

use super::clock::Clock;
use tidewatch_store::retention::{ProjectRetention, Retention};
use tidewatch_store::{KeepRecords, OnFatal};

/// Configuration of one [`super::Lake`].
pub struct LakeOptions {
    /// The data directory, with `parts/` and `seen/`.
    pub dir: PathBuf,
    /// The catalog's SQLite file; always on the real disk.
    pub catalog: PathBuf,
    /// The file system of the data directory.
    pub disk: Arc<dyn Disk>,
    /// A memtable is flushed at this many rows of all tables, …
    pub flush_rows: usize,
    /// … or when its rows take a third of the row share of this many bytes: one memtable is flushed while the next
    /// fills, and a third is spare, …
    ///
    /// The limit covers rows in memory, filters and indexes of keys, and the memory of writing and merging parts
    /// ([`LakeOptions::row_bytes_max`]).
    pub memory_bytes: usize,
    /// … or when its first request is this old.
    pub flush_age: Duration,
    /// When parts are merged.
    pub merge: MergeOptions,
    /// Days that rows are kept, by table.
    pub retention: Retention,
    /// The clock of retention and of the expiry of retry keys in the background, see `trusted_time`; `None` disables
    /// both.
    pub clock: Option<Arc<dyn Clock>>,
    /// The operator confirms that the clock is right: a jump ahead takes effect at once.
    pub trusts_clock: bool,
    /// Limits of the disk usage.
    pub budget: DiskBudget,
    /// Retention of individual projects, until [`tidewatch_store::TelemetryStore::set_project_retention`] replaces it.
    pub project_retention: ProjectRetention,
    /// Minimum rows of a part that gets a column for each frequent attribute; `None` disables these columns.
    pub attr_columns_from: Option<usize>,
    /// When roll-ups are written and used.
    pub rollups: RollupOptions,
    /// Copies journal records whose rows cannot be encoded as parts; `None`: such rows stay in memory, and later rows
    /// are not flushed.
    pub keep_records: Option<KeepRecords>,
    /// Ends the process, because the state in memory is no longer reliable. Acknowledged requests are in the journal.
    pub on_fatal: OnFatal,
    /// Maximum number of Endpoint names of a service on one UTC day, and likewise of Tasks and of AI Traces; further
    /// names become [`super::OTHER_NAME`]. 0: no limit. DECISIONS 27.
    pub names_max: usize,
    /// Maximum number of callers, and of callees, that are kept in memory until the other side of their call arrives; 0:
    /// services are not paired.
    pub calls_max: usize,
    /// Maximum number of spans of traces with AI Traces that are kept in memory, to know which of them repeat the usage of
    /// others before they are read from parts; 0: nothing is compared.
    pub usage_spans_max: usize,
    /// Maximum memory of all running queries together, in bytes.
    pub query_bytes_max: usize,
    /// Called before each step of a catalog transaction.
    #[cfg(test)]
    pub catalog_probe: Option<super::catalog::Probe>,
    /// Whether the lake flushes, merges and expires rows on threads of its own. False in tests.
    pub background: bool,
}

/// When parts are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeOptions {
    /// Number of parts of one level that are merged into one part of the next.
    pub fan_in: usize,
    /// Approximate maximum of rows of a merged part. Parts with more than half of it are not merged again, and while
    /// their day receives rows, those with more than an eighth.
    pub rows_max: u64,
    /// Maximum size of the parts that are merged into one, in bytes.
    pub bytes_max: u64,
}

impl Default for MergeOptions {
    fn default() -> Self {
        MergeOptions { fan_in: 8, rows_max: 8 * 262_144, bytes_max: 1 << 30 }
    }
}

impl LakeOptions {
    /// The maximum size of all rows in memory, with their keys and spare capacity, when filters and indexes of older
    /// keys take `index_bytes`. Above it, the lake is behind. The rest of the memory is for a flush and a merge.
    pub fn row_bytes_max(&self, index_bytes: usize) -> usize {
        self.memory_bytes.saturating_sub(index_bytes).max(self.memory_bytes / 2) / 8 * 3
    }

    /// The default options for this data directory.
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
            project_retention: ProjectRetention::default(),
            attr_columns_from: Some(1024),
            rollups: RollupOptions::default(),
            keep_records: None,
            on_fatal: Arc::new(|why| {
                tracing::error!("{why}: ending the process");
                std::process::abort();
            }),
            names_max: 10_000,
            calls_max: 131_072,
            usage_spans_max: 65_536,
            query_bytes_max: 1 << 30,
            #[cfg(test)]
            catalog_probe: None,
            background: true,
        }
    }
}

/// Limits of the disk usage. When one is exceeded, the oldest days are dropped, see `disk_budget`.
#[derive(Clone, Default)]
pub struct DiskBudget {
    /// Maximum size of parts and key files, in bytes; `None`: no limit.
    pub bytes_max: Option<u64>,
    /// Minimum of free bytes on the file system; `None`: no limit.
    pub free_min: Option<u64>,
    /// Measures the free bytes; `None`: `free_min` has no effect.
    pub free: Option<FreeBytes>,
}

/// Measures the free bytes on the file system of the data directory.
pub type FreeBytes = Arc<dyn Fn() -> io::Result<u64> + Send + Sync>;

/// When roll-ups are written and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollupOptions {
    /// Minimum rows of a part with roll-ups.
    pub part_rows: usize,
    /// Cells of a bucket width are stored when this many times their number is at most the number of rows they
    /// aggregate, or of the stored cells of the next narrower width. 0: always.
    pub shrink: u64,
    /// Queries that would scan fewer rows are answered exactly, from the rows.
    pub query_rows_min: u64,
}

impl Default for RollupOptions {
    fn default() -> Self {
        RollupOptions { part_rows: 4096, shrink: 2, query_rows_min: 200_000 }
    }
}

impl RollupOptions {
    /// Every part has roll-ups of every width, and every eligible query is answered from them.
    pub const ALWAYS: RollupOptions = RollupOptions { part_rows: 1, shrink: 0, query_rows_min: 0 };
}
