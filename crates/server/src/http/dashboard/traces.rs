//! Spans and traces: `/api/spans…`, `/api/distributed-traces…`, `/api/traces…`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};

use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::page::*;
use tidewatch_query::views::span::*;
use tidewatch_query::views::trace::*;
use tidewatch_query::views::trace_columns::*;
use tidewatch_query::views::trace_search::*;
use tidewatch_query::{distributed, ids, spans, time, trace_columns, trace_search};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(spans))
        .routes(routes!(span))
        .routes(routes!(distributed))
        .routes(routes!(search))
        .routes(routes!(columns))
}

/// Spans of the project.
#[utoipa::path(
    post,
    path = "/api/spans",
    operation_id = "listSpans",
    tag = "traces",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = SpanListRequest,
    responses((status = 200, description = "Success", body = SpanPage), Failures)
)]
async fn spans(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<SpanListRequest>,
) -> Result<Json<SpanPage>, ApiError> {
    let executor = Executor::within(query.clone(), limits::SPANS_DEADLINE).filtered(selected);
    Ok(Json(spans::list(&executor, &access.project, request).await?))
}

/// One span with all its attributes, events and links.
#[utoipa::path(
    get,
    path = "/api/spans/{traceId}/{spanId}",
    operation_id = "getSpan",
    tag = "traces",
    params(ProjectQuery, AtQuery, ("traceId" = String, Path, description = "32 hexadecimal digits"), ("spanId" = String, Path, description = "16 hexadecimal digits, or 32 of a native report")),
    responses((status = 200, description = "Success", body = SpanView), Failures, NotFound)
)]
async fn span(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path((trace_id, span_id)): Path<(String, String)>,
    query: Result<Query<AtQuery>, QueryRejection>,
) -> Result<Json<SpanView>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let (trace_id, span_id) = (ids::parse_trace(&trace_id)?, ids::parse_span(&span_id)?);
    let at = time::parse_optional(query.at.as_deref(), "at")?;
    let executor = Executor::within(context.clone(), limits::SPANS_DEADLINE);
    Ok(Json(spans::one(&executor, &access.project, trace_id, span_id, at).await?))
}

/// Traces of which any span meets a query, or spans that are related as the query says; summaries without attributes.
#[utoipa::path(
    post,
    path = "/api/traces/search",
    operation_id = "searchTraces",
    tag = "traces",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = TraceSearchRequest,
    responses((status = 200, description = "Success", body = TraceSearchPage), Failures)
)]
async fn search(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<TraceSearchRequest>,
) -> Result<Json<TraceSearchPage>, ApiError> {
    let executor = Executor::within(query.clone(), limits::SPANS_DEADLINE).filtered(selected);
    Ok(Json(trace_search::search(&executor, &access.project, request).await?))
}

/// All Endpoints, Tasks, AI Traces, spans and exceptions of a trace, in all projects that the user may read.
#[utoipa::path(
    post,
    path = "/api/distributed-traces/{traceId}",
    operation_id = "getDistributedTrace",
    tag = "traces",
    params(ProjectQuery, ("traceId" = String, Path, description = "32 hexadecimal digits, dashes allowed")),
    request_body = DetailRequest,
    responses((status = 200, description = "Success", body = DistributedTrace), Failures, NotFound)
)]
async fn distributed(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(trace_id): Path<String>,
    JsonBody(request): JsonBody<DetailRequest>,
) -> Result<Json<DistributedTrace>, ApiError> {
    let trace_id = ids::parse_trace(&trace_id)?;
    let recorded_at = time::parse_optional(request.recorded_at.as_deref(), "recordedAt")?;
    let projects = access.readable_projects(&accounts.control.projects);
    let executor = Executor::within(query.clone(), limits::SPANS_DEADLINE);
    Ok(Json(distributed::read(&executor, projects, trace_id, recorded_at).await?))
}

/// The spans of a trace without attributes, in columns, in all projects that the user may read; at most 20,000 from a
/// place on.
#[utoipa::path(
    post,
    path = "/api/traces/{traceId}/columns",
    operation_id = "getTraceColumns",
    tag = "traces",
    params(ProjectQuery, ("traceId" = String, Path, description = "32 hexadecimal digits, dashes allowed")),
    request_body = TraceColumnsRequest,
    responses((status = 200, description = "Success", body = TraceColumns), Failures, NotFound)
)]
async fn columns(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(trace_id): Path<String>,
    JsonBody(request): JsonBody<TraceColumnsRequest>,
) -> Result<Json<TraceColumns>, ApiError> {
    let trace_id = ids::parse_trace(&trace_id)?;
    let projects = access.readable_projects(&accounts.control.projects);
    let executor = Executor::within(query.clone(), limits::SPANS_DEADLINE);
    Ok(Json(trace_columns::read(&executor, projects, trace_id, request).await?))
}
