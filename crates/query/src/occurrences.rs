//! Exceptions as the API shows them, with their owners looked up.

use std::sync::Arc;

use bumpalo::Bump;
use tidewatch_domain::model::TraceId;
use tidewatch_domain::project::EntityKind;
use tidewatch_domain::rules::exception;
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;

use super::answer::{Answer, Row};
use super::ask::{self, Ask, Window};
use super::owners::{self, Climb, Owner, Stored};
use super::time::{self, Range};
use super::views::AttributeMap;
use super::views::issue::{ExceptionBrief, Occurrence, OwnerType, RelatedEntity};
use super::views::span::TraceType;
use super::{attributes, filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Exceptions of one trace at most.
const OF_TRACE_MAX: usize = 1000;

/// An exception and what its view leaves out.
#[derive(Debug, Clone)]
pub struct OccurrenceRecord {
    pub group: u64,
    pub time: i64,
    pub trace_id: TraceId,
    pub owner: Option<Owner>,
    pub view: Occurrence,
}

/// Rows of exceptions (all columns) with their owners, in the order answered.
pub async fn read(ask: &Ask, project: &Arc<Project>, answer: &Answer) -> Result<Vec<OccurrenceRecord>, QueryError> {
    let stored: Vec<Stored> = answer.rows().map(Stored::read).collect();
    let climbs: Vec<Climb> = answer
        .rows()
        .zip(&stored)
        .filter_map(|(row, stored)| match stored {
            Stored::Above(start) => {
                Some(Climb { trace_id: row.trace_id("trace_id"), start: *start, time: row.int("time") })
            }
            Stored::Final(_) => None,
        })
        .collect();
    let found = owners::climb(ask, project.number, &climbs).await?;
    let records = answer.rows().zip(stored).map(|(row, stored)| {
        let owner = match stored {
            Stored::Final(owner) => owner,
            Stored::Above(start) => found.get(&(row.trace_id("trace_id"), start)).cloned(),
        };
        record(row, project, owner)
    });
    Ok(records.collect())
}

fn record(row: Row<'_>, project: &Project, owner: Option<Owner>) -> OccurrenceRecord {
    let (group, time, trace_id) = (row.u64("group"), row.int("time"), row.trace_id("trace_id"));
    let mut attributes = attributes::map(row.bytes("attributes"));
    attributes.0.extend(attributes::map(row.bytes("event_attributes")).0);
    // Shown on its own, and long.
    let sent = attributes.0.remove("exception.stacktrace").unwrap_or_default();
    let owner_type = owner.as_ref().map(|owner| owner_type(owner.kind));
    let owner_row = |owner: &Owner| ids::show_row(ids::entity_row(project.id, trace_id, owner.span_id));
    let view = Occurrence {
        id: ids::show_row(row.id16("row_id")),
        exception_hash: ids::show_hash(group),
        stack_trace: row.text("stack_trace").to_owned(),
        raw_stack_trace: raw_stack_trace(row, &attributes, &sent),
        exception_type: row.text("exception_type").to_owned(),
        message: row.text("message").to_owned(),
        recorded_at: time::show(time),
        trace_id: ids::show_trace(trace_id),
        span_id: ids::show_span(row.span_id("span_id")),
        trace_type: match owner_type {
            Some(OwnerType::Endpoint) => "endpoint".to_owned(),
            Some(OwnerType::Task) => "task".to_owned(),
            None => String::new(),
        },
        server_name: row.text("server_name").to_owned(),
        app_version: row.text("app_version").to_owned(),
        is_message: false,
        attributes,
        owner_type,
        owner_name: owner.as_ref().map(|owner| owner.name.clone()).unwrap_or_default(),
        owner_id: owner.as_ref().map(owner_row).unwrap_or_default(),
    };
    OccurrenceRecord { group, time, trace_id, owner, view }
}

/// What `sent` reads like under its header, where symbols changed it. DECISIONS 14.
fn raw_stack_trace(row: Row<'_>, attributes: &AttributeMap, sent: &str) -> Option<String> {
    let sent = sent.trim_end();
    if sent.is_empty() || row.text("stack_trace").ends_with(sent) {
        return None;
    }
    let arena = Bump::new();
    // The type may be resolved too.
    let sent_type = attributes.0.get("exception.type").map_or("", |text| text.trim());
    Some(exception::stack_trace(sent_type, row.text("message"), sent, &arena).to_owned())
}

fn owner_type(kind: EntityKind) -> OwnerType {
    match kind {
        EntityKind::Endpoint => OwnerType::Endpoint,
        EntityKind::Task => OwnerType::Task,
    }
}

impl OccurrenceRecord {
    pub fn brief(&self) -> ExceptionBrief {
        ExceptionBrief {
            exception_hash: self.view.exception_hash.clone(),
            stack_trace: self.view.stack_trace.clone(),
            recorded_at: self.view.recorded_at.clone(),
        }
    }
}

/// The exceptions of one trace in one project, by time.
pub async fn of_trace(
    ask: &Ask,
    project: &Arc<Project>,
    trace_id: TraceId,
    range: Range,
) -> Result<Vec<OccurrenceRecord>, QueryError> {
    let filter = filters::trace(trace_id);
    let answer = select(ask, project, range, filter, ask::ascending("time"), Window::first(OF_TRACE_MAX)).await?;
    read(ask, project, &answer).await
}

/// Rows of exceptions with every column.
pub async fn select(
    ask: &Ask,
    project: &Project,
    range: Range,
    filter: Filter,
    order: tidewatch_store::plan::Order,
    window: Window,
) -> Result<Answer, QueryError> {
    let columns = ask::all_columns(Table::Exceptions);
    ask.ask(ask::rows(Table::Exceptions, &[project.number], range, filter, columns, vec![order], window)).await
}

/// The Endpoint or Task that owns this one; `None` when nobody does.
pub async fn related(
    ask: &Ask,
    project: &Project,
    occurrence: &OccurrenceRecord,
) -> Result<Option<RelatedEntity>, QueryError> {
    let Some(owner) = &occurrence.owner else { return Ok(None) };
    let (table, trace_type) = match owner.kind {
        EntityKind::Endpoint => (Table::Endpoints, TraceType::Endpoint),
        EntityKind::Task => (Table::Tasks, TraceType::Task),
    };
    let filter = filters::row_id(ids::entity_row(project.id, occurrence.trace_id, owner.span_id));
    let columns = vec!["row_id", "name", "status_code", "duration", "time", "trace_id"];
    let range = Range::around(occurrence.time);
    let plan = ask::rows(table, &[project.number], range, filter, columns, vec![], Window::first(1));
    let answer = ask.ask(plan).await?;
    Ok(answer.first().map(|row| RelatedEntity {
        trace_type,
        id: ids::show_row(row.id16("row_id")),
        name: row.text("name").to_owned(),
        status_code: row.int("status_code") as i32,
        duration: row.int("duration"),
        recorded_at: time::show(row.int("time")),
        trace_id: row.trace_id("trace_id").to_string(),
    }))
}
