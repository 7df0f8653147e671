//! The latest records in the traces of an Endpoint, Task or AI Trace.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tidewatch_accounts::Project;
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_limits as limits;
use tidewatch_store::tables::Table;

use super::{COLUMNS, numbered, view};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::explain::timed_rows;
use crate::filters;
use crate::plans::{self, Window};
use crate::projects::Projects;
use crate::time::Range;
use crate::views::log::{EntityLogs, EntityLogsRequest};

/// Times before the first row and after the last in which records of their traces are read.
const BEFORE: i64 = 5 * MINUTE_NS;
const AFTER: i64 = HOUR_NS;
/// Records of a request without a limit.
const DEFAULT: usize = 20;

/// `POST /api/logs/of-entity`. A query that is none is [`QueryError::InQuery`] (400).
///
/// The traces of the latest [`limits::ENTITY_LOG_ROWS_MAX`] rows are searched.
pub async fn of_entity(
    executor: &Executor,
    project: &Arc<Project>,
    request: EntityLogsRequest,
) -> Result<EntityLogs, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let (kind, filter) = timed_rows(request.entity, request.name.as_deref(), request.query.as_deref())?;
    let limit = request.limit.unwrap_or(DEFAULT);
    if limit == 0 || limit > limits::ENTITY_LOGS_MAX {
        return Err(QueryError::unprocessable(format!("limit is 1 to {}", limits::ENTITY_LOGS_MAX)));
    }
    let columns = vec!["trace_id", "time"];
    let latest = || vec![plans::descending("time")];
    let window = Window::first(limits::ENTITY_LOG_ROWS_MAX);
    let plan = plans::rows(kind.table(), &[project.number], range, filter, columns, latest(), window);
    let (rows, total) = executor.page(plan).await?;
    let traces: BTreeSet<[u8; 16]> = rows.rows().map(|row| row.id16("trace_id")).filter(|id| *id != [0; 16]).collect();
    let times: Vec<i64> = rows.rows().map(|row| row.int("time")).collect();
    let first = times.iter().min().map_or(range.from, |first| first.saturating_sub(BEFORE));
    let last = times.iter().max().map_or(range.to, |last| last.saturating_add(AFTER));
    let mut answer = EntityLogs { data: Vec::new(), total: 0, rows: total, searched: rows.len() as u64 };
    if traces.is_empty() {
        return Ok(answer);
    }
    let within = Range { from: first, to: last };
    let (of_traces, window) = (filters::ids("trace_id", traces), Window::first(limit));
    let plan = plans::rows(Table::Logs, &[project.number], within, of_traces, COLUMNS.to_vec(), latest(), window);
    let (found, records) = executor.page(plan).await?;
    let (projects, mut copies) = (Projects::one(project), HashMap::new());
    answer.data = found.rows().map(|row| view(row, numbered(row, &mut copies), &projects)).collect();
    answer.total = records;
    Ok(answer)
}
