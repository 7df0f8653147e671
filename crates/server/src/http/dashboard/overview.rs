//! The home page: `/api/dashboard/overview`, `/api/overview/changes`, `/api/overview/answers`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use crate::contexts::{Accounts, Ingest};
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::overview;
use tidewatch_query::views::answers::{Answers, AnswersRequest, DataSince};
use tidewatch_query::views::changes::{Changes, ChangesRequest};
use tidewatch_query::views::overview::*;
use tidewatch_query::views::page::RangeQuery;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(overview)).routes(routes!(changes)).routes(routes!(answers)).routes(routes!(data_since))
}

/// The home page of a project: recent Issues, the worst Endpoints, and counts.
#[utoipa::path(
    get,
    path = "/api/dashboard/overview",
    operation_id = "getOverview",
    tag = "overview",
    params(ProjectQuery, GlobalFilterQuery, RangeQuery),
    responses((status = 200, description = "Success", body = Overview), Failures)
)]
async fn overview(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    query: Result<Query<RangeQuery>, QueryRejection>,
) -> Result<Json<Overview>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(context.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(overview::read(&executor, &access.project, query).await?))
}

/// Lists changes for the worse in Endpoints, Tasks, AI calls and Issues, the most harmful first. Evaluates the 24 hours
/// before `toDate`, up to the minute that ended 90 seconds ago, against the seven days before.
#[utoipa::path(
    post,
    path = "/api/overview/changes",
    operation_id = "listChanges",
    tag = "overview",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = ChangesRequest,
    responses((status = 200, description = "Success", body = Changes), Failures)
)]
async fn changes(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<ChangesRequest>,
) -> Result<Json<Changes>, ApiError> {
    ingest.pipeline.first_versions.store(&accounts.control.projects).await?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(tidewatch_query::changes::read(&executor, &access.project, request).await?))
}

/// Lists errors that always occur, new names, and the cost of model calls.
#[utoipa::path(
    post,
    path = "/api/overview/answers",
    operation_id = "getAnswers",
    tag = "overview",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = AnswersRequest,
    responses((status = 200, description = "Success", body = Answers), Failures)
)]
async fn answers(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<AnswersRequest>,
) -> Result<Json<Answers>, ApiError> {
    ingest.pipeline.first_versions.store(&accounts.control.projects).await?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(tidewatch_query::answers::read(&executor, &access.project, request).await?))
}

/// The beginning of a project's telemetry, when it is younger than a day: pages then show that time by default.
#[utoipa::path(
    get,
    path = "/api/overview/data-since",
    operation_id = "getDataSince",
    tag = "overview",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = DataSince), Failures)
)]
async fn data_since(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
) -> Result<Json<DataSince>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(tidewatch_query::answers::beginning(&executor, &access.project).await?))
}
