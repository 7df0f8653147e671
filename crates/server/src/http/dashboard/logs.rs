//! Logs: `/api/logs…`.

use crate::http::openapi::{Failures, ProjectQuery};
use crate::query::views::log::*;
use crate::query::views::page::*;

/// Log records.
#[utoipa::path(
    post,
    path = "/api/logs",
    operation_id = "listLogs",
    tag = "logs",
    params(ProjectQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "The answer", body = Page<LogView>), Failures)
)]
pub async fn list() {}

/// Log records over time, by severity, and by service.
#[utoipa::path(
    post,
    path = "/api/logs/histogram",
    operation_id = "histogramLogs",
    tag = "logs",
    params(ProjectQuery),
    request_body = LogListRequest,
    responses((status = 200, description = "The answer", body = LogHistogram), Failures)
)]
pub async fn histogram() {}
