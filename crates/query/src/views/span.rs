//! Spans: the explorer, the waterfall.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::page::{OrderBy, PageInfo, PageRequest, SortDirection};

/// A stored span.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanView {
    #[schema(format = "uuid")]
    pub project_id: String,
    pub trace_id: String,
    pub span_id: String,
    /// Empty for a root.
    pub parent_span_id: String,
    pub name: String,
    #[schema(format = DateTime)]
    pub start_time: String,
    /// The same as `startTime`.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Nanoseconds.
    pub duration: i64,
    /// OTLP kind: 0 unspecified, 1 INTERNAL, 2 SERVER, 3 CLIENT, 4 PRODUCER, 5 CONSUMER.
    #[schema(minimum = 0, maximum = 5)]
    pub span_kind: u8,
    /// OTLP status: 0 unset, 1 ok, 2 error.
    #[schema(minimum = 0, maximum = 2)]
    pub status_code: u8,
    pub status_message: String,
    pub service_name: String,
    pub scope_name: String,
    pub attributes: AttributeMap,
    /// Left out of lists; part of a single span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_attributes: Option<AttributeMap>,
    pub events: Vec<SpanEvent>,
    pub links: Vec<SpanLink>,
    /// `db.query.text` or `db.statement`: what a database span is shown by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_statement: Option<String>,
    /// HTTP status, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<i32>,
    pub is_endpoint: bool,
    pub is_task: bool,
    pub is_ai_trace: bool,
    /// Row id of the Endpoint, Task or AI Trace this span is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    pub entity_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_name: Option<String>,
    /// Steps below the topmost stored ancestor; 0 in plain lists.
    pub depth: u32,
    /// It names a parent that is not among the spans shown. Always false in plain lists.
    pub has_missing_parent: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SpanEvent {
    pub name: String,
    #[schema(format = DateTime)]
    pub time: String,
    pub attributes: AttributeMap,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanLink {
    pub trace_id: String,
    pub span_id: String,
    pub attributes: AttributeMap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GraphState {
    Complete,
    Partial,
    Unavailable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphReason {
    /// More spans than one graph shows.
    SpanLimit,
    /// A span names a parent that is not stored in the window.
    MissingParents,
    /// Spans of the trace lie more than 24 hours away from the opened entity.
    Window,
}

/// How much of the trace is shown, and why not all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SpanGraphStatus {
    pub state: GraphState,
    pub reasons: Vec<GraphReason>,
    /// Spans in the window.
    pub total: u64,
    /// Spans in the answer.
    pub shown: u64,
}

/// A condition on an attribute of the span, or else of its resource.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SpanAttributeFilter {
    pub key: String,
    pub value: String,
}

/// What spans can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpanOrder {
    #[default]
    StartTime,
    Duration,
}

/// Body of `POST /api/spans`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanListRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// At most the days that the project keeps, and one more, after `fromDate` (422).
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `start_time` (default) or `duration`.
    #[schema(value_type = Option<SpanOrder>)]
    pub order_by: OrderBy<SpanOrder>,
    pub sort_direction: Option<SortDirection>,
    pub service_name: Option<String>,
    /// Part of the span's name, in any case.
    pub name: Option<String>,
    /// 32 hexadecimal digits, dashes allowed.
    pub trace_id: Option<String>,
    #[schema(minimum = 0, maximum = 5)]
    pub kind: Option<u8>,
    #[schema(minimum = 0, maximum = 2)]
    pub status: Option<u8>,
    pub min_duration_ms: Option<f64>,
    pub max_duration_ms: Option<f64>,
    /// All must hold; at most 20.
    pub attribute_filters: Vec<SpanAttributeFilter>,
    /// Only spans without a parent: a list of traces. `serviceName` and `attributeFilters` then hold for a trace of which
    /// any one span meets all of them; everything else is asked of the listed span.
    pub roots_only: bool,
    pub pagination: Option<PageRequest>,
}

/// `POST /api/spans`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanPage {
    pub data: Vec<SpanView>,
    pub pagination: PageInfo,
    /// Every service with a span in the range, whatever the filters; at most 200, by name.
    pub services: Vec<String>,
    /// With `rootsOnly`: more than 50,000 inner spans matched, and only the latest of them were looked at.
    pub is_partial: bool,
}

/// When the span was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AtQuery {
    /// Any time within 24 hours of the span; without it the span is looked for in all time.
    #[param(format = DateTime)]
    pub at: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceType {
    Endpoint,
    Task,
    AiTrace,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProjectName {
    #[schema(format = "uuid")]
    pub id: String,
    pub name: String,
}
