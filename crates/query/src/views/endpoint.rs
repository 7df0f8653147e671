//! Endpoints: occurrences, groups, statistics, chart, slow offset.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::issue::{ExceptionBrief, Occurrence};
use super::page::{PageInfo, TrendPoint};
use super::rows;
use super::span::{SpanGraphStatus, SpanView};

/// Orders of single requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointOrder {
    /// By start.
    #[default]
    RecordedAt,
    /// By duration.
    Duration,
    /// By HTTP status.
    StatusCode,
}

/// Orders of Endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointGroupOrder {
    /// By impact.
    #[default]
    Impact,
    /// By the number of requests.
    Count,
    /// By P50 of the duration.
    P50Duration,
    /// By P95 of the duration.
    P95Duration,
    /// By P99 of the duration.
    P99Duration,
    /// By mean duration.
    AvgDuration,
    /// By the start of the latest request.
    LastSeen,
    /// By name.
    Endpoint,
    /// By error rate.
    ErrorRate,
    /// By the rate of server errors.
    ServerErrorRate,
}

/// One request that an Endpoint served.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointRow {
    /// Row id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Project of the row.
    #[schema(format = "uuid")]
    pub project_id: String,
    /// `METHOD route`, or `UNMATCHED`.
    pub endpoint: String,
    /// Duration in nanoseconds.
    pub duration: i64,
    /// Start of the span.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// HTTP status; 0 when absent.
    pub status_code: i32,
    /// Bytes of the response body; 0 when unknown.
    pub body_size: i64,
    /// `client.address`; empty when absent.
    #[serde(rename = "clientIP")]
    pub client_ip: String,
    /// Attributes of the span.
    pub attributes: AttributeMap,
    /// Version of the application; empty when unknown.
    pub app_version: String,
    /// `service.name` of the resource; empty when absent.
    pub server_name: String,
    /// Trace id.
    pub trace_id: String,
    /// Span id.
    pub span_id: String,
    /// Id of the parent span; empty for a root.
    pub parent_span_id: String,
    /// Whether the response is streaming (SSE, WebSocket) and excluded from latency statistics.
    pub is_stream: bool,
    /// Whether the span has no parent.
    pub is_root: bool,
    /// Trace of the web page that sent the request; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linked_trace_id: Option<String>,
}

/// Levels of impact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImpactLevel {
    /// Impact of at least 0.75.
    Critical,
    /// Impact of at least 0.5.
    High,
    /// Impact of at least 0.25.
    Medium,
    /// Lower impact.
    Good,
}

/// The requests of one Endpoint in the range. Counts are weighted by sampling; latencies exclude streaming responses.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointGroup {
    /// Name of the Endpoint.
    pub endpoint: String,
    /// Number of requests.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// P50 of the duration, nanoseconds; 0 when every response is streaming.
    pub p50_duration: i64,
    /// P95 of the duration, nanoseconds; 0 when every response is streaming.
    pub p95_duration: i64,
    /// P99 of the duration, nanoseconds; 0 when every response is streaming.
    pub p99_duration: i64,
    /// Mean duration, nanoseconds; 0 when every response is streaming.
    pub avg_duration: i64,
    /// Start of the latest request.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Impact, 0 to 1: the worst of its components.
    pub impact: f64,
    /// The worst component, as a sentence; empty for the level `good`.
    pub impact_reason: String,
    /// Level of the impact.
    pub impact_level: ImpactLevel,
    /// Apdex, 0 to 1, with thresholds of 750 and 1500 ms plus the Endpoint's slow offset; null when every response is
    /// streaming.
    #[schema(required)]
    pub apdex: Option<f64>,
    /// Requests with a status of 500 and above, or with an error status.
    pub error_count: u64,
    /// Errors except those with status 400 to 499.
    pub server_error_count: u64,
    /// Requests with status 400 to 499.
    pub client_error_count: u64,
    /// Requests with a streaming response.
    pub stream_count: u64,
    /// Whether any row is the root of its trace.
    pub has_root: bool,
    /// Whether any row is not the root of its trace.
    pub has_non_root: bool,
    /// Requests over the range in at most 24 buckets, empty buckets included.
    pub trend: Vec<TrendPoint>,
}

/// Selects an Endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EndpointQuery {
    /// Name of the Endpoint.
    pub endpoint: String,
}

/// Statistics of one Endpoint over the range, weighted by sampling; latencies exclude streaming responses.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointStats {
    /// Number of requests.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// Mean duration, milliseconds.
    pub avg_duration: f64,
    /// Median of the duration, milliseconds.
    pub median_duration: f64,
    /// P95 of the duration, milliseconds.
    pub p95_duration: f64,
    /// P99 of the duration, milliseconds.
    pub p99_duration: f64,
    /// Apdex, 0 to 1, with thresholds of 500 and 2000 ms; null when there are no requests or every response is
    /// streaming.
    #[schema(required)]
    pub apdex: Option<f64>,
    /// Share of requests with an error, 0 to 1.
    pub error_rate: f64,
    /// Share of requests with an error, except those with status 400 to 499; 0 to 1.
    pub server_error_rate: f64,
    /// Share of requests with status 400 to 499, 0 to 1.
    pub client_error_rate: f64,
    /// Requests per minute between the project's first and last request in the range, at least one minute.
    pub throughput: f64,
}

/// `POST /api/endpoints/endpoint`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointPage {
    /// The requests of this page.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<EndpointRow>,
    /// Position of this page in the list.
    pub pagination: PageInfo,
    /// Statistics of the Endpoint over the range.
    pub stats: EndpointStats,
    /// Number of requests by HTTP status.
    pub status_counts: BTreeMap<String, u64>,
}

/// Metrics of the charts of Endpoints and Tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartMetric {
    /// Sum of the durations, milliseconds.
    #[default]
    TotalTime,
    /// P50 of the duration, milliseconds.
    P50,
    /// P95 of the duration, milliseconds.
    P95,
    /// P99 of the duration, milliseconds.
    P99,
    /// Number of requests or runs.
    Count,
}

/// Key that forms the lines of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointGrouping {
    /// Name of the Endpoint.
    #[default]
    Name,
    /// Version of the application; empty when unknown.
    Version,
    /// `service.name` of the resource; empty when absent.
    Service,
    /// HTTP status; empty when unknown.
    Status,
}

/// Body of `POST /api/endpoints/chart`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointChartRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// The metric; `total_time` when absent.
    pub metric_type: ChartMetric,
    /// Width of a bucket in minutes; 0 or null: chosen by the range.
    pub interval_minutes: Option<i64>,
    /// Query in the query language; a text that is no query is 400 with its `position`.
    pub query: Option<String>,
    /// Only this Endpoint; every one when null.
    pub endpoint: Option<String>,
    /// Key that forms the lines: the five greatest values, and "Other"; `name` when absent.
    pub group_by: EndpointGrouping,
}

/// One point of a chart line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EndpointChartPoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Name of the line.
    pub endpoint: String,
    /// Milliseconds; for `count`, the number of requests.
    pub value: f64,
}

/// A chart of Endpoints. Buckets without requests are absent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointChart {
    /// Names of the lines: at most five, then "Other" when there are more.
    pub endpoints: Vec<String>,
    /// Points of all lines.
    pub series: Vec<EndpointChartPoint>,
    /// Width of a bucket in minutes.
    pub interval_minutes: i64,
}

/// `POST /api/endpoints/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDetail {
    /// The request.
    pub endpoint: EndpointRow,
    /// Spans of the trace in this project, within 24 hours of it, in waterfall order.
    #[serde(serialize_with = "rows::cut")]
    pub spans: Vec<SpanView>,
    /// Whether `spans` is complete.
    pub span_graph_status: SpanGraphStatus,
    /// Whether `spans` is not empty.
    pub has_spans: bool,
    /// The first exception that this request owns; absent when it owns none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionBrief>,
    /// Exceptions of the trace.
    #[serde(serialize_with = "rows::cut")]
    pub exceptions: Vec<Occurrence>,
    /// Captured messages; always empty for OTLP.
    #[serde(serialize_with = "rows::cut")]
    pub messages: Vec<Occurrence>,
}

/// The accepted slowness of one Endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlowOffset {
    /// Milliseconds added to the latency thresholds of the impact; 0 when none is set.
    pub offset_ms: i64,
    /// Reason for accepting it; may be empty.
    pub reason: String,
}

/// Body of `POST /api/endpoints/slow`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlowOffsetRequest {
    /// Name of the Endpoint.
    pub endpoint: String,
    /// Milliseconds to add to the latency thresholds of the impact; 0 removes the offset.
    #[schema(minimum = 0, maximum = 3600000)]
    pub offset_ms: i64,
    /// Reason for accepting it; may be empty.
    #[serde(default)]
    pub reason: String,
}
