//! Tasks: `/api/tasks…`.

use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use crate::query::views::page::*;
use crate::query::views::task::*;

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
pub async fn list() {}

/// One row per Task. Orders: `impact` (default), `count`, `p50_duration`, `p95_duration`, `p99_duration`, `avg_duration`, `last_seen`, `task`, `error_rate`.
#[utoipa::path(
    post,
    path = "/api/tasks/grouped",
    operation_id = "groupTasks",
    tag = "tasks",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<TaskGroup>), Failures)
)]
pub async fn groups() {}

/// The runs of one Task, with its figures. Orders as `listTasks`.
#[utoipa::path(
    post,
    path = "/api/tasks/task",
    operation_id = "getTask",
    tag = "tasks",
    params(ProjectQuery, TaskQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = TaskPage), Failures)
)]
pub async fn one() {}

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
pub async fn chart() {}

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
pub async fn detail() {}
