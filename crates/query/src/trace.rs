//! One trace as far as it is stored: its spans laid out as a waterfall, and how much of it that is.

use std::collections::HashSet;

use tidewatch_domain::model::{SpanId, SpanKind, TraceId};
use tidewatch_domain::waterfall::{Gap, Node, Waterfall, waterfall};
use tidewatch_store::plan::{Filter, Function, Op};
use tidewatch_store::tables::Table;

use super::ask::{self, Ask, Window};
use super::filters;
use super::projects::Projects;
use super::spans::{self, SpanRecord};
use super::time::Range;
use super::views::span::{GraphReason, GraphState, SpanGraphStatus, SpanView};
use crate::error::QueryError;
use tidewatch_limits as limits;

/// The spans of a trace in waterfall order.
pub struct Trace {
    pub spans: Vec<SpanRecord>,
    pub status: SpanGraphStatus,
}

impl Trace {
    pub fn views(self) -> Vec<SpanView> {
        self.spans.into_iter().map(|record| record.view).collect()
    }
}

/// Reads a trace. `window` is what may be shown (spec: span, rule 3); `opened` is shown whatever the graph limit.
pub async fn load(
    ask: &Ask,
    projects: &Projects,
    trace_id: TraceId,
    window: Range,
    opened: Option<SpanId>,
) -> Result<Trace, QueryError> {
    let numbers = projects.numbers();
    let rows = |filter: Filter, limit: usize| {
        let order = vec![ask::ascending("time")];
        ask.ask(ask::rows(Table::Spans, &numbers, window, filter, spans::COLUMNS.to_vec(), order, Window::first(limit)))
    };
    let by_trace = filters::trace(trace_id);
    let (answer, (everywhere, inside)) = tokio::try_join!(
        rows(by_trace.clone(), limits::GRAPH_SPANS_MAX),
        counts(ask, &numbers, by_trace.clone(), window),
    )?;
    let mut records: Vec<SpanRecord> = answer.rows().map(|row| SpanRecord::read(row, projects)).collect();
    if let Some(opened) = opened
        && records.len() == limits::GRAPH_SPANS_MAX
        && !records.iter().any(|record| record.span_id == opened)
    {
        let own = rows(by_trace.and(filters::span(opened)), 1).await?;
        records.pop();
        records.extend(own.rows().map(|row| SpanRecord::read(row, projects)));
    }
    let is_cut = answer.len() == limits::GRAPH_SPANS_MAX;
    spans::name_entities(ask, &mut records).await?;
    let (spans, mut gaps) = lay_out(records);
    let shown = spans.len() as u64;
    // The same span stored twice counts once, as far as we can see.
    let total = if is_cut { inside.max(shown) } else { shown };
    if total > shown {
        gaps.push(GraphReason::SpanLimit);
    }
    if everywhere > inside {
        gaps.push(GraphReason::Window);
    }
    Ok(Trace { status: status(gaps, total, shown), spans })
}

/// Spans of the trace in all time, and inside the window.
async fn counts(ask: &Ask, projects: &[u32], filter: Filter, window: Range) -> Result<(u64, u64), QueryError> {
    let inside = filters::compare("time", Op::Ge, window.from).and(filters::compare("time", Op::Lt, window.to));
    let aggregates = vec![Function::Count.named("everywhere"), Function::Count.named("inside").only(inside)];
    let plan = ask::groups(Table::Spans, projects, Range::ALL, filter, vec![], aggregates);
    let answer = ask.ask(plan).await?;
    Ok(answer.first().map_or((0, 0), |row| (row.count("everywhere"), row.count("inside"))))
}

/// Puts spans in waterfall order and fills in depth and missing parents. Each side of a span id once.
pub fn lay_out(records: Vec<SpanRecord>) -> (Vec<SpanRecord>, Vec<GraphReason>) {
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

pub fn status(reasons: Vec<GraphReason>, total: u64, shown: u64) -> SpanGraphStatus {
    let state = match (shown, reasons.is_empty()) {
        (0, _) => GraphState::Unavailable,
        (_, true) => GraphState::Complete,
        (_, false) => GraphState::Partial,
    };
    SpanGraphStatus { state, reasons, total, shown }
}

/// Where a span is among the entities of its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The nearest entity above it, itself included.
    pub owner: Option<SpanId>,
    /// The nearest entity above it, itself left out.
    pub above: Option<SpanId>,
}

/// The place of each span, given in waterfall order; `entities` are the spans that are one.
pub fn places(spans: &[SpanRecord], entities: &HashSet<SpanId>) -> Vec<Place> {
    // Parents come before their children, so the way up is a stack of (depth, owner).
    let mut way: Vec<(u32, Option<SpanId>)> = Vec::new();
    let place = |span: &SpanRecord| {
        while way.last().is_some_and(|(depth, _)| *depth >= span.view.depth) {
            way.pop();
        }
        let above = way.last().and_then(|(_, owner)| *owner);
        let owner = if entities.contains(&span.span_id) { Some(span.span_id) } else { above };
        way.push((span.view.depth, owner));
        Place { owner, above }
    };
    spans.iter().map(place).collect()
}
