//! A trace in columns: `POST /api/traces/{traceId}/columns`.
//!
//! ```text
//! spans without attributes ─waterfall─> order, parents ─own times─> shares by service and operation, calls
//!                                        └─ a window of rows ─> columns
//! ```
//!
//! A large trace is read in windows. Own times and shares are of the whole trace.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tidewatch_accounts::Project;
use tidewatch_domain::explain::{Span as Interval, own_times};
use tidewatch_domain::model::{SpanId, SpanKind, TraceId};
use tidewatch_domain::waterfall::{Node, waterfall};
use tidewatch_limits as limits;
use tidewatch_store::TelemetryStore;
use tidewatch_store::tables::Table;

use crate::answer::Row;
use crate::distributed::{Relatives, relatives};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::projects::Projects;
use crate::spans::{AI_TRACE, ENDPOINT, TASK};
use crate::time::{Range, to_rfc3339};
use crate::views::span::{GraphReason, TraceType};
use crate::views::trace_columns::{
    ColumnEntity, ServiceCall, SpanColumns, TimeShare, TraceColumns, TraceColumnsRequest,
};
use crate::{filters, ids, time, trace};

/// Operations of the answer.
const OPERATIONS_MAX: usize = 100;
/// Calls between services of the answer.
const CALLS_MAX: usize = 500;
const COLUMNS: &[&str] = &[
    "project",
    "span_id",
    "parent_span_id",
    "time",
    "duration",
    "name",
    "kind",
    "status",
    "http_status",
    "promoted",
    "server_name",
    "native_ids",
];
/// OTLP status of a failed span.
const ERROR: u8 = 2;

/// A stored span without attributes.
struct Stored {
    project: u32,
    id: SpanId,
    parent: SpanId,
    shown_id: String,
    start: i64,
    duration: i64,
    name: u32,
    service: u32,
    kind: u8,
    status: u8,
    http_status: i32,
    promoted: u8,
    native: Vec<u8>,
}

/// Strings by number.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Strings {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

/// The spans of a trace in waterfall order.
#[derive(Default)]
struct Spans {
    rows: Vec<Stored>,
    parents: Vec<Option<usize>>,
    own: Vec<i64>,
    names: Strings,
    services: Strings,
    /// Stored rows that were not read.
    unread: bool,
}

/// Reads a trace. [`QueryError::NotFound`] when no project has a row of it or of a linked trace, malformed times and ids
/// are [`QueryError::Malformed`] (400).
pub async fn read(
    executor: &Executor,
    projects: Vec<Arc<Project>>,
    trace_id: TraceId,
    request: TraceColumnsRequest,
) -> Result<TraceColumns, QueryError> {
    let recorded_at = time::parse_optional(request.recorded_at.as_deref(), "recordedAt")?;
    let window = recorded_at.map_or(Range::ALL, Range::around);
    let projects = Projects::new(projects);
    let spans = Spans::read(executor, &projects, trace_id, window).await?;
    let span_projects = spans.rows.iter().map(|span| span.project).collect();
    let relatives = relatives(executor, &projects, trace_id, window, span_projects).await?;
    let everywhere = match recorded_at {
        Some(_) => trace::counts(executor, &projects.numbers(), filters::trace(trace_id), window).await?,
        None => (0, 0),
    };
    let offset = spans.offset(&request);
    let view = move |_: &dyn TelemetryStore| spans.view(trace_id, &projects, offset, everywhere, relatives);
    executor.context.run_queued(view).await
}

impl Spans {
    async fn read(
        executor: &Executor,
        projects: &Projects,
        trace_id: TraceId,
        window: Range,
    ) -> Result<Spans, QueryError> {
        let (filter, limit) = (filters::trace(trace_id), limits::TRACE_SPANS_MAX);
        let plan = plans::rows(
            Table::Spans,
            &projects.numbers(),
            window,
            filter,
            COLUMNS.to_vec(),
            vec![plans::ascending("time")],
            Window::first(limit + 1),
        );
        let answer = executor.run(plan).await?;
        let mut spans = Spans { unread: answer.len() > limit, ..Spans::default() };
        let rows: Vec<Stored> = answer.rows().take(limit).map(|row| spans.stored(row)).collect();
        Ok(spans.laid_out(rows))
    }

    fn stored(&mut self, row: Row<'_>) -> Stored {
        let (id, parent) = (row.span_id("span_id"), row.span_id("parent_span_id"));
        let native = row.bytes("native_ids");
        Stored {
            project: row.int("project") as u32,
            id,
            parent,
            shown_id: ids::format_native(native, id, parent).0,
            start: row.int("time"),
            duration: row.int("duration").max(0),
            name: self.names.number(row.text("name")),
            service: self.services.number(row.text("server_name")),
            kind: row.int("kind") as u8,
            status: row.int("status") as u8,
            http_status: row.int("http_status") as i32,
            promoted: row.int("promoted") as u8,
            native: native.to_vec(),
        }
    }

    fn laid_out(mut self, rows: Vec<Stored>) -> Spans {
        let nodes: Vec<Node> = rows
            .iter()
            .map(|span| Node {
                span_id: span.id,
                is_server_side: SpanKind::from_number(span.kind.into()).is_server_side(),
                parent_span_id: span.parent,
                start_ns: span.start,
                duration_ns: span.duration,
            })
            .collect();
        let mut unordered: Vec<Option<Stored>> = rows.into_iter().map(Some).collect();
        let mut above = Vec::new();
        for row in waterfall(&nodes, usize::MAX).rows {
            above.truncate(row.depth as usize);
            self.parents.push(above.last().copied());
            above.push(self.rows.len());
            self.rows.extend(unordered[row.node as usize].take());
        }
        let intervals: Vec<Interval> = self
            .rows
            .iter()
            .zip(&self.parents)
            .map(|(span, parent)| {
                // A span that begins when its parent has ended has all of its time.
                let parent = parent.filter(|parent| span.start < self.rows[*parent].end());
                Interval { parent, start: span.start, end: span.end() }
            })
            .collect();
        self.own = own_times(&intervals).into_iter().map(|own| own.round() as i64).collect();
        self
    }

    /// The place of the first span of the answer.
    fn offset(&self, request: &TraceColumnsRequest) -> usize {
        let last = self.rows.len().saturating_sub(1);
        if let Some(offset) = request.offset {
            return usize::try_from(offset).unwrap_or(usize::MAX).min(last);
        }
        let wanted = request.span.as_deref().and_then(|id| self.rows.iter().position(|span| span.shown_id == id));
        wanted.unwrap_or(0) / limits::GRAPH_SPANS_MAX * limits::GRAPH_SPANS_MAX
    }

    fn start(&self) -> i64 {
        self.rows.iter().map(|span| span.start).min().unwrap_or(0)
    }

    fn view(
        self,
        trace_id: TraceId,
        projects: &Projects,
        offset: usize,
        (everywhere, inside): (u64, u64),
        relatives: Relatives,
    ) -> TraceColumns {
        let end = (offset + limits::GRAPH_SPANS_MAX).min(self.rows.len());
        let mut places = self.ancestors(offset);
        let ancestors = places.len();
        places.extend(offset..end);
        let start = self.start();
        let last = self.rows.iter().map(Stored::end).max().unwrap_or(start);
        let is_missing = |place: &usize| self.parents[*place].is_none() && !self.rows[*place].parent.is_none();
        let mut reasons = Vec::new();
        if (0..self.rows.len()).any(|place| is_missing(&place)) {
            reasons.push(GraphReason::MissingParents);
        }
        if self.unread || end - offset < self.rows.len() {
            reasons.push(GraphReason::SpanLimit);
        }
        if everywhere > inside {
            reasons.push(GraphReason::Window);
        }
        let total = if self.unread { inside.max(self.rows.len() as u64 + 1) } else { self.rows.len() as u64 };
        let mut numbers: Vec<u32> = places.iter().map(|place| self.rows[*place].project).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let spans = self.columns(&places, &numbers, start);
        let others: Vec<u32> = relatives.projects.iter().copied().filter(|number| !numbers.contains(number)).collect();
        numbers.extend(others);
        let at = |wanted: Vec<usize>| -> Vec<u32> {
            wanted.into_iter().map(|place| u32::try_from(place).unwrap_or(u32::MAX)).collect()
        };
        TraceColumns {
            trace_id: trace_id.to_string(),
            start_time: to_rfc3339(start),
            duration: last.saturating_sub(start),
            spans,
            offset: offset as u64,
            ancestors: u32::try_from(ancestors).unwrap_or(u32::MAX),
            missing_parents: at((0..places.len()).filter(|at| is_missing(&places[*at])).collect()),
            entities: self.entities(trace_id, &places, projects, &relatives),
            time_by_service: self.shares(|_| None, usize::MAX),
            time_by_operation: self.shares(|span| Some(span.name), OPERATIONS_MAX),
            calls: self.calls(),
            errors: self.rows.iter().filter(|span| span.status == ERROR).count() as u64,
            span_graph_status: trace::status(reasons, total, (end - offset) as u64),
            projects: numbers.into_iter().map(|number| projects.named(number)).collect(),
            names: self.names.all,
            services: self.services.all,
            linked_trace_ids: relatives.linked_trace_ids,
            exceptions: relatives.exceptions,
            ai_traces: relatives.ai_traces,
        }
    }

    /// The spans above the span at `place`, the topmost first: a parent of a later span is one of them, or is later.
    fn ancestors(&self, place: usize) -> Vec<usize> {
        let mut above = Vec::new();
        let mut next = self.parents.get(place).copied().flatten();
        while let Some(parent) = next {
            above.push(parent);
            next = self.parents[parent];
        }
        above.reverse();
        above
    }

    fn columns(&self, places: &[usize], projects: &[u32], start: i64) -> SpanColumns {
        let at: HashMap<usize, usize> = places.iter().enumerate().map(|(at, place)| (*place, at)).collect();
        let mut columns = SpanColumns::default();
        let mut before = start;
        for (own_at, &place) in places.iter().enumerate() {
            let span = &self.rows[place];
            let parent = self.parents[place].and_then(|parent| at.get(&parent));
            columns.ids.push(span.shown_id.clone());
            columns.parents.push(parent.map_or(0, |parent| u32::try_from(own_at - parent).unwrap_or(u32::MAX)));
            columns.names.push(span.name);
            columns.services.push(span.service);
            columns.projects.push(projects.partition_point(|number| *number < span.project) as u32);
            columns.kinds.push(span.kind);
            columns.statuses.push(span.status);
            columns.http_statuses.push(span.http_status);
            columns.starts.push(span.start - before);
            columns.durations.push(span.duration);
            columns.own.push(self.own[place]);
            before = span.start;
        }
        columns
    }

    fn entities(
        &self,
        trace_id: TraceId,
        places: &[usize],
        projects: &Projects,
        relatives: &Relatives,
    ) -> Vec<ColumnEntity> {
        let mut found = Vec::new();
        for (at, &place) in places.iter().enumerate() {
            let span = &self.rows[place];
            for (bit, trace_type) in
                [(ENDPOINT, TraceType::Endpoint), (TASK, TraceType::Task), (AI_TRACE, TraceType::AiTrace)]
            {
                if span.promoted & bit == 0 {
                    continue;
                }
                // An entity beyond those that are read has the name of its span.
                let unread = || {
                    let row = match span.native.first_chunk::<16>() {
                        Some(uuid) => *uuid,
                        None => ids::entity_row(projects.id(span.project), trace_id, span.id),
                    };
                    (row, self.names.all[span.name as usize].clone())
                };
                let known = relatives.entities.get(&(trace_type, span.project, span.id)).cloned();
                let (row, name) = known.unwrap_or_else(unread);
                let place = u32::try_from(at).unwrap_or(u32::MAX);
                found.push(ColumnEntity { place, trace_type, id: ids::format_row(row), name });
            }
        }
        found
    }

    /// Own time by service and a part of the span, most first.
    fn shares(&self, operation: impl Fn(&Stored) -> Option<u32>, max: usize) -> Vec<TimeShare> {
        let mut sums: BTreeMap<(u32, Option<u32>), (u64, u64, i64)> = BTreeMap::new();
        for (span, own) in self.rows.iter().zip(&self.own) {
            let sum = sums.entry((span.service, operation(span))).or_default();
            sum.0 += 1;
            sum.1 += u64::from(span.status == ERROR);
            sum.2 += own;
        }
        let mut shares: Vec<TimeShare> = sums
            .into_iter()
            .map(|((service, operation), (spans, errors, own))| TimeShare {
                service: self.services.all[service as usize].clone(),
                operation: operation.map_or(String::new(), |name| self.names.all[name as usize].clone()),
                spans,
                errors,
                own,
            })
            .collect();
        shares.sort_by(|a, b| {
            b.own.cmp(&a.own).then_with(|| (&a.service, &a.operation).cmp(&(&b.service, &b.operation)))
        });
        shares.truncate(max);
        shares
    }

    fn calls(&self) -> Vec<ServiceCall> {
        let mut sums: BTreeMap<(u32, u32), (u64, u64, i64)> = BTreeMap::new();
        for (span, parent) in self.rows.iter().zip(&self.parents) {
            let Some(from) = parent.map(|parent| self.rows[parent].service) else { continue };
            if from != span.service {
                let sum = sums.entry((from, span.service)).or_default();
                sum.0 += 1;
                sum.1 += u64::from(span.status == ERROR);
                sum.2 = sum.2.saturating_add(span.duration);
            }
        }
        let name = |number: u32| self.services.all[number as usize].clone();
        let mut calls: Vec<ServiceCall> = sums
            .into_iter()
            .map(|((from, to), (calls, errors, duration))| ServiceCall {
                from: name(from),
                to: name(to),
                calls,
                errors,
                duration,
            })
            .collect();
        calls.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| (&a.from, &a.to).cmp(&(&b.from, &b.to))));
        calls.truncate(CALLS_MAX);
        calls
    }
}

impl Stored {
    fn end(&self) -> i64 {
        self.start.saturating_add(self.duration)
    }
}
