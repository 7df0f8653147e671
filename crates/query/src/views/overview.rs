//! The home page of a project.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::endpoint::EndpointGroup;
use super::issue::IssueGroup;

/// Range of the overview; the last 24 hours by default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct OverviewQuery {
    #[param(format = DateTime)]
    pub from: Option<String>,
    #[param(format = DateTime)]
    pub to: Option<String>,
}

/// Stored rows in the range; entities weighted by sampling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub endpoints: u64,
    pub tasks: u64,
    /// Without runs of tools.
    pub ai_traces: u64,
    /// Occurrences.
    pub issues: u64,
    pub spans: u64,
    pub logs: u64,
    pub metric_points: u64,
}

/// `GET /api/dashboard/overview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// Latest first; at most five, none archived.
    pub recent_issues: Vec<IssueGroup>,
    /// By impact; at most five.
    pub worst_endpoints: Vec<EndpointGroup>,
    /// Something was stored for the project, ever.
    pub has_data: bool,
    pub counts: Counts,
}
