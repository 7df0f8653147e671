//! Monitors: `/api/synthetics`. WIRE 6.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use crate::contexts::Alerting;
use crate::error::ApiError;
use crate::http::api::{Api, Descriptions, routes};
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_alerts::fields::ConfigTypes;
use tidewatch_alerts::monitors::overview::*;
use tidewatch_alerts::monitors::views::*;
use tidewatch_alerts::monitors::{self, manage, read};
use tidewatch_query::context::QueryContext;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(list, create))
        .routes(routes!(types))
        .routes(routes!(one, change, delete))
        .routes(routes!(run))
        .routes(routes!(replace_token))
        .routes(routes!(results))
        .routes(routes!(series))
        .routes(routes!(overview))
        .routes(routes!(open_count))
}

/// The monitors of a project.
#[utoipa::path(
    get,
    path = "/api/synthetics/checks",
    operation_id = "listMonitors",
    tag = "monitors",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = Checks), Failures)
)]
async fn list(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
) -> Result<Json<Checks>, ApiError> {
    Ok(Json(read::list(&query, &access.project, alerting.prober.browser.problem().as_deref()).await?))
}

/// The types of monitors: words, fields, bounds and defaults. They are the same for every project.
#[utoipa::path(
    get,
    path = "/api/synthetics/types",
    operation_id = "listMonitorTypes",
    tag = "monitors",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = ConfigTypes), Failures)
)]
async fn types(_: ProjectAccess) -> Json<ConfigTypes> {
    Json(monitors::types::types())
}

/// Creates a monitor. The answer has the token of a heartbeat, which is not shown again.
#[utoipa::path(
    post,
    path = "/api/synthetics/checks",
    operation_id = "createMonitor",
    tag = "monitors",
    params(ProjectQuery),
    request_body = CheckRequest,
    responses((status = 201, description = "Created", body = Check), Failures)
)]
async fn create(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<CheckRequest>,
) -> Result<(StatusCode, Json<Check>), ApiError> {
    let check = manage::create(
        &query,
        &access.actor(&alerting.clock),
        &access.project,
        request,
        !alerting.prober.browser.is_off(),
    )
    .await?;
    let check = check.with_browser_problem(alerting.prober.browser.problem().as_deref());
    Ok((StatusCode::CREATED, Json(check)))
}

/// A monitor.
#[utoipa::path(
    get,
    path = "/api/synthetics/checks/{id}",
    operation_id = "getMonitor",
    tag = "monitors",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the monitor")),
    responses((status = 200, description = "Success", body = Check), Failures, NotFound)
)]
async fn one(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(id): Path<String>,
) -> Result<Json<Check>, ApiError> {
    let check = read::one(&query, &access.project, monitor_id(&id)?).await?;
    Ok(Json(check.with_browser_problem(alerting.prober.browser.problem().as_deref())))
}

/// Changes a monitor. One that is paused while it is down ends its alert.
#[utoipa::path(
    put,
    path = "/api/synthetics/checks/{id}",
    operation_id = "changeMonitor",
    tag = "monitors",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the monitor")),
    request_body = CheckChange,
    responses((status = 200, description = "Success", body = Check), Failures, NotFound)
)]
async fn change(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<CheckChange>,
) -> Result<Json<Check>, ApiError> {
    let (id, actor) = (monitor_id(&id)?, access.actor(&alerting.clock));
    let check = manage::change(&query, &actor, &access.project, id, request, !alerting.prober.browser.is_off()).await?;
    Ok(Json(check.with_browser_problem(alerting.prober.browser.problem().as_deref())))
}

/// Deletes a monitor with its results.
#[utoipa::path(
    delete,
    path = "/api/synthetics/checks/{id}",
    operation_id = "deleteMonitor",
    tag = "monitors",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the monitor")),
    responses((status = 200, description = "Success", body = CheckDeleted), Failures, NotFound)
)]
async fn delete(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<CheckDeleted>, ApiError> {
    let (id, actor) = (monitor_id(&id)?, access.actor(&query.clock));
    Ok(Json(manage::delete(&query, &actor, &access.project, id).await?))
}

/// Checks now. The result of an enabled monitor counts like any other.
#[utoipa::path(
    post,
    path = "/api/synthetics/checks/{id}/run",
    operation_id = "runMonitor",
    tag = "monitors",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the monitor")),
    responses((status = 200, description = "Success", body = CheckResult), Failures, NotFound)
)]
async fn run(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<CheckResult>, ApiError> {
    let monitor = alerting.rooms.monitors.monitor(access.project.number, monitor_id(&id)?).await?;
    if monitor.chosen.period_seconds > 0 {
        return Err(ApiError::unprocessable("a heartbeat is reported, not checked"));
    }
    let Ok(_permit) = alerting.monitor_runs.try_acquire() else {
        return Err(ApiError::Overloaded("too many checks run now; try again later"));
    };
    let is_browser = monitor.chosen.check_type == CheckType::Browser.name();
    if is_browser && alerting.prober.browser.is_off() {
        return Err(ApiError::unprocessable(manage::NO_BROWSER));
    }
    let browser = if is_browser { alerting.prober.browser.permit() } else { None };
    if is_browser && browser.is_none() {
        return Err(ApiError::Overloaded("too many checks by a browser run now; try again later"));
    }
    let result = alerting.prober.probe(&monitor).await;
    drop(browser);
    alerting.rooms.monitors.record_monitor_result(monitor.id, &result, None).await?;
    Ok(Json(CheckResult::of(result)))
}

/// Replaces the token of a heartbeat. The old one ends at once.
#[utoipa::path(
    post,
    path = "/api/synthetics/checks/{id}/token",
    operation_id = "replaceHeartbeatToken",
    tag = "monitors",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the monitor")),
    responses((status = 200, description = "Success", body = Check), Failures, NotFound)
)]
async fn replace_token(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<Check>, ApiError> {
    let (id, actor) = (monitor_id(&id)?, access.actor(&query.clock));
    Ok(Json(manage::replace_token(&query, &actor, &access.project, id).await?))
}

/// Results of a monitor, newest first.
#[utoipa::path(
    post,
    path = "/api/synthetics/checks/{id}/results",
    operation_id = "listMonitorResults",
    tag = "monitors",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the monitor")),
    request_body = CheckResultsRequest,
    responses((status = 200, description = "Success", body = CheckResults), Failures, NotFound)
)]
async fn results(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<CheckResultsRequest>,
) -> Result<Json<CheckResults>, ApiError> {
    Ok(Json(read::results(&query, &access.project, monitor_id(&id)?, request).await?))
}

/// Durations, availability and changes of the state of a monitor over time.
#[utoipa::path(
    post,
    path = "/api/synthetics/checks/{id}/series",
    operation_id = "getMonitorSeries",
    tag = "monitors",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the monitor")),
    request_body = CheckSeriesRequest,
    responses((status = 200, description = "Success", body = CheckSeries), Failures, NotFound)
)]
async fn series(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<CheckSeriesRequest>,
) -> Result<Json<CheckSeries>, ApiError> {
    Ok(Json(read::series(&query, &access.project, monitor_id(&id)?, request).await?))
}

/// Monitors with their latest durations and 90 days of availability.
#[utoipa::path(
    post,
    path = "/api/synthetics/overview",
    operation_id = "getMonitorsOverview",
    tag = "monitors",
    params(ProjectQuery),
    request_body = CheckOverviewRequest,
    responses((status = 200, description = "Success", body = CheckOverview), Failures)
)]
async fn overview(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<CheckOverviewRequest>,
) -> Result<Json<CheckOverview>, ApiError> {
    Ok(Json(read::overview(&query, &access.project, request, alerting.prober.browser.problem().as_deref()).await?))
}

/// Number of monitors that are down.
#[utoipa::path(
    get,
    path = "/api/synthetics/open-count",
    operation_id = "countDownMonitors",
    tag = "monitors",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = OpenCount), Failures)
)]
async fn open_count(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
) -> Result<Json<OpenCount>, ApiError> {
    Ok(Json(read::open_count(&query, &access.project).await?))
}

fn monitor_id(id: &str) -> Result<i64, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("no such monitor"))
}
