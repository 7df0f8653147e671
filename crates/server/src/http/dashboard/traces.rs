//! Spans and traces: `/api/spans…`, `/api/distributed-traces…`.

use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use crate::query::views::page::*;
use crate::query::views::span::*;

/// Stored spans.
#[utoipa::path(
    post,
    path = "/api/spans",
    operation_id = "listSpans",
    tag = "traces",
    params(ProjectQuery),
    request_body = SpanListRequest,
    responses((status = 200, description = "The answer", body = SpanPage), Failures)
)]
pub async fn spans() {}

/// One span with everything it carries.
#[utoipa::path(
    get,
    path = "/api/spans/{traceId}/{spanId}",
    operation_id = "getSpan",
    tag = "traces",
    params(ProjectQuery, AtQuery, ("traceId" = String, Path, description = "32 hexadecimal digits"), ("spanId" = String, Path, description = "16 hexadecimal digits")),
    responses((status = 200, description = "The answer", body = SpanView), Failures, NotFound)
)]
pub async fn span() {}

/// Everything with this trace id, in all projects the user may open.
#[utoipa::path(
    post,
    path = "/api/distributed-traces/{traceId}",
    operation_id = "getDistributedTrace",
    tag = "traces",
    params(ProjectQuery, ("traceId" = String, Path, description = "32 hexadecimal digits, dashes allowed")),
    request_body = DetailRequest,
    responses((status = 200, description = "The answer", body = DistributedTrace), Failures, NotFound)
)]
pub async fn distributed() {}
