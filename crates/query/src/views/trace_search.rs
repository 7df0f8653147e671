//! Searches for traces.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::page::{OrderBy, PageInfo, PageRequest, SortDirection};
use super::rows;

/// Orders of found traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceOrder {
    /// By the start of the first span.
    #[default]
    StartTime,
    /// By the time from the first start to the last end.
    Duration,
    /// By the number of spans.
    Spans,
    /// By the number of failed spans.
    Errors,
}

/// Body of `POST /api/traces/search`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TraceSearchRequest {
    /// Start of the range, inclusive; 24 hours before `toDate` when null. Traces that start in the range are found.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the range, exclusive; now when null. Spans count until one hour later.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `start_time` (default), `duration`, `spans` or `errors`.
    #[schema(value_type = Option<TraceOrder>)]
    pub order_by: OrderBy<TraceOrder>,
    /// `desc` when null.
    pub sort_direction: Option<SortDirection>,
    /// Query on any span, or conditions in braces: `{service:a} >> {error:true} !{db.system:*}`. A text that is no query
    /// is 400 with its `position`. At most 4,096 bytes.
    pub query: Option<String>,
    /// Minimum duration of the trace in milliseconds.
    pub min_duration_ms: Option<f64>,
    /// Maximum duration of the trace in milliseconds.
    pub max_duration_ms: Option<f64>,
    /// The page; the first 20 traces when null.
    pub pagination: Option<PageRequest>,
}

/// The part of a service in a trace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceService {
    /// `service.name`; empty when absent.
    pub service: String,
    /// Number of its spans.
    pub spans: u64,
    /// Part of all own time in the trace, 0 to 1. Time in which several children run is divided among them.
    pub share: f64,
}

/// A found trace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceRow {
    /// Trace id.
    pub trace_id: String,
    /// Name of the first span without a parent; of the first one whose parent is not stored when there is none.
    pub name: String,
    /// Service of that span; empty when absent.
    pub service_name: String,
    /// OTLP kind of that span.
    #[schema(minimum = 0, maximum = 5)]
    pub span_kind: u8,
    /// HTTP status of that span; absent when it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<i32>,
    /// Whether the parent of that span is not stored: the trace began elsewhere.
    pub has_missing_parent: bool,
    /// Start of the first span.
    #[schema(format = DateTime)]
    pub start_time: String,
    /// From the first start to the last end, nanoseconds.
    pub duration: i64,
    /// Number of spans.
    pub spans: u64,
    /// Number of spans with the status ERROR or an HTTP status of 500 and above.
    pub errors: u64,
    /// Most own time first; at most 20.
    pub services: Vec<TraceService>,
}

/// Traces as points, latest start first; the lists have the same length. Every found trace; when there are more traces
/// than a search finds, an even sample of all of them by trace id, the same in every answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TracePoints {
    /// Trace ids.
    pub trace_ids: Vec<String>,
    /// Starts, milliseconds since the epoch.
    pub starts: Vec<i64>,
    /// Durations, milliseconds.
    pub durations: Vec<f64>,
    /// Whether any span failed.
    pub errors: Vec<bool>,
    /// Estimated fraction of the matching traces that are points: 1 when all are. Null when the points are the found
    /// traces, the latest ones, because a sample would have taken too long.
    #[schema(required)]
    pub sample_rate: Option<f64>,
}

/// `POST /api/traces/search`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceSearchPage {
    /// Traces of this page.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<TraceRow>,
    /// Position of this page in the list of found traces.
    pub pagination: PageInfo,
    /// Points of traces on all pages.
    pub points: TracePoints,
    /// Whether every trace was found that meets the search.
    pub complete: bool,
    /// When not complete: every trace was found that started after this time; earlier ones may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub complete_after: Option<String>,
}
