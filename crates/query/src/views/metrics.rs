//! Metrics: queries and discovery. WIRE 3.1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::page::ValuePoint;
use super::rows;

/// Function that combines the points of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Mean of the values.
    #[default]
    Avg,
    /// Sum of the values.
    Sum,
    /// Number of points.
    Count,
    /// Smallest value.
    Min,
    /// Greatest value.
    Max,
    /// Latest value.
    Last,
    /// Increase per second of a cumulative counter, without resets; delta sums are added up.
    Rate,
    /// Median, of a histogram's buckets or else of the points' values.
    P50,
    /// 95th percentile, like `p50`.
    P95,
    /// 99th percentile, like `p50`.
    P99,
}

/// One line of a chart, or one line per group.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MetricQuery {
    /// Name of the metric.
    pub name: String,
    /// Function that combines the points of a bucket; `avg` when absent.
    pub aggregation: Aggregation,
    /// Required values by tag; at most 20. `server_name` is the service.
    pub tag_filters: BTreeMap<String, String>,
    /// A tag; each of its values is a series, at most 200. Null: one series.
    pub group_by: Option<String>,
    /// Values are 1 minus the value: the used share of a free one.
    pub inverted: bool,
}

/// Body of `POST /api/metrics/query`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsRequest {
    /// 1 to 50 queries.
    pub queries: Vec<MetricQuery>,
    /// Start of the time range, inclusive.
    #[schema(format = DateTime)]
    pub from: String,
    /// End of the time range, exclusive; not before `from`, at most 731 days after it (422).
    #[schema(format = DateTime)]
    pub to: String,
    /// Width of a bucket in minutes; 0 or null: chosen by the range. Widened so that no series has more than 2000
    /// points.
    #[serde(default)]
    pub interval_minutes: Option<i64>,
}

/// The answer to the query at the same position.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricResult {
    /// Name of the metric.
    pub name: String,
    /// Unit of the metric; may be empty.
    pub unit: String,
    /// Points by group; the key is `__all__` without `groupBy`. Empty for an unknown metric. Buckets without points are
    /// absent.
    pub series: BTreeMap<String, Vec<ValuePoint>>,
    /// True when there were more than 200 groups; else absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub truncated_groups: bool,
    /// Width of a bucket in minutes.
    pub interval_minutes: i64,
}

/// `POST /api/metrics/query`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsAnswer {
    /// Answers in the order of the queries.
    pub results: Vec<MetricResult>,
    /// Width of a bucket in minutes.
    pub interval_minutes: i64,
}

/// Time range; the last 7 days by default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct DiscoverQuery {
    /// Start of the time range, inclusive; 7 days before `to` when absent.
    #[param(format = DateTime)]
    pub from: Option<String>,
    /// End of the time range, exclusive; now when absent.
    #[param(format = DateTime)]
    pub to: Option<String>,
}

/// Selects a tag of a metric.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TagValuesQuery {
    /// Name of the metric.
    pub name: String,
    /// The tag.
    pub key: String,
    /// Start of the time range, inclusive; 7 days before `to` when absent.
    #[param(format = DateTime)]
    pub from: Option<String>,
    /// End of the time range, exclusive; now when absent.
    #[param(format = DateTime)]
    pub to: Option<String>,
}

/// A metric with points in the range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveredMetric {
    /// Name of the metric.
    pub name: String,
    /// Tags, sorted by name; `server_name` is one of them when points have a service.
    pub tag_keys: Vec<String>,
    /// `gauge`, `counter` or `histogram`.
    pub metric_type: String,
    /// Unit of the metric; may be empty.
    pub unit: String,
    /// Number of points in the range.
    pub point_count: u64,
}

/// The metrics with points in the range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DiscoveredMetrics {
    /// The metrics, sorted by name.
    pub metrics: Vec<DiscoveredMetric>,
}

/// The values of a tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagValues {
    /// The values, sorted; at most 1000.
    #[serde(serialize_with = "rows::cut")]
    pub values: Vec<String>,
}

/// The services that sent points in the range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Instances {
    /// Names of the services, sorted.
    pub instances: Vec<String>,
}
