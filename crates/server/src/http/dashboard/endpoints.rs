//! Endpoints: `/api/endpoints…`.

use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use crate::query::views::endpoint::*;
use crate::query::views::page::*;

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
pub async fn list() {}

/// One row per Endpoint. Orders: `impact` (default), `count`, `p50_duration`, `p95_duration`, `p99_duration`, `avg_duration`, `last_seen`, `endpoint`, `error_rate`.
#[utoipa::path(
    post,
    path = "/api/endpoints/grouped",
    operation_id = "groupEndpoints",
    tag = "endpoints",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<EndpointGroup>), Failures)
)]
pub async fn groups() {}

/// The requests of one Endpoint, with its figures. Orders as `listEndpoints`.
#[utoipa::path(
    post,
    path = "/api/endpoints/endpoint",
    operation_id = "getEndpoint",
    tag = "endpoints",
    params(ProjectQuery, EndpointQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = EndpointPage), Failures)
)]
pub async fn one() {}

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
pub async fn chart() {}

/// The accepted slowness of an Endpoint.
#[utoipa::path(
    get,
    path = "/api/endpoints/slow",
    operation_id = "getSlowOffset",
    tag = "endpoints",
    params(ProjectQuery, EndpointQuery),
    responses((status = 200, description = "The answer", body = SlowOffset), Failures)
)]
pub async fn slow() {}

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
pub async fn set_slow() {}

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
pub async fn detail() {}
