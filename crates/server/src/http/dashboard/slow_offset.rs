//! The accepted slow offset of an Endpoint: `/api/endpoints/slow`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::endpoints;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::endpoint::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(slow, set_slow))
}

/// The accepted slow offset of an Endpoint; 0 when none is set.
#[utoipa::path(
    get,
    path = "/api/endpoints/slow",
    operation_id = "getSlowOffset",
    tag = "endpoints",
    params(ProjectQuery, EndpointQuery),
    responses((status = 200, description = "Success", body = SlowOffset), Failures)
)]
async fn slow(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    query: Result<Query<EndpointQuery>, QueryRejection>,
) -> Result<Json<SlowOffset>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(context.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::slow(&executor, &access.project, query.endpoint).await?))
}

/// Sets the accepted slow offset of an Endpoint: that many milliseconds are added to the durations that its impact
/// tolerates.
#[utoipa::path(
    post,
    path = "/api/endpoints/slow",
    operation_id = "setSlowOffset",
    tag = "endpoints",
    params(ProjectQuery),
    request_body = SlowOffsetRequest,
    responses((status = 200, description = "Success", body = SlowOffset), Failures)
)]
async fn set_slow(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<SlowOffsetRequest>,
) -> Result<Json<SlowOffset>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(endpoints::set_slow(&executor, &actor, &access.project, request).await?))
}
