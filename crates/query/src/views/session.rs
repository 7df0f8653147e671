//! Sessions of browsers and apps, and their recordings.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AttributeMap;
use super::page::{OrderBy, PageRequest, SortDirection};
use super::rows;

/// Orders of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOrder {
    /// By start.
    #[default]
    StartedAt,
    /// By duration.
    Duration,
    /// By the number of errors.
    ErrorCount,
}

/// Comparison of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionAttributeOperator {
    /// It equals the value.
    #[default]
    Equals,
    /// It contains the value; ASCII case is ignored.
    Contains,
}

/// Selects sessions by an attribute of any of their states.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SessionAttributeFilter {
    /// Key of the attribute.
    pub key: String,
    /// The value as a string.
    pub value: String,
    /// `equals` when absent.
    #[serde(default)]
    pub operator: SessionAttributeOperator,
}

/// Body of `POST /api/sessions`. A session is listed when it started in the range and any of its states meets all
/// conditions on text.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionListRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `started_at` (default), `duration` or `error_count`.
    #[schema(value_type = Option<SessionOrder>)]
    pub order_by: OrderBy<SessionOrder>,
    /// `desc` when null.
    pub sort_direction: Option<SortDirection>,
    /// The id of a session, or a substring of its user, page, browser, address or any attribute.
    pub search: Option<String>,
    /// Substring of the user's id.
    pub user: Option<String>,
    /// Substring of the page.
    pub page: Option<String>,
    /// Substring of the browser's name and version.
    pub browser: Option<String>,
    /// Minimum duration in milliseconds.
    pub min_duration_ms: Option<f64>,
    /// Maximum duration in milliseconds.
    pub max_duration_ms: Option<f64>,
    /// Only sessions with errors, or only those without.
    pub has_errors: Option<bool>,
    /// Conditions that must all be met; at most 20.
    pub attribute_filters: Vec<SessionAttributeFilter>,
    /// Query in the query language, combined with the other conditions; a text that is no query is 400 with its
    /// `position`. At most 4,096 bytes.
    pub query: Option<String>,
    /// The page; the first 20 sessions when null.
    pub pagination: Option<PageRequest>,
}

/// A session in its newest state.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// The session's UUID.
    #[schema(format = "uuid")]
    pub id: String,
    /// Start.
    #[schema(format = DateTime)]
    pub started_at: String,
    /// End: as the client sent it, or the latest activity once 15 minutes passed without any; at most 65 minutes after
    /// the start. Null while the session is open.
    #[schema(required, format = DateTime)]
    pub ended_at: Option<String>,
    /// Nanoseconds; 0 while the session is open.
    pub duration: i64,
    /// Attributes; `client.ip` is the address that the session was received from.
    pub attributes: AttributeMap,
    /// The address that the session was received from.
    #[serde(rename = "clientIP")]
    pub client_ip: String,
    /// Version of the application; empty when unknown.
    pub app_version: String,
    /// Id of the user; empty when unknown.
    pub user_id: String,
    /// Name and major version of the browser; empty when unknown.
    pub browser: String,
    /// Operating system; empty when unknown.
    pub os: String,
    /// Number of distinct pages among the session's states.
    pub page_count: u64,
    /// Number of exceptions of the session, weighted.
    pub error_count: u64,
    /// Whether any segment of a recording is stored.
    pub has_recording: bool,
    /// Ids of traces of the session.
    pub linked_trace_ids: Vec<String>,
}

/// Body of `POST /api/sessions/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionDetailRequest {
    /// Start of the session, within a day of which it is searched; null: all time is searched.
    #[schema(format = DateTime)]
    pub started_at: Option<String>,
}

/// A segment of a session's recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SegmentView {
    /// Index of the segment.
    pub segment_index: u32,
    /// Start.
    #[schema(format = DateTime)]
    pub started_at: String,
    /// End.
    #[schema(format = DateTime)]
    pub ended_at: String,
    /// Size of the events in bytes; 0 for a segment with logs and actions only.
    pub event_bytes: u64,
}

/// An exception or a message of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionError {
    /// Row id of the occurrence.
    #[schema(format = "uuid")]
    pub id: String,
    /// Hash of the Issue: 16 hexadecimal digits.
    pub exception_hash: String,
    /// Title of the Issue.
    pub title: String,
    /// Time of the exception.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Trace id; empty when absent.
    pub trace_id: String,
    /// Id of the exception's span; empty when absent.
    pub span_id: String,
    /// Whether it is a captured message.
    pub is_message: bool,
}

/// `POST /api/sessions/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetail {
    /// The session.
    pub session: SessionRow,
    /// The stored segments, by index. An index that is missing was not received.
    pub segments: Vec<SegmentView>,
    /// The session's exceptions and messages, by time; the first 1000.
    #[serde(serialize_with = "rows::cut")]
    pub errors: Vec<SessionError>,
    /// Ids of traces of the session, of its errors, and of the requests that it sent.
    pub linked_trace_ids: Vec<String>,
}

/// `DELETE /api/sessions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeletedSessions {
    /// Number of deleted sessions.
    pub deleted: u64,
}
