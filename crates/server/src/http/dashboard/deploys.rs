//! Deploys: `/api/deploys`, `/api/first-version`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::State;

use crate::contexts::{Accounts, Ingest};
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::deploy::*;
use tidewatch_query::views::version::*;
use tidewatch_query::{deploys, versions};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(report)).routes(routes!(list)).routes(routes!(version)).routes(routes!(first))
}

/// Reports a deploy, from a build pipeline. A report of equal service, environment, version and time replaces the
/// earlier one.
#[utoipa::path(
    post,
    path = "/api/deploys",
    operation_id = "reportDeploy",
    tag = "deploys",
    params(ProjectQuery),
    request_body = DeployReport,
    responses((status = 200, description = "Success", body = DeployView), Failures)
)]
async fn report(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<DeployReport>,
) -> Result<Json<DeployView>, ApiError> {
    // The answer holds the first sight of the version when its record was acknowledged.
    ingest.pipeline.first_versions.store(&accounts.control.projects).await?;
    let actor = access.actor(&query.clock);
    Ok(Json(deploys::report(&query, &actor, &access.project, request).await?))
}

/// The deploys of a time range: reported ones, and the first record of each version of a service in an environment.
#[utoipa::path(
    post,
    path = "/api/deploys/list",
    operation_id = "listDeploys",
    tag = "deploys",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = DeploysRequest,
    responses((status = 200, description = "Success", body = Deploys), Failures)
)]
async fn list(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<DeploysRequest>,
) -> Result<Json<Deploys>, ApiError> {
    // A version whose record was acknowledged is listed.
    ingest.pipeline.first_versions.store(&accounts.control.projects).await?;
    Ok(Json(deploys::list(&query, &access.project, &selected, request).await?))
}

/// Compares a version of a service with others: metrics that got worse and better, names that are new with it, and the
/// Issues that it fixed.
#[utoipa::path(
    post,
    path = "/api/deploys/version",
    operation_id = "getVersion",
    tag = "deploys",
    params(ProjectQuery),
    request_body = VersionRequest,
    responses((status = 200, description = "Success", body = VersionPage), Failures, NotFound)
)]
async fn version(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<VersionRequest>,
) -> Result<Json<VersionPage>, ApiError> {
    ingest.pipeline.first_versions.store(&accounts.control.projects).await?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(versions::page(&executor, &access.project, request).await?))
}

/// The version of the first request, run or AI call of a name.
#[utoipa::path(
    post,
    path = "/api/first-version",
    operation_id = "getFirstVersion",
    tag = "deploys",
    params(ProjectQuery),
    request_body = FirstVersionRequest,
    responses((status = 200, description = "Success", body = FirstSeen), Failures)
)]
async fn first(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<FirstVersionRequest>,
) -> Result<Json<FirstSeen>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(versions::first(&executor, &access.project, request).await?))
}
