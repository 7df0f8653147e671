//! Uploaded debug files and source maps: `/api/symbols…`. Uploads have doors of their own (`http::uploads`).

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use utoipa::IntoParams;

use super::symbol_files::{self as files, FileOrder, FilesAsked};
use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_accounts::Need;
use tidewatch_query::page;
use tidewatch_query::page::Paging;
use tidewatch_query::views::page::{OrderBy, Page, PageRequest, SortDirection};
use tidewatch_query::views::symbols::*;

pub fn routes() -> Api {
    Api::new().routes(routes!(list, remove)).routes(routes!(missing)).routes(routes!(resolve)).routes(routes!(sources))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct FilesQuery {
    /// From 1; 1 when absent.
    page: Option<i64>,
    /// 1 to 100; 20 when absent.
    page_size: Option<i64>,
    /// Part of a name, a version, a key or a debug id, in any case.
    search: Option<String>,
    /// As `kind` of the files.
    kind: Option<String>,
    /// `uploaded`, `used`, `name` or `size`; `uploaded` when absent.
    #[serde(default)]
    #[param(inline, value_type = Option<FileOrder>)]
    order_by: OrderBy<FileOrder>,
    /// `asc` or `desc`; `desc` when absent.
    #[param(value_type = Option<String>)]
    sort_direction: Option<SortDirection>,
}

/// What was uploaded.
#[utoipa::path(
    get,
    path = "/api/symbols",
    operation_id = "listSymbols",
    tag = "symbols",
    params(ProjectQuery, FilesQuery),
    responses((status = 200, description = "The answer", body = Page<SymbolFile>), Failures)
)]
async fn list(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    Query(query): Query<FilesQuery>,
) -> Result<Json<Page<SymbolFile>>, ApiError> {
    let standard = PageRequest::default();
    let page = PageRequest {
        page: query.page.unwrap_or(standard.page),
        page_size: query.page_size.unwrap_or(standard.page_size),
    };
    let asked = FilesAsked {
        paging: Paging::read(Some(page))?,
        search: query.search.unwrap_or_default(),
        kind: query.kind.unwrap_or_default(),
        order: page::order(&query.order_by)?,
        is_descending: page::is_descending(query.sort_direction),
        shows_addresses: access.role.meets(Need::Admin),
    };
    Ok(Json(files::list(&app, &access.project, asked).await?))
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
    let answer = files::remove(&app, &access.project, key.clone()).await?;
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
    Json(files::missing(&app, &access.project))
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
    Ok(Json(files::resolve(&app, &access.project, request).await?))
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
    Ok(Json(files::sources(&app, &access.project, request).await?))
}
