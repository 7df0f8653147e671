//! Projects, their settings and their tokens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Settings for the telemetry of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSettings {
    /// Store roots that match no Endpoint, Task or AI Trace as plain spans.
    pub keep_unmatched_roots: bool,
    /// Create Issues from exceptions on log records.
    pub issues_from_logs: bool,
    /// Create AI Traces from model calls that OpenInference, Langfuse and the Vercel AI SDK describe without
    /// `gen_ai.*`.
    pub ai_conventions: bool,
    /// Store exponential histograms, as buckets, and summaries, with a metric for each quantile.
    pub all_metric_kinds: bool,
    /// Store recordings of sessions and exceptions. Sessions are stored in any case.
    pub session_recordings: bool,
    /// Template of links to the code host, with `{path}`, and `{commit}` and `{line}`; empty: no links.
    pub source_url: String,
    /// Folder that is cut from the start of the paths of frames; may be empty.
    pub source_root: String,
    /// Share of traces without an error that is stored, 0 to 1.
    pub sample_rate: f64,
    /// Share of traces with an error that is stored, 0 to 1.
    pub error_sample_rate: f64,
    /// Drop successful health checks.
    pub drop_healthy_healthchecks: bool,
    /// Paths of health checks.
    pub healthcheck_paths: Vec<String>,
    /// Labels of profiles that are stored.
    pub profile_label_allowlist: Vec<String>,
    /// Languages of the word lists that flag conversations of AI calls: `en`, `de`, `es`, `fr`, `it`, `pt`, `sr`.
    pub ai_flagged_languages: Vec<String>,
    /// The project's own terms that flag conversations, in lower case.
    pub ai_flagged_terms: Vec<String>,
    /// Retention of telemetry in days; 0: the server's setting.
    pub retention_days: u32,
    /// Maximum bytes of export bodies per UTC day, inflated; 0: the server's setting. Exports beyond it get 429.
    pub daily_bytes_max: u64,
    /// Maximum number of spans, log records and metric points per UTC day; 0: the server's setting.
    pub daily_records_max: u64,
    /// Maximum number of spans, log records and metric points per second, averaged over ten seconds; 0: the server's
    /// setting.
    pub records_per_second_max: u64,
    /// Origins of web pages that may send with the project's token, such as `https://shop.example` or
    /// `https://*.shop.example`; empty: all. Senders other than browsers are not restricted.
    pub allowed_origins: Vec<String>,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// Id of the project.
    #[schema(format = "uuid")]
    pub id: String,
    /// Name of the project.
    pub name: String,
    /// The token for exporters: 32 hexadecimal digits.
    pub token: String,
    /// Framework of the project.
    pub framework: String,
    /// Number of the project's organization.
    pub organization_id: i64,
    /// Time of the project's creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// The token for symbol uploads; absent for read-only members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_map_token: Option<String>,
    /// URL of this server for exporters.
    pub backend_url: String,
    /// The user's role in the project: `owner`, `admin`, `user` or `readonly`.
    pub role: String,
    /// End of the replaced token's validity; absent without one, and for users who may not see tokens.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_token_expires_at: Option<String>,
    /// End of the replaced upload token's validity; absent without one, and for users who may not see tokens.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_source_map_token_expires_at: Option<String>,
    /// Whether the project contains demo data, see `/api/organizations/{id}/demo`.
    pub demo: bool,
    /// Settings of the project.
    pub settings: ProjectSettings,
}

/// Body of `POST /api/projects/batch`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProjectsRequest {
    /// Number of the organization; the first one in which the caller may write when null.
    pub organization_id: Option<i64>,
    /// 1 to 50 projects.
    pub projects: Vec<NewProjectEntry>,
}

/// A project to create.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewProjectEntry {
    /// Name of the project: 1 to 100 letters, digits, spaces, `-`, `_` and `.`.
    pub name: String,
    /// Framework of the project; `opentelemetry` when null.
    pub framework: Option<String>,
}

/// Body of `POST /api/projects`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProjectRequest {
    /// Name of the project: 1 to 100 letters, digits, spaces, `-`, `_` and `.`.
    pub name: String,
    /// Framework of the project; `opentelemetry` when null.
    pub framework: Option<String>,
    /// Number of the organization; the first one in which the user may write when null.
    pub organization_id: Option<i64>,
}

/// Body of `PUT /api/projects`. Null fields are not changed.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectChangeRequest {
    /// Name of the project: 1 to 100 letters, digits, spaces, `-`, `_` and `.`.
    pub name: Option<String>,
    /// Framework of the project.
    pub framework: Option<String>,
    /// Store roots that match no Endpoint, Task or AI Trace as plain spans.
    pub keep_unmatched_roots: Option<bool>,
    /// Create Issues from exceptions on log records.
    pub issues_from_logs: Option<bool>,
    /// Create AI Traces from model calls that other conventions describe without `gen_ai.*`.
    pub ai_conventions: Option<bool>,
    /// Store exponential histograms, as buckets, and summaries, with a metric for each quantile.
    pub all_metric_kinds: Option<bool>,
    /// Store recordings of sessions and exceptions. Sessions are stored in any case.
    pub session_recordings: Option<bool>,
    /// Template of links to the code host: `http` or `https`, with `{path}`, and `{commit}` and `{line}` where the host
    /// needs them; empty: no links. At most 500 bytes.
    pub source_url: Option<String>,
    /// Folder that is cut from the start of the paths of frames; at most 500 bytes.
    pub source_root: Option<String>,
    /// Share of traces without an error that is stored, 0 to 1.
    pub sample_rate: Option<f64>,
    /// Share of traces with an error that is stored, 0 to 1.
    pub error_sample_rate: Option<f64>,
    /// Drop successful health checks.
    pub drop_healthy_healthchecks: Option<bool>,
    /// Paths of health checks; at most 50.
    pub healthcheck_paths: Option<Vec<String>>,
    /// Labels of profiles that are stored; at most 20.
    pub profile_label_allowlist: Option<Vec<String>>,
    /// Languages of the word lists that flag conversations of AI calls: `en`, `de`, `es`, `fr`, `it`, `pt`, `sr`.
    pub ai_flagged_languages: Option<Vec<String>>,
    /// The project's own terms that flag conversations: at most 200, each of 1 to 8 words and at most 100 characters.
    pub ai_flagged_terms: Option<Vec<String>>,
    /// Retention of telemetry in days; 0: the server's setting.
    pub retention_days: Option<u32>,
    /// Maximum bytes of export bodies per UTC day, inflated; 0: the server's setting.
    pub daily_bytes_max: Option<u64>,
    /// Maximum number of spans, log records and metric points per UTC day; 0: the server's setting.
    pub daily_records_max: Option<u64>,
    /// Maximum number of spans, log records and metric points per second; 0: the server's setting.
    pub records_per_second_max: Option<u64>,
    /// Origins of web pages that may send with the project's token; at most 50, empty: all.
    pub allowed_origins: Option<Vec<String>>,
}

/// Body of `DELETE /api/projects`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct DeleteProjectRequest {
    /// Name of the project, to prevent the deletion of the wrong one.
    pub name: String,
}

/// Body of the operations that replace a token.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateTokenRequest {
    /// Hours for which the old token stays valid, 0 to 168; 24 when null.
    #[schema(minimum = 0, maximum = 168)]
    pub grace_hours: Option<u64>,
}

/// A project's new token. The old one stays valid for the grace period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NewToken {
    /// The token: 32 hexadecimal digits.
    pub token: String,
}

/// A project's new upload token, under both of its names. WIRE 4.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewUploadToken {
    /// The token: 32 hexadecimal digits.
    pub source_map_token: String,
    /// Same as `sourceMapToken`.
    pub token: String,
}
