//! Tasks: `/api/tasks…`.

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::ask::Ask;
use tidewatch_query::views::page::*;
use tidewatch_query::views::task::*;
use tidewatch_query::{ids, tasks, time};

pub fn routes() -> Api {
    Api::new()
        .routes(routes!(list))
        .routes(routes!(groups))
        .routes(routes!(one))
        .routes(routes!(chart))
        .routes(routes!(detail))
}

/// Single runs, whatever their name. Orders: `recorded_at` (default), `duration`.
#[utoipa::path(
    post,
    path = "/api/tasks",
    operation_id = "listTasks",
    tag = "tasks",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<TaskRow>), Failures)
)]
async fn list(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ListRequest>,
) -> Result<Json<Page<TaskRow>>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(tasks::list(&ask, &access.project, request).await?))
}

/// One row per Task. Orders: `impact` (default), `count`, `p50_duration`, `p95_duration`, `p99_duration`, `avg_duration`, `last_seen`, `task` or `task_name`, `error_rate`.
#[utoipa::path(
    post,
    path = "/api/tasks/grouped",
    operation_id = "groupTasks",
    tag = "tasks",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<TaskGroup>), Failures)
)]
async fn groups(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ListRequest>,
) -> Result<Json<Page<TaskGroup>>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(tasks::groups(&ask, &access.project, request).await?))
}

/// The runs of one Task, with its figures. Orders as `listTasks`.
#[utoipa::path(
    post,
    path = "/api/tasks/task",
    operation_id = "getTask",
    tag = "tasks",
    params(ProjectQuery, TaskQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = TaskPage), Failures, NotFound)
)]
async fn one(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    query: Result<Query<TaskQuery>, QueryRejection>,
    JsonBody(request): JsonBody<ListRequest>,
) -> Result<Json<TaskPage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(tasks::one(&ask, &access.project, &query.task, request).await?))
}

/// The five Tasks that weigh most, over time.
#[utoipa::path(
    post,
    path = "/api/tasks/chart",
    operation_id = "chartTasks",
    tag = "tasks",
    params(ProjectQuery),
    request_body = TaskChartRequest,
    responses((status = 200, description = "The answer", body = TaskChart), Failures)
)]
async fn chart(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<TaskChartRequest>,
) -> Result<Json<TaskChart>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(tasks::chart(&ask, &access.project, request).await?))
}

/// One run with its trace.
#[utoipa::path(
    post,
    path = "/api/tasks/{id}",
    operation_id = "getTaskRun",
    tag = "tasks",
    params(ProjectQuery, ("id" = String, Path, description = "Row id", format = "uuid")),
    request_body = DetailRequest,
    responses((status = 200, description = "The answer", body = TaskDetail), Failures, NotFound)
)]
async fn detail(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<DetailRequest>,
) -> Result<Json<TaskDetail>, ApiError> {
    let id = ids::parse_row(&id)?;
    let recorded_at = time::parse_optional(request.recorded_at.as_deref(), "recordedAt")?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(tasks::detail(&ask, &access.project, id, recorded_at).await?))
}
