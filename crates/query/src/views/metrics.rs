//! Metrics: queries and discovery. WIRE 3.1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::page::ValuePoint;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    #[default]
    Avg,
    Sum,
    Count,
    Min,
    Max,
    Last,
    /// Increase per second of a cumulative counter, resets left out; delta sums are added up.
    Rate,
    /// Of a histogram's stored buckets, or else of the points' values.
    P50,
    P95,
    P99,
}

/// One line (or one line per group) of a chart.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MetricQuery {
    pub name: String,
    pub aggregation: Aggregation,
    /// Equal to, by tag; at most 20. `server_name` is the service.
    pub tag_filters: BTreeMap<String, String>,
    /// A tag: one series per value, at most 200.
    pub group_by: Option<String>,
}

/// Body of `POST /api/metrics/query`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsRequest {
    /// At least one, at most 50.
    pub queries: Vec<MetricQuery>,
    #[schema(format = DateTime)]
    pub from: String,
    /// Not before `from`, at most 731 days after it (422).
    #[schema(format = DateTime)]
    pub to: String,
    /// 0 or absent: chosen by the range. Widened so that no series has more than 2000 points.
    #[serde(default)]
    pub interval_minutes: Option<i64>,
}

/// The answer to one query, at its place.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricResult {
    pub name: String,
    pub unit: String,
    /// By group; `__all__` without `groupBy`. Empty for an unknown metric. Buckets without points are absent.
    pub series: BTreeMap<String, Vec<ValuePoint>>,
    /// True when there were more than 200 groups; absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub truncated_groups: bool,
    pub interval_minutes: i64,
}

/// `POST /api/metrics/query`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsAnswer {
    pub results: Vec<MetricResult>,
    /// The width in effect.
    pub interval_minutes: i64,
}

/// Range of a discovery; the last 7 days by default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct DiscoverQuery {
    #[param(format = DateTime)]
    pub from: Option<String>,
    #[param(format = DateTime)]
    pub to: Option<String>,
}

/// Which metric's which tag.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TagValuesQuery {
    /// Name of the metric.
    pub name: String,
    /// Tag.
    pub key: String,
    #[param(format = DateTime)]
    pub from: Option<String>,
    #[param(format = DateTime)]
    pub to: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveredMetric {
    pub name: String,
    /// By name; `server_name` among them when points have a service.
    pub tag_keys: Vec<String>,
    /// `gauge`, `counter` or `histogram`.
    pub metric_type: String,
    pub unit: String,
    pub point_count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DiscoveredMetrics {
    /// By name.
    pub metrics: Vec<DiscoveredMetric>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagValues {
    /// By text; at most 1000.
    pub values: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Instances {
    /// Services that sent points, by name.
    pub instances: Vec<String>,
}
