//! The engine that stores telemetry. No other file chooses one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tidewatch_bench::fill::FillEngine;
use tidewatch_domain::rules::session::RECORDING_DAYS;
use tidewatch_journal::disk::Disk;
use tidewatch_lake::{DiskBudget, FreeBytes, Lake, LakeOptions, MergeOptions};
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::files;
use tidewatch_store::retention::{ProjectRetention, Retention, shortest};
use tidewatch_store::tables::Table;
use tidewatch_store::{JournaledStore, KeepRecords, OnFatal, Stats, StoreError, TelemetryStore};

/// An operator's settings of the engine. Sizes are in bytes.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The data directory.
    pub data_dir: PathBuf,
    /// Rows in a memtable that trigger a flush.
    pub flush_rows: usize,
    /// Memory for rows, dedup keys and flushes.
    pub memtable_bytes: usize,
    /// Maximum age of a memtable before it is flushed.
    pub flush_age: Duration,
    /// Days that telemetry is kept by default; 0: for ever.
    pub retention_days: u32,
    /// Whether retention follows a forward jump of the clock at once.
    pub trusts_clock: bool,
    /// Maximum number of names that a service may have on one day; 0: no limit. DECISIONS 27.
    pub names_max: usize,
    /// Memory for all running queries.
    pub query_memory_bytes: usize,
    /// Maximum size of stored telemetry on disk; 0: no limit.
    pub disk_bytes_max: u64,
    /// Bytes of the file system to keep free; 0: it may become full.
    pub disk_free_min: u64,
}

/// Opens the engine of a server.
pub struct EngineOpener {
    /// The settings.
    pub options: EngineOptions,
    /// Retention of projects at the start.
    pub project_retention: ProjectRetention,
    /// The clock of retention.
    pub clock: Clock,
    /// The disk of parts. The catalog always uses the real disk.
    pub disk: Arc<dyn Disk>,
    /// Ends the process when the state in memory can no longer be trusted.
    pub on_fatal: OnFatal,
    /// The engine that was opened last. A replay that begins again drops the one before.
    pub opened: Mutex<Weak<Lake>>,
}

impl EngineOpener {
    /// Opens the engine. `keep_records` copies records that cannot be encoded.
    pub fn open(&self, keep_records: KeepRecords) -> Result<Arc<dyn JournaledStore>, StoreError> {
        let lake = Arc::new(Lake::open(self.lake_options(keep_records))?);
        *self.opened.lock() = Arc::downgrade(&lake);
        Ok(lake)
    }

    fn lake_options(&self, keep_records: KeepRecords) -> LakeOptions {
        let options = &self.options;
        LakeOptions {
            disk: self.disk.clone(),
            flush_rows: options.flush_rows,
            memory_bytes: options.memtable_bytes,
            flush_age: options.flush_age,
            retention: Retention::all(options.retention_days)
                .with(Table::SessionSegments, shortest(options.retention_days, RECORDING_DAYS)),
            project_retention: self.project_retention.clone(),
            names_max: options.names_max,
            calls_max: limits::UNPAIRED_CALLS_MAX,
            usage_spans_max: limits::AI_USAGE_SPANS_MAX,
            query_bytes_max: options.query_memory_bytes,
            clock: Some(Arc::new(LakeClock(self.clock.clone()))),
            trusts_clock: options.trusts_clock,
            budget: budget(options),
            keep_records: Some(keep_records),
            on_fatal: self.on_fatal.clone(),
            ..LakeOptions::new(&options.data_dir)
        }
    }
}

/// The server's clock, as the lake reads it.
struct LakeClock(Clock);

impl tidewatch_lake::Clock for LakeClock {
    fn now_ns(&self) -> i64 {
        self.0.now_ns()
    }

    fn uptime(&self) -> Duration {
        self.0.uptime()
    }
}

/// The disk budget of stored telemetry.
fn budget(options: &EngineOptions) -> DiskBudget {
    let folder = options.data_dir.clone();
    let free: FreeBytes = Arc::new(move || files::free_bytes(&folder));
    let set = |bytes: u64| (bytes > 0).then_some(bytes);
    DiskBudget { bytes_max: set(options.disk_bytes_max), free_min: set(options.disk_free_min), free: Some(free) }
}

/// The engine of `tidewatch bench fill`.
pub struct GeneratedData;

impl GeneratedData {
    /// The server's options, except that nothing is dropped by the wall clock.
    fn options(folder: &Path) -> LakeOptions {
        LakeOptions { retention: Retention::all(0), ..LakeOptions::new(folder) }
    }
}

impl FillEngine for GeneratedData {
    fn open(&self, folder: &Path) -> Result<Arc<dyn JournaledStore>, StoreError> {
        let merge = MergeOptions { rows_max: 0, bytes_max: 0, ..MergeOptions::default() };
        Ok(Arc::new(Lake::open(LakeOptions { merge, ..GeneratedData::options(folder) })?))
    }

    fn merge(&self, folder: &Path, now_ns: i64) -> Result<Stats, StoreError> {
        let lake = Lake::open(LakeOptions { background: false, ..GeneratedData::options(folder) })?;
        lake.merge(now_ns)?;
        let stats = lake.stats();
        lake.shutdown()?;
        Ok(stats)
    }
}

#[cfg(test)]
mod tests {
    use tidewatch_bench::fill::{FillArgs, READS, fill};
    use tidewatch_bench::generate::Kind;
    use tidewatch_bench::query::Read;

    use super::*;

    #[test]
    fn a_filled_directory_has_the_generated_rows() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arguments = FillArgs {
            data_dir: folder.path().join("data"),
            spans: 4_000,
            logs: None,
            points: Some(700),
            days: 30,
            generate: Kind::Rich,
            seed: 1,
        };
        let manifest = fill(&arguments, &GeneratedData, &mut |_| ()).expect("it is made");
        let rows = |table: Table| manifest.tables[table as usize].rows;
        assert_eq!((rows(Table::Spans), rows(Table::Logs)), (4_000, 400));
        // A histogram's point is stored as two rows.
        assert!(rows(Table::MetricPoints) > 700);
        assert!(rows(Table::Endpoints) > 350 && rows(Table::Tasks) > 20 && rows(Table::Exceptions) > 0);
        let reads = std::fs::read_to_string(arguments.data_dir.join(READS)).expect("the list of reads");
        assert!(serde_json::from_str::<Vec<Read>>(&reads).is_ok_and(|reads| reads.len() > 10));
        assert!(fill(&arguments, &GeneratedData, &mut |_| ()).is_err(), "a directory with data is left alone");
    }
}
