//! Logs: `/api/logs…`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::executor::Executor;
use tidewatch_query::logs;
use tidewatch_query::projects::Projects;
use tidewatch_query::views::log::*;
use tidewatch_query::views::page::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(list)).routes(routes!(histogram))
}

/// Log records.
#[utoipa::path(
    post,
    path = "/api/logs",
    operation_id = "listLogs",
    tag = "logs",
    params(ProjectQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "Success", body = Page<LogView>), Failures)
)]
async fn list(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<LogListRequest>,
) -> Result<Json<Page<LogView>>, ApiError> {
    let projects = match request.all_projects {
        true => Projects::new(access.readable_projects(&app)),
        false => Projects::one(&access.project),
    };
    let executor = Executor::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(logs::list(&executor, &projects, request).await?))
}

/// Number of log records over time by severity, and by service.
#[utoipa::path(
    post,
    path = "/api/logs/histogram",
    operation_id = "histogramLogs",
    tag = "logs",
    params(ProjectQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "Success", body = LogHistogram), Failures)
)]
async fn histogram(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<LogListRequest>,
) -> Result<Json<LogHistogram>, ApiError> {
    let executor = Executor::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(logs::histogram(&executor, &access.project, request).await?))
}
