//! A distributed trace: everything with one trace id, in all projects that the user may open. Spec: span, rule 5.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_store::plan::{Function, Key};
use tidewatch_store::tables::Table;

use super::ai_traces::AiTrace;
use super::answer::{Answer, Row};
use super::ask::{self, Ask, Window};
use super::endpoints::Endpoint;
use super::entities::EntityKind;
use super::occurrences::{self, OccurrenceRecord};
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

/// Entities of one kind in one trace at most.
const NODES_MAX: usize = 2000;

/// `POST /api/distributed-traces/{traceId}`. Without `recorded_at` all of time is read.
pub async fn read(
    ask: &Ask,
    projects: Vec<Arc<Project>>,
    trace_id: TraceId,
    recorded_at: Option<i64>,
) -> Result<DistributedTrace, QueryError> {
    let window = recorded_at.map_or(Range::ALL, Range::around);
    let named = Projects::new(projects.clone());
    let numbers = named.numbers();
    let entities = |table: Table| {
        let (filter, columns) = (filters::trace(trace_id), ask::all_columns(table));
        let order = vec![ask::ascending("time")];
        ask.ask(ask::rows(table, &numbers, window, filter, columns, order, Window::first(NODES_MAX)))
    };
    let (trace, found_endpoints, found_tasks, found_ai) = tokio::try_join!(
        trace::load(ask, &named, trace_id, window, None),
        entities(Table::Endpoints),
        entities(Table::Tasks),
        entities(Table::AiTraces),
    )?;
    let exceptions = exceptions(ask, &projects, trace_id, window).await?;
    let has_nothing = [&found_endpoints, &found_tasks, &found_ai].iter().all(|answer| answer.is_empty());
    if has_nothing && trace.spans.is_empty() && exceptions.is_empty() {
        return Err(QueryError::not_found("nothing with this trace id is stored"));
    }

    let answers =
        [(TraceType::Endpoint, &found_endpoints), (TraceType::Task, &found_tasks), (TraceType::AiTrace, &found_ai)];
    let mut nodes = nodes(&named, &trace, &answers, &exceptions);
    nodes.sort_by_key(|(start, _)| *start);
    let mut part: Vec<u32> = trace.spans.iter().map(|span| span.project).collect();
    part.extend(answers.iter().flat_map(|(_, answer)| answer.rows().map(|row| row.int("project") as u32)));
    part.extend(exceptions.iter().map(|(project, _)| *project));
    part.sort_unstable();
    part.dedup();
    Ok(DistributedTrace {
        trace_id: trace_id.to_string(),
        nodes: nodes.into_iter().map(|(_, node)| node).collect(),
        projects: part.into_iter().map(|number| named.named(number)).collect(),
        exceptions: exceptions.into_iter().map(|(_, exception)| exception.view).collect(),
        span_graph_status: trace.status.clone(),
        spans: trace.views(),
    })
}

/// The exceptions of the trace by time, each with its project's number.
async fn exceptions(
    ask: &Ask,
    projects: &[Arc<Project>],
    trace_id: TraceId,
    window: Range,
) -> Result<Vec<(u32, OccurrenceRecord)>, QueryError> {
    // Most of the projects one may open have no part in a trace: ask which, once, instead of each.
    let numbers: Vec<u32> = projects.iter().map(|project| project.number).collect();
    let keys = vec![Key::column("project")];
    let count = vec![Function::Count.named("rows")];
    let plan = ask::groups(Table::Exceptions, &numbers, window, filters::trace(trace_id), keys, count);
    let involved: Vec<u32> = ask.ask(plan).await?.rows().map(|row| row.int("project") as u32).collect();
    let mut found = Vec::new();
    for project in projects.iter().filter(|project| involved.contains(&project.number)) {
        let of_project = occurrences::of_trace(ask, project, trace_id, window).await?;
        found.extend(of_project.into_iter().map(|exception| (project.number, exception)));
    }
    found.sort_by_key(|(_, exception)| exception.time);
    Ok(found)
}

/// One node per entity, with its start.
fn nodes(
    projects: &Projects,
    trace: &Trace,
    answers: &[(TraceType, &Answer)],
    exceptions: &[(u32, OccurrenceRecord)],
) -> Vec<(i64, TraceNode)> {
    let entities: HashSet<SpanId> =
        answers.iter().flat_map(|(_, answer)| answer.rows().map(|row| row.span_id("span_id"))).collect();
    let places = trace::places(&trace.spans, &entities);
    let mut below: HashMap<SpanId, Vec<SpanRecord>> = HashMap::new();
    let mut above: HashMap<SpanId, SpanId> = HashMap::new();
    let mut owner_of: HashMap<String, SpanId> = HashMap::new();
    for (span, Place { owner, above: parent }) in trace.spans.iter().zip(&places) {
        if let Some(owner) = owner {
            below.entry(*owner).or_default().push(span.clone());
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
        let own = below.get(&span_id).cloned().unwrap_or_default();
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
            parent_entity_span_id: above.get(&span_id).copied().map(ids::show_span).unwrap_or_default(),
        };
        (row.int("time"), node)
    };
    answers.iter().flat_map(|(trace_type, answer)| answer.rows().map(|row| node(*trace_type, row))).collect()
}
