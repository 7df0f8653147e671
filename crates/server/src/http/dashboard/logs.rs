//! Logs: `/api/logs…`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::Version;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::export::Format;
use tidewatch_query::logs::{self, around, of_entity, patterns};
use tidewatch_query::projects::Projects;
use tidewatch_query::views::log::*;
use tidewatch_query::views::page::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(list))
        .routes(routes!(histogram))
        .routes(routes!(log_around))
        .routes(routes!(log_of_entity))
        .routes(routes!(log_export))
        .routes(routes!(log_patterns))
}

/// Log records.
#[utoipa::path(
    post,
    path = "/api/logs",
    operation_id = "listLogs",
    tag = "logs",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "Success", body = Page<LogView>), Failures)
)]
async fn list(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<LogListRequest>,
) -> Result<Json<Page<LogView>>, ApiError> {
    let projects = match request.all_projects {
        true => Projects::new(access.readable_projects(&accounts.control.projects)),
        false => Projects::one(&access.project),
    };
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(logs::list(&executor, &projects, request).await?))
}

/// Number of log records over time by severity, and by service.
#[utoipa::path(
    post,
    path = "/api/logs/histogram",
    operation_id = "histogramLogs",
    tag = "logs",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "Success", body = LogHistogram), Failures)
)]
async fn histogram(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<LogListRequest>,
) -> Result<Json<LogHistogram>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(logs::histogram(&executor, &access.project, request).await?))
}

/// The log records before and after one, of the same service and, if it names one, the same instance.
#[utoipa::path(
    post,
    path = "/api/logs/around",
    operation_id = "logsAround",
    tag = "logs",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = LogAroundRequest,
    responses((status = 200, description = "Success", body = LogAround), Failures)
)]
async fn log_around(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<LogAroundRequest>,
) -> Result<Json<LogAround>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(around::around(&executor, &Projects::one(&access.project), request).await?))
}

/// The latest log records in the traces of an Endpoint, Task or AI Trace.
#[utoipa::path(
    post,
    path = "/api/logs/of-entity",
    operation_id = "getEntityLogs",
    tag = "logs",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = EntityLogsRequest,
    responses((status = 200, description = "Success", body = EntityLogs), Failures)
)]
async fn log_of_entity(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<EntityLogsRequest>,
) -> Result<Json<EntityLogs>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(of_entity::of_entity(&executor, &access.project, request).await?))
}

/// The parameters of an export of logs.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LogExportQuery {
    /// `ndjson` or `csv`; `ndjson` when absent.
    format: Option<String>,
}

/// Exports the log records that pass the filters as a file, with the columns of `GET /api/export`. Each record appears
/// once, in no particular order, as stored when the export started. If the export fails, the server closes the
/// connection before the end of the body.
#[utoipa::path(
    post,
    path = "/api/logs/export",
    operation_id = "exportFilteredLogs",
    tag = "logs",
    params(ProjectQuery, GlobalFilterQuery, LogExportQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "The file", body = String, content_type = "application/x-ndjson"), Failures)
)]
async fn log_export(
    State(accounts): State<Arc<Accounts>>,
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    version: Version,
    query: Result<Query<LogExportQuery>, QueryRejection>,
    JsonBody(request): JsonBody<LogListRequest>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let format = query.format.as_deref().map_or(Some(Format::Ndjson), Format::parse);
    let format = format.filter(|format| [Format::Ndjson, Format::Csv].contains(format));
    let format = format.ok_or_else(|| ApiError::malformed("format is not one of ndjson, csv"))?;
    let projects = Projects::one(&access.project);
    let executor = Executor::within(context.clone(), limits::LIST_DEADLINE);
    let plan = logs::export_plan(&executor, &projects, &request).await?;
    super::export::respond(accounts, context, access.user.id, version, &projects, selected.applied(plan), format).await
}

/// The patterns of the log records that pass the filters, the most frequent first: what their bodies have in common, with
/// a query for each. Made of a sample when there are many records; the answer says so.
#[utoipa::path(
    post,
    path = "/api/logs/patterns",
    operation_id = "listLogPatterns",
    tag = "logs",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "Success", body = LogPatterns), Failures)
)]
async fn log_patterns(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<LogListRequest>,
) -> Result<Json<LogPatterns>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(patterns::patterns(&executor, &access.project, request).await?))
}
