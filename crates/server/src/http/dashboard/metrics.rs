//! Metrics: `/api/metrics…`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::metrics::*;
use tidewatch_query::{discover, metrics};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(query)).routes(routes!(discover)).routes(routes!(tags)).routes(routes!(instances))
}

/// Time series of metrics.
#[utoipa::path(
    post,
    path = "/api/metrics/query",
    operation_id = "queryMetrics",
    tag = "metrics",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = MetricsRequest,
    responses((status = 200, description = "Success", body = MetricsAnswer), Failures)
)]
async fn query(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<MetricsRequest>,
) -> Result<Json<MetricsAnswer>, ApiError> {
    let executor = Executor::within(query.clone(), limits::METRICS_DEADLINE).filtered(selected);
    Ok(Json(metrics::query(&executor, &access.project, request).await?))
}

/// The metrics of the project, with their tags, types and units.
#[utoipa::path(
    get,
    path = "/api/metrics/discover",
    operation_id = "discoverMetrics",
    tag = "metrics",
    params(ProjectQuery, GlobalFilterQuery, DiscoverQuery),
    responses((status = 200, description = "Success", body = DiscoveredMetrics), Failures)
)]
async fn discover(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    query: Result<Query<DiscoverQuery>, QueryRejection>,
) -> Result<Json<DiscoveredMetrics>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(context.clone(), limits::METRICS_DEADLINE).filtered(selected);
    Ok(Json(discover::metrics(&executor, &access.project, query).await?))
}

/// The values of one tag of one metric.
#[utoipa::path(
    get,
    path = "/api/metrics/discover/tags",
    operation_id = "discoverTagValues",
    tag = "metrics",
    params(ProjectQuery, GlobalFilterQuery, TagValuesQuery),
    responses((status = 200, description = "Success", body = TagValues), Failures)
)]
async fn tags(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    query: Result<Query<TagValuesQuery>, QueryRejection>,
) -> Result<Json<TagValues>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(context.clone(), limits::METRICS_DEADLINE).filtered(selected);
    Ok(Json(discover::tag_values(&executor, &access.project, query).await?))
}

/// The services that send metrics.
#[utoipa::path(
    get,
    path = "/api/metrics/discover/instances",
    operation_id = "discoverInstances",
    tag = "metrics",
    params(ProjectQuery, GlobalFilterQuery, DiscoverQuery),
    responses((status = 200, description = "Success", body = Instances), Failures)
)]
async fn instances(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    query: Result<Query<DiscoverQuery>, QueryRejection>,
) -> Result<Json<Instances>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(context.clone(), limits::METRICS_DEADLINE).filtered(selected);
    Ok(Json(discover::instances(&executor, &access.project, query).await?))
}
