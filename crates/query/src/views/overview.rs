//! The home page of a project.

use serde::Serialize;
use utoipa::ToSchema;

use super::endpoint::EndpointGroup;
use super::issue::IssueGroup;
use super::rows;

/// Numbers of rows in the range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Requests.
    pub endpoints: u64,
    /// Runs of Tasks.
    pub tasks: u64,
    /// AI Traces except runs of tools.
    pub ai_traces: u64,
    /// Occurrences of Issues.
    pub issues: u64,
    /// Spans.
    pub spans: u64,
    /// Log records.
    pub logs: u64,
    /// Metric points.
    pub metric_points: u64,
}

/// `GET /api/dashboard/overview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The latest Issues that are not archived; at most five.
    #[serde(serialize_with = "rows::cut")]
    pub recent_issues: Vec<IssueGroup>,
    /// The Endpoints with the highest impact; at most five.
    pub worst_endpoints: Vec<EndpointGroup>,
    /// Whether anything was ever stored for the project.
    pub has_data: bool,
    /// Numbers of rows in the range, weighted by sampling.
    pub counts: Counts,
    /// Numbers of stored rows that `counts` are estimated from; equal to `counts` without sampling.
    pub stored_counts: Counts,
}
