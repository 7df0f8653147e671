//! Implements [`TelemetryStore`] and [`JournaledStore`] for the lake.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tidewatch_domain::model::RequestKind;
use tidewatch_journal::Position;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_store::columns::Rows;
use tidewatch_store::plan::{Filter, Plan, Shape};
use tidewatch_store::query_memory::{QueryMemoryUse, RequestMemory};
use tidewatch_store::retention::ProjectRetention;
use tidewatch_store::tables::Table;
use tidewatch_store::{
    Applied, Change, Cursor, Deletion, Gap, JournaledStore, LostFiles, Observer, OnWorkCompleted, Outcome,
    OutcomeCount, Rewrite, Stats, StoreError, TelemetryStore,
};

use crate::memtable::counts;
use crate::{Lake, RowCursor, Source, scan};

/// Marks the part that a query could not read.
fn suspect_sources(sources: &[Source], error: &StoreError) {
    for source in sources {
        if let Source::Part(part) = source
            && error.faulty_file() == Some(part.path())
        {
            part.suspect(error);
        }
    }
}

impl TelemetryStore for Lake {
    fn request_memory(&self) -> RequestMemory {
        RequestMemory::new(&self.shared.query_memory)
    }

    fn query(&self, memory: &RequestMemory, plan: &Plan, deadline: Instant) -> Result<RecordBatch, StoreError> {
        let _active = self.shared.layout.throttle.query_started();
        let sources = self.sources(plan);
        let rows_min = self.shared.options.rollups.query_rows_min;
        let answer = scan::run_with_rollups(plan, &sources, deadline, rows_min, memory);
        answer.inspect_err(|error| suspect_sources(&sources, error))
    }

    fn query_page(
        &self,
        memory: &RequestMemory,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), StoreError> {
        let _active = self.shared.layout.throttle.query_started();
        let sources = self.sources(plan);
        let rows_min = self.shared.options.rollups.query_rows_min;
        let answer = scan::run_page(plan, &sources, deadline, rows_min, memory);
        answer.inspect_err(|error| suspect_sources(&sources, error))
    }

    fn query_page_of(
        &self,
        rows: Vec<RecordBatch>,
        memory: &RequestMemory,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), StoreError> {
        let sources: Vec<Source> = rows.into_iter().map(Source::Memory).collect();
        scan::run_page(plan, &sources, deadline, self.shared.options.rollups.query_rows_min, memory)
    }

    fn cursor(&self, plan: &Plan) -> Result<Box<dyn Cursor>, StoreError> {
        Ok(Box::new(RowCursor::new(plan, self.sources(plan))?))
    }

    fn is_incomplete(&self, plan: &Plan) -> bool {
        self.shared.state.lock().gaps.iter().any(|gap| gap.touches(plan))
    }

    fn gaps(&self) -> Vec<Gap> {
        self.shared.state.lock().gaps.clone()
    }

    fn count(
        &self,
        project: u32,
        time_ns: i64,
        kind: RequestKind,
        outcome: Outcome,
        reason: Cow<'static, str>,
        count: u64,
    ) {
        self.shared.highest_project.fetch_max(project, Ordering::Relaxed);
        let mut state = self.shared.state.lock();
        let minute = counts::minute(time_ns);
        state.active.counts().add(project, minute, kind, outcome, reason, count);
        state.active.since.get_or_insert_with(Instant::now);
    }

    fn is_behind(&self) -> bool {
        self.shared.is_behind(&self.shared.state.lock())
    }

    fn write_failure(&self) -> Option<String> {
        self.shared.flush_failure.lock().clone()
    }

    fn rewrite(&self, which: Rewrite, stop: &dyn Fn() -> bool, change: &mut Change<'_>) -> Result<usize, StoreError> {
        self.shared.rewrite(which, stop, change)
    }

    fn set_project_retention(&self, project_retention: ProjectRetention) {
        let mut state = self.shared.state.lock();
        if *state.project_retention != project_retention {
            state.project_retention = Arc::new(project_retention);
            state.is_project_retention_new = true;
        }
    }

    fn retain(&self, now_ns: i64) -> Result<u64, StoreError> {
        self.shared.retain(now_ns, &mut || false)
    }

    fn trusted_now(&self) -> Option<i64> {
        self.shared.trusted_now()
    }

    fn clock_ahead_ns(&self) -> i64 {
        self.shared.clock_ahead_ns()
    }

    fn purged(&self) -> Result<BTreeSet<u32>, StoreError> {
        self.shared.catalog.lock().purged()
    }

    fn set_purged(&self, project: u32) -> Result<(), StoreError> {
        self.shared.catalog.lock().set_purged(project)
    }

    fn delete(&self, which: &[Deletion<'_>]) -> Result<u64, StoreError> {
        self.shared.delete_matching(which)
    }

    fn holds(&self, project: u32, deadline: Instant) -> Result<bool, StoreError> {
        for table in Table::ALL {
            let columns = vec!["time"];
            let shape = Shape::Rows { columns, order: Vec::new(), limit: 1, offset: 0 };
            // `to: i64::MAX` is unbounded: earlier releases stored times beyond the range as that.
            let all =
                Plan { table, projects: vec![project], from: i64::MIN, to: i64::MAX, filter: Filter::True, shape };
            if self.execute(&all, deadline)?.num_rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn highest_project(&self) -> u32 {
        self.shared.highest_project.load(Ordering::Relaxed)
    }

    fn outcome_counts(&self) -> Vec<OutcomeCount> {
        self.shared.state.lock().outcome_counts()
    }

    fn stats(&self) -> Stats {
        self.shared.stats()
    }

    fn query_memory(&self) -> (usize, QueryMemoryUse) {
        (self.shared.query_memory.bytes_max(), self.shared.query_memory.in_use())
    }

    fn set_on_work_completed(&self, callback: OnWorkCompleted) {
        let _ = self.shared.on_work_completed.set(callback);
    }
}

impl JournaledStore for Lake {
    fn covered(&self) -> Position {
        Lake::covered(self)
    }

    fn apply_observed(
        &self,
        position: Position,
        request_key: u128,
        received_ns: i64,
        rows: Rows,
        observe: &mut Observer<'_>,
    ) -> Applied {
        Lake::apply_observed(self, position, request_key, received_ns, rows, observe)
    }

    fn skip_record(&self, position: Position) {
        Lake::skip_record(self, position);
    }

    fn wait_while_behind(&self, timeout: Duration) -> bool {
        Lake::wait_while_behind(self, timeout)
    }

    fn replayed(&self) {
        Lake::replayed(self);
    }

    fn set_on_covered(&self, callback: Box<dyn Fn(Position) + Send + Sync>) {
        Lake::set_on_covered(self, callback);
    }

    fn flush(&self) -> Result<(), StoreError> {
        Lake::flush(self)
    }

    fn set_aside(&self) -> u64 {
        Lake::set_aside(self)
    }

    fn lost(&self) -> &dyn LostFiles {
        Lake::lost(self)
    }

    fn heartbeats(&self) -> &[Heartbeat] {
        Lake::heartbeats(self)
    }
}
