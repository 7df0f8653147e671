//! Request and response of `POST /api/synthetics/overview`, and the number of monitors that are down.

use serde::{Deserialize, Serialize};
use tidewatch_query::views::page::{PageInfo, PageRequest};
use utoipa::ToSchema;

use super::views::{Check, CheckDay, CheckResult, StateView};

/// Body of `POST /api/synthetics/overview`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckOverviewRequest {
    /// Part of the name.
    pub search: String,
    /// Only monitors of this state.
    pub state: Option<StateView>,
    /// The page.
    pub pagination: Option<PageRequest>,
}

/// A duration at a time.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CheckDuration {
    /// The time.
    #[schema(format = DateTime)]
    pub at: String,
    /// Milliseconds.
    pub ms: f64,
}

/// A monitor of the overview.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckOverviewRow {
    /// The monitor.
    pub check: Check,
    /// Percentage of good results in the last 90 UTC days, without those that were missed; null without any.
    pub uptime_pct: Option<f64>,
    /// The last 90 UTC days, those with results, ascending.
    pub days: Vec<CheckDay>,
    /// The latest durations, ascending by time.
    pub durations: Vec<CheckDuration>,
    /// The latest result.
    pub last_result: Option<CheckResult>,
}

/// Number of monitors by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct CheckCounts {
    /// Those that are up.
    pub up: i64,
    /// Those that are down.
    pub down: i64,
    /// Enabled ones of which nothing is known.
    pub unknown: i64,
    /// Those that are not checked.
    pub paused: i64,
}

/// Response of `POST /api/synthetics/overview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckOverview {
    /// Those that are down first, then by name.
    pub checks: Vec<CheckOverviewRow>,
    /// Number of all monitors of the project.
    pub counts: CheckCounts,
    /// Reason for which this server makes no checks by a browser; null if it does.
    pub browser_problem: Option<String>,
    /// Position of this page in the list.
    pub pagination: PageInfo,
}

/// Response of `GET /api/synthetics/open-count`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OpenCount {
    /// Number of monitors that are down.
    pub count: i64,
}
