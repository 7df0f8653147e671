//! Plans as an engine gets them: without conditions on descendants.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewatch_store::plan::Plan;
use tidewatch_store::query_memory::RequestMemory;

use crate::answer::Answer;
use crate::context::QueryContext;
use crate::error::QueryError;

/// Runs plans without conditions on descendants. Clones share the deadline and the memory budget.
#[derive(Clone)]
pub(super) struct UnresolvedExecutor {
    context: Arc<QueryContext>,
    pub(super) deadline: Instant,
    /// Holds the memory of all plans of the request and of their answers until the last clone is dropped.
    pub(super) memory: Arc<RequestMemory>,
}

impl UnresolvedExecutor {
    pub(super) fn within(context: Arc<QueryContext>, limit: Duration) -> UnresolvedExecutor {
        let memory = Arc::new(context.store.request_memory());
        UnresolvedExecutor { context, deadline: Instant::now() + limit, memory }
    }

    pub(super) async fn run(&self, plan: Plan) -> Result<Answer, QueryError> {
        self.context.run(self.memory.clone(), plan, self.deadline).await.map(Answer::new)
    }

    /// Reads every row of a plan, see [`QueryContext::read`].
    pub(super) async fn read<S: Send + 'static>(
        &self,
        plan: Plan,
        state: S,
        mut each: impl FnMut(&mut S, &Answer) -> bool + Send + 'static,
    ) -> Result<S, QueryError> {
        let each = move |state: &mut S, batch| each(state, &Answer::new(batch));
        self.context.read(self.memory.clone(), plan, self.deadline, state, each).await
    }
}
