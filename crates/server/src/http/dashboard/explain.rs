//! Explanations, breakdowns and heatmaps: `/api/explain`, `/api/breakdown`, `/api/heatmap`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::State;

use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::explain::{Breakdown, BreakdownRequest, ExplainRequest, Explanation};
use tidewatch_query::views::heatmap::{Heatmap, HeatmapRequest};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(explain)).routes(routes!(breakdown)).routes(routes!(heatmap))
}

/// Distinguishes some requests, runs, AI Traces, traces or log records from the others of the same minutes, and shows
/// where their time went.
#[utoipa::path(
    post,
    path = "/api/explain",
    operation_id = "explain",
    tag = "explain",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = ExplainRequest,
    responses((status = 200, description = "Success", body = Explanation), Failures, NotFound)
)]
async fn explain(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<ExplainRequest>,
) -> Result<Json<Explanation>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(tidewatch_query::explain::explain(&executor, &access.project, request).await?))
}

/// Where the time of requests, runs, AI Traces or traces goes: own time by operation and by service.
#[utoipa::path(
    post,
    path = "/api/breakdown",
    operation_id = "getBreakdown",
    tag = "explain",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = BreakdownRequest,
    responses((status = 200, description = "Success", body = Breakdown), Failures)
)]
async fn breakdown(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<BreakdownRequest>,
) -> Result<Json<Breakdown>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(tidewatch_query::explain::breakdown(&executor, &access.project, request).await?))
}

/// Counts of requests, runs, AI Traces or traces by time and duration.
#[utoipa::path(
    post,
    path = "/api/heatmap",
    operation_id = "getHeatmap",
    tag = "explain",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = HeatmapRequest,
    responses((status = 200, description = "Success", body = Heatmap), Failures)
)]
async fn heatmap(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<HeatmapRequest>,
) -> Result<Json<Heatmap>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
    Ok(Json(tidewatch_query::heatmap::heatmap(&executor, &access.project, request).await?))
}
