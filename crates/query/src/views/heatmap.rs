//! Counts of rows by time and duration.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::explain::ExplainEntity;

/// `POST /api/heatmap`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeatmapRequest {
    /// Kind of the rows: `endpoint`, `task`, `ai_trace` or `trace`.
    pub entity: ExplainEntity,
    /// Only rows of this name; of every name when absent or empty.
    #[serde(default)]
    pub name: Option<String>,
    /// Start of the range, inclusive; 24 hours before `toDate` when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the range, exclusive; now when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Only rows that pass this query.
    #[serde(default)]
    pub query: Option<String>,
}

/// A row of a heatmap: `fromNs <= duration < toNs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeatmapRow {
    /// Least duration, nanoseconds.
    pub from_ns: i64,
    /// Least duration above, nanoseconds.
    pub to_ns: i64,
}

/// A cell with at least one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeatmapCell {
    /// Index of the column, by time ascending.
    pub column: u32,
    /// Index in `rows`.
    pub row: u32,
    /// Number of rows.
    pub count: u64,
    /// Number of failed rows among them.
    pub errors: u64,
}

/// The first row of a version that was not there from the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeatmapMark {
    /// Time of the row.
    #[schema(format = DateTime)]
    pub at: String,
    /// The version.
    pub version: String,
}

/// Counts of rows by time and duration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heatmap {
    /// Start of the first column.
    #[schema(format = DateTime)]
    pub from_date: String,
    /// Width of a column, milliseconds.
    pub column_ms: i64,
    /// Number of columns.
    pub columns: i64,
    /// By duration ascending, without gaps between them, except that zero has a row of its own.
    pub rows: Vec<HeatmapRow>,
    /// Cells with at least one row.
    pub cells: Vec<HeatmapCell>,
    /// Sum of the cells.
    pub total: u64,
    /// Streaming responses, which are in no cell: their duration is that of the connection.
    pub streams: u64,
    /// First rows of versions, by time.
    pub marks: Vec<HeatmapMark>,
    /// The 95th percentile of the duration, nanoseconds, as the edge of a row: the band of "slow".
    pub slow_ns: Option<i64>,
}
