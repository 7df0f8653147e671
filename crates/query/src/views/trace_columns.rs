//! A trace in columns.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ai::AiTraceRow;
use super::issue::Occurrence;
use super::rows;
use super::span::{ProjectName, SpanGraphStatus, TraceType};

/// Body of `POST /api/traces/{traceId}/columns`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TraceColumnsRequest {
    /// Time of the trace, within 24 hours of which its spans are read; null: all time.
    #[schema(format = DateTime)]
    pub recorded_at: Option<String>,
    /// Place of the first span in waterfall order; that of `span` when null.
    pub offset: Option<u64>,
    /// Id of a span that the answer has; ignored when `offset` is set or the trace has no such span.
    pub span: Option<String>,
}

/// Spans in waterfall order: parents before their children, children by start. All lists have the same length.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanColumns {
    /// Span ids: 16 hexadecimal digits; 32 of a native report.
    pub ids: Vec<String>,
    /// Number of places that its parent stands before the span; 0: without a parent in the trace.
    pub parents: Vec<u32>,
    /// Index in `names`.
    pub names: Vec<u32>,
    /// Index in `services`.
    pub services: Vec<u32>,
    /// Index in `projects`.
    pub projects: Vec<u32>,
    /// OTLP kind: 0 unspecified, 1 INTERNAL, 2 SERVER, 3 CLIENT, 4 PRODUCER, 5 CONSUMER.
    pub kinds: Vec<u8>,
    /// OTLP status: 0 unset, 1 ok, 2 error.
    pub statuses: Vec<u8>,
    /// HTTP status; 0 when none.
    pub http_statuses: Vec<i32>,
    /// Start less that of the span before, nanoseconds; of the first span, less `startTime`.
    pub starts: Vec<i64>,
    /// Nanoseconds.
    pub durations: Vec<i64>,
    /// Own time in nanoseconds: in which no child runs. Time in which several children run is divided among them; a
    /// child counts as far as it lies in its parent, and one that begins after it on its own.
    pub own: Vec<i64>,
}

/// An Endpoint, Task or AI Trace among the spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColumnEntity {
    /// Place of its span in the columns.
    pub place: u32,
    /// Kind of the entity.
    pub trace_type: TraceType,
    /// Row id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Name.
    pub name: String,
}

/// The part of a service, or of an operation of a service, in the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeShare {
    /// `service.name`; empty when absent.
    pub service: String,
    /// Name of the spans; empty for all of the service.
    pub operation: String,
    /// Number of spans.
    pub spans: u64,
    /// Number of spans with the status ERROR.
    pub errors: u64,
    /// Sum of their own time, nanoseconds.
    pub own: i64,
}

/// Calls from spans of a service to spans of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceCall {
    /// Service of the parent spans.
    pub from: String,
    /// Service of the child spans.
    pub to: String,
    /// Number of child spans.
    pub calls: u64,
    /// Number of child spans with the status ERROR.
    pub errors: u64,
    /// Sum of the durations of the child spans, nanoseconds.
    pub duration: i64,
}

/// `POST /api/traces/{traceId}/columns`: the spans of a trace without attributes, in the projects that the user can open.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceColumns {
    /// Trace id.
    pub trace_id: String,
    /// Start of the first span of the trace; of none: the epoch.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// From the first start to the last end of the trace, nanoseconds.
    pub duration: i64,
    /// Strings of `spans.names`.
    pub names: Vec<String>,
    /// Strings of `spans.services`.
    pub services: Vec<String>,
    /// Projects of `spans.projects`, then others with rows of the trace.
    pub projects: Vec<ProjectName>,
    /// The spans: at most 20,000 from `offset` on, after the ancestors of the first of them.
    pub spans: SpanColumns,
    /// Place of the first span after the ancestors, in the trace.
    pub offset: u64,
    /// Number of ancestors before it.
    pub ancestors: u32,
    /// Places of spans whose parent is not stored.
    pub missing_parents: Vec<u32>,
    /// Entities among the spans.
    pub entities: Vec<ColumnEntity>,
    /// Services of the whole trace, most own time first.
    pub time_by_service: Vec<TimeShare>,
    /// Operations of the whole trace, most own time first; at most 100.
    pub time_by_operation: Vec<TimeShare>,
    /// Calls between services in the whole trace, most first; at most 500.
    pub calls: Vec<ServiceCall>,
    /// Number of spans with the status ERROR in the whole trace.
    pub errors: u64,
    /// Completeness of the spans. `total` is the number of spans of the trace; `span_limit`: `spans` is a part of them.
    pub span_graph_status: SpanGraphStatus,
    /// Traces that are shown with this one: that of the web page that sent a request, or those of its requests.
    pub linked_trace_ids: Vec<String>,
    /// Exceptions of these traces.
    #[serde(serialize_with = "rows::cut")]
    pub exceptions: Vec<Occurrence>,
    /// AI Traces of the trace, by start.
    #[serde(serialize_with = "rows::cut")]
    pub ai_traces: Vec<AiTraceRow>,
}
