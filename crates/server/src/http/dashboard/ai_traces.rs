//! AI Traces: `/api/ai-traces…`.

use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use crate::query::views::ai::*;
use crate::query::views::page::*;

/// Single calls, whatever their name. Orders: `recorded_at` (default), `duration`, `total_cost`, `total_tokens`.
#[utoipa::path(
    post,
    path = "/api/ai-traces",
    operation_id = "listAiTraces",
    tag = "ai-traces",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<AiTraceRow>), Failures)
)]
pub async fn list() {}

/// One row per AI Trace name. Orders: `total_cost` (default), `count`, `total_tokens`, `p50_duration`, `p95_duration`, `avg_duration`, `last_seen`, `trace_name`, `error_rate`.
#[utoipa::path(
    post,
    path = "/api/ai-traces/grouped",
    operation_id = "groupAiTraces",
    tag = "ai-traces",
    params(ProjectQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = Page<AiTraceGroup>), Failures)
)]
pub async fn groups() {}

/// The calls of one name, with its figures. Orders as `listAiTraces`.
#[utoipa::path(
    post,
    path = "/api/ai-traces/trace",
    operation_id = "getAiTraceGroup",
    tag = "ai-traces",
    params(ProjectQuery, TraceNameQuery),
    request_body = ListRequest,
    responses((status = 200, description = "The answer", body = AiTracePage), Failures)
)]
pub async fn one() {}

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
pub async fn chart() {}

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
pub async fn detail() {}
