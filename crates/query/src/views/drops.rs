//! Counts of received requests and records by outcome.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/drops`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DropsRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
}

/// Records that were received and not stored, or stored incomplete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DropCount {
    /// `traces`, `metrics`, `logs`, `reports` or `profiles`.
    pub signal: String,
    /// Reason: `unmatched_root`, `invalid_id`, `unsupported_metric_type`, `empty_point`, `not_finite`, `sampled`,
    /// `healthcheck`, `invalid_time`, `too_old`, `duplicate`, `invalid_item`, `empty_recording`,
    /// `recording_without_owner`, `recording_too_large`, `recordings_off`, `empty_sample`, `profile_too_large`;
    /// `disk_budget`: the record was stored and removed later to free disk space; `shared_attributes_too_large`: the
    /// record is stored without some attributes of its resource or scope; `too_many_names`: its Endpoint, Task or AI
    /// Trace is stored as `(other)`; for a request, the reason of its refusal.
    pub reason: String,
    /// Number of records, or of refused requests.
    pub count: u64,
}

/// Requests of one signal by outcome and reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestCount {
    /// `traces`, `metrics`, `logs`, `reports` or `profiles`.
    pub signal: String,
    /// `accepted` or `rejected`.
    pub outcome: String,
    /// Reason of the rejection; empty when accepted.
    pub reason: String,
    /// Number of requests.
    pub count: u64,
    /// Error message of the latest request rejected for this reason; absent when that was before the server's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_message: Option<String>,
    /// Time of that request; absent like `lastMessage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_at: Option<String>,
}

/// One refused request whose token belongs to no project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusalView {
    /// Time of the request.
    #[schema(format = DateTime)]
    pub time: String,
    /// Network address of the sender.
    pub address: String,
    /// Path of the request.
    pub path: String,
    /// First four characters of the token; empty when there was none.
    pub token_start: String,
    /// User agent of the sender.
    pub user_agent: String,
    /// `bad_token`.
    pub reason: String,
    /// The reason in one sentence.
    pub message: String,
}

/// `GET /api/refusals`: refused requests, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Refusals {
    /// The refused requests.
    pub data: Vec<RefusalView>,
}

/// Stored records of one signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeptCount {
    /// `traces`, `metrics`, `logs`, `reports` or `profiles`.
    pub signal: String,
    /// Number of records.
    pub count: u64,
}

/// Count of one outcome in one minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DropPoint {
    /// Start of the minute.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// `traces`, `metrics`, `logs`, `reports` or `profiles`.
    pub signal: String,
    /// Of requests `accepted` or `rejected`; of records `kept`, `dropped` or `trimmed`.
    pub outcome: String,
    /// Reason of the drop, the trim or the rejection; else empty.
    pub reason: String,
    /// Number of requests or records.
    pub count: u64,
}

/// The latest span of the project, at any time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastSpan {
    /// Name of the span.
    pub name: String,
    /// `service.name` of its resource.
    pub service_name: String,
    /// Trace id.
    pub trace_id: String,
    /// Start of the span.
    #[schema(format = DateTime)]
    pub received_at: String,
}

/// `POST /api/drops`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drops {
    /// Dropped and trimmed records, and rejected requests, by signal and reason.
    pub data: Vec<DropCount>,
    /// Requests by signal, outcome and reason.
    pub requests: Vec<RequestCount>,
    /// Stored records by signal.
    pub kept: Vec<KeptCount>,
    /// Counts per minute, of at most the latest 2000 minutes of the range.
    pub series: Vec<DropPoint>,
    /// Number of spans since the server's start that describe a model call without `gen_ai.*` and are no AI Traces,
    /// because the setting `aiConventions` is off.
    pub unpromoted_ai_spans: u64,
    /// The latest span; absent when none was ever stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_span: Option<LastSpan>,
}
