//! The records of a live tail: those of new requests that pass a query.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use tidewatch_limits as limits;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::tables::Table;

use super::{COLUMNS, numbered, view};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::global_filter::GlobalFilter;
use crate::language::{self, RowKind};
use crate::plans::{self, Window};
use crate::projects::Projects;
use crate::time::Range;
use crate::views::log::{LiveLogs, LogView};

/// The columns of any size.
const CONTENT: [&str; 4] = ["body", "attributes", "resource", "scope_attributes"];

/// The query of a live tail.
pub struct LiveQuery {
    projects: Projects,
    plan: Plan,
}

impl LiveQuery {
    /// A query of the selected records of one project; every one passes when `query` is absent or blank. Fails with
    /// [`QueryError::InQuery`] (400) like a list of log records.
    pub fn new(projects: Projects, query: Option<&str>, selected: &GlobalFilter) -> Result<LiveQuery, QueryError> {
        let filter = language::filter(RowKind::Log, query)?;
        // A new record may have any time.
        let range = Range { from: i64::MIN, to: i64::MAX };
        let order = vec![plans::ascending("time")];
        let window = Window::first(limits::LIVE_TAIL_RECORDS_MAX);
        let plan = plans::rows(Table::Logs, &projects.numbers(), range, filter, COLUMNS.to_vec(), order, window);
        Ok(LiveQuery { projects, plan: selected.applied(plan) })
    }

    /// The latest of `rows` that pass the query; [`LiveLogs::missed`] is 0.
    pub async fn event(&self, executor: &Executor, rows: Vec<RecordBatch>) -> Result<LiveLogs, QueryError> {
        let (mut answer, passing) = executor.page_of(rows.clone(), self.plan.clone()).await?;
        // Records of equal time stay in the order in which they were sent, so the order is ascending.
        let before = usize::try_from(passing).unwrap_or(usize::MAX).saturating_sub(limits::LIVE_TAIL_RECORDS_MAX);
        if before > 0 {
            let mut latest = self.plan.clone();
            if let Shape::Rows { offset, .. } = &mut latest.shape {
                *offset = before;
            }
            (answer, _) = executor.page_of(rows, latest).await?;
        }
        let mut copies = HashMap::new();
        let mut bytes = 0;
        let mut data: Vec<LogView> = Vec::with_capacity(answer.len());
        for row in (0..answer.len()).rev().map(|index| answer.row(index)) {
            bytes += CONTENT.map(|name| size(row, name)).iter().sum::<usize>();
            if bytes > limits::LIVE_TAIL_EVENT_BYTES_MAX {
                break;
            }
            data.push(view(row, numbered(row, &mut copies), &self.projects));
        }
        data.reverse();
        let skipped = passing.saturating_sub(data.len() as u64);
        Ok(LiveLogs { data, skipped, missed: 0 })
    }
}

/// Size of a cell, bytes.
fn size(row: crate::answer::Row<'_>, column: &str) -> usize {
    row.opt_text(column).map_or_else(|| row.bytes(column).len(), str::len)
}
