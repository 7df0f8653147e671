//! Demo data of an organization.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/organizations/{id}/demo`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DemoRequest {
    /// Minutes of traffic up to now, 1 to 240; 60 when null.
    pub history_minutes: Option<u64>,
}

/// State of the demo data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DemoState {
    /// There is no demo data.
    None,
    /// Demo data is being loaded.
    Loading,
    /// Demo data is loaded.
    Loaded,
    /// The server stopped while it loaded the data.
    Interrupted,
    /// The server could not store the data; `message` has the reason.
    Failed,
}

/// `GET` and `POST /api/organizations/{id}/demo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DemoView {
    /// State of the demo data.
    pub state: DemoState,
    /// The project with the demo data; null without one.
    #[schema(format = "uuid")]
    pub project_id: Option<String>,
    /// Share of the traffic that is loaded, 0 to 100.
    pub percent: u8,
    /// Number of spans stored by the running or latest load since the server's start.
    pub spans: u64,
    /// Error of the load; null unless it failed.
    pub message: Option<String>,
    /// Whether no project of the organization has received any telemetry.
    pub is_empty: bool,
}
