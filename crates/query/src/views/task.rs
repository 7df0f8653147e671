//! Tasks: runs, groups, statistics, chart.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::endpoint::ChartMetric;
use super::issue::{ExceptionBrief, Occurrence};
use super::page::{PageInfo, TrendPoint};
use super::rows;
use super::span::{SpanGraphStatus, SpanView};

/// Orders of single runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskOrder {
    /// By start.
    #[default]
    RecordedAt,
    /// By duration.
    Duration,
}

/// Orders of Tasks. `task` and `task_name` are equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskGroupOrder {
    /// By impact.
    #[default]
    Impact,
    /// By the number of runs.
    Count,
    /// By P50 of the duration.
    P50Duration,
    /// By P95 of the duration.
    P95Duration,
    /// By P99 of the duration.
    P99Duration,
    /// By mean duration.
    AvgDuration,
    /// By the start of the latest run.
    LastSeen,
    /// By name.
    Task,
    /// By name.
    TaskName,
    /// By error rate.
    ErrorRate,
}

/// One run of a Task.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    /// Row id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Project of the row.
    #[schema(format = "uuid")]
    pub project_id: String,
    /// Name of the Task.
    pub task_name: String,
    /// Duration in nanoseconds.
    pub duration: i64,
    /// Start of the span.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Always 0 for OTLP.
    pub status_code: i32,
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
    /// Whether the run is streaming and excluded from latency statistics.
    pub is_stream: bool,
    /// Whether the span has no parent.
    pub is_root: bool,
}

/// The runs of one Task in the range. Counts are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskGroup {
    /// Name of the Task.
    pub task_name: String,
    /// Number of runs.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// P50 of the duration, nanoseconds.
    pub p50_duration: i64,
    /// P95 of the duration, nanoseconds.
    pub p95_duration: i64,
    /// P99 of the duration, nanoseconds.
    pub p99_duration: i64,
    /// Mean duration, nanoseconds.
    pub avg_duration: i64,
    /// Start of the latest run.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// `count x (P95 - P50)`, nanoseconds; the default order.
    pub impact: f64,
    /// Number of failed runs.
    pub error_count: u64,
    /// Whether any row is the root of its trace.
    pub has_root: bool,
    /// Whether any row is not the root of its trace.
    pub has_non_root: bool,
    /// Runs over the range in at most 24 buckets, empty buckets included.
    pub trend: Vec<TrendPoint>,
}

/// Selects a Task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TaskQuery {
    /// Name of the Task.
    pub task: String,
}

/// Statistics of one Task over the range, weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStats {
    /// Number of runs.
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
    /// Runs per minute between the project's first and last run in the range, at least one minute.
    pub throughput: f64,
    /// Share of failed runs, 0 to 1.
    pub error_rate: f64,
}

/// `POST /api/tasks/task`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TaskPage {
    /// The runs of this page.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<TaskRow>,
    /// Statistics of the Task over the range.
    pub stats: TaskStats,
    /// Position of this page in the list.
    pub pagination: PageInfo,
}

/// Key that forms the lines of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskGrouping {
    /// Name of the Task.
    #[default]
    Name,
    /// Version of the application; empty when unknown.
    Version,
    /// `service.name` of the resource; empty when absent.
    Service,
}

/// Body of `POST /api/tasks/chart`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskChartRequest {
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
    /// Only this Task; every one when null.
    pub task: Option<String>,
    /// Key that forms the lines: the five greatest values, and "Other"; `name` when absent.
    pub group_by: TaskGrouping,
}

/// One point of a chart line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TaskChartPoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Name of the line.
    pub task: String,
    /// Milliseconds; for `count`, the number of runs.
    pub value: f64,
}

/// A chart of Tasks. Buckets without runs are absent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskChart {
    /// Names of the lines: at most five, then "Other" when there are more.
    pub tasks: Vec<String>,
    /// Points of all lines.
    pub series: Vec<TaskChartPoint>,
    /// Width of a bucket in minutes.
    pub interval_minutes: i64,
}

/// `POST /api/tasks/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskDetail {
    /// The run.
    pub task: TaskRow,
    /// Spans of the trace in this project, within 24 hours of it, in waterfall order.
    #[serde(serialize_with = "rows::cut")]
    pub spans: Vec<SpanView>,
    /// Whether `spans` is complete.
    pub span_graph_status: SpanGraphStatus,
    /// Whether `spans` is not empty.
    pub has_spans: bool,
    /// The first exception that this run owns; absent when it owns none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionBrief>,
    /// Exceptions of the trace.
    #[serde(serialize_with = "rows::cut")]
    pub exceptions: Vec<Occurrence>,
    /// Captured messages; always empty for OTLP.
    #[serde(serialize_with = "rows::cut")]
    pub messages: Vec<Occurrence>,
}
