//! Runs the plans of one request in the store, under one deadline and one memory budget. [`descendants`]: conditions on
//! spans below rows.

mod descendants;

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tidewatch_store::plan::Plan;
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::trace_search::{Found, TraceSearch};

use crate::answer::Answer;
use crate::context::QueryContext;
use crate::error::QueryError;
use crate::global_filter::GlobalFilter;

/// Runs the plans of one request. Clones share the deadline and the memory budget.
#[derive(Clone)]
pub struct Executor {
    /// The state that all requests share.
    pub context: Arc<QueryContext>,
    deadline: Instant,
    /// Holds the memory of all plans of the request and of their answers until the last clone is dropped.
    memory: Arc<RequestMemory>,
    /// Selects the rows of every plan.
    filter: Arc<GlobalFilter>,
}

impl Executor {
    /// Starts the deadline and the memory budget of one request. Plans that do not finish within `limit` from now fail
    /// with [`QueryError::Deadline`] (504).
    pub fn within(context: Arc<QueryContext>, limit: Duration) -> Executor {
        let memory = Arc::new(context.store.request_memory());
        Executor { context, deadline: Instant::now() + limit, memory, filter: Arc::default() }
    }

    /// Adds the filter to every plan, instead of an earlier one.
    #[must_use]
    pub fn filtered(self, filter: GlobalFilter) -> Executor {
        Executor { filter: Arc::new(filter), ..self }
    }

    /// The same executor without a filter, for rows beside those of the response: what owns or surrounds a row, and
    /// what is true of an object whichever rows are selected.
    pub fn unfiltered(&self) -> Executor {
        Executor { filter: Arc::default(), ..self.clone() }
    }

    /// The services and environments that are selected.
    pub fn filter(&self) -> &GlobalFilter {
        &self.filter
    }

    /// Runs one plan and returns its rows or groups.
    pub async fn run(&self, plan: Plan) -> Result<Answer, QueryError> {
        self.run_plain(descendants::resolved(self, self.filter.applied(plan)).await?).await
    }

    /// Like [`Executor::run`], for a plan without conditions on descendants.
    async fn run_plain(&self, plan: Plan) -> Result<Answer, QueryError> {
        self.context.run(self.memory.clone(), plan, self.deadline).await.map(Answer::new)
    }

    /// Runs a plan of rows. Returns one page of rows, and the number of rows on all pages.
    pub async fn page(&self, plan: Plan) -> Result<(Answer, u64), QueryError> {
        let plan = descendants::resolved(self, self.filter.applied(plan)).await?;
        let (answer, total) = self.context.run_page(self.memory.clone(), plan, self.deadline).await?;
        Ok((Answer::new(answer), total))
    }

    /// Like [`Executor::page`] over `rows` instead of the stored ones.
    pub async fn page_of(&self, rows: Vec<RecordBatch>, plan: Plan) -> Result<(Answer, u64), QueryError> {
        let (answer, total) =
            self.context.run_page_of(rows, self.memory.clone(), self.filter.applied(plan), self.deadline).await?;
        Ok((Answer::new(answer), total))
    }

    /// Finds traces.
    pub async fn find_traces(&self, mut search: TraceSearch) -> Result<Found, QueryError> {
        search.condition = self.filter.of_traces(search.condition);
        self.context.find_traces(self.memory.clone(), search, self.deadline).await
    }

    /// Reads every row that passes a plan of rows without an order, see [`QueryContext::read`].
    pub async fn read<S: Send + 'static>(
        &self,
        plan: Plan,
        state: S,
        each: impl FnMut(&mut S, &Answer) -> bool + Send + 'static,
    ) -> Result<S, QueryError> {
        self.read_plain(descendants::resolved(self, self.filter.applied(plan)).await?, state, each).await
    }

    /// Like [`Executor::read`], for a plan without conditions on descendants.
    async fn read_plain<S: Send + 'static>(
        &self,
        plan: Plan,
        state: S,
        mut each: impl FnMut(&mut S, &Answer) -> bool + Send + 'static,
    ) -> Result<S, QueryError> {
        let each = move |state: &mut S, batch| each(state, &Answer::new(batch));
        self.context.read(self.memory.clone(), plan, self.deadline, state, each).await
    }
}
