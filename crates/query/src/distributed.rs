//! A distributed trace: everything with one trace id, in all projects that the user may open. Spec: span, rule 5.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use super::ai_traces::AiTrace;
use super::answer::{Answer, Row};
use super::endpoints::Endpoint;
use super::entities::EntityKind;
use super::executor::Executor;
use super::occurrences::{self, OccurrenceRecord};
use super::plans::{self, Window};
use super::projects::Projects;
use super::spans::SpanRecord;
use super::tasks::Task;
use super::time::Range;
use super::trace::{self, Place};
use super::views::ai::AiTraceRow;
use super::views::issue::Occurrence;
use super::views::span::TraceType;
use super::views::trace::{DistributedTrace, TraceNode};
use super::{filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Maximum entities of one kind in one trace.
const NODES_MAX: usize = 2000;
/// Maximum traces that a trace is shown with.
const LINKED_MAX: usize = 20;

/// `POST /api/distributed-traces/{traceId}`: the trace, and the Endpoints, Tasks, AI Traces and exceptions of the traces
/// that it is linked with. `recorded_at`: nanoseconds since the epoch; all of time when `None`.
/// [`QueryError::NotFound`] when no project has a row of these traces. WIRE 1.10.
pub async fn read(
    executor: &Executor,
    projects: Vec<Arc<Project>>,
    trace_id: TraceId,
    recorded_at: Option<i64>,
) -> Result<DistributedTrace, QueryError> {
    let window = recorded_at.map_or(Range::ALL, Range::around);
    let named = Projects::new(projects);
    let trace = trace::load(executor, &named, trace_id, window, None).await?;
    let span_projects = trace.spans.iter().map(|span| span.project).collect();
    let (found, linked) = with_linked(executor, &named, trace_id, window, span_projects).await?;
    let mut nodes = found.nodes(&named, &trace.spans);
    nodes.extend(linked.iter().flat_map(|other| other.nodes(&named, &[])));
    nodes.sort_by_key(|(start, _)| *start);
    let all = [&found].into_iter().chain(&linked);
    let project_numbers: BTreeSet<u32> = all.flat_map(Found::project_numbers).collect();
    let linked_trace_ids = linked.iter().map(|other| other.trace_id.to_string()).collect();
    let exceptions = exceptions_of(found, linked);
    Ok(DistributedTrace {
        trace_id: trace_id.to_string(),
        linked_trace_ids,
        nodes: nodes.into_iter().map(|(_, node)| node).collect(),
        projects: project_numbers.into_iter().map(|number| named.named(number)).collect(),
        exceptions,
        span_graph_status: trace.status.clone(),
        spans: trace.views(),
    })
}

/// Traces and spans that are shown with the spans of a trace.
pub struct Relatives {
    /// Traces that it is linked with.
    pub linked_trace_ids: Vec<String>,
    /// Exceptions of these traces, by time.
    pub exceptions: Vec<Occurrence>,
    /// AI Traces of the trace, by start.
    pub ai_traces: Vec<AiTraceRow>,
    /// Numbers of the projects with rows of these traces.
    pub projects: BTreeSet<u32>,
    /// Row id and name of the trace's entities, by kind, project and span.
    pub entities: HashMap<(TraceType, u32, SpanId), ([u8; 16], String)>,
}

/// Reads what is shown with the spans of a trace. [`QueryError::NotFound`] as in [`read`].
pub async fn relatives(
    executor: &Executor,
    projects: &Projects,
    trace_id: TraceId,
    window: Range,
    span_projects: BTreeSet<u32>,
) -> Result<Relatives, QueryError> {
    let (found, linked) = with_linked(executor, projects, trace_id, window, span_projects).await?;
    let (_, ai_traces) = &found.entities[2];
    let entity = |trace_type: TraceType, row: Row<'_>| {
        let key = (trace_type, row.int("project") as u32, row.span_id("span_id"));
        (key, (row.id16("row_id"), row.text("name").to_owned()))
    };
    let of_kind = |(trace_type, answer): &(TraceType, Answer)| {
        answer.rows().map(|row| entity(*trace_type, row)).collect::<Vec<_>>()
    };
    Ok(Relatives {
        linked_trace_ids: linked.iter().map(|other| other.trace_id.to_string()).collect(),
        ai_traces: ai_traces.rows().map(|row| AiTrace::row(row, projects.id(row.int("project") as u32))).collect(),
        projects: [&found].into_iter().chain(&linked).flat_map(Found::project_numbers).collect(),
        entities: found.entities.iter().flat_map(of_kind).collect(),
        exceptions: exceptions_of(found, linked),
    })
}

/// The rows of a trace, and of those that it is linked with. [`QueryError::NotFound`] when there is none.
async fn with_linked(
    executor: &Executor,
    projects: &Projects,
    trace_id: TraceId,
    window: Range,
    span_projects: BTreeSet<u32>,
) -> Result<(Found, Vec<Found>), QueryError> {
    let found = Found::read(executor, projects, trace_id, window, span_projects).await?;
    let mut linked = Vec::new();
    for linked_id in linked_traces(executor, projects, &found, window).await? {
        let span_projects = projects_of(executor, Table::Spans, projects, linked_id, window).await?;
        linked.push(Found::read(executor, projects, linked_id, window, span_projects).await?);
    }
    linked.retain(|other| !other.is_empty());
    if found.is_empty() && linked.is_empty() {
        return Err(QueryError::not_found("nothing with this trace id is stored"));
    }
    Ok((found, linked))
}

/// The exceptions of a trace and of those that it is linked with, by time.
fn exceptions_of(found: Found, linked: Vec<Found>) -> Vec<Occurrence> {
    let all = [found].into_iter().chain(linked).flat_map(|one| one.exceptions);
    let mut exceptions: Vec<OccurrenceRecord> = all.map(|(_, exception)| exception).collect();
    exceptions.sort_by_key(|exception| exception.time);
    exceptions.into_iter().map(|exception| exception.view).collect()
}

/// The rows of one trace but its spans.
struct Found {
    trace_id: TraceId,
    /// Numbers of the projects that have spans of the trace.
    span_projects: BTreeSet<u32>,
    entities: [(TraceType, Answer); 3],
    /// Sorted by time, each with its project's number.
    exceptions: Vec<(u32, OccurrenceRecord)>,
}

impl Found {
    async fn read(
        executor: &Executor,
        projects: &Projects,
        trace_id: TraceId,
        window: Range,
        span_projects: BTreeSet<u32>,
    ) -> Result<Found, QueryError> {
        let numbers = projects.numbers();
        let entities = |table: Table| {
            let (filter, columns) = (filters::trace(trace_id), plans::all_columns(table));
            let order = vec![plans::ascending("time")];
            executor.run(plans::rows(table, &numbers, window, filter, columns, order, Window::first(NODES_MAX)))
        };
        let (endpoints, tasks, ai_traces) =
            tokio::try_join!(entities(Table::Endpoints), entities(Table::Tasks), entities(Table::AiTraces),)?;
        let exceptions = exceptions(executor, projects, trace_id, window).await?;
        let entities = [(TraceType::Endpoint, endpoints), (TraceType::Task, tasks), (TraceType::AiTrace, ai_traces)];
        Ok(Found { trace_id, span_projects, entities, exceptions })
    }

    fn is_empty(&self) -> bool {
        let has_no_entity = self.entities.iter().all(|(_, answer)| answer.is_empty());
        has_no_entity && self.span_projects.is_empty() && self.exceptions.is_empty()
    }

    fn project_numbers(&self) -> impl Iterator<Item = u32> {
        let of_entities =
            self.entities.iter().flat_map(|(_, answer)| answer.rows().map(|row| row.int("project") as u32));
        self.span_projects.iter().copied().chain(of_entities).chain(self.exceptions.iter().map(|(project, _)| *project))
    }
}

/// The traces that requests of this trace name as that of their web page, and the traces whose requests name this one;
/// at most [`LINKED_MAX`]. WIRE 1.10.
async fn linked_traces(
    executor: &Executor,
    projects: &Projects,
    found: &Found,
    window: Range,
) -> Result<BTreeSet<TraceId>, QueryError> {
    let (_, endpoints) = &found.entities[0];
    let named = endpoints.rows().map(|row| row.trace_id("linked_trace_id")).filter(|id| !id.is_none());
    let mut linked: BTreeSet<TraceId> = named.collect();
    let filter = Filter::eq("linked_trace_id", Value::Bytes(found.trace_id.0.to_vec()));
    let (numbers, keys) = (projects.numbers(), vec![Key::column("trace_id")]);
    let plan = plans::groups(Table::Endpoints, &numbers, window, filter, keys, vec![Function::Count.named("rows")]);
    linked.extend(executor.run(plan).await?.rows().map(|row| row.trace_id("trace_id")));
    linked.remove(&found.trace_id);
    Ok(linked.into_iter().take(LINKED_MAX).collect())
}

/// The trace with this id and those that it is linked with, as requests within a day of `range` name them; at most
/// [`LINKED_MAX`] others. WIRE 1.10.
pub async fn traces(
    executor: &Executor,
    projects: &[u32],
    trace_id: TraceId,
    range: Range,
) -> Result<BTreeSet<TraceId>, QueryError> {
    let window = Range { from: range.from.saturating_sub(DAY_NS), to: range.to.saturating_add(DAY_NS) };
    let names_it = Filter::eq("linked_trace_id", Value::Bytes(trace_id.0.to_vec()));
    let filter = Filter::Any(vec![filters::trace(trace_id), names_it]);
    let columns = vec!["trace_id", "linked_trace_id"];
    let plan = plans::rows(Table::Endpoints, projects, window, filter, columns, vec![], Window::first(NODES_MAX));
    // The requests of the other traces may be of services that are not selected.
    let answer = executor.unfiltered().run(plan).await?;
    let of_row = |row: Row<'_>| [row.trace_id("trace_id"), row.trace_id("linked_trace_id")];
    let others: BTreeSet<TraceId> =
        answer.rows().flat_map(of_row).filter(|id| !id.is_none() && *id != trace_id).collect();
    Ok(others.into_iter().take(LINKED_MAX).chain([trace_id]).collect())
}

/// The exceptions of the trace, sorted by time, each with its project's number.
async fn exceptions(
    executor: &Executor,
    projects: &Projects,
    trace_id: TraceId,
    window: Range,
) -> Result<Vec<(u32, OccurrenceRecord)>, QueryError> {
    // Most of the projects have no exception in the trace: one plan finds those that have.
    let involved = projects_of(executor, Table::Exceptions, projects, trace_id, window).await?;
    let mut found = Vec::new();
    for project in projects.all().iter().filter(|project| involved.contains(&project.number)) {
        let of_project = occurrences::of_trace(executor, project, trace_id, window).await?;
        found.extend(of_project.into_iter().map(|exception| (project.number, exception)));
    }
    found.sort_by_key(|(_, exception)| exception.time);
    Ok(found)
}

/// The numbers of the projects that have rows of the trace in a table.
async fn projects_of(
    executor: &Executor,
    table: Table,
    projects: &Projects,
    trace_id: TraceId,
    window: Range,
) -> Result<BTreeSet<u32>, QueryError> {
    let (keys, count) = (vec![Key::column("project")], vec![Function::Count.named("rows")]);
    let plan = plans::groups(table, &projects.numbers(), window, filters::trace(trace_id), keys, count);
    Ok(executor.run(plan).await?.rows().map(|row| row.int("project") as u32).collect())
}

impl Found {
    /// One node per entity, with its start, nanoseconds since the epoch. `trace`: the spans in waterfall order; empty
    /// for a linked trace, whose nodes have no spans.
    fn nodes(&self, projects: &Projects, trace: &[SpanRecord]) -> Vec<(i64, TraceNode)> {
        let Found { entities: answers, exceptions, .. } = self;
        let entities: HashSet<SpanId> =
            answers.iter().flat_map(|(_, answer)| answer.rows().map(|row| row.span_id("span_id"))).collect();
        let places = trace::places(trace, &entities);
        let mut spans_of: HashMap<SpanId, Vec<SpanRecord>> = HashMap::new();
        let mut above: HashMap<SpanId, SpanId> = HashMap::new();
        let mut owner_of: HashMap<SpanId, SpanId> = HashMap::new();
        let shown_ids: HashMap<SpanId, &str> =
            trace.iter().map(|span| (span.span_id, span.view.span_id.as_str())).collect();
        for (span, Place { owner, above: parent }) in trace.iter().zip(&places) {
            if let Some(owner) = owner {
                spans_of.entry(*owner).or_default().push(span.clone());
                owner_of.insert(span.span_id, *owner);
            }
            if let (true, Some(parent)) = (entities.contains(&span.span_id), parent) {
                above.insert(span.span_id, *parent);
            }
        }
        let exception_of = |entity: SpanId| {
            let mut own = exceptions.iter().filter(|(_, exception)| {
                exception.span_id == entity || owner_of.get(&exception.span_id) == Some(&entity)
            });
            own.next().map(|(_, exception)| exception.brief())
        };
        let node = |trace_type: TraceType, row: Row<'_>| {
            let (project, span_id) = (row.int("project") as u32, row.span_id("span_id"));
            let id = projects.id(project);
            let own = spans_of.get(&span_id).cloned().unwrap_or_default();
            let (spans, gaps) = trace::lay_out(own);
            let shown = spans.len() as u64;
            let status = trace::status(gaps, shown, shown);
            let named = projects.named(project);
            let node = TraceNode {
                project_id: named.id,
                project_name: named.name,
                trace_type,
                trace_id: row.trace_id("trace_id").to_string(),
                span_id: ids::format_entity_span(id, row.id16("row_id"), row.trace_id("trace_id"), span_id),
                endpoint: (trace_type == TraceType::Endpoint).then(|| Endpoint::row(row, id)),
                task: (trace_type == TraceType::Task).then(|| Task::row(row, id)),
                ai_trace: (trace_type == TraceType::AiTrace).then(|| AiTrace::row(row, id)),
                spans: spans.into_iter().map(|span| span.view).collect(),
                span_graph_status: status,
                exception: exception_of(span_id),
                parent_entity_span_id: above
                    .get(&span_id)
                    .and_then(|above| shown_ids.get(above))
                    .copied()
                    .unwrap_or_default()
                    .to_owned(),
            };
            (row.int("time"), node)
        };
        answers.iter().flat_map(|(trace_type, answer)| answer.rows().map(|row| node(*trace_type, row))).collect()
    }
}
