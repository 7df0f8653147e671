//! Which services send: `/api/services`.

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::ask::Ask;
use tidewatch_query::services;
use tidewatch_query::views::services::*;

pub fn routes() -> Api {
    Api::new().routes(routes!(services))
}

/// Services that sent telemetry, what of it is stored, and what it was promoted to.
#[utoipa::path(
    get,
    path = "/api/services",
    operation_id = "getServices",
    tag = "drops",
    params(ProjectQuery, ServicesQuery),
    responses((status = 200, description = "The answer", body = Services), Failures)
)]
async fn services(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    query: Result<Query<ServicesQuery>, QueryRejection>,
) -> Result<Json<Services>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(services::read(&ask, &access.project, query).await?))
}
