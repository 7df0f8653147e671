//! The home page of a project.

use std::sync::Arc;

use tidewatch_store::plan::{Filter, Function};
use tidewatch_store::tables::Table;

use super::endpoints::Endpoint;
use super::executor::Executor;
use super::plans::{self, Window};
use super::time::Range;
use super::views::overview::{Counts, Overview};
use super::views::page::RangeQuery;
use super::{ai_metrics, entities, issues};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Maximum Issues, and maximum Endpoints, in the response.
const ROWS: usize = 5;

/// `GET /api/dashboard/overview`.
pub async fn read(executor: &Executor, project: &Arc<Project>, query: RangeQuery) -> Result<Overview, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::read(query.from.as_deref(), query.to.as_deref(), now, ["from", "to"])?;
    let (recent_issues, worst_endpoints, (counts, stored_counts)) = tokio::try_join!(
        issues::recent(executor, project, range, ROWS),
        entities::top::<Endpoint>(executor, project, range, ROWS),
        counts(executor, project.number, range),
    )?;
    let has_data = stored_counts != NOTHING || ever(executor, project.number).await?;
    Ok(Overview { recent_issues, worst_endpoints, has_data, counts, stored_counts })
}

const NOTHING: Counts = Counts { endpoints: 0, tasks: 0, ai_traces: 0, issues: 0, spans: 0, logs: 0, metric_points: 0 };

/// The weighted rows of each table, and the stored ones.
async fn counts(executor: &Executor, project: u32, range: Range) -> Result<(Counts, Counts), QueryError> {
    let count = |table: Table| async move {
        let filter =
            if table == Table::AiTraces { ai_metrics::model_calls().and(ai_metrics::counted()) } else { Filter::True };
        let aggregates = vec![Function::Weight.named("count"), Function::Count.named("rows")];
        let plan = plans::groups(table, &[project], range, filter, vec![], aggregates);
        let answer = executor.run(plan).await?;
        Ok::<_, QueryError>(answer.first().map_or([0, 0], |row| [row.count("count"), row.count("rows")]))
    };
    let (endpoints, tasks, ai_traces, issues, spans, logs, metric_points) = tokio::try_join!(
        count(Table::Endpoints),
        count(Table::Tasks),
        count(Table::AiTraces),
        count(Table::Exceptions),
        count(Table::Spans),
        count(Table::Logs),
        count(Table::MetricPoints),
    )?;
    let of = |index: usize| Counts {
        endpoints: endpoints[index],
        tasks: tasks[index],
        ai_traces: ai_traces[index],
        issues: issues[index],
        spans: spans[index],
        logs: logs[index],
        metric_points: metric_points[index],
    };
    Ok((of(0), of(1)))
}

/// Whether the project has any stored row at any time.
async fn ever(executor: &Executor, project: u32) -> Result<bool, QueryError> {
    for table in [Table::Spans, Table::Logs, Table::MetricPoints, Table::Exceptions] {
        let plan = plans::rows(table, &[project], Range::ALL, Filter::True, vec!["time"], vec![], Window::first(1));
        if !executor.unfiltered().run(plan).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
