//! What was received and what became of it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/drops`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DropsRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
}

/// Records that were received and not stored, or not stored whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DropCount {
    /// `traces`, `metrics` or `logs`.
    pub signal: String,
    /// Why: `unmatched_root`, `invalid_id`, `unsupported_metric_type`, `empty_point`, `not_finite`, `sampled`,
    /// `healthcheck`, `invalid_time`, `too_old`, `duplicate`;
    /// `disk_budget` of a record that was stored and dropped again to make room on the disk;
    /// `shared_attributes_too_large` of a record that is stored without some attributes of its resource or scope;
    /// `too_many_names` of one whose Endpoint, Task or AI Trace is stored as `(other)`;
    /// or, of a request, why it was refused.
    pub reason: String,
    pub count: u64,
}

/// Requests, or records of `series`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestCount {
    pub signal: String,
    /// `accepted` or `rejected`.
    pub outcome: String,
    /// Empty when accepted.
    pub reason: String,
    pub count: u64,
    /// What the last sender that was refused so heard; absent when that was before the server's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_message: Option<String>,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_at: Option<String>,
}

/// One refused request whose token belongs to no project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusalView {
    #[schema(format = DateTime)]
    pub time: String,
    pub address: String,
    pub path: String,
    /// The first four characters of the token; empty when there was none.
    pub token_start: String,
    pub user_agent: String,
    /// `bad_token` or `grpc`.
    pub reason: String,
    /// One sentence.
    pub message: String,
}

/// `GET /api/refusals`: newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Refusals {
    pub data: Vec<RefusalView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeptCount {
    pub signal: String,
    pub count: u64,
}

/// One figure of one minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DropPoint {
    /// Start of the minute.
    #[schema(format = DateTime)]
    pub timestamp: String,
    pub signal: String,
    /// `accepted`, `rejected` (requests); `kept`, `dropped`, `trimmed` (records).
    pub outcome: String,
    pub reason: String,
    pub count: u64,
}

/// The latest span, whenever it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastSpan {
    pub name: String,
    pub service_name: String,
    pub trace_id: String,
    /// The span's start.
    #[schema(format = DateTime)]
    pub received_at: String,
}

/// `POST /api/drops`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drops {
    /// Dropped and trimmed records, and rejected requests, by signal and reason.
    pub data: Vec<DropCount>,
    pub requests: Vec<RequestCount>,
    /// Stored records.
    pub kept: Vec<KeptCount>,
    /// Per minute; the latest 2000 minutes of the range at most.
    pub series: Vec<DropPoint>,
    /// Spans since the server's start that describe a model call without `gen_ai.*` and were not promoted: the setting
    /// `aiConventions` does.
    pub unpromoted_ai_spans: u64,
    /// Absent when nothing was ever stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_span: Option<LastSpan>,
}
