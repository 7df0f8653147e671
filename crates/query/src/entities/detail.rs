//! The page of one row, with its trace and the exceptions of the trace.

use std::sync::Arc;

use tidewatch_store::plan::Plan;
use tidewatch_store::tables::Table;

use super::{DetailParts, EntityKind};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::occurrences::{self, OccurrenceRecord};
use crate::plans::{self, Window};
use crate::projects::Projects;
use crate::time::Range;
use crate::trace;
use crate::{filters, ids};
use tidewatch_accounts::Project;

/// `POST /api/.../{id}`. `recorded_at`: see [`find`]. [`QueryError::NotFound`] when there is no such row.
pub async fn detail<K: EntityKind>(
    executor: &Executor,
    project: &Arc<Project>,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<K::Detail, QueryError> {
    let answer = find(executor, K::TABLE, project.number, id, recorded_at).await?;
    let row = answer.first().ok_or_else(|| QueryError::not_found("there is no such row in this project"))?;
    let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
    let window = Range::around(row.int("time"));
    let projects = Projects::one(project);
    let (trace, exceptions, extra) = tokio::try_join!(
        trace::load(executor, &projects, trace_id, window, Some(span_id)),
        occurrences::of_trace(executor, project, trace_id, window),
        K::row_extra(executor, project.number, row, window),
    )?;
    let id = ids::format_row(row.id16("row_id"));
    let own = exceptions.iter().find(|exception| exception.view.owner_id == id);
    Ok(K::detail_view(DetailParts {
        row: K::row(row, project.id),
        exception: own.map(OccurrenceRecord::brief),
        exceptions: exceptions.into_iter().map(|exception| exception.view).collect(),
        span_graph_status: trace.status.clone(),
        spans: trace.views(),
        extra,
    }))
}

/// Finds the row with this id, with all columns. Reads the range around `recorded_at` (nanoseconds since the epoch)
/// first, then all of time. [`QueryError::NotFound`] when there is none.
pub async fn find(
    executor: &Executor,
    table: Table,
    project: u32,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<Answer, QueryError> {
    for range in recorded_at.map(Range::around).into_iter().chain([Range::ALL]) {
        let found = executor.run(by_id(table, project, id, range)).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(QueryError::not_found("there is no such row in this project"))
}

fn by_id(table: Table, project: u32, id: [u8; 16], range: Range) -> Plan {
    let columns = plans::all_columns(table);
    plans::rows(table, &[project], range, filters::row_id(id), columns, vec![], Window::first(1))
}
