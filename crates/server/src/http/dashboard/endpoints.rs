//! Endpoints: `/api/endpoints…`.

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::ask::Ask;
use tidewatch_query::views::endpoint::*;
use tidewatch_query::views::page::*;
use tidewatch_query::{endpoints, ids, time};

pub fn routes() -> Api {
    Api::new()
        .routes(routes!(list))
        .routes(routes!(groups))
        .routes(routes!(one))
        .routes(routes!(chart))
        .routes(routes!(slow, set_slow))
        .routes(routes!(detail))
}

/// Single requests, whatever their name. Orders: `recorded_at` (default), `duration`, `status_code`.
#[utoipa::path(
    post,
    path = "/api/endpoints",
    operation_id = "listEndpoints",
    tag = "endpoints",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<EndpointRow>), Failures)
)]
async fn list(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ListRequest>,
) -> Result<Json<Page<EndpointRow>>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::list(&ask, &access.project, request).await?))
}

/// One row per Endpoint. Orders: `impact` (default), `count`, `p50_duration`, `p95_duration`, `p99_duration`, `avg_duration`, `last_seen`, `endpoint`, `error_rate`, `server_error_rate`.
#[utoipa::path(
    post,
    path = "/api/endpoints/grouped",
    operation_id = "groupEndpoints",
    tag = "endpoints",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<EndpointGroup>), Failures)
)]
async fn groups(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ListRequest>,
) -> Result<Json<Page<EndpointGroup>>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::groups(&ask, &access.project, request).await?))
}

/// The requests of one Endpoint, with its figures. Orders as `listEndpoints`.
#[utoipa::path(
    post,
    path = "/api/endpoints/endpoint",
    operation_id = "getEndpoint",
    tag = "endpoints",
    params(ProjectQuery, EndpointQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = EndpointPage), Failures, NotFound)
)]
async fn one(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    query: Result<Query<EndpointQuery>, QueryRejection>,
    JsonBody(request): JsonBody<ListRequest>,
) -> Result<Json<EndpointPage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::one(&ask, &access.project, &query.endpoint, request).await?))
}

/// The five Endpoints that weigh most, over time.
#[utoipa::path(
    post,
    path = "/api/endpoints/chart",
    operation_id = "chartEndpoints",
    tag = "endpoints",
    params(ProjectQuery),
    request_body = EndpointChartRequest,
    responses((status = 200, description = "The answer", body = EndpointChart), Failures)
)]
async fn chart(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<EndpointChartRequest>,
) -> Result<Json<EndpointChart>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::chart(&ask, &access.project, request).await?))
}

/// The accepted slowness of an Endpoint.
#[utoipa::path(
    get,
    path = "/api/endpoints/slow",
    operation_id = "getSlowOffset",
    tag = "endpoints",
    params(ProjectQuery, EndpointQuery),
    responses((status = 200, description = "The answer", body = SlowOffset), Failures)
)]
async fn slow(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    query: Result<Query<EndpointQuery>, QueryRejection>,
) -> Result<Json<SlowOffset>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::slow(&ask, &access.project, query.endpoint).await?))
}

/// Accepts a slowness of an Endpoint: its impact is judged with that many milliseconds more.
#[utoipa::path(
    post,
    path = "/api/endpoints/slow",
    operation_id = "setSlowOffset",
    tag = "endpoints",
    params(ProjectQuery),
    request_body = SlowOffsetRequest,
    responses((status = 200, description = "The answer", body = SlowOffset), Failures)
)]
async fn set_slow(
    State(app): State<Arc<App>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<SlowOffsetRequest>,
) -> Result<Json<SlowOffset>, ApiError> {
    let by = access.by(&app);
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::set_slow(&ask, &by, &access.project, request).await?))
}

/// One request with its trace.
#[utoipa::path(
    post,
    path = "/api/endpoints/{id}",
    operation_id = "getEndpointRequest",
    tag = "endpoints",
    params(ProjectQuery, ("id" = String, Path, description = "Row id", format = "uuid")),
    request_body = DetailRequest,
    responses((status = 200, description = "The answer", body = EndpointDetail), Failures, NotFound)
)]
async fn detail(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<DetailRequest>,
) -> Result<Json<EndpointDetail>, ApiError> {
    let id = ids::parse_row(&id)?;
    let recorded_at = time::parse_optional(request.recorded_at.as_deref(), "recordedAt")?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::detail(&ask, &access.project, id, recorded_at).await?))
}
