//! The map of services, and the page of one service.

use serde::{Deserialize, Serialize};
use tidewatch_domain::service_map::NodeKind as Kind;
use utoipa::ToSchema;

/// Body of `POST /api/services/map`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceMapRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
    /// Only this service, its callers and what it depends on; null: all.
    pub service: Option<String>,
}

/// Kind of a node of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceNodeKind {
    /// A service that sends spans to the project.
    Service,
    /// A database.
    Database,
    /// A queue or topic.
    Messaging,
    /// A host without spans in the project.
    Host,
}

impl From<Kind> for ServiceNodeKind {
    fn from(kind: Kind) -> ServiceNodeKind {
        match kind {
            Kind::Service => ServiceNodeKind::Service,
            Kind::Database => ServiceNodeKind::Database,
            Kind::Messaging => ServiceNodeKind::Messaging,
            Kind::Host => ServiceNodeKind::Host,
        }
    }
}

/// Calls of a time range.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallStats {
    /// Number of calls, weighted by sampling.
    pub calls: u64,
    /// Calls with an HTTP status of 500 and above, or an error status without an HTTP status of 400 to 499.
    pub errors: u64,
    /// Calls per minute.
    pub per_minute: f64,
    /// P50 of the duration, nanoseconds; null without calls.
    pub p50_duration: Option<f64>,
    /// P95 of the duration, nanoseconds; null without calls.
    pub p95_duration: Option<f64>,
}

/// A node of the map.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceNode {
    /// Kind and name, joined by `:`.
    pub id: String,
    /// Kind of the node.
    pub kind: ServiceNodeKind,
    /// `service.name`, which may be empty; system and namespace of a database; system and destination of messages; host
    /// and port.
    pub name: String,
    /// Of a service: the calls that it serves. Of another node: the calls to it.
    pub stats: CallStats,
    /// Of a service: versions that were live in the range.
    pub versions: u64,
}

/// Calls from one node to another.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceEdge {
    /// `id` of the caller, or of the destination that messages are received from.
    pub from: String,
    /// `id` of the callee.
    pub to: String,
    /// The calls, as the caller measured them.
    pub stats: CallStats,
}

/// Response of `POST /api/services/map`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceMap {
    /// Services first, then by calls, the most frequent first.
    pub nodes: Vec<ServiceNode>,
    /// By calls, the most frequent first.
    pub edges: Vec<ServiceEdge>,
    /// Nodes that are not in the answer because of its limit.
    pub nodes_left_out: u64,
    /// Edges that are not in the answer because of its limit, or because one of their nodes is not.
    pub edges_left_out: u64,
    /// Whether rare calls are not counted, because there are more combinations of service and address than are read.
    pub truncated: bool,
}

/// Body of `POST /api/services/detail`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceDetailRequest {
    /// `service.name`; empty for spans without one.
    pub service: String,
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
}

/// The calls that a service served in one bucket of time.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServicePoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// The calls of the bucket.
    pub stats: CallStats,
}

/// A version of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceVersion {
    /// `service.version`.
    pub version: String,
    /// Name of the environment; empty when not stated.
    pub environment: String,
    /// Time of the deploy: as reported, else of the first record of the version.
    #[schema(format = DateTime)]
    pub time: String,
    /// Time of the first record of the version; null before it.
    #[schema(format = DateTime)]
    pub first_seen: Option<String>,
}

/// A process of a service.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceInstance {
    /// `service.instance.id`, else `host.name`, else `k8s.pod.name`, else `container.id`; empty when the resource has none.
    pub name: String,
    /// `host.name`; empty when the resource has none.
    pub host: String,
    /// `service.version`.
    pub version: String,
    /// Spans in the minutes that were read, weighted by sampling.
    pub spans: u64,
    /// Start of the latest span.
    #[schema(format = DateTime)]
    pub last_seen: String,
}

/// Response of `POST /api/services/detail`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceDetail {
    /// `service.name`.
    pub name: String,
    /// The calls that the service serves: its SERVER and CONSUMER spans.
    pub stats: CallStats,
    /// The same over time. Buckets without calls are absent.
    pub series: Vec<ServicePoint>,
    /// Minutes per bucket of `series`.
    pub interval_minutes: i64,
    /// Versions that were live in the range, the latest first.
    pub versions: Vec<ServiceVersion>,
    /// Processes that sent spans in the last minutes of the range, by number of spans.
    pub instances: Vec<ServiceInstance>,
    /// Minutes before the end of the range that `instances` is read from.
    pub instance_minutes: i64,
    /// Whether further instances are not in the answer.
    pub instances_truncated: bool,
    /// Callers and dependencies: the service's part of the map.
    pub map: ServiceMap,
}
