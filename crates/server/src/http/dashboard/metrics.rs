//! Metrics: `/api/metrics…`.

use crate::http::openapi::{Failures, ProjectQuery};
use crate::query::views::metrics::*;

/// Series of metrics.
#[utoipa::path(
    post,
    path = "/api/metrics/query",
    operation_id = "queryMetrics",
    tag = "metrics",
    params(ProjectQuery),
    request_body = MetricsRequest,
    responses((status = 200, description = "The answer", body = MetricsAnswer), Failures)
)]
pub async fn query() {}

/// Which metrics there are.
#[utoipa::path(
    get,
    path = "/api/metrics/discover",
    operation_id = "discoverMetrics",
    tag = "metrics",
    params(ProjectQuery, DiscoverQuery),
    responses((status = 200, description = "The answer", body = DiscoveredMetrics), Failures)
)]
pub async fn discover() {}

/// The values of one tag of one metric.
#[utoipa::path(
    get,
    path = "/api/metrics/discover/tags",
    operation_id = "discoverTagValues",
    tag = "metrics",
    params(ProjectQuery, TagValuesQuery),
    responses((status = 200, description = "The answer", body = TagValues), Failures)
)]
pub async fn tags() {}

/// The services that send metrics.
#[utoipa::path(
    get,
    path = "/api/metrics/discover/instances",
    operation_id = "discoverInstances",
    tag = "metrics",
    params(ProjectQuery, DiscoverQuery),
    responses((status = 200, description = "The answer", body = Instances), Failures)
)]
pub async fn instances() {}
