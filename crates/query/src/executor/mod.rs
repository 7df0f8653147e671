//! Runs the plans of one request in the store, under one deadline and one memory budget. [`descendants`]: conditions on
//! spans below rows.

mod descendants;
mod unresolved;

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tidewatch_store::plan::Plan;
use tidewatch_store::trace_search::{self, Found, TraceSample, TraceSearch};

use crate::answer::Answer;
use crate::context::QueryContext;
use crate::error::QueryError;
use crate::global_filter::GlobalFilter;
use unresolved::UnresolvedExecutor;

/// Runs the plans of one request. Clones share the deadline and the memory budget.
#[derive(Clone)]
pub struct Executor {
    /// The state that all requests share.
    pub context: Arc<QueryContext>,
    unresolved: UnresolvedExecutor,
    /// Selects the rows of every plan.
    filter: Arc<GlobalFilter>,
}

impl Executor {
    /// Starts the deadline and the memory budget of one request. Plans that do not finish within `limit` from now fail
    /// with [`QueryError::Deadline`] (504).
    pub fn within(context: Arc<QueryContext>, limit: Duration) -> Executor {
        let unresolved = UnresolvedExecutor::within(context.clone(), limit);
        Executor { context, unresolved, filter: Arc::default() }
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
        self.unresolved.run(self.resolved(plan).await?).await
    }

    /// The filtered plan without conditions on descendants.
    async fn resolved(&self, plan: Plan) -> Result<Plan, QueryError> {
        descendants::resolved(&self.unresolved, self.filter.applied(plan)).await
    }

    /// Runs a plan of rows. Returns one page of rows, and the number of rows on all pages.
    pub async fn page(&self, plan: Plan) -> Result<(Answer, u64), QueryError> {
        let plan = self.resolved(plan).await?;
        let (answer, total) =
            self.context.run_page(self.unresolved.memory.clone(), plan, self.unresolved.deadline).await?;
        Ok((Answer::new(answer), total))
    }

    /// Like [`Executor::page`] over `rows` instead of the stored ones.
    pub async fn page_of(&self, rows: Vec<RecordBatch>, plan: Plan) -> Result<(Answer, u64), QueryError> {
        let (answer, total) = self
            .context
            .run_page_of(rows, self.unresolved.memory.clone(), self.filter.applied(plan), self.unresolved.deadline)
            .await?;
        Ok((Answer::new(answer), total))
    }

    /// Finds traces.
    pub async fn find_traces(&self, mut search: TraceSearch) -> Result<Found, QueryError> {
        search.condition = self.filter.of_traces(search.condition);
        self.context.find_traces(self.unresolved.memory.clone(), search, self.unresolved.deadline).await
    }

    /// Finds the traces of an even sample of all that a search could find, and the fraction of all that they are. `None`
    /// when they were not all read within `budget`.
    pub async fn sample_traces(
        &self,
        mut search: TraceSearch,
        size: usize,
        budget: Duration,
    ) -> Result<Option<(Found, f64)>, QueryError> {
        search.condition = self.filter.of_traces(search.condition);
        let until = Instant::now() + budget;
        let state = (TraceSample::of(size), true);
        let (sample, is_whole) = self
            .unresolved
            .read(trace_search::spans_of_matches(&search), state, move |(sample, is_whole), answer| {
                answer.rows().for_each(|row| sample.offer(row.id16("trace_id")));
                *is_whole = Instant::now() < until;
                *is_whole
            })
            .await?;
        if !is_whole {
            return Ok(None);
        }
        let mut rate = sample.rate();
        let mut traces = sample.traces();
        // Of traces with many spans fewer are read: the first half of a sample is a sample.
        while traces.len() > 1 {
            let among = trace_search::among(&search, &traces);
            let (memory, deadline) = (self.unresolved.memory.clone(), self.unresolved.deadline);
            let found = self.context.find_traces(memory, among, deadline).await?;
            if found.complete_after.is_none() {
                return Ok(Some((found, rate)));
            }
            if Instant::now() >= until {
                break;
            }
            traces.truncate(traces.len() / 2);
            rate /= 2.0;
        }
        Ok(None)
    }

    /// Reads every row that passes a plan of rows without an order, see [`QueryContext::read`].
    pub async fn read<S: Send + 'static>(
        &self,
        plan: Plan,
        state: S,
        each: impl FnMut(&mut S, &Answer) -> bool + Send + 'static,
    ) -> Result<S, QueryError> {
        self.unresolved.read(self.resolved(plan).await?, state, each).await
    }
}
