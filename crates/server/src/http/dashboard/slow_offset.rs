//! The accepted slow offset of an Endpoint: `/api/endpoints/slow`.

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::ask::Ask;
use tidewatch_query::endpoints;
use tidewatch_query::views::endpoint::*;

pub fn routes() -> Api {
    Api::new().routes(routes!(slow, set_slow))
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
