//! Issues: `/api/exception-stack-traces…`.

use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use crate::query::views::issue::*;
use crate::query::views::page::*;

/// Issues with an occurrence in the range.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces",
    operation_id = "listIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = IssueListRequest,
    responses((status = 200, description = "The answer", body = Page<IssueGroup>), Failures)
)]
pub async fn list() {}

/// Hides Issues until they occur again.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/archive",
    operation_id = "archiveIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = HashesRequest,
    responses((status = 200, description = "The answer", body = Archived), Failures)
)]
pub async fn archive() {}

/// Shows archived Issues again.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/unarchive",
    operation_id = "unarchiveIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = HashesRequest,
    responses((status = 200, description = "The answer", body = Unarchived), Failures)
)]
pub async fn unarchive() {}

/// One occurrence.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/by-id/{id}",
    operation_id = "getOccurrence",
    tag = "issues",
    params(ProjectQuery, ("id" = String, Path, description = "Row id", format = "uuid")),
    request_body = DetailRequest,
    responses((status = 200, description = "The answer", body = OccurrenceDetail), Failures, NotFound)
)]
pub async fn occurrence() {}

/// One Issue with its occurrences.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/{hash}",
    operation_id = "getIssue",
    tag = "issues",
    params(ProjectQuery, ("hash" = String, Path, description = "16 hexadecimal digits")),
    request_body = IssueDetailRequest,
    responses((status = 200, description = "The answer", body = IssueDetail), Failures, NotFound)
)]
pub async fn detail() {}
