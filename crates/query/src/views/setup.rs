//! Setting up by program.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::account::{NewProjectEntry, ProjectView};

/// Body of `POST /api/setup-tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupTokenRequest {
    /// The first one the caller may write to when absent.
    pub organization_id: Option<i64>,
}

/// A setup token, shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewSetupToken {
    pub id: i64,
    /// `tws_...`
    pub token: String,
    pub organization_id: i64,
    /// Where the program reaches this server.
    pub backend_url: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Body of `POST /api/setup/plan` and of a draft's approval.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SetupPlanRequest {
    /// 1 to 50.
    pub projects: Vec<NewProjectEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlannedProjectView {
    pub name: String,
    pub framework: String,
}

/// What a setup token is for, and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupSessionView {
    pub organization: SetupOrganization,
    /// `open`, `proposed`, `approved` or `refused`.
    pub status: String,
    pub plan: Vec<PlannedProjectView>,
    /// What was made, once approved.
    pub projects: Vec<ProjectView>,
    /// Where exporters reach this server.
    pub backend_url: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SetupOrganization {
    pub id: i64,
    pub name: String,
}

/// A plan that waits for its person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupDraftView {
    pub id: i64,
    pub organization_id: i64,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
    pub projects: Vec<PlannedProjectView>,
}
