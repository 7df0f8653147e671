//! Deploys: `/api/deploys`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_query::deploys;
use tidewatch_query::views::deploy::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(report)).routes(routes!(list))
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
    State(app): State<Arc<App>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<DeployReport>,
) -> Result<Json<DeployView>, ApiError> {
    let actor = access.actor(&app);
    Ok(Json(deploys::report(&app.query, &actor, &access.project, request).await?))
}

/// The deploys of a time range: reported ones, and the first record of each version of a service in an environment.
#[utoipa::path(
    post,
    path = "/api/deploys/list",
    operation_id = "listDeploys",
    tag = "deploys",
    params(ProjectQuery),
    request_body = DeploysRequest,
    responses((status = 200, description = "Success", body = Deploys), Failures)
)]
async fn list(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<DeploysRequest>,
) -> Result<Json<Deploys>, ApiError> {
    // A version whose record was acknowledged is listed.
    app.ingest.first_versions.store(&app.control).await?;
    Ok(Json(deploys::list(&app.query, &access.project, request).await?))
}
