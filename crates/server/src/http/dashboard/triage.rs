//! Changes of Issues: `/api/exception-stack-traces/state` and other operations; comments.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::{Path, State};

use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_accounts::Permission;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::ids;
use tidewatch_query::issues;
use tidewatch_query::issues::{activity, triage};
use tidewatch_query::views::triage::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(archive))
        .routes(routes!(unarchive))
        .routes(routes!(set_state))
        .routes(routes!(assign))
        .routes(routes!(merge))
        .routes(routes!(unmerge))
        .routes(routes!(activity))
        .routes(routes!(similar))
        .routes(routes!(comment))
        .routes(routes!(edit_comment, delete_comment))
}

/// Archives Issues: they are hidden until they occur again.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/archive",
    operation_id = "archiveIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = HashesRequest,
    responses((status = 200, description = "Success", body = Archived), Failures)
)]
async fn archive(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<HashesRequest>,
) -> Result<Json<Archived>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(triage::archive(&executor, &actor, &access.project, request).await?))
}

/// Unarchives Issues: they are listed again.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/unarchive",
    operation_id = "unarchiveIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = HashesRequest,
    responses((status = 200, description = "Success", body = Unarchived), Failures)
)]
async fn unarchive(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<HashesRequest>,
) -> Result<Json<Unarchived>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(triage::unarchive(&executor, &actor, &access.project, request).await?))
}

/// Sets the state of Issues: resolved, muted, archived, open.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/state",
    operation_id = "setIssueState",
    tag = "issues",
    params(ProjectQuery),
    request_body = IssueStateRequest,
    responses((status = 200, description = "Success", body = IssuesChanged), Failures)
)]
async fn set_state(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<IssueStateRequest>,
) -> Result<Json<IssuesChanged>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(triage::set_state(&executor, &actor, &access.project, request).await?))
}

/// Assigns Issues to a user with access to the project, or to nobody.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/assign",
    operation_id = "assignIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = IssueAssignRequest,
    responses((status = 200, description = "Success", body = IssuesChanged), Failures, NotFound)
)]
async fn assign(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<IssueAssignRequest>,
) -> Result<Json<IssuesChanged>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(triage::assign(&executor, &actor, &access.project, request).await?))
}

/// Merges Issues: lists show one Issue with the occurrences of all. Their hashes stay.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/merge",
    operation_id = "mergeIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = IssueMergeRequest,
    responses((status = 200, description = "Success", body = IssuesMerged), Failures)
)]
async fn merge(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<IssueMergeRequest>,
) -> Result<Json<IssuesMerged>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(triage::merge(&executor, &actor, &access.project, request).await?))
}

/// Makes merged hashes Issues of their own again.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/unmerge",
    operation_id = "unmergeIssues",
    tag = "issues",
    params(ProjectQuery),
    request_body = HashesRequest,
    responses((status = 200, description = "Success", body = IssuesChanged), Failures)
)]
async fn unmerge(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<HashesRequest>,
) -> Result<Json<IssuesChanged>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(triage::unmerge(&executor, &actor, &access.project, request).await?))
}

/// Lists the decisions of users about an Issue, its regressions, and comments.
#[utoipa::path(
    get,
    path = "/api/exception-stack-traces/{hash}/activity",
    operation_id = "listIssueActivity",
    tag = "issues",
    params(ProjectQuery, ("hash" = String, Path, description = "16 hexadecimal digits")),
    responses((status = 200, description = "Success", body = IssueActivityList), Failures)
)]
async fn activity(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(hash): Path<String>,
) -> Result<Json<IssueActivityList>, ApiError> {
    let hash = ids::parse_hash(&hash)?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(activity::list(&executor, &access.project, hash).await?))
}

/// Writes a comment on an Issue.
#[utoipa::path(
    post,
    path = "/api/exception-stack-traces/{hash}/comments",
    operation_id = "commentOnIssue",
    tag = "issues",
    params(ProjectQuery, ("hash" = String, Path, description = "16 hexadecimal digits")),
    request_body = IssueCommentRequest,
    responses((status = 200, description = "Success", body = IssueCommentWritten), Failures)
)]
async fn comment(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(hash): Path<String>,
    JsonBody(request): JsonBody<IssueCommentRequest>,
) -> Result<Json<IssueCommentWritten>, ApiError> {
    let hash = ids::parse_hash(&hash)?;
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(activity::comment(&executor, &actor, &access.project, hash, request).await?))
}

/// Changes an own comment.
#[utoipa::path(
    put,
    path = "/api/exception-stack-traces/comments/{id}",
    operation_id = "editIssueComment",
    tag = "issues",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the comment")),
    request_body = IssueCommentRequest,
    responses((status = 200, description = "Success", body = IssueCommentWritten), Failures, NotFound)
)]
async fn edit_comment(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<IssueCommentRequest>,
) -> Result<Json<IssueCommentWritten>, ApiError> {
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(activity::edit_comment(&executor, &actor, &access.project, comment_id(&id)?, request).await?))
}

/// Deletes an own comment; owners and admins delete any.
#[utoipa::path(
    delete,
    path = "/api/exception-stack-traces/comments/{id}",
    operation_id = "deleteIssueComment",
    tag = "issues",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the comment")),
    responses((status = 200, description = "Success", body = IssueCommentWritten), Failures, NotFound)
)]
async fn delete_comment(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<IssueCommentWritten>, ApiError> {
    let is_admin = access.role.permits(Permission::Admin);
    let actor = access.actor(&query.clock);
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(activity::delete_comment(&executor, &actor, &access.project, comment_id(&id)?, is_admin).await?))
}

/// Issues of the same exception type with similar stack traces or messages.
#[utoipa::path(
    get,
    path = "/api/exception-stack-traces/{hash}/similar",
    operation_id = "listSimilarIssues",
    tag = "issues",
    params(ProjectQuery, ("hash" = String, Path, description = "16 hexadecimal digits")),
    responses((status = 200, description = "Success", body = SimilarIssues), Failures, NotFound)
)]
async fn similar(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(hash): Path<String>,
) -> Result<Json<SimilarIssues>, ApiError> {
    let hash = ids::parse_hash(&hash)?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(Json(issues::similar::list(&executor, &access.project, hash).await?))
}

fn comment_id(id: &str) -> Result<i64, ApiError> {
    id.parse().map_err(|_| ApiError::NotFound("no such comment".to_owned()))
}
