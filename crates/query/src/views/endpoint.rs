//! Endpoints: occurrences, groups, statistics, chart, slow offset.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::issue::{ExceptionBrief, Occurrence};
use super::page::{PageInfo, TrendPoint};
use super::span::{SpanGraphStatus, SpanView};

/// What single requests can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointOrder {
    #[default]
    RecordedAt,
    Duration,
    StatusCode,
}

/// What Endpoints can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointGroupOrder {
    #[default]
    Impact,
    Count,
    P50Duration,
    P95Duration,
    P99Duration,
    AvgDuration,
    LastSeen,
    Endpoint,
    ErrorRate,
    ServerErrorRate,
}

/// One request that an Endpoint served.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointRow {
    #[schema(format = "uuid")]
    pub id: String,
    #[schema(format = "uuid")]
    pub project_id: String,
    /// `METHOD route`, or `UNMATCHED`.
    pub endpoint: String,
    /// Nanoseconds.
    pub duration: i64,
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// HTTP status; 0 when missing.
    pub status_code: i32,
    /// Bytes of the response; 0 when unknown.
    pub body_size: i64,
    #[serde(rename = "clientIP")]
    pub client_ip: String,
    pub attributes: AttributeMap,
    pub app_version: String,
    pub server_name: String,
    pub trace_id: String,
    pub span_id: String,
    /// Empty for a root.
    pub parent_span_id: String,
    /// A streaming response (SSE, WebSocket): not part of latency figures.
    pub is_stream: bool,
    pub is_root: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImpactLevel {
    Critical,
    High,
    Medium,
    Good,
}

/// All requests of one name in the range. Counts are weighted by sampling; latencies leave streaming rows out.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointGroup {
    pub endpoint: String,
    pub count: u64,
    /// Nanoseconds; 0 when every row is streaming.
    pub p50_duration: i64,
    pub p95_duration: i64,
    pub p99_duration: i64,
    pub avg_duration: i64,
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// 0 to 1.
    pub impact: f64,
    /// Which part of the score won, as a sentence; empty when good.
    pub impact_reason: String,
    pub impact_level: ImpactLevel,
    /// 0 to 1, at 750 and 1500 ms plus the endpoint's accepted slow offset; null when every row is streaming.
    #[schema(required)]
    pub apdex: Option<f64>,
    /// Status 500 and above, or error status.
    pub error_count: u64,
    /// Of these, all but status 400 to 499.
    pub server_error_count: u64,
    /// Status 400 to 499.
    pub client_error_count: u64,
    pub stream_count: u64,
    pub has_root: bool,
    pub has_non_root: bool,
    /// At most 24 buckets over the range; all of them, zeros included.
    pub trend: Vec<TrendPoint>,
}

/// Which Endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EndpointQuery {
    /// Name of the Endpoint.
    pub endpoint: String,
}

/// Figures of one Endpoint over the range.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointStats {
    pub count: u64,
    /// Milliseconds.
    pub avg_duration: f64,
    pub median_duration: f64,
    pub p95_duration: f64,
    pub p99_duration: f64,
    /// 0 to 1, at 500 and 2000 ms; null when every row is streaming or none is there.
    #[schema(required)]
    pub apdex: Option<f64>,
    /// 0 to 1.
    pub error_rate: f64,
    /// Without status 400 to 499.
    pub server_error_rate: f64,
    pub client_error_rate: f64,
    /// Requests per minute, over the time from the project's first to its last request in the range; at least a minute.
    pub throughput: f64,
}

/// `POST /api/endpoints/endpoint`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointPage {
    pub data: Vec<EndpointRow>,
    pub pagination: PageInfo,
    pub stats: EndpointStats,
    /// Requests by HTTP status.
    pub status_counts: BTreeMap<String, u64>,
}

/// What an Endpoint or Task chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartMetric {
    #[default]
    TotalTime,
    P50,
    P95,
    P99,
    Count,
}

/// Body of `POST /api/endpoints/chart`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointChartRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    pub metric_type: ChartMetric,
    /// 0 or absent: chosen by the range.
    pub interval_minutes: Option<i64>,
    /// One Endpoint alone; otherwise the top five and "Other".
    pub endpoint: Option<String>,
}

/// One value of one line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EndpointChartPoint {
    #[schema(format = DateTime)]
    pub timestamp: String,
    pub endpoint: String,
    /// Milliseconds; requests for `count`.
    pub value: f64,
}

/// Buckets without traffic are absent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointChart {
    /// The lines: at most five names, then "Other" when there are more.
    pub endpoints: Vec<String>,
    pub series: Vec<EndpointChartPoint>,
    pub interval_minutes: i64,
}

/// `POST /api/endpoints/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDetail {
    pub endpoint: EndpointRow,
    /// The whole trace of this project, 24 hours either side, in waterfall order.
    pub spans: Vec<SpanView>,
    pub span_graph_status: SpanGraphStatus,
    pub has_spans: bool,
    /// The first exception this Endpoint owns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionBrief>,
    /// All exceptions of the trace.
    pub exceptions: Vec<Occurrence>,
    /// Captured messages; OTLP brings none.
    pub messages: Vec<Occurrence>,
}

/// An accepted slowness of one Endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlowOffset {
    /// Milliseconds added to the impact thresholds; 0 when none is set.
    pub offset_ms: i64,
    pub reason: String,
}

/// Body of `POST /api/endpoints/slow`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlowOffsetRequest {
    pub endpoint: String,
    /// 0 removes the offset.
    #[schema(minimum = 0, maximum = 3600000)]
    pub offset_ms: i64,
    #[serde(default)]
    pub reason: String,
}
