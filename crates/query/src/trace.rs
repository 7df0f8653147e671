//! The stored spans of one trace in waterfall order, and whether they are complete.

use std::collections::{HashMap, HashSet};

use tidewatch_domain::model::{SpanId, SpanKind, TraceId};
use tidewatch_domain::waterfall::{Gap, Node, Waterfall, waterfall};
use tidewatch_store::plan::{Filter, Function, Op};
use tidewatch_store::tables::Table;

use super::executor::Executor;
use super::filters;
use super::ids;
use super::plans::{self, Window};
use super::projects::Projects;
use super::spans::{self, SpanRecord};
use super::time::Range;
use super::views::span::{GraphReason, GraphState, SpanGraphStatus, SpanView};
use crate::error::QueryError;
use tidewatch_limits as limits;

/// The stored spans of a trace.
pub struct Trace {
    /// In waterfall order.
    pub spans: Vec<SpanRecord>,
    /// Whether the spans are complete, and why not.
    pub status: SpanGraphStatus,
}

impl Trace {
    /// The spans in responses, in waterfall order.
    pub fn views(self) -> Vec<SpanView> {
        self.spans.into_iter().map(|record| record.view).collect()
    }
}

/// Reads a trace. Only spans in `window` are shown (spec: span, rule 3), at most [`limits::GRAPH_SPANS_MAX`]; `pinned`
/// is always among them.
pub async fn load(
    executor: &Executor,
    projects: &Projects,
    trace_id: TraceId,
    window: Range,
    pinned: Option<SpanId>,
) -> Result<Trace, QueryError> {
    let numbers = projects.numbers();
    let rows = |filter: Filter, limit: usize| {
        let order = vec![plans::ascending("time")];
        executor.run(plans::rows(
            Table::Spans,
            &numbers,
            window,
            filter,
            spans::COLUMNS.to_vec(),
            order,
            Window::first(limit),
        ))
    };
    let by_trace = filters::trace(trace_id);
    let (answer, (everywhere, inside)) = tokio::try_join!(
        rows(by_trace.clone(), limits::GRAPH_SPANS_MAX),
        counts(executor, &numbers, by_trace.clone(), window),
    )?;
    let mut records: Vec<SpanRecord> = answer.rows().map(|row| SpanRecord::read(row, projects)).collect();
    if let Some(pinned) = pinned
        && records.len() == limits::GRAPH_SPANS_MAX
        && !records.iter().any(|record| record.span_id == pinned)
    {
        let own = rows(by_trace.and(filters::span(pinned)), 1).await?;
        records.pop();
        records.extend(own.rows().map(|row| SpanRecord::read(row, projects)));
    }
    let is_cut = answer.len() == limits::GRAPH_SPANS_MAX;
    spans::name_entities(executor, &mut records).await?;
    let (spans, mut gaps) = lay_out(records);
    let shown = spans.len() as u64;
    // Duplicates of a span count once, unless the spans are cut at the limit.
    let total = if is_cut { inside.max(shown) } else { shown };
    if total > shown {
        gaps.push(GraphReason::SpanLimit);
    }
    if everywhere > inside {
        gaps.push(GraphReason::Window);
    }
    Ok(Trace { status: status(gaps, total, shown), spans })
}

/// Number of spans of the trace at any time, and in the window.
pub async fn counts(
    executor: &Executor,
    projects: &[u32],
    filter: Filter,
    window: Range,
) -> Result<(u64, u64), QueryError> {
    let inside = filters::compare("time", Op::Ge, window.from).and(filters::compare("time", Op::Lt, window.to));
    let aggregates = vec![Function::Count.named("everywhere"), Function::Count.named("inside").only(inside)];
    let plan = plans::groups(Table::Spans, projects, Range::ALL, filter, vec![], aggregates);
    let answer = executor.run(plan).await?;
    Ok(answer.first().map_or((0, 0), |row| (row.count("everywhere"), row.count("inside"))))
}

/// Sorts spans in waterfall order, and sets their depth and whether their parent is missing. Duplicates of a span id on
/// the same side (client or server) are dropped. Also returns the gaps of the trace.
pub fn lay_out(mut records: Vec<SpanRecord>) -> (Vec<SpanRecord>, Vec<GraphReason>) {
    name_native_parents(&mut records);
    let nodes: Vec<Node> = records
        .iter()
        .map(|record| Node {
            span_id: record.span_id,
            is_server_side: SpanKind::from_number(record.view.span_kind.into()).is_server_side(),
            parent_span_id: record.parent,
            start_ns: record.start,
            duration_ns: record.view.duration,
        })
        .collect();
    let Waterfall { rows, gaps, .. } = waterfall(&nodes, usize::MAX);
    let mut records: Vec<Option<SpanRecord>> = records.into_iter().map(Some).collect();
    let ordered = rows
        .iter()
        .filter_map(|row| {
            let mut record = records[row.node as usize].take()?;
            record.view.depth = row.depth;
            record.view.has_missing_parent = row.has_missing_parent;
            Some(record)
        })
        .collect();
    let reasons = gaps.iter().map(|gap| match gap {
        Gap::MissingParents => GraphReason::MissingParents,
        Gap::SpanLimit => GraphReason::SpanLimit,
    });
    (ordered, reasons.collect())
}

/// Spans of native reports are shown with their UUIDs. A span of OTLP below one names eight bytes of it as its parent,
/// which becomes the UUID too.
fn name_native_parents(records: &mut [SpanRecord]) {
    let native = records.iter().filter(|record| record.view.span_id.len() == ids::UUID_DIGITS);
    let shown: HashMap<SpanId, String> = native.map(|record| (record.span_id, record.view.span_id.clone())).collect();
    if shown.is_empty() {
        return;
    }
    for record in records {
        if let Some(parent) = shown.get(&record.parent) {
            record.view.parent_span_id.clone_from(parent);
        }
    }
}

/// The status of a graph that shows `shown` of `total` spans. `reasons`: why it is incomplete.
pub fn status(reasons: Vec<GraphReason>, total: u64, shown: u64) -> SpanGraphStatus {
    let state = match (shown, reasons.is_empty()) {
        (0, _) => GraphState::Unavailable,
        (_, true) => GraphState::Complete,
        (_, false) => GraphState::Partial,
    };
    SpanGraphStatus { state, reasons, total, shown }
}

/// The entities at and above a span in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The nearest entity above the span, the span included.
    pub owner: Option<SpanId>,
    /// The nearest entity above the span, the span excluded.
    pub above: Option<SpanId>,
}

/// The place of each span. `spans` are in waterfall order; `entities` are the spans that are an entity.
pub fn places(spans: &[SpanRecord], entities: &HashSet<SpanId>) -> Vec<Place> {
    // Parents precede their children, so the ancestors are a stack of (depth, owner).
    let mut ancestors: Vec<(u32, Option<SpanId>)> = Vec::new();
    let place = |span: &SpanRecord| {
        while ancestors.last().is_some_and(|(depth, _)| *depth >= span.view.depth) {
            ancestors.pop();
        }
        let above = ancestors.last().and_then(|(_, owner)| *owner);
        let owner = if entities.contains(&span.span_id) { Some(span.span_id) } else { above };
        ancestors.push((span.view.depth, owner));
        Place { owner, above }
    };
    spans.iter().map(place).collect()
}
