//! AI Traces: calls, groups, statistics, chart, conversation.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::AttributeMap;
use super::issue::Occurrence;
use super::page::{ListRequest, PageInfo, TrendPoint};
use super::rows;
use super::span::{SpanGraphStatus, SpanView};

/// Orders of single calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiTraceOrder {
    /// By start.
    #[default]
    RecordedAt,
    /// By duration.
    Duration,
    /// By total cost.
    TotalCost,
    /// By the number of tokens.
    TotalTokens,
}

/// Orders of AI Trace names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiTraceGroupOrder {
    /// By total cost.
    #[default]
    TotalCost,
    /// By the number of calls.
    Count,
    /// By the number of tokens.
    TotalTokens,
    /// By P50 of the duration.
    P50Duration,
    /// By P95 of the duration.
    P95Duration,
    /// By mean duration.
    AvgDuration,
    /// By the start of the latest call.
    LastSeen,
    /// By name, or another value of `groupBy`.
    TraceName,
    /// By error rate.
    ErrorRate,
}

/// One AI Trace: a model call, an agent step or a run of a tool. Absent strings are empty; absent tokens and costs are
/// null, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceRow {
    /// Row id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Project of the row.
    #[schema(format = "uuid")]
    pub project_id: String,
    /// Start of the span.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Duration in nanoseconds.
    pub duration: i64,
    /// HTTP status; 0 when absent.
    pub status_code: i32,
    /// Requested model.
    pub model: String,
    /// Model that answered.
    pub response_model: String,
    /// Provider of the model.
    pub provider: String,
    /// `gen_ai.operation.name`.
    pub operation: String,
    /// Input tokens.
    #[schema(required)]
    pub input_tokens: Option<i64>,
    /// Output tokens.
    #[schema(required)]
    pub output_tokens: Option<i64>,
    /// Sum of input and output tokens, unless the span has a total.
    #[schema(required)]
    pub total_tokens: Option<i64>,
    /// Input tokens that were read from a cache.
    #[schema(required)]
    pub cached_tokens: Option<i64>,
    /// Input tokens that were written to a cache.
    #[schema(required)]
    pub cache_write_tokens: Option<i64>,
    /// Output tokens that were used for reasoning.
    #[schema(required)]
    pub reasoning_tokens: Option<i64>,
    /// Cost of the input in US dollars.
    #[schema(required)]
    pub input_cost: Option<f64>,
    /// Cost of the output in US dollars.
    #[schema(required)]
    pub output_cost: Option<f64>,
    /// Total cost in US dollars; null when the model is not priced.
    #[schema(required)]
    pub total_cost: Option<f64>,
    /// Whether the costs are from the price table, not from the span.
    pub cost_estimated: bool,
    /// Whether tokens and costs are in sums; false for a row that repeats those of other rows.
    pub is_counted: bool,
    /// Name of the AI Trace.
    pub trace_name: String,
    /// `user.id` or `enduser.id`.
    pub user_id: String,
    /// Finish reasons, joined by commas.
    pub finish_reason: String,
    /// `service.name` of the resource.
    pub server_name: String,
    /// Version of the application.
    pub app_version: String,
    /// `ai-traces/{projectId}/{id}.json`, the pointer to the conversation; empty without one.
    /// `GET /api/ai-traces/{id}/conversation` resolves it.
    pub storage_key: String,
    /// Attributes of the span.
    pub attributes: AttributeMap,
    /// Trace id.
    pub trace_id: String,
    /// Span id.
    pub span_id: String,
    /// Id of the parent span; empty for a root.
    pub parent_span_id: String,
    /// Whether the span has no parent.
    pub is_root: bool,
    /// Whether the call failed.
    pub is_error: bool,
    /// Whether the response was streamed.
    pub is_stream: bool,
    /// Id of the conversation or session; the trace id without one.
    pub conversation_id: String,
    /// Number of tool calls.
    pub tool_call_count: i64,
    /// Names of the called tools.
    pub tool_names: Vec<String>,
    /// Whether `flags` is not empty.
    pub flagged: bool,
    /// Flags for readers; computed when the span arrives.
    pub flags: Vec<AiFlag>,
    /// Terms of the project's word lists in the conversation, at most 16; found when the span arrives.
    pub flagged_terms: Vec<String>,
}

/// A flag for readers of AI Traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiFlag {
    /// A limit of tokens ended the answer.
    Truncated,
    /// A filter of the provider removed or blocked content.
    ContentFilter,
    /// The model declined to answer.
    Refused,
    /// A successful call that generates text has no answer.
    EmptyAnswer,
    /// The model called a tool in a malformed way.
    InvalidToolCall,
    /// A run of a tool failed.
    ToolError,
    /// The conversation has a term of the project's word lists.
    FlaggedContent,
}

/// Kinds of AI Traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AiCalls {
    /// All AI Traces.
    #[default]
    All,
    /// All but runs of tools.
    Model,
    /// Only runs of tools: `gen_ai.operation.name` is `execute_tool`.
    Tool,
}

/// Body of the lists of AI Traces.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", bound = "")]
pub struct AiListRequest<O> {
    /// Range, order, search and page.
    #[serde(flatten)]
    pub list: ListRequest<O>,
    /// Kind of AI Traces; `all` when absent.
    #[serde(default)]
    #[schema(default = json!("all"))]
    pub calls: AiCalls,
    /// Only AI Traces of this conversation; all when null.
    #[schema(default = json!(null))]
    pub conversation_id: Option<String>,
    /// Only AI Traces with at least one of these flags; all when empty.
    #[serde(default)]
    #[schema(default = json!([]))]
    pub flags: Vec<AiFlag>,
}

/// Key by which AI Traces are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiGrouping {
    /// Name of the AI Trace.
    #[default]
    Name,
    /// Requested model, `gen_ai.request.model`.
    Model,
    /// Provider, `gen_ai.provider.name`.
    Provider,
    /// User, `user.id` or `enduser.id`.
    User,
    /// Name of the prompt, `gen_ai.prompt.name`.
    Prompt,
    /// `service.name` of the resource.
    Service,
    /// Conversation or session; the trace without one.
    Conversation,
}

/// Body of `POST /api/ai-traces/grouped`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", bound = "")]
pub struct AiGroupRequest<O> {
    /// Range, order, search, page and the kind of AI Traces.
    #[serde(flatten)]
    pub list: AiListRequest<O>,
    /// Key that forms the groups; `name` when absent.
    #[serde(default)]
    #[schema(default = json!("name"))]
    pub group_by: AiGrouping,
}

/// The AI Traces of one name, or of another value of `groupBy`, in the range. Counts and sums are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceGroup {
    /// Value of `groupBy`: the name of the AI Traces unless the request says otherwise. Empty: rows without a value.
    pub trace_name: String,
    /// Number of AI Traces.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// Number of runs of tools, included in `count`.
    pub tool_count: u64,
    /// P50 of the duration, nanoseconds.
    pub p50_duration: i64,
    /// P95 of the duration, nanoseconds.
    pub p95_duration: i64,
    /// Mean duration, nanoseconds.
    pub avg_duration: i64,
    /// Sum of tokens; null when no call has any.
    #[schema(required)]
    pub total_tokens: Option<i64>,
    /// Sum of input tokens; null when no call has any.
    #[schema(required)]
    pub input_tokens: Option<i64>,
    /// Sum of output tokens; null when no call has any.
    #[schema(required)]
    pub output_tokens: Option<i64>,
    /// Sum of input tokens from a cache, included in `inputTokens`; null when no call has any.
    #[schema(required)]
    pub cached_tokens: Option<i64>,
    /// Sum of output tokens of reasoning, included in `outputTokens`; null when no call has any.
    #[schema(required)]
    pub reasoning_tokens: Option<i64>,
    /// Sum of costs in US dollars; null when no call is priced.
    #[schema(required)]
    pub total_cost: Option<f64>,
    /// Whether a part of `totalCost` is from the price table.
    pub estimated_cost: bool,
    /// Number of calls of models without a price, which are not in `totalCost`.
    pub unpriced_count: u64,
    /// Mean input tokens of calls that have them; null when none has.
    #[schema(required)]
    pub avg_input_tokens: Option<f64>,
    /// Mean output tokens of calls that have them; null when none has.
    #[schema(required)]
    pub avg_output_tokens: Option<f64>,
    /// Start of the latest call.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Whether any row is the root of its trace.
    pub has_root: bool,
    /// Whether any row is not the root of its trace.
    pub has_non_root: bool,
    /// Number of failed calls.
    pub error_count: u64,
    /// Number of AI Traces with a flag.
    pub flagged_count: u64,
    /// Requested models, sorted by name.
    pub models: Vec<String>,
    /// Calls over the range in at most 24 buckets, empty buckets included.
    pub trend: Vec<TrendPoint>,
}

/// Selects an AI Trace name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TraceNameQuery {
    /// Name of the AI Trace.
    pub trace: String,
}

/// Statistics of one AI Trace name over the range, weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceStats {
    /// Number of AI Traces.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// Number of runs of tools, included in `count`.
    pub tool_count: u64,
    /// Mean duration, milliseconds.
    pub avg_duration: f64,
    /// Median of the duration, milliseconds.
    pub median_duration: f64,
    /// P95 of the duration, milliseconds.
    pub p95_duration: f64,
    /// Share of failed calls, 0 to 1.
    pub error_rate: f64,
    /// Sum of input tokens; null when no call has any.
    #[schema(required)]
    pub input_tokens: Option<i64>,
    /// Sum of output tokens; null when no call has any.
    #[schema(required)]
    pub output_tokens: Option<i64>,
    /// Sum of tokens; null when no call has any.
    #[schema(required)]
    pub total_tokens: Option<i64>,
    /// Sum of costs in US dollars; null when no call is priced.
    #[schema(required)]
    pub total_cost: Option<f64>,
    /// Whether a part of `totalCost` is from the price table.
    pub estimated_cost: bool,
    /// Number of calls of models without a price, which are not in `totalCost`.
    pub unpriced_count: u64,
}

/// `POST /api/ai-traces/trace`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AiTracePage {
    /// The AI Traces of this page.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<AiTraceRow>,
    /// Statistics of the name over the range.
    pub stats: AiTraceStats,
    /// Position of this page in the list.
    pub pagination: PageInfo,
}

/// Metrics of the chart of AI Traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiChartMetric {
    /// Cost in US dollars.
    #[default]
    Cost,
    /// Number of tokens.
    Tokens,
    /// Number of tokens, with a line for each kind instead of each name: `input` without those from a cache, `cached`,
    /// `output` without those of reasoning, `reasoning`.
    TokenKinds,
    /// Number of calls.
    Count,
    /// P95 of the duration, milliseconds.
    P95,
}

/// Body of `POST /api/ai-traces/chart`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AiChartRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// The metric; `cost` when absent.
    pub metric_type: AiChartMetric,
    /// Width of a bucket in minutes; 0 or null: chosen by the range.
    pub interval_minutes: Option<i64>,
    /// Query in the query language; a text that is no query is 400 with its `position`.
    pub query: Option<String>,
    /// Only this value of `groupBy`; when null, the top five values and "Other".
    pub trace: Option<String>,
    /// Key that forms the lines; `name` when absent. Ignored by the metric `token_kinds`.
    pub group_by: AiGrouping,
    /// Kind of AI Traces; `all` when absent.
    pub calls: AiCalls,
    /// Only AI Traces with at least one of these flags; all when empty.
    pub flags: Vec<AiFlag>,
}

/// One point of a chart line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AiChartPoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Name of the line.
    pub trace: String,
    /// US dollars, tokens, calls or milliseconds, by `metricType`.
    pub value: f64,
}

/// A chart of AI Traces. Buckets without calls are absent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiChart {
    /// Names of the lines: at most five, then "Other" when there are more. An empty name: rows without a value.
    pub traces: Vec<String>,
    /// Points of all lines.
    pub series: Vec<AiChartPoint>,
    /// Width of a bucket in minutes.
    pub interval_minutes: i64,
}

/// A call of a tool by a model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON, as the model wrote them.
    pub arguments: String,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool` or another role of the sender.
    pub role: String,
    /// Content of the message; may be empty.
    pub content: String,
    /// Calls of tools in the message; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
}

/// Response of `GET /api/ai-traces/{id}/conversation`: the document that `storageKey` points to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StoredConversation {
    /// Input of the model, as the span has it: text or JSON; null when absent.
    #[schema(required)]
    pub input: Option<String>,
    /// Output of the model, as the span has it: text or JSON; null when absent.
    #[schema(required)]
    pub output: Option<String>,
}

/// The content of a model call, read from the span's attributes and events.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// The input as recorded; null when absent.
    #[schema(required)]
    pub input: Option<String>,
    /// The output as recorded; null when absent.
    #[schema(required)]
    pub output: Option<String>,
    /// Input and output messages in order, as far as they can be parsed.
    pub messages: Vec<Message>,
    /// `input` and `output`, if they are cut because `messages` has them whole; absent when they are not. The recorded
    /// ones are in `GET /api/ai-traces/{id}/conversation`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub truncated_fields: Vec<&'static str>,
}

/// `POST /api/ai-traces/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTraceDetail {
    /// The AI Trace. Its attributes are cut like those of lists; its span has them whole.
    #[serde(serialize_with = "rows::cut_one")]
    pub ai_trace: AiTraceRow,
    /// Spans of the trace in this project, within 24 hours of it, in waterfall order.
    #[serde(serialize_with = "rows::cut")]
    pub spans: Vec<SpanView>,
    /// Whether `spans` is complete.
    pub span_graph_status: SpanGraphStatus,
    /// Whether `spans` is not empty.
    pub has_spans: bool,
    /// The content of the call; null when the span has none.
    #[schema(required)]
    pub conversation: Option<Conversation>,
    /// Exceptions of the trace.
    #[serde(serialize_with = "rows::cut")]
    pub exceptions: Vec<Occurrence>,
}
