//! Uploaded debug files and source maps: `/api/symbols…`. Uploads have doors of their own (`http::uploads`).

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::control::Need;
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use crate::query::symbols;
use crate::query::views::symbols::*;

pub fn routes() -> Api {
    Api::new().routes(routes!(list, remove)).routes(routes!(missing)).routes(routes!(resolve)).routes(routes!(sources))
}

/// What was uploaded.
#[utoipa::path(
    get,
    path = "/api/symbols",
    operation_id = "listSymbols",
    tag = "symbols",
    params(ProjectQuery),
    responses((status = 200, description = "The answer", body = Vec<SymbolFile>), Failures)
)]
async fn list(State(app): State<Arc<App>>, access: ProjectAccess) -> Result<Json<Vec<SymbolFile>>, ApiError> {
    symbols::list(&app, &access.project, access.role.meets(Need::Admin)).await.map(Json)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct KeyQuery {
    /// As listed.
    #[serde(default)]
    key: String,
}

/// Removes an upload, and what was made from it. Stack traces that are resolved stay so.
#[utoipa::path(
    delete,
    path = "/api/symbols",
    operation_id = "removeSymbols",
    tag = "symbols",
    params(ProjectQuery, KeyQuery),
    responses((status = 200, description = "The answer", body = SymbolFileRemoved), Failures)
)]
async fn remove(
    State(app): State<Arc<App>>,
    access: ProjectAccess<Write>,
    Query(KeyQuery { key }): Query<KeyQuery>,
) -> Result<Json<SymbolFileRemoved>, ApiError> {
    let answer = symbols::remove(&app, &access.project, key.clone()).await?;
    if answer.removed {
        app.control.audit_symbols_removal(&access.by(&app), &access.project, &key).await?;
    }
    Ok(Json(answer))
}

/// What stack traces asked for in vain.
#[utoipa::path(
    get,
    path = "/api/symbols/missing",
    operation_id = "listMissingSymbols",
    tag = "symbols",
    params(ProjectQuery),
    responses((status = 200, description = "The answer", body = Vec<WaitingForSymbols>), Failures)
)]
async fn missing(State(app): State<Arc<App>>, access: ProjectAccess) -> Json<Vec<WaitingForSymbols>> {
    Json(symbols::missing(&app, &access.project))
}

/// Resolves a stack trace with what was uploaded, to see whether it works.
#[utoipa::path(
    post,
    path = "/api/symbols/resolve",
    operation_id = "resolveStackTrace",
    tag = "symbols",
    params(ProjectQuery),
    request_body = ResolveRequest,
    responses((status = 200, description = "The answer", body = ResolvedTrace), Failures)
)]
async fn resolve(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ResolveRequest>,
) -> Result<Json<ResolvedTrace>, ApiError> {
    symbols::resolve(&app, &access.project, request).await.map(Json)
}

/// The source around the frames of a raw stack trace, where uploaded source maps embed it. Frames are named as
/// `/api/symbols/resolve` prints them.
#[utoipa::path(
    post,
    path = "/api/symbols/sources",
    operation_id = "sourcesOfStackTrace",
    tag = "symbols",
    params(ProjectQuery),
    request_body = ResolveRequest,
    responses((status = 200, description = "The answer", body = FrameSources), Failures)
)]
async fn sources(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ResolveRequest>,
) -> Result<Json<FrameSources>, ApiError> {
    symbols::sources(&app, &access.project, request).await.map(Json)
}
