//! Accounts and projects.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::auth::SecondFactorNeeded;

/// `GET /api/has-organizations`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HasOrganizations {
    pub has_organizations: bool,
    /// Registering asks for the code that the server printed at its start.
    pub needs_setup_code: bool,
}

/// Body of `POST /api/register`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterRequest {
    pub email: String,
    pub name: String,
    #[schema(min_length = 8)]
    pub password: String,
    pub organization_name: String,
    /// IANA name; UTC when absent.
    pub timezone: Option<String>,
    /// 1 to 100 letters, digits, spaces, `-`, `_` and `.`.
    pub project_name: String,
    pub framework: Option<String>,
    /// The code that the server printed at its start.
    pub setup_code: Option<String>,
}

/// Body of `POST /api/login`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LoginRequest {
    pub email: String,
    pub password: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    pub id: i64,
    pub email: String,
    pub name: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// IANA name, once chosen.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`.
    pub theme: String,
    /// Signs in with a second factor.
    pub two_factor: bool,
    pub email_verified: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OrganizationView {
    pub id: i64,
    pub name: String,
    /// `owner`, `admin`, `user` or `readonly`.
    pub role: String,
    pub timezone: String,
}

/// What is stored of what a project receives.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSettings {
    /// Keep roots that match nothing as plain Spans.
    pub keep_unmatched_roots: bool,
    /// Issues from exceptions on log records.
    pub issues_from_logs: bool,
    /// AI Traces from model calls that OpenInference, Langfuse and the Vercel AI SDK describe without `gen_ai.*`.
    pub ai_conventions: bool,
    /// Share of normal traces recorded, 0 to 1.
    pub sample_rate: f64,
    /// Share of error traces recorded, 0 to 1.
    pub error_sample_rate: f64,
    /// Leave out health checks that succeed.
    pub drop_healthy_healthchecks: bool,
    /// Paths that are health checks.
    pub healthcheck_paths: Vec<String>,
    /// Labels of profiles that are kept.
    pub profile_label_allowlist: Vec<String>,
    /// Days that telemetry is kept; 0: as long as the server has it.
    pub retention_days: u32,
    /// Bytes of bodies, inflated, that are taken a day (UTC); 0: as the server has it. Beyond it exports hear 429.
    pub daily_bytes_max: u64,
    /// Spans, log records and metric points a day (UTC); 0: as the server has it.
    pub daily_records_max: u64,
    /// As many of these a second, on average over ten seconds; 0: as the server has it.
    pub records_per_second_max: u64,
    /// Origins of web pages that may send with the project's token, `https://shop.example` or `https://*.shop.example`;
    /// none: all may. Senders that are no browsers are not asked.
    pub allowed_origins: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    #[schema(format = "uuid")]
    pub id: String,
    pub name: String,
    /// What exporters send; 32 hexadecimal digits.
    pub token: String,
    pub framework: String,
    pub organization_id: i64,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// What symbol uploads send; absent for read-only members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_map_token: Option<String>,
    /// Where exporters reach this server.
    pub backend_url: String,
    /// The reader's role in it.
    pub role: String,
    /// Until when the replaced token is taken too; for those who see tokens.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_token_expires_at: Option<String>,
    /// The same of the upload token.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_source_map_token_expires_at: Option<String>,
    /// The project holds demo data: `/api/organizations/{id}/demo`.
    pub demo: bool,
    pub settings: ProjectSettings,
}

/// What a login needs to draw the first page.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LoginBundle {
    pub user: UserView,
    pub projects: Vec<ProjectView>,
    pub organizations: Vec<OrganizationView>,
}

/// `POST /api/login`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LoginAnswer {
    /// JWT, for 7 days.
    pub token: String,
    pub user: UserView,
    pub projects: Vec<ProjectView>,
    pub organizations: Vec<OrganizationView>,
}

/// What a password opens: everything, or the second step.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum LoginOutcome {
    In(LoginAnswer),
    Next(SecondFactorNeeded),
}

/// Body of `PUT /api/me/password`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangePasswordRequest {
    pub current_password: String,
    #[schema(min_length = 8)]
    pub new_password: String,
}

/// A login that replaces the caller's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NewLogin {
    /// JWT, for 7 days.
    pub token: String,
}

/// `POST /api/register`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RegisterAnswer {
    /// JWT, for 7 days.
    pub token: String,
    pub user: UserView,
    /// The new project.
    pub project: ProjectView,
    pub projects: Vec<ProjectView>,
    pub organizations: Vec<OrganizationView>,
}

/// Body of `POST /api/projects/batch`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProjectsRequest {
    /// The first one the caller may write to when absent.
    pub organization_id: Option<i64>,
    /// 1 to 50.
    pub projects: Vec<NewProjectEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewProjectEntry {
    /// 1 to 100 letters, digits, spaces, `-`, `_` and `.`.
    pub name: String,
    pub framework: Option<String>,
}

/// Body of `POST /api/projects`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProjectRequest {
    pub name: String,
    pub framework: Option<String>,
    /// The first organisation the user may write in, when absent.
    pub organization_id: Option<i64>,
}

/// Body of `PUT /api/projects`: what is absent stays.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectChangeRequest {
    pub name: Option<String>,
    pub framework: Option<String>,
    pub keep_unmatched_roots: Option<bool>,
    pub issues_from_logs: Option<bool>,
    pub ai_conventions: Option<bool>,
    pub sample_rate: Option<f64>,
    pub error_sample_rate: Option<f64>,
    pub drop_healthy_healthchecks: Option<bool>,
    /// At most 50.
    pub healthcheck_paths: Option<Vec<String>>,
    /// At most 20.
    pub profile_label_allowlist: Option<Vec<String>>,
    /// 0: as long as the server has it.
    pub retention_days: Option<u32>,
    /// 0: as the server has it.
    pub daily_bytes_max: Option<u64>,
    /// 0: as the server has it.
    pub daily_records_max: Option<u64>,
    /// 0: as the server has it.
    pub records_per_second_max: Option<u64>,
    /// At most 50; an empty list lets all pages send.
    pub allowed_origins: Option<Vec<String>>,
}

/// Body of `DELETE /api/projects`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct DeleteProjectRequest {
    /// The project's name, so that nobody deletes the wrong one.
    pub name: String,
}

/// Body of the routes that replace a token.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateTokenRequest {
    /// Hours that the old token is taken for, 0 to 168; 24 when absent.
    #[schema(minimum = 0, maximum = 168)]
    pub grace_hours: Option<u64>,
}

/// A project's new token. The old one is taken for its grace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NewToken {
    /// 32 hexadecimal digits.
    pub token: String,
}

/// A project's new upload token, under both of its names. WIRE 4.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewUploadToken {
    /// 32 hexadecimal digits.
    pub source_map_token: String,
    /// The same.
    pub token: String,
}

/// A change that has nothing to tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Done {
    /// One sentence.
    pub message: String,
}

/// `GET /health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Health {
    /// `ok`, `starting` or `failing`.
    pub status: String,
    /// What fails, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}
