//! Demo data of an organization.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/organizations/{id}/demo`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DemoRequest {
    /// Minutes of traffic up to now, 1 to 240; 60 when absent.
    pub history_minutes: Option<u64>,
}

/// How far the loading of demo data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DemoState {
    /// There is none.
    None,
    Loading,
    Loaded,
    /// The server stopped while it was being loaded.
    Interrupted,
    /// The server could not store it; `message` says why.
    Failed,
}

/// `GET` and `POST /api/organizations/{id}/demo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DemoView {
    pub state: DemoState,
    /// The project that holds it; null without one.
    #[schema(format = "uuid")]
    pub project_id: Option<String>,
    /// Of the traffic, 0 to 100.
    pub percent: u8,
    /// Stored by the loading that runs or ended last since the server's start.
    pub spans: u64,
    /// Why the loading failed; null otherwise.
    pub message: Option<String>,
    /// No project of the organization has ever received anything.
    pub is_empty: bool,
}
