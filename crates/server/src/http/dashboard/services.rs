//! The services that send telemetry: `/api/services`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::executor::Executor;
use tidewatch_query::services;
use tidewatch_query::views::services::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(services))
}

/// Services that sent telemetry, with record counts. Also counts the Endpoints, Tasks, AI Traces and Issues of the last
/// hour of the range.
#[utoipa::path(
    get,
    path = "/api/services",
    operation_id = "getServices",
    tag = "drops",
    params(ProjectQuery, ServicesQuery),
    responses((status = 200, description = "Success", body = Services), Failures)
)]
async fn services(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    query: Result<Query<ServicesQuery>, QueryRejection>,
) -> Result<Json<Services>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(services::read(&executor, &access.project, query).await?))
}
