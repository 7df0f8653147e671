//! [`TelemetryStore`]: the interface between the service and an engine.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_domain::model::RequestKind;

use crate::plan::Plan;
use crate::query_memory::{QueryMemoryUse, RequestMemory};
use crate::retention::ProjectRetention;
use crate::tables::Table;
use crate::trace_search::{self, Found, TraceSearch};
use crate::{Change, CompletedWork, Gap, Outcome, OutcomeCount, Rewrite, Stats, StoreError};

/// Called after each piece of background work; must not block.
pub type OnWorkCompleted = Box<dyn Fn(&CompletedWork) + Send + Sync>;

/// Reads every row that passes a plan of rows, piece by piece, as they were stored when the cursor was made.
pub trait Cursor: Send {
    /// Reads the next piece and hands its rows to `each`, batch by batch, with the plan's columns and the table's
    /// types. Returns false when no row is left. A piece may have no rows that pass.
    ///
    /// When it fails before `each` was called, with [`StoreError::Deadline`] for instance, the same piece can be read
    /// again.
    fn read(
        &mut self,
        memory: &RequestMemory,
        deadline: Instant,
        each: &mut dyn FnMut(&RecordBatch) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError>;
}

/// Selects rows to delete.
#[derive(Debug, Clone, Copy)]
pub struct Deletion<'d> {
    /// Number of the project.
    pub project: u32,
    /// The table.
    pub table: Table,
    /// Columns with ids or strings, each with values: a row is selected when any column has one of its values.
    pub any: &'d [(&'static str, BTreeSet<Vec<u8>>)],
}

/// Queries and maintenance of stored telemetry. Every method may block: none is for async threads.
///
/// How rows come in is the engine's own matter, because acknowledgement depends on it: the embedded engine takes them
/// from the journal.
pub trait TelemetryStore: Send + Sync {
    /// Reserves memory for the queries and answers of one request.
    fn request_memory(&self) -> RequestMemory;

    /// Answers `plan` over all rows that are stored. `memory` holds the bytes of the answer until the request ends.
    ///
    /// Fails with [`StoreError::Deadline`] once `deadline` has passed, [`StoreError::Budget`] when the request exceeds
    /// its memory, and [`StoreError::BadPlan`] for a plan that does not fit the table.
    fn query(&self, memory: &RequestMemory, plan: &Plan, deadline: Instant) -> Result<RecordBatch, StoreError>;

    /// Like [`TelemetryStore::query`] for a plan of rows; also returns the number of rows that pass its filter.
    fn query_page(
        &self,
        memory: &RequestMemory,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), StoreError>;

    /// Like [`TelemetryStore::query_page`] over `rows` instead of the stored ones: batches of
    /// [`memory_schema`](crate::memory_schema).
    fn query_page_of(
        &self,
        rows: Vec<RecordBatch>,
        memory: &RequestMemory,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), StoreError>;

    /// Opens a cursor over all rows that pass `plan`. Fails with [`StoreError::BadPlan`] when the plan has an order,
    /// limit or offset.
    fn cursor(&self, plan: &Plan) -> Result<Box<dyn Cursor>, StoreError>;

    /// Finds traces; fails like [`TelemetryStore::query`]. An engine may have a quicker way that finds the same.
    fn find_traces(
        &self,
        memory: &RequestMemory,
        search: &TraceSearch,
        deadline: Instant,
    ) -> Result<Found, StoreError> {
        trace_search::find(&mut |plan| self.query(memory, plan, deadline), search)
    }

    /// Whether a gap may contain rows that belong to the answer of `plan`.
    fn is_incomplete(&self, plan: &Plan) -> bool;

    /// Rows that were stored and can no longer be read.
    fn gaps(&self) -> Vec<Gap>;

    /// Counts `count` requests that were refused before they were stored. Lost when the process dies before the next
    /// flush.
    fn count(
        &self,
        project: u32,
        time_ns: i64,
        kind: RequestKind,
        outcome: Outcome,
        reason: Cow<'static, str>,
        count: u64,
    );

    /// Whether rows come in faster than they are written, so that further requests should be refused.
    fn is_behind(&self) -> bool;

    /// Error of the latest write; `None` when it succeeded.
    fn write_failure(&self) -> Option<String>;

    /// Replaces the rows for which `change` returns new values, until `stop` returns true. Returns the number of
    /// replaced units of the engine: parts, for the embedded one.
    fn rewrite(&self, which: Rewrite, stop: &dyn Fn() -> bool, change: &mut Change<'_>) -> Result<usize, StoreError>;

    /// Replaces the retention of projects. Expired rows are removed by the next [`TelemetryStore::retain`].
    fn set_project_retention(&self, retention: ProjectRetention);

    /// Removes rows whose retention has passed at `now_ns`. Returns the bytes freed.
    fn retain(&self, now_ns: i64) -> Result<u64, StoreError>;

    /// The time that retention follows, nanoseconds since the epoch: the wall clock without its jumps. `None` while the
    /// engine has no clock.
    fn trusted_now(&self) -> Option<i64>;

    /// Distance of the wall clock ahead of [`TelemetryStore::trusted_now`] after a jump, nanoseconds; usually 0.
    fn clock_ahead_ns(&self) -> i64;

    /// Deleted projects that are recorded to have no row; [`ProjectRetention::deleted_projects`] may omit them.
    fn purged(&self) -> Result<BTreeSet<u32>, StoreError>;

    /// Records durably that a deleted project has no row.
    fn set_purged(&self, project: u32) -> Result<(), StoreError>;

    /// Removes the rows that any of `which` selects for good, those in memory too; a restart does not bring them back. A
    /// crash leaves all of them or none. Tables are distinct. Returns the number of rows.
    fn delete(&self, which: &[Deletion<'_>]) -> Result<u64, StoreError>;

    /// Whether any table has a row of `project`.
    fn holds(&self, project: u32, deadline: Instant) -> Result<bool, StoreError>;

    /// The highest project number that any row has had, removed rows included; 0 when there was none.
    fn highest_project(&self) -> u32;

    /// Counts of requests and records by outcome, over all projects, since the process started.
    fn outcome_counts(&self) -> Vec<OutcomeCount>;

    /// Statistics of what is stored now.
    fn stats(&self) -> Stats;

    /// The size of the memory that queries share, in bytes, and its use.
    fn query_memory(&self) -> (usize, QueryMemoryUse);

    /// Sets the callback for background work. Only the first call has an effect.
    fn set_on_work_completed(&self, callback: OnWorkCompleted);
}
