//! Deploys: versions of services and when they went live.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/deploys`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DeployReport {
    /// `service.name` of the deployed service; 1 to 200 characters.
    pub service: String,
    /// `service.version` of the deploy; 1 to 200 characters.
    pub version: String,
    /// `deployment.environment.name`; at most 200 characters.
    pub environment: String,
    /// Id of the commit; at most 200 characters.
    pub commit: String,
    /// Author of the deploy; at most 200 characters.
    pub author: String,
    /// Page of the deploy, commit or pipeline: `http` or `https`, at most 2000 bytes.
    pub url: String,
    /// Time of the deploy; now when null. Without it, a report repeats one of equal service, environment and version
    /// of the last hour.
    #[schema(format = DateTime, default = json!(null))]
    pub time: Option<String>,
}

/// Body of `POST /api/deploys/list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploysRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
    /// Only deploys of this service; null: of all.
    pub service: Option<String>,
}

/// A version of a service that went live in an environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeployView {
    /// Name of the service.
    pub service: String,
    /// Name of the environment; empty when not stated.
    pub environment: String,
    /// The version.
    pub version: String,
    /// Time of the deploy: as reported, else of the first record of the version.
    #[schema(format = DateTime)]
    pub time: String,
    /// Time of the first record of the version; null before it.
    #[schema(format = DateTime)]
    pub first_seen: Option<String>,
    /// Whether `POST /api/deploys` reported it.
    pub reported: bool,
    /// The version that went live before in this service and environment; null for the first known one.
    pub previous: Option<String>,
    /// Id of the commit; empty when unknown.
    pub commit: String,
    /// Author of the deploy; empty when unknown.
    pub author: String,
    /// Page of the deploy; empty when unknown.
    pub url: String,
}

/// Response of `POST /api/deploys/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Deploys {
    /// The latest first.
    pub data: Vec<DeployView>,
    /// Whether earlier deploys of the range are left out.
    pub truncated: bool,
}
