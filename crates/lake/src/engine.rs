//! The lake as a [`TelemetryStore`].

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_domain::model::Signal;
use tidewatch_store::plan::{Filter, Plan, Shape};
use tidewatch_store::query_memory::{QueryMemoryUse, RequestMemory};
use tidewatch_store::retention::Keeping;
use tidewatch_store::tables::Table;
use tidewatch_store::{Change, Counted, Cursor, Gap, OnWorked, Outcome, Rewrite, Stats, StoreError, TelemetryStore};

use crate::memtable::counts;
use crate::{Lake, RowCursor, Source, scan};

/// Marks the part that a question could not read.
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
        let _asking = self.shared.layout.pace.ask();
        let sources = self.sources(plan);
        let rows_min = self.shared.options.rollups.ask_rows;
        let answer = scan::run_rolled(plan, &sources, deadline, rows_min, memory);
        answer.inspect_err(|error| suspect_sources(&sources, error))
    }

    fn query_page(
        &self,
        memory: &RequestMemory,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), StoreError> {
        let _asking = self.shared.layout.pace.ask();
        let sources = self.sources(plan);
        let rows_min = self.shared.options.rollups.ask_rows;
        let answer = scan::run_page(plan, &sources, deadline, rows_min, memory);
        answer.inspect_err(|error| suspect_sources(&sources, error))
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
        signal: Signal,
        outcome: Outcome,
        reason: Cow<'static, str>,
        count: u64,
    ) {
        self.shared.highest_project.fetch_max(project, Ordering::Relaxed);
        let mut state = self.shared.state.lock();
        let minute = counts::minute(time_ns);
        state.active.counts().add(project, minute, signal, outcome, reason, count);
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

    fn set_keeping(&self, keeping: Keeping) {
        let mut state = self.shared.state.lock();
        if *state.keeping != keeping {
            state.keeping = Arc::new(keeping);
            state.is_keeping_new = true;
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

    fn holds(&self, project: u32, deadline: Instant) -> Result<bool, StoreError> {
        for table in Table::ALL {
            let columns = vec!["time"];
            let shape = Shape::Rows { columns, order: Vec::new(), limit: 1, offset: 0 };
            // `i64::MAX` has no end: earlier releases stored times that did not fit as that.
            let all =
                Plan { table, projects: vec![project], from: i64::MIN, to: i64::MAX, filter: Filter::True, shape };
            if self.ask(&all, deadline)?.num_rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn highest_project(&self) -> u32 {
        self.shared.highest_project.load(Ordering::Relaxed)
    }

    fn counted(&self) -> Vec<Counted> {
        self.shared.state.lock().counted()
    }

    fn stats(&self) -> Stats {
        self.shared.stats()
    }

    fn query_memory(&self) -> (usize, QueryMemoryUse) {
        (self.shared.query_memory.bytes_max(), self.shared.query_memory.in_use())
    }

    fn set_on_worked(&self, callback: OnWorked) {
        let _ = self.shared.on_worked.set(callback);
    }
}
