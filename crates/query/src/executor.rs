//! Runs the plans of one request in the store, under one deadline and one memory budget.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tidewatch_store::plan::Plan;
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::trace_search::{Found, TraceSearch};

use super::answer::Answer;
use super::context::QueryContext;
use crate::error::QueryError;

/// Runs the plans of one request. Clones share the deadline and the memory budget.
#[derive(Clone)]
pub struct Executor {
    /// The state that all requests share.
    pub context: Arc<QueryContext>,
    deadline: Instant,
    /// Holds the memory of all plans of the request and of their answers until the last clone is dropped.
    memory: Arc<RequestMemory>,
}

impl Executor {
    /// Starts the deadline and the memory budget of one request. Plans that do not finish within `limit` from now fail
    /// with [`QueryError::Deadline`] (504).
    pub fn within(context: Arc<QueryContext>, limit: Duration) -> Executor {
        let memory = Arc::new(context.store.request_memory());
        Executor { context, deadline: Instant::now() + limit, memory }
    }

    /// Runs one plan and returns its rows or groups.
    pub async fn run(&self, plan: Plan) -> Result<Answer, QueryError> {
        self.context.run(self.memory.clone(), plan, self.deadline).await.map(Answer::new)
    }

    /// Runs a plan of rows. Returns one page of rows, and the number of rows on all pages.
    pub async fn page(&self, plan: Plan) -> Result<(Answer, u64), QueryError> {
        let (answer, total) = self.context.run_page(self.memory.clone(), plan, self.deadline).await?;
        Ok((Answer::new(answer), total))
    }

    /// Like [`Executor::page`] over `rows` instead of the stored ones.
    pub async fn page_of(&self, rows: Vec<RecordBatch>, plan: Plan) -> Result<(Answer, u64), QueryError> {
        let (answer, total) = self.context.run_page_of(rows, self.memory.clone(), plan, self.deadline).await?;
        Ok((Answer::new(answer), total))
    }

    /// Finds traces.
    pub async fn find_traces(&self, search: TraceSearch) -> Result<Found, QueryError> {
        self.context.find_traces(self.memory.clone(), search, self.deadline).await
    }

    /// Reads every row that passes a plan of rows without an order, see [`QueryContext::read`].
    pub async fn read<S: Send + 'static>(
        &self,
        plan: Plan,
        state: S,
        mut each: impl FnMut(&mut S, &Answer) -> bool + Send + 'static,
    ) -> Result<S, QueryError> {
        let each = move |state: &mut S, batch| each(state, &Answer::new(batch));
        self.context.read(self.memory.clone(), plan, self.deadline, state, each).await
    }
}
