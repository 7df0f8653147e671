//! The spans of one trace as a tree, and what lists show of it.

use std::collections::HashMap;

use tidewatch_domain::explain::{self, own_times};
use tidewatch_domain::model::SpanId;
use tidewatch_domain::waterfall::{Node, waterfall};

use super::span_key::SpanKey;
use crate::{Answer, StoreError};

/// Summary of a trace in lists.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceSummary {
    /// Trace id.
    pub trace_id: [u8; 16],
    /// Start of the first span, nanoseconds since the epoch.
    pub start: i64,
    /// End of the last span, nanoseconds since the epoch.
    pub end: i64,
    /// The first span without a parent; the first one whose parent is not stored when there is none.
    pub root: RootSpan,
    /// Number of spans.
    pub spans: u64,
    /// Number of spans with the status ERROR or an HTTP status of 500 and above.
    pub errors: u64,
    /// Most own time first, then by name.
    pub services: Vec<ServiceTime>,
}

/// The span that a trace is named by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSpan {
    /// Span id.
    pub span_id: [u8; 8],
    /// Whether its parent is not stored.
    pub has_missing_parent: bool,
    /// Name.
    pub name: String,
    /// Service; empty when absent.
    pub service: String,
    /// OTLP kind.
    pub kind: u8,
    /// HTTP status; 0 when none.
    pub http_status: i16,
    /// Nanoseconds.
    pub duration: i64,
}

/// The part of a service in a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceTime {
    /// Service; empty when absent.
    pub service: String,
    /// Number of spans.
    pub spans: u64,
    /// Own time of its spans, nanoseconds: see [`own_times`].
    pub own: f64,
}

/// A stored span.
pub(super) struct Span {
    id: [u8; 8],
    parent: [u8; 8],
    start: i64,
    duration: i64,
    kind: u8,
    status: u8,
    http_status: i16,
    service: String,
    name: String,
}

impl Span {
    pub const COLUMNS: &[&str] = &[
        "trace_id",
        "span_id",
        "parent_span_id",
        "time",
        "duration",
        "kind",
        "status",
        "http_status",
        "server_name",
        "name",
    ];

    pub fn read(answer: &Answer, mut each: impl FnMut(usize, Span)) -> Result<(), StoreError> {
        let (ids, parents) = (answer.id8("span_id")?, answer.id8("parent_span_id")?);
        let (times, durations) = (answer.i64("time")?, answer.i64("duration")?);
        let (kinds, statuses, http) = (answer.u8("kind")?, answer.u8("status")?, answer.i16("http_status")?);
        let (services, names) = (answer.text("server_name")?, answer.text("name")?);
        for row in 0..answer.rows() {
            let span = Span {
                id: ids.at(row),
                parent: parents.at(row),
                start: times.at(row),
                duration: durations.at(row).max(0),
                kind: kinds.at(row),
                status: statuses.at(row),
                http_status: http.at(row),
                service: services.at(row).to_owned(),
                name: names.at(row).to_owned(),
            };
            each(row, span);
        }
        Ok(())
    }

    fn key(&self) -> SpanKey {
        SpanKey::of(self.id, self.kind)
    }

    fn end(&self) -> i64 {
        self.start.saturating_add(self.duration)
    }

    fn is_error(&self) -> bool {
        self.status == 2 || self.http_status >= 500
    }
}

/// The spans of one trace, parents before their children.
pub(super) struct Tree {
    spans: Vec<Span>,
    parents: Vec<Option<usize>>,
}

impl Tree {
    pub fn of(mut spans: Vec<Span>) -> Tree {
        // The first row of a span counts.
        spans.sort_by(|a, b| b.duration.cmp(&a.duration).then(a.start.cmp(&b.start)));
        let nodes: Vec<Node> = spans
            .iter()
            .map(|span| Node {
                span_id: SpanId(span.id),
                is_server_side: span.key().is_server_side,
                parent_span_id: SpanId(span.parent),
                start_ns: span.start,
                duration_ns: span.duration,
            })
            .collect();
        let mut unordered: Vec<Option<Span>> = spans.into_iter().map(Some).collect();
        let (mut spans, mut parents, mut above) = (Vec::new(), Vec::new(), Vec::new());
        for row in waterfall(&nodes, usize::MAX).rows {
            above.truncate(row.depth as usize);
            parents.push(above.last().copied());
            above.push(spans.len());
            spans.extend(unordered[row.node as usize].take());
        }
        Tree { spans, parents }
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn parent(&self, span: usize) -> Option<usize> {
        self.parents[span]
    }

    pub fn keys(&self) -> impl Iterator<Item = SpanKey> {
        self.spans.iter().map(Span::key)
    }

    pub fn start(&self) -> i64 {
        self.spans.iter().map(|span| span.start).min().unwrap_or(i64::MAX)
    }

    pub fn end(&self) -> i64 {
        self.spans.iter().map(Span::end).max().unwrap_or(i64::MIN)
    }

    /// The summary; the tree has at least one span.
    pub fn summary(&self, trace_id: [u8; 16]) -> TraceSummary {
        TraceSummary {
            trace_id,
            start: self.start(),
            end: self.end(),
            root: self.root(),
            spans: self.spans.len() as u64,
            errors: self.spans.iter().filter(|span| span.is_error()).count() as u64,
            services: self.services(),
        }
    }

    fn root(&self) -> RootSpan {
        let tops = self.spans.iter().zip(&self.parents).filter(|(_, parent)| parent.is_none()).map(|(span, _)| span);
        let first = tops.min_by_key(|span| (span.parent != [0; 8], span.start, span.id));
        first.map_or_else(RootSpan::none, |span| RootSpan {
            span_id: span.id,
            has_missing_parent: span.parent != [0; 8],
            name: span.name.clone(),
            service: span.service.clone(),
            kind: span.kind,
            http_status: span.http_status,
            duration: span.duration,
        })
    }

    fn services(&self) -> Vec<ServiceTime> {
        let shape: Vec<explain::Span> = self
            .spans
            .iter()
            .zip(&self.parents)
            .map(|(span, parent)| {
                // A span that begins when its parent has ended has all of its time.
                let parent = parent.filter(|parent| span.start < self.spans[*parent].end());
                explain::Span { parent, start: span.start, end: span.end() }
            })
            .collect();
        let mut times: HashMap<&str, (u64, f64)> = HashMap::new();
        for (span, own) in self.spans.iter().zip(own_times(&shape)) {
            let time = times.entry(&span.service).or_default();
            time.0 += 1;
            time.1 += own;
        }
        let mut services: Vec<ServiceTime> = times
            .into_iter()
            .map(|(service, (spans, own))| ServiceTime { service: service.to_owned(), spans, own })
            .collect();
        services.sort_by(|a, b| b.own.total_cmp(&a.own).then_with(|| a.service.cmp(&b.service)));
        services
    }
}

impl RootSpan {
    fn none() -> RootSpan {
        let (name, service) = (String::new(), String::new());
        RootSpan { span_id: [0; 8], has_missing_parent: true, name, service, kind: 0, http_status: 0, duration: 0 }
    }
}
