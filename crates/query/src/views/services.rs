//! Which services send to a project, and what became of it.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Range of the services listed; the last 24 hours by default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct ServicesQuery {
    #[param(format = DateTime)]
    pub from: Option<String>,
    #[param(format = DateTime)]
    pub to: Option<String>,
}

/// Stored records of one signal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignalSeen {
    /// In the range.
    pub count: u64,
    /// In the last hour of the range.
    pub last_hour: u64,
    /// When the last of them was received, by the minute; null without any.
    #[schema(format = DateTime)]
    pub last_seen: Option<String>,
}

/// A service, as its latest resource describes it.
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
    /// When anything was received last, by the minute.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Spans.
    pub traces: SignalSeen,
    /// Metric points.
    pub metrics: SignalSeen,
    /// Log records.
    pub logs: SignalSeen,
}

/// What spans and log records were promoted to, in the last hour of the range.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotedCount {
    /// Distinct ones.
    pub names: u64,
    /// Occurrences, weighted by sampling.
    pub count: u64,
    /// The most frequent name, or the Issue's hash; null without any.
    pub first: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Promoted {
    pub endpoints: PromotedCount,
    pub tasks: PromotedCount,
    /// Without runs of tools.
    pub ai_traces: PromotedCount,
    pub issues: PromotedCount,
}

/// `GET /api/services`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Services {
    /// Latest first.
    pub services: Vec<ServiceSeen>,
    /// There are more services than are listed.
    pub truncated: bool,
    pub promoted: Promoted,
}
