//! AI Traces: calls, groups, statistics, chart, conversation.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::issue::Occurrence;
use super::page::{ListRequest, PageInfo, TrendPoint};
use super::span::{SpanGraphStatus, SpanView};

/// What single calls can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiTraceOrder {
    #[default]
    RecordedAt,
    Duration,
    TotalCost,
    TotalTokens,
}

/// What AI Trace names can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiTraceGroupOrder {
    #[default]
    TotalCost,
    Count,
    TotalTokens,
    P50Duration,
    P95Duration,
    AvgDuration,
    LastSeen,
    TraceName,
    ErrorRate,
}

/// One gen_ai call. Absent texts are empty; absent tokens and costs are null, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceRow {
    #[schema(format = "uuid")]
    pub id: String,
    #[schema(format = "uuid")]
    pub project_id: String,
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Nanoseconds.
    pub duration: i64,
    pub status_code: i32,
    pub model: String,
    pub response_model: String,
    pub provider: String,
    pub operation: String,
    #[schema(required)]
    pub input_tokens: Option<i64>,
    #[schema(required)]
    pub output_tokens: Option<i64>,
    #[schema(required)]
    pub total_tokens: Option<i64>,
    #[schema(required)]
    pub cached_tokens: Option<i64>,
    #[schema(required)]
    pub reasoning_tokens: Option<i64>,
    /// US dollars.
    #[schema(required)]
    pub input_cost: Option<f64>,
    #[schema(required)]
    pub output_cost: Option<f64>,
    /// Null when the model is not priced.
    #[schema(required)]
    pub total_cost: Option<f64>,
    /// The costs come from the price table, not from the span.
    pub cost_estimated: bool,
    pub trace_name: String,
    pub user_id: String,
    pub finish_reason: String,
    pub server_name: String,
    pub app_version: String,
    /// Where the conversation is kept: empty, since it is read from the stored span.
    pub storage_key: String,
    pub attributes: AttributeMap,
    pub trace_id: String,
    pub span_id: String,
    /// Empty for a root.
    pub parent_span_id: String,
    pub is_root: bool,
    pub is_error: bool,
    pub is_stream: bool,
    pub conversation_id: String,
    pub tool_call_count: i64,
    pub tool_names: Vec<String>,
    /// Reserved: false.
    pub flagged: bool,
    /// Reserved: empty.
    pub flagged_terms: Vec<String>,
}

/// Which AI Traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AiCalls {
    #[default]
    All,
    /// Everything but runs of tools.
    Model,
    /// Runs of tools: `gen_ai.operation.name` is `execute_tool`.
    Tool,
}

/// Body of the lists of AI Traces.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", bound = "")]
pub struct AiListRequest<O> {
    #[serde(flatten)]
    pub list: ListRequest<O>,
    #[serde(default)]
    #[schema(default = json!("all"))]
    pub calls: AiCalls,
    /// Only what belongs to this conversation.
    #[schema(default = json!(null))]
    pub conversation_id: Option<String>,
}

/// All AI Traces of one name in the range. Counts and sums are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceGroup {
    pub trace_name: String,
    pub count: u64,
    /// Of these, runs of tools.
    pub tool_count: u64,
    /// Nanoseconds.
    pub p50_duration: i64,
    pub p95_duration: i64,
    pub avg_duration: i64,
    #[schema(required)]
    pub total_tokens: Option<i64>,
    /// US dollars; null when nothing is priced.
    #[schema(required)]
    pub total_cost: Option<f64>,
    /// Some of `totalCost` comes from the price table.
    pub estimated_cost: bool,
    /// Calls of a model that has no price: unpriced, not free.
    pub unpriced_count: u64,
    #[schema(required)]
    pub avg_input_tokens: Option<f64>,
    #[schema(required)]
    pub avg_output_tokens: Option<f64>,
    #[schema(format = DateTime)]
    pub last_seen: String,
    pub has_root: bool,
    pub has_non_root: bool,
    pub error_count: u64,
    /// Requested models, by name.
    pub models: Vec<String>,
    /// At most 24 buckets over the range; all of them, zeros included.
    pub trend: Vec<TrendPoint>,
}

/// Which AI Trace name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TraceNameQuery {
    /// Name of the AI Trace.
    pub trace: String,
}

/// Figures of one name over the range.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceStats {
    pub count: u64,
    /// Of these, runs of tools.
    pub tool_count: u64,
    /// Milliseconds.
    pub avg_duration: f64,
    pub median_duration: f64,
    pub p95_duration: f64,
    /// 0 to 1.
    pub error_rate: f64,
    #[schema(required)]
    pub input_tokens: Option<i64>,
    #[schema(required)]
    pub output_tokens: Option<i64>,
    #[schema(required)]
    pub total_tokens: Option<i64>,
    #[schema(required)]
    pub total_cost: Option<f64>,
    pub estimated_cost: bool,
    pub unpriced_count: u64,
}

/// `POST /api/ai-traces/trace`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AiTracePage {
    pub data: Vec<AiTraceRow>,
    pub stats: AiTraceStats,
    pub pagination: PageInfo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiChartMetric {
    #[default]
    Cost,
    Tokens,
    Count,
    P95,
}

/// Body of `POST /api/ai-traces/chart`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AiChartRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    pub metric_type: AiChartMetric,
    /// 0 or absent: chosen by the range.
    pub interval_minutes: Option<i64>,
    /// One name alone; otherwise the top five and "Other".
    pub trace: Option<String>,
    pub calls: AiCalls,
}

/// One value of one line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AiChartPoint {
    #[schema(format = DateTime)]
    pub timestamp: String,
    pub trace: String,
    /// US dollars, tokens, calls, or milliseconds.
    pub value: f64,
}

/// Buckets without calls are absent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiChart {
    /// The lines: at most five names, then "Other" when there are more.
    pub traces: Vec<String>,
    pub series: Vec<AiChartPoint>,
    pub interval_minutes: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolCall {
    pub name: String,
    /// JSON text as the model wrote it.
    pub arguments: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool` or what the sender wrote.
    pub role: String,
    pub content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
}

/// What was said, read from the span's attributes and events.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Conversation {
    /// As recorded; null when absent.
    #[schema(required)]
    pub input: Option<String>,
    #[schema(required)]
    pub output: Option<String>,
    /// Both, in order, as far as they could be read.
    pub messages: Vec<Message>,
}

/// `POST /api/ai-traces/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceDetail {
    pub ai_trace: AiTraceRow,
    /// The whole trace of this project, 24 hours either side, in waterfall order.
    pub spans: Vec<SpanView>,
    pub span_graph_status: SpanGraphStatus,
    pub has_spans: bool,
    /// Null when the span carries no content.
    #[schema(required)]
    pub conversation: Option<Conversation>,
    /// All exceptions of the trace.
    pub exceptions: Vec<Occurrence>,
}
