//! Enforces the limits of the disk usage: while one is exceeded, the oldest days are dropped, whole days of all tables,
//! one after the other.
//!
//! Disabled unless [`DiskBudget`] sets a limit. The newest stored day and all days from today on stay: dropping data
//! that is being written would never end. Rows in memory are not affected. Dropped records are counted per project
//! under [`DISK_BUDGET`], so that the project's users see them among the drop reasons.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::UInt32Type;
use parquet::arrow::ProjectionMask;
use tidewatch_domain::model::{RequestKind, Signal};

use super::delete_rows::Removed;
use crate::lifecycle::state::Shared;
use crate::memtable::counts;
use crate::merge;
use crate::options::DiskBudget;
use crate::part::Part;
use crate::sort::BATCH_ROWS;
use tidewatch_store::Outcome;
use tidewatch_store::StoreError;
use tidewatch_store::days::{day_name, day_of};
use tidewatch_store::tables::Table;
use tidewatch_store::{CompletedWork, Work};

/// The drop reason of stored records that were removed because of the disk budget. The name is part of the API and
/// never changes its meaning.
pub const DISK_BUDGET: &str = "disk_budget";
/// A warning is logged when less than this percentage of the budget is left, or when the free space exceeds its minimum
/// by less than this percentage.
const WARN_PERCENT: u64 = 10;

/// The current disk usage.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// Size of parts and key files.
    bytes: u64,
    /// Free bytes on the file system; `None` when they are not limited.
    free: Option<u64>,
}

impl Usage {
    /// Bytes to remove; 0 when the usage is within the budget.
    fn excess(&self, budget: &DiskBudget) -> u64 {
        let beyond = budget.bytes_max.map_or(0, |max| self.bytes.saturating_sub(max));
        let short = budget.free_min.zip(self.free).map_or(0, |(min, free)| min.saturating_sub(free));
        beyond.max(short)
    }

    /// Whether the usage is close to the budget.
    fn is_short(&self, budget: &DiskBudget) -> bool {
        let percent = |bytes: u64, percent: u64| bytes / 100 * percent;
        budget.bytes_max.is_some_and(|max| self.bytes > percent(max, 100 - WARN_PERCENT))
            || budget.free_min.zip(self.free).is_some_and(|(min, free)| free < percent(min, 100 + WARN_PERCENT))
    }
}

impl Shared {
    /// Drops the oldest days until the usage is within the budget. Returns the bytes freed. `now_ns` is the trusted
    /// time.
    pub fn keep_within_budget(&self, now_ns: i64) -> Result<u64, StoreError> {
        let budget = &self.options.budget;
        if budget.bytes_max.is_none() && budget.free_min.is_none() {
            return Ok(0);
        }
        let start = Instant::now();
        let usage = self.usage()?;
        let mut removed = Removed::default();
        // A file is unlinked after its last reader, so the free space does not tell whether the next day must be
        // dropped.
        while usage.excess(budget) > removed.bytes {
            let Some(day) = self.oldest_day(day_of(now_ns)) else {
                tracing::error!(
                    excess = usage.excess(budget) - removed.bytes,
                    "the disk budget is exceeded and only the newest day is left, which stays"
                );
                break;
            };
            let dropped = self.drop_day(day, now_ns)?;
            let (name, rows, bytes) = (day_name(day), dropped.rows, dropped.bytes);
            tracing::warn!(day = name, rows, bytes, "the disk budget is exceeded: dropped {name}, {rows} rows");
            removed.add(dropped);
        }
        if removed.rows > 0 {
            let completed =
                CompletedWork { work: Work::MakeRoom, took: start.elapsed(), rows: removed.rows, has_failed: false };
            self.work_completed(completed);
        }
        let is_short = removed.rows == 0 && usage.is_short(budget);
        if is_short && !self.is_budget_short.swap(is_short, Ordering::Relaxed) {
            let Usage { bytes, free } = usage;
            let next = match self.oldest_day(day_of(now_ns)) {
                Some(_) => "the oldest day will be dropped soon",
                None => "only the newest day is left, which stays",
            };
            tracing::warn!(bytes, ?free, "the disk budget is nearly used up: {next}");
        }
        self.is_budget_short.store(is_short, Ordering::Relaxed);
        Ok(removed.bytes)
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        let keys: u64 = self.dedup.lock().files().map(|file| file.bytes()).sum();
        let parts: u64 = self.state.lock().parts.iter().flatten().map(|part| part.facts.bytes).sum();
        let free = match (&self.options.budget.free_min, &self.options.budget.free) {
            (Some(_), Some(free)) => Some(free().map_err(|e| StoreError::io("measure", &self.layout.dir, e))?),
            _ => None,
        };
        Ok(Usage { bytes: keys + parts, free })
    }

    /// The oldest stored day that may be dropped.
    fn oldest_day(&self, today: i32) -> Option<i32> {
        let state = self.state.lock();
        let days = || state.parts.iter().flatten().map(|part| part.facts.retention_day(today));
        let newest = days().max()?;
        days().min().filter(|oldest| *oldest < newest.min(today))
    }

    fn drop_day(&self, day: i32, now_ns: i64) -> Result<Removed, StoreError> {
        let (mut removed, today) = (Removed::default(), day_of(now_ns));
        for table in Table::ALL {
            let is_of_day = |part: &Part| part.facts.retention_day(today) == day;
            let parts = self.state.lock().parts[table as usize].clone();
            let lost = match signal_of(table) {
                Some(signal) => {
                    parts.iter().filter(|part| is_of_day(part)).map(|part| (signal, rows_of(part))).collect()
                }
                None => Vec::new(),
            };
            removed.add(self.drop_parts(table, &is_of_day)?);
            let mut state = self.state.lock();
            for (signal, rows) in lost {
                for (project, rows) in rows {
                    let minute = counts::minute(now_ns);
                    let counts = state.active.counts();
                    counts.add(project, minute, signal, Outcome::Dropped, DISK_BUDGET.into(), rows);
                    state.active.since.get_or_insert_with(Instant::now);
                }
            }
        }
        Ok(removed)
    }
}

/// The signal of a table with one row per record.
fn signal_of(table: Table) -> Option<RequestKind> {
    match table {
        Table::Spans => Some(Signal::Traces.into()),
        Table::Logs => Some(Signal::Logs.into()),
        Table::MetricPoints => Some(Signal::Metrics.into()),
        Table::Sessions | Table::SessionSegments => Some(RequestKind::Report),
        Table::Endpoints | Table::Tasks | Table::AiTraces | Table::Exceptions | Table::IngestCounts => None,
        // A sample is a record, of which a row has several.
        Table::Profiles | Table::ProfileSamples | Table::ProfileStacks => None,
    }
}

/// The number of rows by project. Empty when the part cannot be read; it is dropped all the same.
fn rows_of(part: &Part) -> BTreeMap<u32, u64> {
    let count = || -> Result<BTreeMap<u32, u64>, StoreError> {
        let (first, last) = (part.facts.project_min, part.facts.project_max);
        if first == last {
            return Ok([(first, part.facts.rows)].into());
        }
        let mut rows = BTreeMap::new();
        let mask = ProjectionMask::columns(part.metadata()?.parquet_schema(), ["project"]);
        for batch in merge::open(part, mask, BATCH_ROWS)? {
            let batch = batch.map_err(|e| part.damaged(&e))?;
            for project in batch.column(0).as_primitive::<UInt32Type>().values() {
                *rows.entry(*project).or_insert(0) += 1;
            }
        }
        Ok(rows)
    };
    count().unwrap_or_else(|error| {
        tracing::warn!(%error, path = %part.path().display(), "cannot count the rows of a part that is dropped");
        BTreeMap::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_and_warning_by_usage() {
        // Bytes used and free, the budget's maximum and minimum, the bytes to remove, and whether it is short.
        for (bytes, free, max, min, excess, is_short) in [
            (1000, Some(1000), None, None, 0, false),
            (1000, Some(1000), Some(2000), Some(500), 0, false),
            (1900, Some(1000), Some(2000), Some(500), 0, true),
            (2100, Some(1000), Some(2000), Some(500), 100, true),
            (1000, Some(540), Some(2000), Some(500), 0, true),
            (1000, Some(400), Some(2000), Some(500), 100, true),
            (2100, Some(300), Some(2000), Some(500), 200, true),
            (2100, None, None, Some(500), 0, false),
        ] {
            let (usage, budget) = (Usage { bytes, free }, DiskBudget { bytes_max: max, free_min: min, free: None });
            assert_eq!(
                (usage.excess(&budget), usage.is_short(&budget)),
                (excess, is_short),
                "{usage:?} {max:?} {min:?}"
            );
        }
    }
}
