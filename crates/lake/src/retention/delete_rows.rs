//! Removes rows past their retention: whole parts when all of their rows expired, otherwise by rewriting parts without
//! them.
//!
//! Remaining rows are copied in order, roll-ups are built again, and the part and its replacement are swapped in one
//! catalog transaction: a crash leaves one or the other. Memory is bounded by a batch of rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::UInt32Type;
use parquet::arrow::ProjectionMask;

use crate::attr_columns::AttrColumns;
use crate::lifecycle::maintenance;
use crate::lifecycle::rewrite::{level, rows};
use crate::lifecycle::state::Shared;
use crate::merge;
use crate::part::Part;
use crate::sort::BATCH_ROWS;
use tidewatch_store::Gap;
use tidewatch_store::StoreError;
use tidewatch_store::retention::{Expired, ProjectRetention};
use tidewatch_store::tables::Table;
use tidewatch_store::{CompletedWork, Work};

/// The rows and bytes removed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Removed {
    pub rows: u64,
    pub bytes: u64,
}

impl Shared {
    /// Removes rows past their retention on `today`. `stop` is called after every few thousand rows.
    ///
    /// An unreadable part does not prevent the removal of others; the first error is returned at the end.
    pub fn remove_expired(&self, today: i32, stop: &mut dyn FnMut() -> bool) -> Result<Removed, StoreError> {
        let start = Instant::now();
        let project_retention = self.state.lock().project_retention.clone();
        let mut removed = Removed::default();
        let mut failed = None;
        for table in Table::ALL {
            let default = &self.options.retention;
            let expired = |part: &Part| {
                let (facts, projects) = (&part.facts, (part.facts.project_min, part.facts.project_max));
                project_retention.expired(default, projects, table, facts.retention_day(today), today)
            };
            let mut remove = || -> Result<(), StoreError> {
                removed.add(self.drop_parts(table, &|part| expired(part) == Expired::All)?);
                Ok(())
            };
            failed = failed.or(remove().err());
            let parts = self.state.lock().parts[table as usize].clone();
            let now = Instant::now();
            let is_due = |part: &&Arc<Part>| expired(part) == Expired::Some && !part.is_left_out(now);
            for part in parts.iter().filter(is_due) {
                if self.state.lock().stopping {
                    break;
                }
                let attempt =
                    catch_unwind(AssertUnwindSafe(|| self.delete_rows(part, &project_retention, today, stop)));
                match attempt.unwrap_or_else(|panic| Err(StoreError::panicked("remove rows", &*panic))) {
                    Ok(from_part) => removed.add(from_part),
                    Err(error) => {
                        tracing::error!(%error, path = %part.path().display(), "cannot remove old rows of a part");
                        maintenance::suspect(std::slice::from_ref(part), &error);
                        failed = failed.or(Some(error));
                    }
                }
            }
        }
        failed = failed.or(self.forget_gaps(&project_retention, today).err());
        if removed.rows > 0 || failed.is_some() {
            let (took, has_failed) = (start.elapsed(), failed.is_some());
            self.work_completed(CompletedWork { work: Work::Remove, took, rows: removed.rows, has_failed });
        }
        failed.map_or(Ok(removed), Err)
    }

    /// Removes gaps of days past their retention.
    fn forget_gaps(&self, project_retention: &ProjectRetention, today: i32) -> Result<(), StoreError> {
        let default = &self.options.retention;
        let is_over = |gap: &&Gap| {
            let projects = (gap.project_min, gap.project_max);
            project_retention.expired(default, projects, gap.table, gap.day, today) == Expired::All
        };
        let ids: Vec<u64> = self.state.lock().gaps.iter().filter(is_over).map(|gap| gap.id).collect();
        if !ids.is_empty() {
            self.catalog.lock().forget_gaps(&ids)?;
            self.state.lock().gaps.retain(|gap| !ids.contains(&gap.id));
        }
        Ok(())
    }

    /// Drops whole parts. Does not wait for a running merge: the catalog decides which was first.
    pub fn drop_parts(&self, table: Table, is_selected: &dyn Fn(&Part) -> bool) -> Result<Removed, StoreError> {
        loop {
            let parts = self.state.lock().parts[table as usize].clone();
            let old: Vec<&Arc<Part>> = parts.iter().filter(|part| is_selected(part)).collect();
            if old.is_empty() {
                return Ok(Removed::default());
            }
            let ids: Vec<u64> = old.iter().map(|part| part.facts.id).collect();
            let rows = old.iter().map(|part| part.facts.rows).sum();
            let bytes = old.iter().map(|part| part.facts.bytes).sum();
            // Before the removal: a stack that is stored from here on has a copy that stays.
            if table == Table::ProfileStacks {
                self.stacks.lock().forget();
            }
            if !self.replace_parts(&ids, Vec::new())? {
                // A merge or another removal has just replaced some of them and is about to publish the change.
                std::thread::yield_now();
                continue;
            }
            let table = table.name();
            tracing::info!(table, rows, bytes, "dropped {} old parts of {table}: {rows} rows", ids.len());
            return Ok(Removed { rows, bytes });
        }
    }

    /// Rewrites the part without the rows of projects whose retention they exceed, if it has any.
    fn delete_rows(
        &self,
        part: &Arc<Part>,
        project_retention: &ProjectRetention,
        today: i32,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Removed, StoreError> {
        let facts = &part.facts;
        let is_expired = |project: &u32| {
            project_retention.is_expired(
                &self.options.retention,
                *project,
                facts.table,
                facts.retention_day(today),
                today,
            )
        };
        let expired_projects: Vec<u32> = projects(part)?.iter().copied().filter(is_expired).collect();
        if expired_projects.is_empty() {
            return Ok(Removed::default());
        }
        // No merge may replace the part meanwhile: its rows would be stored twice.
        let _maintenance = self.maintenance.lock();
        let still_listed = self.state.lock().parts[facts.table as usize].iter().any(|now| now.facts.id == facts.id);
        if stop() || !still_listed {
            return Ok(Removed::default());
        }
        let columns = part.attr_columns()?;
        let keys = AttrColumns::merged(std::slice::from_ref(&columns)).map(|(keys, _)| keys).unwrap_or_default();
        let mut writer = self.layout.create_part(
            facts.table,
            facts.day,
            level(part),
            Some(facts.first_id),
            keys,
            facts.rows as usize,
        )?;
        let mut kept = 0;
        for batch in rows(part, &columns)? {
            if stop() {
                return Ok(Removed::default());
            }
            let batch = batch?;
            let project = batch.column_by_name("project").expect("every table has a project");
            let project = project.as_primitive::<UInt32Type>();
            let remaining: BooleanArray =
                project.values().iter().map(|project| Some(expired_projects.binary_search(project).is_err())).collect();
            let batch = filter_record_batch(&batch, &remaining).map_err(StoreError::internal("choose rows"))?;
            if batch.num_rows() > 0 {
                kept += batch.num_rows() as u64;
                writer.write(&batch)?;
            }
        }
        let mut written = Vec::new();
        if kept > 0 {
            let (received_min, received_max) = (facts.received_min, facts.received_max);
            written.push(crate::part::PartFacts { received_min, received_max, ..writer.finish()? });
        }
        let bytes = facts.bytes.saturating_sub(written.iter().map(|facts| facts.bytes).sum());
        let ids = [facts.id];
        if !self.replace_parts(&ids, written)? {
            return Ok(Removed::default());
        }
        let (table, rows) = (facts.table.name(), facts.rows - kept);
        tracing::info!(table, rows, bytes, projects = ?expired_projects, "removed {rows} old rows from a part of {table}");
        Ok(Removed { rows, bytes })
    }
}

impl Removed {
    pub(super) fn add(&mut self, more: Removed) {
        self.rows += more.rows;
        self.bytes += more.bytes;
    }
}

/// The projects that have rows in the part, ascending. Read once per part.
fn projects(part: &Part) -> Result<&[u32], StoreError> {
    if let Some(known) = part.projects.get() {
        return Ok(known);
    }
    let mut projects = Vec::new();
    let mask = ProjectionMask::columns(part.metadata()?.parquet_schema(), ["project"]);
    for batch in merge::open(part, mask, BATCH_ROWS)? {
        let batch = batch.map_err(|e| part.damaged(&e))?;
        projects.extend_from_slice(batch.column(0).as_primitive::<UInt32Type>().values());
        // Mostly adjacent, because rows are sorted by project.
        projects.dedup();
        if projects.len() > BATCH_ROWS {
            projects.sort_unstable();
            projects.dedup();
        }
    }
    projects.sort_unstable();
    projects.dedup();
    Ok(part.projects.get_or_init(|| projects.into()))
}
