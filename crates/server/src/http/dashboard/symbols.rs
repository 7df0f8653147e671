//! Uploaded debug files and source maps: `/api/symbols…`. Uploads have their own routes (`http::uploads`).

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use utoipa::IntoParams;

use super::symbol_files::{self as files, FileOrder, FilesRequest};
use crate::contexts::{Accounts, Ingest};
use crate::error::ApiError;
use crate::http::dashboard::symbol_bodies::*;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_accounts::Permission;
use tidewatch_query::page;
use tidewatch_query::page::Paging;
use tidewatch_query::views::page::{OrderBy, Page, PageRequest, SortDirection};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(list, remove))
        .routes(routes!(missing))
        .routes(routes!(removed))
        .routes(routes!(resolve))
        .routes(routes!(sources))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct FilesQuery {
    /// Page number, from 1; 1 when absent.
    page: Option<i64>,
    /// Files per page, 1 to 100; 20 when absent.
    page_size: Option<i64>,
    /// Substring of a name, a version, a key or a debug id, ignoring case.
    search: Option<String>,
    /// Only files of this `kind`.
    kind: Option<String>,
    /// `uploaded`, `used`, `name` or `size`; `uploaded` when absent.
    #[serde(default)]
    #[param(inline, value_type = Option<FileOrder>)]
    order_by: OrderBy<FileOrder>,
    /// `asc` or `desc`; `desc` when absent.
    #[param(value_type = Option<String>)]
    sort_direction: Option<SortDirection>,
}

/// Uploaded debug files and source maps.
#[utoipa::path(
    get,
    path = "/api/symbols",
    operation_id = "listSymbols",
    tag = "symbols",
    params(ProjectQuery, FilesQuery),
    responses((status = 200, description = "Success", body = Page<SymbolFile>), Failures)
)]
async fn list(
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    Query(query): Query<FilesQuery>,
) -> Result<Json<Page<SymbolFile>>, ApiError> {
    let standard = PageRequest::default();
    let page = PageRequest {
        page: query.page.unwrap_or(standard.page),
        page_size: query.page_size.unwrap_or(standard.page_size),
    };
    let request = FilesRequest {
        paging: Paging::read(Some(page))?,
        search: query.search.unwrap_or_default(),
        kind: query.kind.unwrap_or_default(),
        order: page::order(&query.order_by)?,
        is_descending: page::is_descending(query.sort_direction),
        shows_addresses: access.role.permits(Permission::Admin),
    };
    Ok(Json(files::list(&ingest, &access.project, request).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct KeyQuery {
    /// Key of the file, as listed.
    #[serde(default)]
    key: String,
}

/// Removes an uploaded file and the artifact converted from it. Stack traces that are already resolved do not change.
#[utoipa::path(
    delete,
    path = "/api/symbols",
    operation_id = "removeSymbols",
    tag = "symbols",
    params(ProjectQuery, KeyQuery),
    responses((status = 200, description = "Success", body = SymbolFileRemoved), Failures)
)]
async fn remove(
    State(accounts): State<Arc<Accounts>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess<Write>,
    Query(KeyQuery { key }): Query<KeyQuery>,
) -> Result<Json<SymbolFileRemoved>, ApiError> {
    let answer = files::remove(&ingest, &access.project, key.clone()).await?;
    if answer.removed {
        accounts
            .control
            .audit_log
            .record_symbols_removal(&access.actor(&accounts.clock), &access.project, &key)
            .await?;
    }
    Ok(Json(answer))
}

/// Debug files and source maps that stack traces need and that were not uploaded.
#[utoipa::path(
    get,
    path = "/api/symbols/missing",
    operation_id = "listMissingSymbols",
    tag = "symbols",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = Vec<WaitingForSymbols>), Failures)
)]
async fn missing(State(ingest): State<Arc<Ingest>>, access: ProjectAccess) -> Json<Vec<WaitingForSymbols>> {
    Json(files::missing(&ingest, &access.project))
}

/// Uploads of old releases that were removed, by reason.
#[utoipa::path(
    get,
    path = "/api/symbols/removed",
    operation_id = "listRemovedSymbols",
    tag = "symbols",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = Vec<RemovedSymbols>), Failures)
)]
async fn removed(State(ingest): State<Arc<Ingest>>, access: ProjectAccess) -> Json<Vec<RemovedSymbols>> {
    Json(files::removed(&ingest, &access.project))
}

/// Resolves a stack trace with the uploaded files, to check them. Stores nothing.
#[utoipa::path(
    post,
    path = "/api/symbols/resolve",
    operation_id = "resolveStackTrace",
    tag = "symbols",
    params(ProjectQuery),
    request_body = ResolveRequest,
    responses((status = 200, description = "Success", body = ResolvedTrace), Failures)
)]
async fn resolve(
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ResolveRequest>,
) -> Result<Json<ResolvedTrace>, ApiError> {
    Ok(Json(files::resolve(&ingest, &access.project, request).await?))
}

/// The source lines around the frames of a raw stack trace, where uploaded source maps embed them. Frames are named as
/// in the response of `/api/symbols/resolve`.
#[utoipa::path(
    post,
    path = "/api/symbols/sources",
    operation_id = "sourcesOfStackTrace",
    tag = "symbols",
    params(ProjectQuery),
    request_body = ResolveRequest,
    responses((status = 200, description = "Success", body = FrameSources), Failures)
)]
async fn sources(
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ResolveRequest>,
) -> Result<Json<FrameSources>, ApiError> {
    Ok(Json(files::sources(&ingest, &access.project, request).await?))
}
