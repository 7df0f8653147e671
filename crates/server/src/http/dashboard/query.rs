//! Completion of queries, and facets of lists: `/api/query/…`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::State;

use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::language::values;
use tidewatch_query::views::query::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(complete)).routes(routes!(facets))
}

/// Names of fields, or values of a field, for a query that is being typed.
#[utoipa::path(
    post,
    path = "/api/query/complete",
    operation_id = "completeQuery",
    tag = "query",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = CompleteRequest,
    responses((status = 200, description = "Success", body = Completions), Failures)
)]
async fn complete(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<CompleteRequest>,
) -> Result<Json<Completions>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(values::complete(&executor, &access.project, request).await?))
}

/// The most frequent values of fields among the rows that meet a query.
#[utoipa::path(
    post,
    path = "/api/query/facets",
    operation_id = "countFacets",
    tag = "query",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = FacetsRequest,
    responses((status = 200, description = "Success", body = Facets), Failures)
)]
async fn facets(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<FacetsRequest>,
) -> Result<Json<Facets>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(values::facets(&executor, &access.project, request).await?))
}
