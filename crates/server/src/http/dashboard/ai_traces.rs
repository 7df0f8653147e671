//! AI Traces: `/api/ai-traces…`.

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::ask::Ask;
use tidewatch_query::views::ai::*;
use tidewatch_query::views::page::*;
use tidewatch_query::{ai_traces, ids, time};

pub fn routes() -> Api {
    Api::new()
        .routes(routes!(list))
        .routes(routes!(groups))
        .routes(routes!(one))
        .routes(routes!(chart))
        .routes(routes!(detail))
}

/// Single calls, whatever their name. Orders: `recorded_at` (default), `duration`, `total_cost`, `total_tokens`.
#[utoipa::path(
    post,
    path = "/api/ai-traces",
    operation_id = "listAiTraces",
    tag = "ai-traces",
    params(ProjectQuery),
    request_body = AiListRequest,
    responses((status = 200, description = "The answer", body = Page<AiTraceRow>), Failures)
)]
async fn list(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<AiListRequest>,
) -> Result<Json<Page<AiTraceRow>>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(ai_traces::list(&ask, &access.project, request).await?))
}

/// One row per AI Trace name. Orders: `total_cost` (default), `count`, `total_tokens`, `p50_duration`, `p95_duration`, `avg_duration`, `last_seen`, `trace_name`, `error_rate`.
#[utoipa::path(
    post,
    path = "/api/ai-traces/grouped",
    operation_id = "groupAiTraces",
    tag = "ai-traces",
    params(ProjectQuery),
    request_body = AiListRequest,
    responses((status = 200, description = "The answer", body = Page<AiTraceGroup>), Failures)
)]
async fn groups(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<AiListRequest>,
) -> Result<Json<Page<AiTraceGroup>>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(ai_traces::groups(&ask, &access.project, request).await?))
}

/// The calls of one name, with its figures. Orders as `listAiTraces`.
#[utoipa::path(
    post,
    path = "/api/ai-traces/trace",
    operation_id = "getAiTraceGroup",
    tag = "ai-traces",
    params(ProjectQuery, TraceNameQuery),
    request_body = AiListRequest,
    responses((status = 200, description = "The answer", body = AiTracePage), Failures, NotFound)
)]
async fn one(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    query: Result<Query<TraceNameQuery>, QueryRejection>,
    JsonBody(request): JsonBody<AiListRequest>,
) -> Result<Json<AiTracePage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(ai_traces::one(&ask, &access.project, &query.trace, request).await?))
}

/// The five names that weigh most, over time.
#[utoipa::path(
    post,
    path = "/api/ai-traces/chart",
    operation_id = "chartAiTraces",
    tag = "ai-traces",
    params(ProjectQuery),
    request_body = AiChartRequest,
    responses((status = 200, description = "The answer", body = AiChart), Failures)
)]
async fn chart(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<AiChartRequest>,
) -> Result<Json<AiChart>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(ai_traces::chart(&ask, &access.project, request).await?))
}

/// One call with its conversation and trace.
#[utoipa::path(
    post,
    path = "/api/ai-traces/{id}",
    operation_id = "getAiTrace",
    tag = "ai-traces",
    params(ProjectQuery, ("id" = String, Path, description = "Row id", format = "uuid")),
    request_body = DetailRequest,
    responses((status = 200, description = "The answer", body = AiTraceDetail), Failures, NotFound)
)]
async fn detail(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<DetailRequest>,
) -> Result<Json<AiTraceDetail>, ApiError> {
    let id = ids::parse_row(&id)?;
    let recorded_at = time::parse_optional(request.recorded_at.as_deref(), "recordedAt")?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    Ok(Json(ai_traces::detail(&ask, &access.project, id, recorded_at).await?))
}
