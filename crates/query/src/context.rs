//! The state that all queries share: the store, the control database, the clock, and the limit on concurrent queries.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_domain::rules::group_versions::GroupVersions;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::tables::Table;
use tidewatch_store::trace_search::{Found, TraceSearch};
use tidewatch_store::{Cursor, StoreError, TelemetryStore};
use tokio::sync::Semaphore;

use super::incomplete;
use super::retention;
use crate::error::QueryError;
use crate::threads::QueryThreads;
use tidewatch_accounts::{Control, Database, People, Projects};
use tidewatch_limits as limits;
use tidewatch_limits::admission::slots::{Admission, Full};
use tidewatch_limits::clock::Clock;

/// State that all requests to the telemetry store share.
pub struct QueryContext {
    /// Projects, their settings and accepted slow offsets.
    pub projects: Projects,
    /// Users, to whom Issues are assigned.
    pub people: People,
    /// The database of the rooms that ask.
    pub database: Database,
    /// Wall clock of the process.
    pub clock: Clock,
    /// The engine.
    pub store: Arc<dyn TelemetryStore>,
    /// Retention in days of projects without their own setting; 0: forever.
    pub retention_days: u32,
    /// Versions of the rule that groups exceptions.
    pub grouping: GroupVersions,
    /// Slots of concurrent queries.
    pub slots: Admission,
    /// One permit per concurrent export, [`limits::EXPORTS_MAX`] in all.
    pub exports: Arc<Semaphore>,
    threads: QueryThreads,
}

/// The queries of all projects wait in one queue.
const ANY_PROJECT: u32 = 0;

impl QueryContext {
    /// `slots` has as many slots as `threads` has threads. `retention_days`: see [`QueryContext::retention_days`].
    pub fn new(
        (control, clock): (&Control, Clock),
        (store, retention_days): (Arc<dyn TelemetryStore>, u32),
        (slots, threads): (Admission, QueryThreads),
    ) -> QueryContext {
        QueryContext {
            projects: control.projects.clone(),
            people: control.people.clone(),
            database: control.database().clone(),
            clock,
            store,
            retention_days,
            grouping: GroupVersions::BUILT_IN,
            slots,
            exports: Arc::new(Semaphore::new(limits::EXPORTS_MAX)),
            threads,
        }
    }

    /// The same context with other versions of the rule that groups exceptions.
    #[must_use]
    pub fn with_grouping(self, grouping: GroupVersions) -> QueryContext {
        QueryContext { grouping, ..self }
    }

    /// Runs one plan on a query thread; at most `query_concurrent` plans run concurrently.
    ///
    /// `deadline` includes the time in the queue; after it: [`QueryError::Deadline`] (504). A full queue is
    /// [`QueryError::Overloaded`]. A scan whose client has disconnected ends by its deadline and keeps its slot until
    /// then.
    pub async fn run(
        &self,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
    ) -> Result<RecordBatch, QueryError> {
        let plan = retention::within_retention(&self.projects, plan, self.retention_ns());
        self.mark_incomplete(&plan);
        self.scan(deadline, move |store| store.query(&memory, &plan, deadline)).await
    }

    /// Like [`QueryContext::run`] for a plan of rows. Also returns the number of rows on all pages.
    pub async fn run_page(
        &self,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), QueryError> {
        let plan = retention::within_retention(&self.projects, plan, self.retention_ns());
        self.mark_incomplete(&plan);
        self.scan(deadline, move |store| store.query_page(&memory, &plan, deadline)).await
    }

    /// Like [`QueryContext::run_page`] over `rows` instead of the stored ones.
    pub async fn run_page_of(
        &self,
        rows: Vec<RecordBatch>,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), QueryError> {
        let plan = retention::within_retention(&self.projects, plan, self.retention_ns());
        self.scan(deadline, move |store| store.query_page_of(rows, &memory, &plan, deadline)).await
    }

    /// Finds traces on a query thread; fails like [`QueryContext::run`].
    pub async fn find_traces(
        &self,
        memory: Arc<RequestMemory>,
        mut search: TraceSearch,
        deadline: Instant,
    ) -> Result<Found, QueryError> {
        let shape = Shape::Rows { columns: vec![], order: vec![], limit: usize::MAX, offset: 0 };
        let (projects, filter) = (search.projects.clone(), search.spans);
        let plan = Plan { table: Table::Spans, projects, from: search.window.0, to: search.window.1, filter, shape };
        let plan = retention::within_retention(&self.projects, plan, self.retention_ns());
        self.mark_incomplete(&plan);
        (search.window.0, search.spans) = (plan.from, plan.filter);
        self.scan(deadline, move |store| store.find_traces(&memory, &search, deadline)).await
    }

    /// Makes a cursor over all rows that pass a plan of rows, as they are stored now. Read it within
    /// [`QueryContext::run_queued`].
    pub async fn cursor(&self, plan: Plan) -> Result<Box<dyn Cursor>, QueryError> {
        let plan = retention::within_retention(&self.projects, plan, self.retention_ns());
        self.mark_incomplete(&plan);
        Ok(self.run_queued(move |store| store.cursor(&plan)).await??)
    }

    /// Reads every row that passes a plan of rows without an order, batch by batch, on a query thread. `each` returns
    /// false to end early. Returns the state that `each` has filled.
    ///
    /// Fails like [`QueryContext::run`].
    pub async fn read<S: Send + 'static>(
        &self,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
        mut state: S,
        mut each: impl FnMut(&mut S, RecordBatch) -> bool + Send + 'static,
    ) -> Result<S, QueryError> {
        let mut cursor = self.cursor(plan).await?;
        let read = move |_: &dyn TelemetryStore| {
            let mut goes_on = true;
            loop {
                let has_more = cursor.read(&memory, deadline, &mut |batch| {
                    goes_on = goes_on && each(&mut state, batch.clone());
                    Ok(())
                })?;
                if !has_more || !goes_on {
                    return Ok(state);
                }
            }
        };
        self.scan(deadline, read).await
    }

    /// Runs work without a deadline on a query thread: it waits for a slot as long as needed, and retries while the
    /// queue is full. Fails when `work` panics.
    pub async fn run_queued<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn TelemetryStore) -> T + Send + 'static,
    ) -> Result<T, QueryError> {
        let permit = loop {
            match self.slots.enter(ANY_PROJECT).await {
                Ok(permit) => break permit,
                Err(Full) => tokio::time::sleep(limits::EXPORT_QUEUE_PAUSE).await,
            }
        };
        let store = self.store.clone();
        let done = self.threads.run(move || {
            let _permit = permit;
            work(&*store)
        });
        done.await.ok_or_else(|| QueryError::internal("a piece of an export panicked"))
    }

    /// Number of queries that wait for a slot.
    pub fn waiting(&self) -> usize {
        self.slots.waiting()
    }

    /// The time by which retention is computed, nanoseconds since the epoch. It does not follow a clock that jumped.
    /// DECISIONS 25.
    fn retention_ns(&self) -> i64 {
        self.store.trusted_now().unwrap_or_else(|| self.clock.now_ns())
    }

    fn mark_incomplete(&self, plan: &Plan) {
        if self.store.is_incomplete(plan) {
            incomplete::mark();
        }
    }

    async fn scan<T: Send + 'static>(
        &self,
        deadline: Instant,
        query: impl FnOnce(&dyn TelemetryStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, QueryError> {
        let entered = tokio::time::timeout_at(deadline.into(), self.slots.enter(ANY_PROJECT));
        let permit = entered.await.map_err(|_| QueryError::Deadline)?;
        let permit = permit.map_err(|_| QueryError::Overloaded("too many queries at once; try again later"))?;
        let store = self.store.clone();
        let scan = self.threads.run(move || {
            let _permit = permit;
            query(&*store)
        });
        Ok(scan.await.ok_or_else(|| QueryError::internal("a query panicked"))??)
    }
}
