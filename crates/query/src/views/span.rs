//! Spans: the explorer, the waterfall.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::page::{OrderBy, PageInfo, PageRequest, SortDirection};
use super::rows;

/// A stored span.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanView {
    /// Project of the span.
    #[schema(format = "uuid")]
    pub project_id: String,
    /// Trace id.
    pub trace_id: String,
    /// Span id: 16 hexadecimal digits; 32 of a native report.
    pub span_id: String,
    /// Id of the parent span; empty for a root.
    pub parent_span_id: String,
    /// Name of the span.
    pub name: String,
    /// Start of the span.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// Same as `startTime`.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Duration in nanoseconds.
    pub duration: i64,
    /// OTLP kind: 0 unspecified, 1 INTERNAL, 2 SERVER, 3 CLIENT, 4 PRODUCER, 5 CONSUMER.
    #[schema(minimum = 0, maximum = 5)]
    pub span_kind: u8,
    /// OTLP status: 0 unset, 1 ok, 2 error.
    #[schema(minimum = 0, maximum = 2)]
    pub status_code: u8,
    /// Status message; empty when absent.
    pub status_message: String,
    /// `service.name` of the resource; empty when absent.
    pub service_name: String,
    /// Name of the instrumentation scope.
    pub scope_name: String,
    /// Attributes of the span.
    pub attributes: AttributeMap,
    /// Attributes of the resource; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_attributes: Option<AttributeMap>,
    /// Events of the span.
    pub events: Vec<SpanEvent>,
    /// Links of the span.
    pub links: Vec<SpanLink>,
    /// `db.query.text` or `db.statement`; absent when the span has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_statement: Option<String>,
    /// HTTP status; absent when the span has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<i32>,
    /// Whether the span is an Endpoint.
    pub is_endpoint: bool,
    /// Whether the span is a Task.
    pub is_task: bool,
    /// Whether the span is an AI Trace.
    pub is_ai_trace: bool,
    /// Row id of the span's Endpoint, Task or AI Trace; absent when it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    pub entity_id: Option<String>,
    /// Name of the span's Endpoint, Task or AI Trace; absent when it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_name: Option<String>,
    /// Number of stored ancestors; 0 in plain lists.
    pub depth: u32,
    /// Whether the parent is not among the returned spans; always false in plain lists.
    pub has_missing_parent: bool,
}

/// An event of a span.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SpanEvent {
    /// Name of the event.
    pub name: String,
    /// Time of the event.
    #[schema(format = DateTime)]
    pub time: String,
    /// Attributes of the event.
    pub attributes: AttributeMap,
}

/// A link to another span.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanLink {
    /// Trace id of the other span.
    pub trace_id: String,
    /// Id of the other span.
    pub span_id: String,
    /// Attributes of the link.
    pub attributes: AttributeMap,
}

/// Whether the spans of a trace are complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GraphState {
    /// All spans are returned.
    Complete,
    /// Spans are missing; `reasons` has the causes.
    Partial,
    /// No span is stored in the window.
    Unavailable,
}

/// Reason for which the spans of a trace are incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphReason {
    /// The trace has more spans than are returned.
    SpanLimit,
    /// The parent of a span is not stored in the window.
    MissingParents,
    /// Spans of the trace are more than 24 hours away from the row.
    Window,
}

/// Completeness of the spans of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SpanGraphStatus {
    /// Whether the spans are complete.
    pub state: GraphState,
    /// Reasons for which they are incomplete; empty when complete.
    pub reasons: Vec<GraphReason>,
    /// Number of spans in the window.
    pub total: u64,
    /// Number of returned spans.
    pub shown: u64,
}

/// Selects spans whose attribute, or else whose resource's attribute, equals a value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SpanAttributeFilter {
    /// Key of the attribute.
    pub key: String,
    /// The value as a string.
    pub value: String,
}

/// Orders of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpanOrder {
    /// By start.
    #[default]
    StartTime,
    /// By duration.
    Duration,
}

/// Body of `POST /api/spans`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanListRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null. The range is at most the project's retention and one day (422).
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `start_time` (default) or `duration`.
    #[schema(value_type = Option<SpanOrder>)]
    pub order_by: OrderBy<SpanOrder>,
    /// `desc` when null.
    pub sort_direction: Option<SortDirection>,
    /// Only spans of this service; all when null.
    pub service_name: Option<String>,
    /// Substring of the span's name, ASCII case ignored.
    pub name: Option<String>,
    /// Only spans of this trace: 32 hexadecimal digits, dashes allowed.
    pub trace_id: Option<String>,
    /// Only spans of this OTLP kind.
    #[schema(minimum = 0, maximum = 5)]
    pub kind: Option<u8>,
    /// Only spans of this OTLP status.
    #[schema(minimum = 0, maximum = 2)]
    pub status: Option<u8>,
    /// Minimum duration in milliseconds.
    pub min_duration_ms: Option<f64>,
    /// Maximum duration in milliseconds.
    pub max_duration_ms: Option<f64>,
    /// Conditions that must all be met; at most 20.
    pub attribute_filters: Vec<SpanAttributeFilter>,
    /// Query in the query language, combined with the other conditions; a text that is no query is 400 with its
    /// `position`. At most 4,096 bytes.
    pub query: Option<String>,
    /// Only spans without a parent: a list of traces. `serviceName`, `attributeFilters` and `query` then select traces in which
    /// any one span meets all of them; the other conditions apply to the listed span.
    pub roots_only: bool,
    /// The page; the first 20 spans when null.
    pub pagination: Option<PageRequest>,
}

/// `POST /api/spans`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanPage {
    /// Spans of this page.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<SpanView>,
    /// Position of this page in the list.
    pub pagination: PageInfo,
    /// Services with a span in the range, regardless of filters, sorted; at most 200.
    pub services: Vec<String>,
    /// With `rootsOnly`: whether more than 50,000 inner spans matched, of which only the latest were examined.
    pub is_partial: bool,
}

/// The time of a span.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AtQuery {
    /// A time within 24 hours of the span, which is searched first; all time is searched when absent.
    #[param(format = DateTime)]
    pub at: Option<String>,
}

/// Kinds of entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceType {
    /// An Endpoint.
    Endpoint,
    /// A Task.
    Task,
    /// An AI Trace.
    AiTrace,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProjectName {
    /// Id of the project.
    #[schema(format = "uuid")]
    pub id: String,
    /// Name of the project.
    pub name: String,
}
