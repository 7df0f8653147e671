//! The services that send to a project, and the entities made of their records.

use serde::Serialize;
use utoipa::ToSchema;

/// Stored records of one signal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignalSeen {
    /// Number of records in the range.
    pub count: u64,
    /// Number of records in the last hour of the range.
    pub last_hour: u64,
    /// Minute of the latest receipt; null when there was none.
    #[schema(format = DateTime)]
    pub last_seen: Option<String>,
}

/// A service, with the attributes of its latest resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSeen {
    /// `service.name`; empty when absent.
    pub name: String,
    /// `telemetry.sdk.language`
    pub language: Option<String>,
    /// `telemetry.sdk.name`
    pub sdk_name: Option<String>,
    /// `telemetry.sdk.version`
    pub sdk_version: Option<String>,
    /// `service.version`
    pub version: Option<String>,
    /// Minute of the latest receipt of any signal.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Spans.
    pub traces: SignalSeen,
    /// Metric points.
    pub metrics: SignalSeen,
    /// Log records.
    pub logs: SignalSeen,
}

/// Endpoints, Tasks, AI Traces or Issues in the last hour of the range.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotedCount {
    /// Number of distinct names, or of Issues.
    pub names: u64,
    /// Number of occurrences, weighted by sampling.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// The most frequent name, or the hash of the most frequent Issue; null when there are none.
    pub first: Option<String>,
}

/// Endpoints, Tasks, AI Traces and Issues in the last hour of the range.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Promoted {
    /// Endpoints.
    pub endpoints: PromotedCount,
    /// Tasks.
    pub tasks: PromotedCount,
    /// AI Traces except runs of tools.
    pub ai_traces: PromotedCount,
    /// Issues.
    pub issues: PromotedCount,
}

/// `GET /api/services`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Services {
    /// Services, the latest receipt first; at most 200.
    pub services: Vec<ServiceSeen>,
    /// Whether there are more services than are listed.
    pub truncated: bool,
    /// Environments of the services, by name; at most 200.
    pub environments: Vec<String>,
    /// Endpoints, Tasks, AI Traces and Issues in the last hour of the range.
    pub promoted: Promoted,
}
