//! The page of one row, with its trace and the exceptions of the trace.

use std::sync::Arc;

use tidewatch_store::plan::Plan;
use tidewatch_store::tables::Table;

use super::EntityKind;
use crate::answer::Answer;
use crate::ask::{self, Ask, Window};
use crate::error::QueryError;
use crate::occurrences::{self, OccurrenceRecord};
use crate::projects::Projects;
use crate::time::Range;
use crate::trace::{self, Trace};
use crate::views::issue::ExceptionBrief;
use crate::{filters, ids};
use tidewatch_accounts::Project;

/// A row with all that its page shows.
pub struct Opened<K: EntityKind> {
    pub row: K::Row,
    /// As the API shows it.
    pub id: String,
    pub trace: Trace,
    /// All exceptions of the trace.
    pub exceptions: Vec<OccurrenceRecord>,
    pub extra: K::RowExtra,
}

impl<K: EntityKind> Opened<K> {
    /// The first exception that the entity owns.
    pub fn own_exception(&self) -> Option<ExceptionBrief> {
        let own = self.exceptions.iter().find(|exception| exception.view.owner_id == self.id);
        own.map(OccurrenceRecord::brief)
    }
}

/// `POST /api/.../{id}`.
pub async fn detail<K: EntityKind>(
    ask: &Ask,
    project: &Arc<Project>,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<K::Detail, QueryError> {
    let answer = find(ask, K::TABLE, project.number, id, recorded_at).await?;
    let row = answer.first().ok_or_else(|| QueryError::not_found("there is no such row in this project"))?;
    let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
    let window = Range::around(row.int("time"));
    let projects = Projects::one(project);
    let (trace, exceptions, extra) = tokio::try_join!(
        trace::load(ask, &projects, trace_id, window, Some(span_id)),
        occurrences::of_trace(ask, project, trace_id, window),
        K::row_extra(ask, project.number, row, window),
    )?;
    let (id, row) = (ids::show_row(row.id16("row_id")), K::row(row, project.id));
    Ok(K::detail_view(Opened { row, id, trace, exceptions, extra }))
}

/// The row with this id: near `recorded_at` first, then in all time. 404 when there is none.
pub async fn find(
    ask: &Ask,
    table: Table,
    project: u32,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<Answer, QueryError> {
    for range in recorded_at.map(Range::around).into_iter().chain([Range::ALL]) {
        let found = ask.ask(by_id(table, project, id, range)).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(QueryError::not_found("there is no such row in this project"))
}

fn by_id(table: Table, project: u32, id: [u8; 16], range: Range) -> Plan {
    let columns = ask::all_columns(table);
    ask::rows(table, &[project], range, filters::row_id(id), columns, vec![], Window::first(1))
}
