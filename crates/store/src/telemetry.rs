//! [`TelemetryStore`]: what the service needs of an engine, whatever holds the rows.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_domain::model::Signal;

use crate::plan::Plan;
use crate::query_memory::{QueryMemoryUse, RequestMemory};
use crate::retention::Keeping;
use crate::{Change, Counted, Gap, Outcome, Rewrite, Stats, StoreError, Worked};

/// Called with each piece of background work once it is done; must not block.
pub type OnWorked = Box<dyn Fn(&Worked) + Send + Sync>;

/// Reads every row that passes a plan of rows, piece by piece, as they were stored when the cursor was made.
pub trait Cursor: Send {
    /// Reads the next piece and hands its rows to `each`, batch by batch, with the plan's columns and the table's types.
    /// Returns false when no row is left. A piece may have no rows that pass.
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

/// Queries and maintenance of stored telemetry. Every method may block: none is for async threads.
///
/// How rows come in is the engine's own matter, because acknowledgement depends on it: the embedded engine takes them
/// from the journal.
pub trait TelemetryStore: Send + Sync {
    /// Reserves memory for the queries and answers of one request.
    fn request_memory(&self) -> RequestMemory;

    /// Answers `plan` over all rows that are stored, within the memory of a request, which goes on holding the answer.
    ///
    /// [`StoreError::Deadline`] once `deadline` has passed, [`StoreError::Budget`] when the request may not hold so
    /// much, [`StoreError::BadPlan`] for a plan that names what does not exist.
    fn query(&self, memory: &RequestMemory, plan: &Plan, deadline: Instant) -> Result<RecordBatch, StoreError>;

    /// As [`TelemetryStore::query`] for a plan of rows; returns the number of rows that pass its filter too.
    fn query_page(
        &self,
        memory: &RequestMemory,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), StoreError>;

    /// Makes a cursor over all rows that pass `plan`, which has no order, limit or offset; else [`StoreError::BadPlan`].
    fn cursor(&self, plan: &Plan) -> Result<Box<dyn Cursor>, StoreError>;

    /// Whether rows that belong to the answer of `plan` were stored once and cannot be read any more.
    fn is_incomplete(&self, plan: &Plan) -> bool;

    /// Rows that were stored once and cannot be read any more.
    fn gaps(&self) -> Vec<Gap>;

    /// Counts `count` requests that were refused before they were stored. Lost when the process dies before the next
    /// flush.
    fn count(
        &self,
        project: u32,
        time_ns: i64,
        signal: Signal,
        outcome: Outcome,
        reason: Cow<'static, str>,
        count: u64,
    );

    /// Whether rows come in faster than they are written: nothing more should be accepted for now.
    fn is_behind(&self) -> bool;

    /// Why rows could not be written lately; `None` when they could.
    fn write_failure(&self) -> Option<String>;

    /// Writes rows again that `change` returns other values for, until `stop` returns true. Returns how often rows were
    /// replaced in the unit of the engine: parts, for the embedded one.
    fn rewrite(&self, which: Rewrite, stop: &dyn Fn() -> bool, change: &mut Change<'_>) -> Result<usize, StoreError>;

    /// Sets the retention of projects beside that of tables. Rows are removed by the next [`TelemetryStore::retain`].
    fn set_keeping(&self, keeping: Keeping);

    /// Removes rows whose retention has passed at `now_ns`. Returns the bytes freed.
    fn retain(&self, now_ns: i64) -> Result<u64, StoreError>;

    /// The time that retention follows, nanoseconds since the epoch: the wall clock without its jumps. `None` while the
    /// engine has no clock.
    fn trusted_now(&self) -> Option<i64>;

    /// How far the wall clock is ahead of [`TelemetryStore::trusted_now`] after a jump, nanoseconds; usually 0.
    fn clock_ahead_ns(&self) -> i64;

    /// Deleted projects without any row; [`Keeping::gone`] need not name them.
    fn purged(&self) -> Result<BTreeSet<u32>, StoreError>;

    /// Records for good that a deleted project has no row.
    fn set_purged(&self, project: u32) -> Result<(), StoreError>;

    /// Whether any table has a row of `project`.
    fn holds(&self, project: u32, deadline: Instant) -> Result<bool, StoreError>;

    /// The highest project number that any row has had, removed rows included; 0 when there was none.
    fn highest_project(&self) -> u32;

    /// Requests and records by outcome, all projects together, since the process started.
    fn counted(&self) -> Vec<Counted>;

    /// What is stored now.
    fn stats(&self) -> Stats;

    /// The memory that queries share: its size in bytes, and its use.
    fn query_memory(&self) -> (usize, QueryMemoryUse);

    /// Sets the callback for background work. Only the first one counts.
    fn set_on_worked(&self, callback: OnWorked);
}
