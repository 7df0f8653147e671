//! Changes by a version, and the first version of a name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answers::NewThing;
use super::compare::ComparedKind;
use super::deploy::DeployView;

/// Body of `POST /api/deploys/version`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct VersionRequest {
    /// Name of the service.
    pub service: String,
    /// The version.
    pub version: String,
}

/// What differs between the requests of a version and of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceMetric {
    /// Median duration, nanoseconds.
    P50,
    /// P95 of the duration, nanoseconds.
    P95,
    /// Failed share, 0 to 1.
    ErrorRate,
}

/// One value of a name that a version changed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Kind of the name.
    pub kind: ComparedKind,
    /// The name.
    pub name: String,
    /// What differs.
    pub metric: DifferenceMetric,
    /// Value with other versions.
    pub before: f64,
    /// Value with this version.
    pub after: f64,
    /// Stored rows of other versions.
    pub before_count: u64,
    /// Stored rows of this version.
    pub after_count: u64,
}

/// An Issue that no longer occurs.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixedIssue {
    /// Type of the exception.
    pub name: String,
    /// Its hash.
    pub exception_hash: String,
    /// Occurrences with other versions in the compared time.
    pub count: u64,
}

/// Response of `POST /api/deploys/version`. Compares the rows of the version in the six hours after it went live with
/// those of other versions of its service in the same time and the six hours before.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionPage {
    /// The deploy; of several of the version the first.
    pub deploy: DeployView,
    /// Start of the compared time.
    #[schema(format = DateTime)]
    pub from: String,
    /// End of the compared time.
    #[schema(format = DateTime)]
    pub to: String,
    /// Stored requests, runs and AI calls of the version in this time.
    pub calls: u64,
    /// Those of other versions.
    pub other_calls: u64,
    /// What got worse, the most rows first.
    pub worse: Vec<Difference>,
    /// What got better, the most rows first.
    pub better: Vec<Difference>,
    /// Issues and names that only this version has and nothing had before.
    pub new: Vec<NewThing>,
    /// Issues that occurred with other versions, and do not with this one although five occurrences were expected.
    pub fixed: Vec<FixedIssue>,
}

/// Body of `POST /api/first-version`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FirstVersionRequest {
    /// Kind of the name.
    pub kind: ComparedKind,
    /// The name.
    pub name: String,
}

/// Response of `POST /api/first-version`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirstSeen {
    /// Version of the first row; null when unknown, and in the first hour of telemetry.
    #[schema(required)]
    pub version: Option<String>,
    /// Service of the first row; empty when unknown.
    pub service: String,
    /// Time of the first row; null without rows.
    #[schema(format = DateTime, required)]
    pub since: Option<String>,
}
