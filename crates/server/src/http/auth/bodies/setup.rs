//! Setup by a program.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::account::bodies::project::{NewProjectEntry, ProjectView};

/// Body of `POST /api/setup-tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupTokenRequest {
    /// Number of the organization; the first one in which the caller may write when null.
    pub organization_id: Option<i64>,
}

/// A new setup token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewSetupToken {
    /// Number of the token.
    pub id: i64,
    /// The token, `tws_...`, which is shown only here.
    pub token: String,
    /// Number of the organization.
    pub organization_id: i64,
    /// URL of this server for the setup program.
    pub backend_url: String,
    /// Time of expiry.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Body of `POST /api/setup/plan` and of the approval of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SetupPlanRequest {
    /// 1 to 50 projects.
    pub projects: Vec<NewProjectEntry>,
}

/// A project of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlannedProjectView {
    /// Name of the project.
    pub name: String,
    /// Framework of the project.
    pub framework: String,
}

/// The purpose and state of a setup token.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupSessionView {
    /// The organization of the new projects.
    pub organization: SetupOrganization,
    /// `open`, `proposed`, `approved` or `refused`.
    pub status: String,
    /// The proposed projects; empty before a proposal.
    pub plan: Vec<PlannedProjectView>,
    /// The created projects; empty before the approval.
    pub projects: Vec<ProjectView>,
    /// URL of this server for exporters.
    pub backend_url: String,
    /// Time of expiry.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// The organization of a setup token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SetupOrganization {
    /// Number of the organization.
    pub id: i64,
    /// Name of the organization.
    pub name: String,
}

/// A plan that waits for the user's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupDraftView {
    /// Number of the draft.
    pub id: i64,
    /// Number of the organization.
    pub organization_id: i64,
    /// Time of the proposal.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of expiry.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// The proposed projects.
    pub projects: Vec<PlannedProjectView>,
}
