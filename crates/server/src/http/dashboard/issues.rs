//! Issues: `/api/exception-stack-traces…`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::{Path, State};

use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::issue::*;
use tidewatch_query::views::page::*;
use tidewatch_query::{ids, issues, time};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(list)).routes(routes!(occurrence)).routes(routes!(detail))
}

/// Issues that occurred in the time range.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces",
    operation_id = "listIssues",
    tag = "issues",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = IssueListRequest,
    responses((status = 200, description = "Success", body = Page<IssueGroup>), Failures)
)]
async fn list(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<IssueListRequest>,
) -> Result<Json<Page<IssueGroup>>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(issues::list(&executor, &access.project, request).await?))
}

/// One occurrence of an Issue, with the Endpoint or Task that owns it.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/by-id/{id}",
    operation_id = "getOccurrence",
    tag = "issues",
    params(ProjectQuery, ("id" = String, Path, description = "Row id", format = "uuid")),
    request_body = DetailRequest,
    responses((status = 200, description = "Success", body = OccurrenceDetail), Failures, NotFound)
)]
async fn occurrence(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<DetailRequest>,
) -> Result<Json<OccurrenceDetail>, ApiError> {
    let id = ids::parse_row(&id)?;
    let recorded_at = time::parse_optional(request.recorded_at.as_deref(), "recordedAt")?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(issues::occurrence(&executor, &access.project, id, recorded_at).await?))
}

/// One Issue with its occurrences.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/{hash}",
    operation_id = "getIssue",
    tag = "issues",
    params(ProjectQuery, GlobalFilterQuery, ("hash" = String, Path, description = "16 hexadecimal digits")),
    request_body = IssueDetailRequest,
    responses((status = 200, description = "Success", body = IssueDetail), Failures, NotFound)
)]
async fn detail(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    Path(hash): Path<String>,
    JsonBody(request): JsonBody<IssueDetailRequest>,
) -> Result<Json<IssueDetail>, ApiError> {
    let hash = ids::parse_hash(&hash)?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(issues::detail(&executor, &access.project, hash, request).await?))
}
