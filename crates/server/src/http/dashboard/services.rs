//! The services that send telemetry, and the calls between them: `/api/services`, `/api/services/map`,
//! `/api/services/detail`.

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
use tidewatch_query::views::page::RangeQuery;
use tidewatch_query::views::service_map::*;
use tidewatch_query::views::services::*;
use tidewatch_query::{service_map, services};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(services)).routes(routes!(map)).routes(routes!(detail))
}

/// Services that sent telemetry, with record counts. Also counts the Endpoints, Tasks, AI Traces and Issues of the last
/// hour of the range.
#[utoipa::path(
    get,
    path = "/api/services",
    operation_id = "getServices",
    tag = "drops",
    params(ProjectQuery, RangeQuery),
    responses((status = 200, description = "Success", body = Services), Failures)
)]
async fn services(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    query: Result<Query<RangeQuery>, QueryRejection>,
) -> Result<Json<Services>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let executor = Executor::within(context.clone(), limits::LIST_DEADLINE);
    Ok(Json(services::read(&executor, &access.project, query).await?))
}

/// The map of services: which service calls which service, database, messaging destination and host, how often, how
/// slowly, and with how many errors.
#[utoipa::path(
    post,
    path = "/api/services/map",
    operation_id = "getServiceMap",
    tag = "services",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = ServiceMapRequest,
    responses((status = 200, description = "Success", body = ServiceMap), Failures)
)]
async fn map(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<ServiceMapRequest>,
) -> Result<Json<ServiceMap>, ApiError> {
    ingest.pipeline.first_versions.store(&accounts.control.projects).await?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(service_map::map(&executor, &access.project, request).await?))
}

/// One service: the calls that it serves over time, its versions and processes, its callers and what it depends on.
#[utoipa::path(
    post,
    path = "/api/services/detail",
    operation_id = "getService",
    tag = "services",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = ServiceDetailRequest,
    responses((status = 200, description = "Success", body = ServiceDetail), Failures)
)]
async fn detail(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<ServiceDetailRequest>,
) -> Result<Json<ServiceDetail>, ApiError> {
    ingest.pipeline.first_versions.store(&accounts.control.projects).await?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(service_map::detail(&executor, &access.project, request).await?))
}
