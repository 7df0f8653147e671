//! The home page: `/api/dashboard/overview`.

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
use tidewatch_query::overview;
use tidewatch_query::views::overview::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(overview))
}

/// The home page of a project: recent Issues, the worst Endpoints, and counts.
#[utoipa::path(
    get,
    path = "/api/dashboard/overview",
    operation_id = "getOverview",
    tag = "overview",
    params(ProjectQuery, OverviewQuery),
    responses((status = 200, description = "Success", body = Overview), Failures)
)]
async fn overview(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    query: Result<Query<OverviewQuery>, QueryRejection>,
) -> Result<Json<Overview>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(overview::read(&executor, &access.project, query).await?))
}
