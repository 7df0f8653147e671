//! What the lake may take of the disk: beyond it the oldest days go, whole days of all tables, one after the other.
//!
//! Off unless [`DiskBudget`] says otherwise. The newest stored day and everything from today on stays: dropping what is
//! being written would go on for ever. Rows in memory are never touched. What goes is counted per project under
//! [`DISK_BUDGET`], so that its owners see it beside the other reasons.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::UInt32Type;
use parquet::arrow::ProjectionMask;
use tidewatch_domain::model::Signal;

use super::delete_rows::Removed;
use crate::memtable::counts;
use crate::merge;
use crate::options::DiskBudget;
use crate::part::Part;
use crate::sort::BATCH_ROWS;
use crate::state::Shared;
use tidewatch_store::Outcome;
use tidewatch_store::StoreError;
use tidewatch_store::days::{day_name, day_of};
use tidewatch_store::tables::Table;
use tidewatch_store::{Work, Worked};

/// Why records are gone that were stored. The name is the API's and never changes meaning.
pub const DISK_BUDGET: &str = "disk_budget";
/// A warning comes when so many percent of the budget are left, or so many percent more than must be free are free.
const WARN_PERCENT: u64 = 10;

/// What is used of the disk and what may be.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// Of parts and key files.
    bytes: u64,
    /// On the file system; `None`: nobody asked for it.
    free: Option<u64>,
}

impl Usage {
    /// Bytes that have to go; 0 when everything fits.
    fn excess(&self, budget: &DiskBudget) -> u64 {
        let beyond = budget.bytes_max.map_or(0, |max| self.bytes.saturating_sub(max));
        let short = budget.free_min.zip(self.free).map_or(0, |(min, free)| min.saturating_sub(free));
        beyond.max(short)
    }

    /// Nearly as much is used as may be.
    fn is_short(&self, budget: &DiskBudget) -> bool {
        let percent = |bytes: u64, percent: u64| bytes / 100 * percent;
        budget.bytes_max.is_some_and(|max| self.bytes > percent(max, 100 - WARN_PERCENT))
            || budget.free_min.zip(self.free).is_some_and(|(min, free)| free < percent(min, 100 + WARN_PERCENT))
    }
}

impl Shared {
    /// Drops the oldest days until the budget is kept; the bytes they took. `now_ns` is the trusted time.
    pub fn keep_within_budget(&self, now_ns: i64) -> Result<u64, StoreError> {
        let budget = &self.options.budget;
        if budget.bytes_max.is_none() && budget.free_min.is_none() {
            return Ok(0);
        }
        let start = Instant::now();
        let usage = self.usage()?;
        let mut removed = Removed::default();
        // A file goes when its last reader is done: what is free then says nothing about the next day to drop.
        while usage.excess(budget) > removed.bytes {
            let Some(day) = self.oldest_day(day_of(now_ns)) else {
                tracing::error!(
                    excess = usage.excess(budget) - removed.bytes,
                    "the disk budget is exceeded and only the newest day is left, which stays"
                );
                break;
            };
            let gone = self.drop_day(day, now_ns)?;
            let (name, rows, bytes) = (day_name(day), gone.rows, gone.bytes);
            tracing::warn!(day = name, rows, bytes, "the disk budget is exceeded: dropped {name}, {rows} rows");
            removed.add(gone);
        }
        if removed.rows > 0 {
            let worked = Worked { work: Work::MakeRoom, took: start.elapsed(), rows: removed.rows, has_failed: false };
            self.worked(worked);
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
        let keys: u64 = self.seen.lock().files().map(|file| file.bytes()).sum();
        let parts: u64 = self.state.lock().parts.iter().flatten().map(|part| part.facts.bytes).sum();
        let free = match (&self.options.budget.free_min, &self.options.budget.free) {
            (Some(_), Some(free)) => Some(free().map_err(|e| StoreError::io("measure", &self.layout.dir, e))?),
            _ => None,
        };
        Ok(Usage { bytes: keys + parts, free })
    }

    /// The oldest stored day that may go.
    fn oldest_day(&self, today: i32) -> Option<i32> {
        let state = self.state.lock();
        let days = || state.parts.iter().flatten().map(|part| part.facts.kept_day(today));
        let newest = days().max()?;
        days().min().filter(|oldest| *oldest < newest.min(today))
    }

    fn drop_day(&self, day: i32, now_ns: i64) -> Result<Removed, StoreError> {
        let (mut removed, today) = (Removed::default(), day_of(now_ns));
        for table in Table::ALL {
            let is_of_day = |part: &Part| part.facts.kept_day(today) == day;
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
                    state.active.counts().add(project, minute, signal, Outcome::Dropped, DISK_BUDGET.into(), rows);
                    state.active.since.get_or_insert_with(Instant::now);
                }
            }
        }
        Ok(removed)
    }
}

/// Whose records the rows of a table are, one row a record.
fn signal_of(table: Table) -> Option<Signal> {
    match table {
        Table::Spans => Some(Signal::Traces),
        Table::Logs => Some(Signal::Logs),
        Table::MetricPoints => Some(Signal::Metrics),
        Table::Endpoints | Table::Tasks | Table::AiTraces | Table::Exceptions | Table::IngestCounts => None,
    }
}

/// Rows by project. What cannot be read is not counted: the part goes all the same.
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
    fn how_much_has_to_go() {
        // Bytes used and free, the budget's maximum and minimum, what has to go, and whether it is short.
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
