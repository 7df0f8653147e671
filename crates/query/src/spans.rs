//! Stored spans as API views, and the list of the span explorer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::plan::{Filter, Key, Order};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::executor::Executor;
use super::page::{self, Paging};
use super::plans::{self, Window};
use super::projects::Projects;
use super::span_search::Search;
use super::time::{self, Range};
use super::views::AttributeMap;
use super::views::span::{SpanListRequest, SpanOrder, SpanPage, SpanView};
use super::{attributes, filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// Maximum services that a list response names.
const SERVICES_MAX: usize = 200;

/// Bit of the column `promoted`: the span is an Endpoint.
pub const ENDPOINT: u8 = 1;
/// Bit of the column `promoted`: the span is a Task.
pub const TASK: u8 = 2;
/// Bit of the column `promoted`: the span is an AI Trace.
pub const AI_TRACE: u8 = 4;

/// A stored span: its API view, and values that the view does not have.
#[derive(Debug, Clone)]
pub struct SpanRecord {
    /// Number of the project.
    pub project: u32,
    /// Trace of the span.
    pub trace_id: TraceId,
    /// Id of the span.
    pub span_id: SpanId,
    /// Id of the parent span; zeros for a root.
    pub parent: SpanId,
    /// Nanoseconds since the epoch.
    pub start: i64,
    /// Bits [`ENDPOINT`], [`TASK`] and [`AI_TRACE`].
    pub promoted: u8,
    /// The span in responses.
    pub view: SpanView,
}

/// The columns that [`SpanRecord::read`] reads.
pub const COLUMNS: &[&str] = &[
    "project",
    "trace_id",
    "span_id",
    "parent_span_id",
    "time",
    "duration",
    "name",
    "kind",
    "status",
    "status_message",
    "http_status",
    "promoted",
    "server_name",
    "scope",
    "attributes",
    "events",
    "links",
    "native_ids",
];

impl SpanRecord {
    /// Reads a row with [`COLUMNS`]. `entityName` is set by [`name_entities`], `depth` and `hasMissingParent` by
    /// [`trace::lay_out`](crate::trace::lay_out).
    pub fn read(row: Row<'_>, projects: &Projects) -> SpanRecord {
        let project = row.int("project") as u32;
        let (trace_id, span_id, parent) =
            (row.trace_id("trace_id"), row.span_id("span_id"), row.span_id("parent_span_id"));
        let promoted = row.int("promoted") as u8;
        let project_id = projects.id(project);
        let start = row.int("time");
        let attributes = attributes::map(row.bytes("attributes"));
        let is_entity = promoted & (ENDPOINT | TASK | AI_TRACE) != 0;
        let native = row.bytes("native_ids");
        let (own_id, parent_id) = ids::format_native(native, span_id, parent);
        let entity_row = || match native.first_chunk::<16>() {
            Some(uuid) => *uuid,
            None => ids::entity_row(project_id, trace_id, span_id),
        };
        let view = SpanView {
            project_id: project_id.to_string(),
            trace_id: trace_id.to_string(),
            span_id: own_id,
            parent_span_id: parent_id,
            name: row.text("name").to_owned(),
            start_time: time::to_rfc3339(start),
            recorded_at: time::to_rfc3339(start),
            duration: row.int("duration"),
            span_kind: row.int("kind") as u8,
            status_code: row.int("status") as u8,
            status_message: row.text("status_message").to_owned(),
            service_name: row.text("server_name").to_owned(),
            scope_name: row.text("scope").to_owned(),
            db_statement: statement(&attributes),
            attributes,
            resource_attributes: None,
            events: attributes::events(row.bytes("events")),
            links: attributes::links(row.bytes("links")),
            http_status: Some(row.int("http_status") as i32).filter(|status| *status != 0),
            is_endpoint: promoted & ENDPOINT != 0,
            is_task: promoted & TASK != 0,
            is_ai_trace: promoted & AI_TRACE != 0,
            entity_id: is_entity.then(|| ids::format_row(entity_row())),
            entity_name: None,
            depth: 0,
            has_missing_parent: false,
        };
        SpanRecord { project, trace_id, span_id, parent, start, promoted, view }
    }
}

/// The statement of a database span, by the current or the former semantic conventions.
fn statement(attributes: &AttributeMap) -> Option<String> {
    ["db.query.text", "db.statement"]
        .iter()
        .find_map(|key| attributes.0.get(*key))
        .filter(|text| !text.is_empty())
        .cloned()
}

/// `POST /api/spans`.
pub async fn list(
    executor: &Executor,
    project: &Arc<Project>,
    request: SpanListRequest,
) -> Result<SpanPage, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    check_length(executor, project, range)?;
    let paging = Paging::read(request.pagination)?;
    let column = match page::order(&request.order_by)? {
        SpanOrder::StartTime => "time",
        SpanOrder::Duration => "duration",
    };
    let order = vec![Order { column, descending: page::is_descending(request.sort_direction) }];
    let Search { filter, is_partial } = Search::of(&executor.unfiltered(), project.number, range, &request).await?;

    let numbers = [project.number];
    let plan = plans::rows(Table::Spans, &numbers, range, filter, COLUMNS.to_vec(), order, paging.window());
    let ((answer, total), services) = tokio::try_join!(executor.page(plan), services(executor, project.number, range))?;
    let projects = Projects::one(project);
    let mut records: Vec<SpanRecord> = answer.rows().map(|row| SpanRecord::read(row, &projects)).collect();
    name_entities(executor, &mut records).await?;
    let data = records.into_iter().map(|record| record.view).collect();
    Ok(SpanPage { data, pagination: paging.info(total), services, is_partial })
}

/// A range longer than the retention is [`QueryError::Unprocessable`] (422).
pub fn check_length(executor: &Executor, project: &Project, range: Range) -> Result<(), QueryError> {
    let days_max = days_max(project.settings.retention_days.unwrap_or(executor.context.retention_days));
    if range.length() > days_max.saturating_mul(DAY_NS) {
        return Err(QueryError::unprocessable(format!("spans can be listed over at most {days_max} days")));
    }
    Ok(())
}

/// Maximum days of a list's range: the retention and the current day. A retention of 0 days is unlimited.
fn days_max(retention_days: u32) -> i64 {
    match retention_days {
        0 => i64::MAX / DAY_NS,
        days => i64::from(days).max(limits::SPAN_LIST_DAYS_MIN) + 1,
    }
}

async fn services(executor: &Executor, project: u32, range: Range) -> Result<Vec<String>, QueryError> {
    let keys = vec![Key::column("server_name")];
    let order = vec![plans::least("server_name")];
    let window = Window::first(SERVICES_MAX);
    // A plan without aggregates is answered from the dictionaries of the parts.
    let plan = plans::ordered_groups(Table::Spans, &[project], range, Filter::True, keys, vec![], order, window);
    let answer = executor.unfiltered().run(plan).await?;
    Ok(answer.rows().map(|row| row.text("server_name").to_owned()).filter(|name| !name.is_empty()).collect())
}

/// `GET /api/spans/{traceId}/{spanId}`. `at`: about when the span started, nanoseconds since the epoch; that range is
/// read first. [`QueryError::NotFound`] when the span is not stored.
pub async fn one(
    executor: &Executor,
    project: &Arc<Project>,
    trace_id: TraceId,
    span_id: SpanId,
    at: Option<i64>,
) -> Result<SpanView, QueryError> {
    let filter = filters::trace(trace_id).and(filters::span(span_id));
    let mut columns = COLUMNS.to_vec();
    columns.push("resource");
    let projects = Projects::one(project);
    for range in at.map(Range::around).into_iter().chain([Range::ALL]) {
        let window = Window::first(1);
        let plan = plans::rows(Table::Spans, &[project.number], range, filter.clone(), columns.clone(), vec![], window);
        let answer = executor.run(plan).await?;
        if let Some(row) = answer.first() {
            let mut found = [SpanRecord::read(row, &projects)];
            name_entities(executor, &mut found).await?;
            let [mut record] = found;
            record.view.resource_attributes = Some(attributes::map(row.bytes("resource")));
            return Ok(record.view);
        }
    }
    Err(QueryError::not_found("there is no such span in this project"))
}

/// Sets the `entity_name` of spans that are Endpoints, Tasks or AI Traces. Runs one plan per kind that occurs.
pub async fn name_entities(executor: &Executor, records: &mut [SpanRecord]) -> Result<(), QueryError> {
    for (bit, table) in [(ENDPOINT, Table::Endpoints), (TASK, Table::Tasks), (AI_TRACE, Table::AiTraces)] {
        let wanted: Vec<&SpanRecord> = records.iter().filter(|record| record.promoted & bit != 0).collect();
        let Some(first) = wanted.first() else { continue };
        let (from, to) = wanted
            .iter()
            .fold((first.start, first.start), |(from, to), record| (from.min(record.start), to.max(record.start)));
        let projects: Vec<u32> =
            BTreeMap::from_iter(wanted.iter().map(|record| (record.project, ()))).into_keys().collect();
        let filter = filters::all([
            filters::ids("trace_id", wanted.iter().map(|record| record.trace_id.0)),
            filters::ids("span_id", wanted.iter().map(|record| record.span_id.0)),
        ]);
        let range = Range { from, to: to.saturating_add(1) };
        let columns = vec!["project", "trace_id", "span_id", "name"];
        let plan = plans::rows(table, &projects, range, filter, columns, vec![], Window::first(plans::GROUPS_MAX));
        let answer = executor.unfiltered().run(plan).await?;
        let names: HashMap<_, &str> = answer
            .rows()
            .map(|row| {
                ((row.int("project") as u32, row.trace_id("trace_id"), row.span_id("span_id")), row.text("name"))
            })
            .collect();
        for record in &mut *records {
            if let Some(name) = names.get(&(record.project, record.trace_id, record.span_id)) {
                record.view.entity_name.get_or_insert_with(|| (*name).to_owned());
            }
        }
    }
    Ok(())
}
