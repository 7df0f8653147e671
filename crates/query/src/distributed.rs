//! A distributed trace: everything with one trace id, in all projects that the user may open. Spec: span, rule 5.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_store::plan::{Function, Key};
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
use super::trace::{self, Place, Trace};
use super::views::span::TraceType;
use super::views::trace::{DistributedTrace, TraceNode};
use super::{filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Maximum entities of one kind in one trace.
const NODES_MAX: usize = 2000;

/// `POST /api/distributed-traces/{traceId}`. `recorded_at`: nanoseconds since the epoch; all of time when `None`.
/// [`QueryError::NotFound`] when no project has a row of the trace.
pub async fn read(
    executor: &Executor,
    projects: Vec<Arc<Project>>,
    trace_id: TraceId,
    recorded_at: Option<i64>,
) -> Result<DistributedTrace, QueryError> {
    let window = recorded_at.map_or(Range::ALL, Range::around);
    let named = Projects::new(projects.clone());
    let numbers = named.numbers();
    let entities = |table: Table| {
        let (filter, columns) = (filters::trace(trace_id), plans::all_columns(table));
        let order = vec![plans::ascending("time")];
        executor.run(plans::rows(table, &numbers, window, filter, columns, order, Window::first(NODES_MAX)))
    };
    let (trace, found_endpoints, found_tasks, found_ai) = tokio::try_join!(
        trace::load(executor, &named, trace_id, window, None),
        entities(Table::Endpoints),
        entities(Table::Tasks),
        entities(Table::AiTraces),
    )?;
    let exceptions = exceptions(executor, &projects, trace_id, window).await?;
    let has_nothing = [&found_endpoints, &found_tasks, &found_ai].iter().all(|answer| answer.is_empty());
    if has_nothing && trace.spans.is_empty() && exceptions.is_empty() {
        return Err(QueryError::not_found("nothing with this trace id is stored"));
    }

    let answers =
        [(TraceType::Endpoint, &found_endpoints), (TraceType::Task, &found_tasks), (TraceType::AiTrace, &found_ai)];
    let mut nodes = nodes(&named, &trace, &answers, &exceptions);
    nodes.sort_by_key(|(start, _)| *start);
    let mut project_numbers: Vec<u32> = trace.spans.iter().map(|span| span.project).collect();
    project_numbers.extend(answers.iter().flat_map(|(_, answer)| answer.rows().map(|row| row.int("project") as u32)));
    project_numbers.extend(exceptions.iter().map(|(project, _)| *project));
    project_numbers.sort_unstable();
    project_numbers.dedup();
    Ok(DistributedTrace {
        trace_id: trace_id.to_string(),
        nodes: nodes.into_iter().map(|(_, node)| node).collect(),
        projects: project_numbers.into_iter().map(|number| named.named(number)).collect(),
        exceptions: exceptions.into_iter().map(|(_, exception)| exception.view).collect(),
        span_graph_status: trace.status.clone(),
        spans: trace.views(),
    })
}

/// The exceptions of the trace, sorted by time, each with its project's number.
async fn exceptions(
    executor: &Executor,
    projects: &[Arc<Project>],
    trace_id: TraceId,
    window: Range,
) -> Result<Vec<(u32, OccurrenceRecord)>, QueryError> {
    // Most of the projects have no exception in the trace: one plan finds those that have.
    let numbers: Vec<u32> = projects.iter().map(|project| project.number).collect();
    let keys = vec![Key::column("project")];
    let count = vec![Function::Count.named("rows")];
    let plan = plans::groups(Table::Exceptions, &numbers, window, filters::trace(trace_id), keys, count);
    let involved: Vec<u32> = executor.run(plan).await?.rows().map(|row| row.int("project") as u32).collect();
    let mut found = Vec::new();
    for project in projects.iter().filter(|project| involved.contains(&project.number)) {
        let of_project = occurrences::of_trace(executor, project, trace_id, window).await?;
        found.extend(of_project.into_iter().map(|exception| (project.number, exception)));
    }
    found.sort_by_key(|(_, exception)| exception.time);
    Ok(found)
}

/// One node per entity, with its start, nanoseconds since the epoch.
fn nodes(
    projects: &Projects,
    trace: &Trace,
    answers: &[(TraceType, &Answer)],
    exceptions: &[(u32, OccurrenceRecord)],
) -> Vec<(i64, TraceNode)> {
    let entities: HashSet<SpanId> =
        answers.iter().flat_map(|(_, answer)| answer.rows().map(|row| row.span_id("span_id"))).collect();
    let places = trace::places(&trace.spans, &entities);
    let mut spans_of: HashMap<SpanId, Vec<SpanRecord>> = HashMap::new();
    let mut above: HashMap<SpanId, SpanId> = HashMap::new();
    let mut owner_of: HashMap<String, SpanId> = HashMap::new();
    for (span, Place { owner, above: parent }) in trace.spans.iter().zip(&places) {
        if let Some(owner) = owner {
            spans_of.entry(*owner).or_default().push(span.clone());
            owner_of.insert(span.view.span_id.clone(), *owner);
        }
        if let (true, Some(parent)) = (entities.contains(&span.span_id), parent) {
            above.insert(span.span_id, *parent);
        }
    }
    let exception_of = |entity: SpanId| {
        let mut own = exceptions.iter().filter(|(_, exception)| {
            let span_id = &exception.view.span_id;
            *span_id == entity.to_string() || owner_of.get(span_id) == Some(&entity)
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
            span_id: span_id.to_string(),
            endpoint: (trace_type == TraceType::Endpoint).then(|| Endpoint::row(row, id)),
            task: (trace_type == TraceType::Task).then(|| Task::row(row, id)),
            ai_trace: (trace_type == TraceType::AiTrace).then(|| AiTrace::row(row, id)),
            spans: spans.into_iter().map(|span| span.view).collect(),
            span_graph_status: status,
            exception: exception_of(span_id),
            parent_entity_span_id: above.get(&span_id).copied().map(ids::format_span).unwrap_or_default(),
        };
        (row.int("time"), node)
    };
    answers.iter().flat_map(|(trace_type, answer)| answer.rows().map(|row| node(*trace_type, row))).collect()
}
