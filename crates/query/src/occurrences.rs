//! Exceptions as API views, with their owners.

use std::sync::Arc;

use bumpalo::Bump;
use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_domain::project::EntityKind;
use tidewatch_domain::rules::exception;
use tidewatch_domain::rules::group_versions::{FIRST_VERSION, GroupVersions};
use tidewatch_domain::rules::grouping_rules::{FINGERPRINT_VERSION, GroupingRule};
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;

use super::answer::{Answer, Row};
use super::executor::Executor;
use super::owners::{self, Owner, OwnerLookup, RecordedOwner};
use super::plans::{self, Window};
use super::row_groups::group_of_row;
use super::time::{self, Range};
use super::views::AttributeMap;
use super::views::issue::{ExceptionBrief, Occurrence, OwnerType, RelatedEntity};
use super::views::span::TraceType;
use super::{attributes, filters, ids, sessions};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Maximum exceptions of one trace.
const OF_TRACE_MAX: usize = 1000;

/// An exception: its API view, and values that the view does not have.
#[derive(Debug, Clone)]
pub struct OccurrenceRecord {
    /// Hash of the Issue.
    pub group: u64,
    /// Version of the grouping rule that made it.
    pub group_version: u8,
    /// The grouping rule of the project that makes it; `None` for other groups.
    pub grouping_rule: Option<GroupingRule>,
    /// The explicit fingerprint of the sender; empty when absent.
    pub fingerprint: String,
    /// Nanoseconds since the epoch.
    pub time: i64,
    /// Zeros for an exception without a trace.
    pub trace_id: TraceId,
    /// Zeros for an exception without a span.
    pub span_id: SpanId,
    /// `None` when no entity owns the exception.
    pub owner: Option<Owner>,
    /// The exception in responses.
    pub view: Occurrence,
}

/// Reads rows of exceptions with all columns, and queries their owners. Keeps the order of `answer`.
pub async fn read(
    executor: &Executor,
    project: &Arc<Project>,
    answer: &Answer,
) -> Result<Vec<OccurrenceRecord>, QueryError> {
    let stored: Vec<RecordedOwner> = answer.rows().map(|row| RecordedOwner::read(row, project.id)).collect();
    let lookups: Vec<OwnerLookup> = answer
        .rows()
        .zip(&stored)
        .filter_map(|(row, stored)| match stored {
            RecordedOwner::Unresolved(start) => {
                Some(OwnerLookup { trace_id: row.trace_id("trace_id"), start: *start, time: row.int("time") })
            }
            RecordedOwner::Resolved(_) => None,
        })
        .collect();
    let found = owners::look_up(&executor.unfiltered(), project, &lookups).await?;
    let recorded = sessions::recorded(&executor.unfiltered(), project.number, answer).await?;
    let records = answer.rows().zip(stored).map(|(row, stored)| {
        let owner = match stored {
            RecordedOwner::Resolved(owner) => owner,
            RecordedOwner::Unresolved(start) => found.get(&(row.trace_id("trace_id"), start)).cloned(),
        };
        let record = record(row, owner, recorded.contains(&row.id16("row_id")));
        let grouping_rule = match record.group_version {
            FINGERPRINT_VERSION => rule_of(project, executor.context.grouping, row),
            _ => None,
        };
        OccurrenceRecord { grouping_rule, ..record }
    });
    Ok(records.collect())
}

/// The grouping rule of the project that makes the group of the row.
fn rule_of(project: &Project, versions: GroupVersions, row: Row<'_>) -> Option<GroupingRule> {
    let (group, rule) = group_of_row(&project.grouping_rules, versions, row);
    let rule = rule.filter(|_| group == row.u64("group"))?;
    project.grouping_rules.rules().find(|one| one.id == rule).cloned()
}

fn record(row: Row<'_>, owner: Option<Owner>, has_recording: bool) -> OccurrenceRecord {
    let (group, time) = (row.u64("group"), row.int("time"));
    let group_version =
        row.opt_int("group_version").and_then(|version| version.try_into().ok()).unwrap_or(FIRST_VERSION);
    let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
    let mut attributes = attributes::map(row.bytes("attributes"));
    attributes.0.extend(attributes::map(row.bytes("event_attributes")).0);
    let fingerprint =
        exception::FINGERPRINTS.iter().find_map(|key| attributes.0.get(*key)).cloned().unwrap_or_default();
    // The view has a field for it.
    let sent = attributes.0.remove("exception.stacktrace").unwrap_or_default();
    let owner_type = owner.as_ref().map(|owner| owner_type(owner.kind));
    let owner_row = |owner: &Owner| ids::format_row(owner.row_id);
    let view = Occurrence {
        id: ids::format_row(row.id16("row_id")),
        exception_hash: ids::format_hash(group),
        stack_trace: row.text("stack_trace").to_owned(),
        raw_stack_trace: raw_stack_trace(row, &attributes, &sent),
        exception_type: row.text("exception_type").to_owned(),
        message: row.text("message").to_owned(),
        recorded_at: time::to_rfc3339(time),
        trace_id: ids::format_trace(trace_id),
        span_id: ids::format_native(row.bytes("native_ids"), span_id, SpanId::default()).0,
        trace_type: match owner_type {
            Some(OwnerType::Endpoint) => "endpoint".to_owned(),
            Some(OwnerType::Task) => "task".to_owned(),
            None => String::new(),
        },
        server_name: row.text("server_name").to_owned(),
        app_version: row.text("app_version").to_owned(),
        is_message: row.flag("is_message"),
        has_recording,
        session_id: session_id(row),
        attributes,
        owner_type,
        owner_name: owner.as_ref().map(|owner| owner.name.clone()).unwrap_or_default(),
        owner_id: owner.as_ref().map(owner_row).unwrap_or_default(),
    };
    OccurrenceRecord { group, group_version, grouping_rule: None, fingerprint, time, trace_id, span_id, owner, view }
}

/// The UUID of the exception's session; empty without one.
fn session_id(row: Row<'_>) -> String {
    let id = row.id16("session_id");
    if id == [0; 16] { String::new() } else { ids::format_row(id) }
}

/// The stack trace `sent` with its header line; `None` unless symbolication changed it. DECISIONS 14.
fn raw_stack_trace(row: Row<'_>, attributes: &AttributeMap, sent: &str) -> Option<String> {
    let sent = sent.trim_end();
    if sent.is_empty() || row.text("stack_trace").ends_with(sent) {
        return None;
    }
    let arena = Bump::new();
    // The stored type may be symbolicated too.
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
    /// The exception in the views of other resources.
    pub fn brief(&self) -> ExceptionBrief {
        ExceptionBrief {
            exception_hash: self.view.exception_hash.clone(),
            stack_trace: self.view.stack_trace.clone(),
            recorded_at: self.view.recorded_at.clone(),
        }
    }
}

/// The exceptions of one trace in one project, sorted by time.
pub async fn of_trace(
    executor: &Executor,
    project: &Arc<Project>,
    trace_id: TraceId,
    range: Range,
) -> Result<Vec<OccurrenceRecord>, QueryError> {
    let filter = filters::trace(trace_id);
    let answer =
        select(executor, project, range, filter, plans::ascending("time"), Window::first(OF_TRACE_MAX)).await?;
    read(executor, project, &answer).await
}

/// Rows of exceptions with all columns.
pub async fn select(
    executor: &Executor,
    project: &Project,
    range: Range,
    filter: Filter,
    order: tidewatch_store::plan::Order,
    window: Window,
) -> Result<Answer, QueryError> {
    let columns = plans::all_columns(Table::Exceptions);
    executor.run(plans::rows(Table::Exceptions, &[project.number], range, filter, columns, vec![order], window)).await
}

/// Queries the Endpoint or Task that owns an exception; `None` when there is no owner or its row is not stored.
pub async fn related(
    executor: &Executor,
    project: &Project,
    occurrence: &OccurrenceRecord,
) -> Result<Option<RelatedEntity>, QueryError> {
    // The owner may be of another service.
    let executor = &executor.unfiltered();
    let Some(owner) = &occurrence.owner else { return Ok(None) };
    let (table, trace_type) = match owner.kind {
        EntityKind::Endpoint => (Table::Endpoints, TraceType::Endpoint),
        EntityKind::Task => (Table::Tasks, TraceType::Task),
    };
    let filter = filters::row_id(owner.row_id);
    let columns = vec!["row_id", "name", "status_code", "duration", "time", "trace_id"];
    let range = Range::around(occurrence.time);
    let plan = plans::rows(table, &[project.number], range, filter, columns, vec![], Window::first(1));
    let answer = executor.run(plan).await?;
    Ok(answer.first().map(|row| RelatedEntity {
        trace_type,
        id: ids::format_row(row.id16("row_id")),
        name: row.text("name").to_owned(),
        status_code: row.int("status_code") as i32,
        duration: row.int("duration"),
        recorded_at: time::to_rfc3339(row.int("time")),
        trace_id: row.trace_id("trace_id").to_string(),
    }))
}
