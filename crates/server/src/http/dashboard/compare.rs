//! Comparisons with another period: `/api/compare`.

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
use tidewatch_query::views::compare::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(compare))
}

/// Statistics of Endpoints, Tasks or AI Traces by name in a period, to compare another one with.
#[utoipa::path(
    post,
    path = "/api/compare",
    operation_id = "compareNames",
    tag = "overview",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = CompareRequest,
    responses((status = 200, description = "Success", body = Comparison), Failures)
)]
async fn compare(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<CompareRequest>,
) -> Result<Json<Comparison>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(tidewatch_query::compare::read(&executor, &access.project, request).await?))
}
