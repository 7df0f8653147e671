//! Tasks: runs, groups, statistics, chart.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::endpoint::ChartMetric;
use super::issue::{ExceptionBrief, Occurrence};
use super::page::{PageInfo, TrendPoint};
use super::span::{SpanGraphStatus, SpanView};

/// What single runs can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskOrder {
    #[default]
    RecordedAt,
    Duration,
}

/// What Tasks can be sorted by. `task` and `task_name` are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskGroupOrder {
    #[default]
    Impact,
    Count,
    P50Duration,
    P95Duration,
    P99Duration,
    AvgDuration,
    LastSeen,
    Task,
    TaskName,
    ErrorRate,
}

/// One run of a Task.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    #[schema(format = "uuid")]
    pub id: String,
    #[schema(format = "uuid")]
    pub project_id: String,
    pub task_name: String,
    /// Nanoseconds.
    pub duration: i64,
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Always 0 over OTLP.
    pub status_code: i32,
    #[serde(rename = "clientIP")]
    pub client_ip: String,
    pub attributes: AttributeMap,
    pub app_version: String,
    pub server_name: String,
    pub trace_id: String,
    pub span_id: String,
    /// Empty for a root.
    pub parent_span_id: String,
    pub is_stream: bool,
    pub is_root: bool,
}

/// All runs of one Task in the range. Counts are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskGroup {
    pub task_name: String,
    pub count: u64,
    /// Nanoseconds.
    pub p50_duration: i64,
    pub p95_duration: i64,
    pub p99_duration: i64,
    pub avg_duration: i64,
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// `count x (P95 - P50)`, nanoseconds: the default order.
    pub impact: f64,
    pub error_count: u64,
    pub has_root: bool,
    pub has_non_root: bool,
    /// At most 24 buckets over the range; all of them, zeros included.
    pub trend: Vec<TrendPoint>,
}

/// Which Task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TaskQuery {
    /// Name of the Task.
    pub task: String,
}

/// Figures of one Task over the range.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStats {
    pub count: u64,
    /// Milliseconds.
    pub avg_duration: f64,
    pub median_duration: f64,
    pub p95_duration: f64,
    pub p99_duration: f64,
    /// Runs per minute, over the time from the project's first to its last run in the range; at least a minute.
    pub throughput: f64,
    /// 0 to 1.
    pub error_rate: f64,
}

/// `POST /api/tasks/task`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TaskPage {
    pub data: Vec<TaskRow>,
    pub stats: TaskStats,
    pub pagination: PageInfo,
}

/// Body of `POST /api/tasks/chart`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskChartRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    pub metric_type: ChartMetric,
    /// 0 or absent: chosen by the range.
    pub interval_minutes: Option<i64>,
    /// One Task alone; otherwise the top five and "Other".
    pub task: Option<String>,
}

/// One value of one line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TaskChartPoint {
    #[schema(format = DateTime)]
    pub timestamp: String,
    pub task: String,
    /// Milliseconds; runs for `count`.
    pub value: f64,
}

/// Buckets without runs are absent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskChart {
    /// The lines: at most five names, then "Other" when there are more.
    pub tasks: Vec<String>,
    pub series: Vec<TaskChartPoint>,
    pub interval_minutes: i64,
}

/// `POST /api/tasks/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskDetail {
    pub task: TaskRow,
    /// The whole trace of this project, 24 hours either side, in waterfall order.
    pub spans: Vec<SpanView>,
    pub span_graph_status: SpanGraphStatus,
    pub has_spans: bool,
    /// The first exception this Task owns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionBrief>,
    /// All exceptions of the trace.
    pub exceptions: Vec<Occurrence>,
    /// Captured messages; OTLP brings none.
    pub messages: Vec<Occurrence>,
}
