//! Conversations and users of AI Traces.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ai::{AiFlag, AiTraceRow, Message};
use super::page::{PageInfo, PageRequest};

/// Orders of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationOrder {
    /// By the start of the latest AI Trace.
    #[default]
    LastSeen,
    /// By the start of the first AI Trace.
    FirstSeen,
    /// By the number of AI Traces.
    Count,
    /// By the number of tokens.
    TotalTokens,
    /// By total cost.
    TotalCost,
    /// By the number of failed AI Traces.
    ErrorCount,
    /// By the number of flagged AI Traces.
    FlaggedCount,
}

/// Orders of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AiUserOrder {
    /// By total cost.
    #[default]
    TotalCost,
    /// By the start of the latest AI Trace.
    LastSeen,
    /// By the number of AI Traces.
    Count,
    /// By the number of conversations.
    ConversationCount,
    /// By the number of tokens.
    TotalTokens,
    /// By the number of failed AI Traces.
    ErrorCount,
    /// By the number of flagged AI Traces.
    FlaggedCount,
}

/// Sums over AI Traces in the range. Counts and sums are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiTotals {
    /// Number of AI Traces: calls of models and runs of tools.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// Number of runs of tools, included in `count`.
    pub tool_count: u64,
    /// Number of failed AI Traces.
    pub error_count: u64,
    /// Number of AI Traces with a flag.
    pub flagged_count: u64,
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
    /// P50 of the duration, nanoseconds.
    pub p50_duration: i64,
    /// P95 of the duration, nanoseconds.
    pub p95_duration: i64,
    /// Start of the first AI Trace.
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// Start of the latest AI Trace.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Requested models, sorted by name.
    pub models: Vec<String>,
}

/// The AI Traces of one conversation in the range.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiConversation {
    /// Id of the conversation or session; the trace id without one.
    pub conversation_id: String,
    /// Name of the first AI Trace.
    pub trace_name: String,
    /// User of the latest AI Trace; empty when absent.
    pub user_id: String,
    /// Sums over its AI Traces.
    #[serde(flatten)]
    pub totals: AiTotals,
}

/// The AI Traces of one user in the range.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiUser {
    /// `user.id` or `enduser.id`.
    pub user_id: String,
    /// Number of conversations.
    pub conversation_count: u64,
    /// Sums over the user's AI Traces.
    #[serde(flatten)]
    pub totals: AiTotals,
}

/// Body of `POST /api/ai-conversations/conversation`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ConversationRequest {
    /// Id of the conversation. Required.
    #[schema(required)]
    pub conversation_id: String,
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// The page of turns; the first 20 when null.
    pub pagination: Option<PageRequest>,
}

/// One turn of a conversation: a call of a model, or a run of a tool without one.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationTurn {
    /// The call, with its tokens, cost, duration and flags. Its `attributes` are empty: `POST /api/ai-traces/{id}` has
    /// them.
    pub call: AiTraceRow,
    /// The messages of the call that no earlier call of the page had, input before output.
    pub messages: Vec<TurnMessage>,
    /// Number of input messages that an earlier call had, which are not in `messages`.
    pub repeated_messages: u64,
    /// Runs of tools that belong to the call and the spans below them, parents first.
    pub tools: Vec<TurnSpan>,
    /// Whether spans were left out of `tools`.
    pub tools_cut: bool,
}

/// A message of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnMessage {
    /// The message.
    #[serde(flatten)]
    pub message: Message,
    /// Whether the model wrote it.
    pub is_output: bool,
    /// Bytes of content and arguments that were cut off; 0 when the message is complete.
    pub cut_bytes: u64,
}

/// Kinds of spans in the tree of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TurnSpanKind {
    /// A run of a tool.
    Tool,
    /// A call of a model.
    Model,
    /// Any other span.
    Span,
}

/// A span in the tree of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnSpan {
    /// Trace of the span.
    pub trace_id: String,
    /// Id of the span.
    pub span_id: String,
    /// 0 for the runs of tools that belong to the turn directly.
    pub depth: u64,
    /// Name of the span.
    pub name: String,
    /// Part in the conversation.
    pub kind: TurnSpanKind,
    /// `service.name` of the resource.
    pub service_name: String,
    /// Start of the span.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// Duration in nanoseconds.
    pub duration: i64,
    /// Whether the span failed.
    pub is_error: bool,
    /// The row of a run of a tool or a call of a model; null for other spans.
    #[schema(required, format = "uuid")]
    pub row_id: Option<String>,
    /// Name of the tool; empty for other spans.
    pub tool_name: String,
    /// Arguments of the run, at most 4 KiB; empty when not recorded.
    pub arguments: String,
    /// Result of the run, at most 4 KiB; empty when not recorded.
    pub result: String,
    /// Requested model; empty for other spans.
    pub model: String,
    /// Cost in US dollars; null for other spans and calls without a price.
    #[schema(required)]
    pub total_cost: Option<f64>,
    /// Flags for readers.
    pub flags: Vec<AiFlag>,
}

/// `POST /api/ai-conversations/conversation`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationPage {
    /// The conversation, with sums over the range.
    pub conversation: AiConversation,
    /// Turns in chronological order.
    pub data: Vec<ConversationTurn>,
    /// Position of this page in the turns.
    pub pagination: PageInfo,
    /// Whether AI Traces or spans beyond the limits were left out.
    pub is_partial: bool,
}

/// The price table of AI models.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiPrices {
    /// Day of the table: prices that changed later are not in it.
    #[schema(format = Date)]
    pub day: String,
    /// Number of prices. A model has several if its price changed.
    pub prices: u64,
}

impl AiPrices {
    /// `day`: as the number 20260101.
    pub fn new(day: u32, prices: usize) -> AiPrices {
        let day = format!("{:04}-{:02}-{:02}", day / 10_000, day / 100 % 100, day % 100);
        AiPrices { day, prices: prices as u64 }
    }
}
