//! Statistics of names in another period.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The kind of the compared names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparedKind {
    /// Endpoints.
    #[default]
    Endpoint,
    /// Tasks.
    Task,
    /// AI Traces.
    AiTrace,
}

/// Body of `POST /api/compare`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CompareRequest {
    /// The kind of the names.
    pub kind: ComparedKind,
    /// Names of rows, at most 100.
    pub names: Vec<String>,
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
    /// Query in the query language; a text that is no query is 400 with its `position`.
    pub query: Option<String>,
}

/// Statistics of one name. Counts are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// The name.
    pub name: String,
    /// Number of rows.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from.
    pub stored_count: u64,
    /// P50 of the duration, nanoseconds; null when no row is timed.
    pub p50_duration: Option<f64>,
    /// P95 of the duration, nanoseconds; null when no row is timed.
    pub p95_duration: Option<f64>,
    /// P99 of the duration, nanoseconds; null when no row is timed.
    pub p99_duration: Option<f64>,
    /// Rows with an error.
    pub error_count: u64,
    /// Sum of the costs of AI calls, US dollars; null without any.
    pub total_cost: Option<f64>,
}

/// Response of `POST /api/compare`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    /// The names with rows, in any order.
    pub data: Vec<Compared>,
}
