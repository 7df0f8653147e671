//! What questions need of the process: the store, who may see what, the time, and a bound on how many run at once.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_store::plan::Plan;
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::{Cursor, StoreError, TelemetryStore};
use tokio::sync::Semaphore;

use super::incomplete;
use super::retention;
use crate::error::QueryError;
use crate::threads::QueryThreads;
use tidewatch_accounts::Control;
use tidewatch_limits as limits;
use tidewatch_limits::admission::slots::{Admission, Full};
use tidewatch_limits::clock::Clock;

/// Shared by all requests that ask the store.
pub struct QueryContext {
    pub control: Arc<Control>,
    pub clock: Clock,
    pub store: Arc<dyn TelemetryStore>,
    /// Of projects that say nothing else; 0: for ever.
    pub retention_days: u32,
    /// Questions answered at once.
    pub asking: Admission,
    /// Exports that are read at once.
    pub exports: Arc<Semaphore>,
    threads: QueryThreads,
}

/// Questions of all projects wait in one queue.
const ANY_PROJECT: u32 = 0;

impl QueryContext {
    /// `asking`: slots for questions, as many as there are threads.
    pub fn new(
        (control, clock): (Arc<Control>, Clock),
        (store, retention_days): (Arc<dyn TelemetryStore>, u32),
        (asking, threads): (Admission, QueryThreads),
    ) -> QueryContext {
        QueryContext {
            control,
            clock,
            store,
            retention_days,
            asking,
            exports: Arc::new(Semaphore::new(limits::EXPORTS_MAX)),
            threads,
        }
    }

    /// One question to the telemetry store: on threads of their own, at most `query_concurrent` at once.
    ///
    /// `deadline` covers waiting too; after it: 504. A scan whose asker has gone away ends by its deadline and counts
    /// until then.
    pub async fn ask(
        &self,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
    ) -> Result<RecordBatch, QueryError> {
        let plan = retention::only_kept(&self.control, plan, self.retention_ns());
        self.note_gaps(&plan);
        self.scan(deadline, move |store| store.query(&memory, &plan, deadline)).await
    }

    /// As [`QueryContext::ask`], of rows, with the number of all that pass the filter.
    pub async fn ask_page(
        &self,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), QueryError> {
        let plan = retention::only_kept(&self.control, plan, self.retention_ns());
        self.note_gaps(&plan);
        self.scan(deadline, move |store| store.query_page(&memory, &plan, deadline)).await
    }

    /// All rows that pass a plan of rows, as they are stored now; to be read with [`QueryContext::in_turn`].
    pub async fn cursor(&self, plan: Plan) -> Result<Box<dyn Cursor>, QueryError> {
        let plan = retention::only_kept(&self.control, plan, self.retention_ns());
        self.note_gaps(&plan);
        Ok(self.in_turn(move |store| store.cursor(&plan)).await??)
    }

    /// Runs a piece of work that nobody waits for on a query thread, however long it waits for its turn there.
    pub async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn TelemetryStore) -> T + Send + 'static,
    ) -> Result<T, QueryError> {
        let permit = loop {
            match self.asking.enter(ANY_PROJECT).await {
                Ok(permit) => break permit,
                Err(Full) => tokio::time::sleep(limits::EXPORT_TURN_PAUSE).await,
            }
        };
        let store = self.store.clone();
        let done = self.threads.run(move || {
            let _permit = permit;
            work(&*store)
        });
        done.await.ok_or_else(|| QueryError::internal("a piece of an export panicked"))
    }

    /// Questions that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.asking.waiting()
    }

    /// The time that decides what is kept no longer. It does not follow a clock that jumped. DECISIONS 25.
    fn retention_ns(&self) -> i64 {
        self.store.trusted_now().unwrap_or_else(|| self.clock.now_ns())
    }

    fn note_gaps(&self, plan: &Plan) {
        if self.store.is_incomplete(plan) {
            incomplete::note();
        }
    }

    async fn scan<T: Send + 'static>(
        &self,
        deadline: Instant,
        ask: impl FnOnce(&dyn TelemetryStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, QueryError> {
        let entered = tokio::time::timeout_at(deadline.into(), self.asking.enter(ANY_PROJECT));
        let permit = entered.await.map_err(|_| QueryError::Deadline)?;
        let permit = permit.map_err(|_| QueryError::Overloaded("too many questions at once; try again later"))?;
        let store = self.store.clone();
        let scan = self.threads.run(move || {
            let _permit = permit;
            ask(&*store)
        });
        Ok(scan.await.ok_or_else(|| QueryError::internal("a question panicked"))??)
    }
}
