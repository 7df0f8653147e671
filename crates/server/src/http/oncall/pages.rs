//! `/api/pages...`: who reads a project acknowledges and resolves its pages, because who was woken must not be stopped
//! by a role.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::people::{People, description, id, name};
use super::views;
use crate::contexts::{Accounts, Alerting};
use crate::error::{ApiError, conflict_with};
use crate::http::confirmation::Done;
use crate::http::gate::auth::{ChangeOwn, ProjectAccess, Write, require};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_accounts::Permission;
use tidewatch_alerts::channels::Severity;
use tidewatch_alerts::oncall::page_views::*;
use tidewatch_alerts::oncall::{NewPage, PageFilter};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::issues::triage;
use tidewatch_query::time::to_rfc3339;
use tidewatch_query::views::page::{Page, PageInfo};
use tidewatch_query::views::triage::HashesRequest;

const NO_PAGE: &str = "no such page";

/// The pages of a project, newest first.
#[utoipa::path(
    post,
    path = "/api/pages",
    operation_id = "listPages",
    tag = "on-call",
    params(ProjectQuery),
    request_body = PagesRequest,
    responses((status = 200, description = "Success", body = Page<PageView>), Failures)
)]
pub async fn list(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<PagesRequest>,
) -> Result<Json<Page<PageView>>, ApiError> {
    if !matches!(request.status.as_str(), "" | "active" | "open" | "acknowledged" | "resolved") {
        return Err(ApiError::malformed("status is not one of open, acknowledged, resolved and active"));
    }
    let (page, limit) = (request.pagination.page, request.pagination.page_size);
    if page < 1 || !(1..=limits::ONCALL_PAGES_LISTED_MAX).contains(&limit) {
        let most = limits::ONCALL_PAGES_LISTED_MAX;
        return Err(ApiError::malformed(format!("page is at least 1, and pageSize 1 to {most}")));
    }
    let filter = PageFilter { status: &request.status, limit, offset: (page - 1).saturating_mul(limit) };
    let (total, pages) = alerting.rooms.oncall.oncall_pages(access.project.number, filter).await?;
    let people = People::of(&accounts, access.project.organization_id).await?;
    let total = total.unsigned_abs();
    let (page, page_size) = (page.unsigned_abs(), limit.unsigned_abs());
    let pagination = PageInfo { page, page_size, total, total_pages: total.div_ceil(page_size) };
    Ok(Json(Page { data: pages.iter().map(|one| views::page(&accounts, &people, one)).collect(), pagination }))
}

/// Opens a page: somebody is reached, as if a rule had fired.
#[utoipa::path(
    post,
    path = "/api/pages/open",
    operation_id = "openPage",
    tag = "on-call",
    params(ProjectQuery),
    request_body = OpenPageRequest,
    responses((status = 201, description = "Opened", body = PageView), Failures, NotFound)
)]
pub async fn open(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<OpenPageRequest>,
) -> Result<(StatusCode, Json<PageView>), ApiError> {
    let severity = Severity::of_name(&request.severity)
        .ok_or_else(|| ApiError::malformed("severity is not one of critical, warning and info"))?;
    let new = NewPage {
        policy: request.policy_id,
        subject: name("subject", &request.subject)?,
        body: description("body", &request.body)?,
        severity,
    };
    let opened = alerting.rooms.oncall.open_page(&access.actor(&alerting.clock), &access.project, &new).await?;
    alerting.oncall_wake.notify_one();
    let page = alerting.rooms.oncall.oncall_page(access.project.number, opened).await?;
    let people = People::of(&accounts, access.project.organization_id).await?;
    Ok((StatusCode::CREATED, Json(views::page(&accounts, &people, &page))))
}

/// The number of unresolved pages that were opened for Issues.
#[utoipa::path(
    post,
    path = "/api/pages/for-issues",
    operation_id = "pagesForIssues",
    tag = "on-call",
    params(ProjectQuery),
    request_body = IssueHashes,
    responses((status = 200, description = "Success", body = PageCount), Failures)
)]
pub async fn for_issues(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<IssueHashes>,
) -> Result<Json<PageCount>, ApiError> {
    bounded(request.hashes.len())?;
    Ok(Json(PageCount { count: alerting.rooms.oncall.pages_of_issues(access.project.number, &request.hashes).await? }))
}

/// Acknowledges those of the pages that are open.
#[utoipa::path(
    post,
    path = "/api/pages/bulk-acknowledge",
    operation_id = "acknowledgePages",
    tag = "on-call",
    params(ProjectQuery),
    request_body = PageIds,
    responses((status = 200, description = "Success", body = BulkAcknowledged), Failures)
)]
pub async fn bulk_acknowledge(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<ChangeOwn>,
    JsonBody(request): JsonBody<PageIds>,
) -> Result<Json<BulkAcknowledged>, ApiError> {
    bounded(request.ids.len())?;
    let done =
        alerting.rooms.oncall.acknowledge_pages(&access.actor(&alerting.clock), &access.project, &request.ids).await?;
    Ok(Json(BulkAcknowledged { acknowledged: done.len() }))
}

/// Resolves those of the pages that are not resolved.
#[utoipa::path(
    post,
    path = "/api/pages/bulk-resolve",
    operation_id = "resolvePages",
    tag = "on-call",
    params(ProjectQuery),
    request_body = PageIds,
    responses((status = 200, description = "Success", body = BulkResolved), Failures)
)]
pub async fn bulk_resolve(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<ChangeOwn>,
    JsonBody(request): JsonBody<PageIds>,
) -> Result<Json<BulkResolved>, ApiError> {
    bounded(request.ids.len())?;
    if request.archive_issues {
        require(access.role, Permission::Write)?;
    }
    let done =
        alerting.rooms.oncall.resolve_pages(&access.actor(&alerting.clock), &access.project, &request.ids).await?;
    let archived_issues =
        if request.archive_issues { archive(&alerting, &query, &access, &request.ids).await? } else { 0 };
    Ok(Json(BulkResolved { resolved: done.len(), archived_issues }))
}

/// The number of open pages of a project.
#[utoipa::path(
    get,
    path = "/api/pages/open-count",
    operation_id = "openPageCount",
    tag = "on-call",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = PageCount), Failures)
)]
pub async fn open_count(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess,
) -> Result<Json<PageCount>, ApiError> {
    let filter = PageFilter { status: "open", limit: 0, offset: 0 };
    let (count, _) = alerting.rooms.oncall.oncall_pages(access.project.number, filter).await?;
    Ok(Json(PageCount { count }))
}

/// A page with its deliveries.
#[utoipa::path(
    get,
    path = "/api/pages/{id}",
    operation_id = "getPage",
    tag = "on-call",
    params(ProjectQuery, ("id" = i64, Path)),
    responses((status = 200, description = "Success", body = PageDetail), Failures, NotFound)
)]
pub async fn get(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess,
    Path(page): Path<String>,
) -> Result<Json<PageDetail>, ApiError> {
    let page = alerting.rooms.oncall.oncall_page(access.project.number, id(&page, NO_PAGE)?).await?;
    let people = People::of(&accounts, access.project.organization_id).await?;
    let deliveries = alerting.rooms.oncall.oncall_deliveries(page.id).await?;
    let notifications = deliveries.into_iter().map(|one| PageNotification {
        id: one.id,
        level: one.step,
        iteration: one.round,
        user_id: one.user,
        target_desc: one.target,
        method_type: one.method_type,
        status: one.status.to_owned(),
        error_msg: one.error,
        created_at: to_rfc3339(one.created_ns),
        sent_at: one.sent_ns.map(to_rfc3339),
    });
    let (page, notifications) = (views::page(&accounts, &people, &page), notifications.collect());
    Ok(Json(PageDetail { page, notifications, users: people.names() }))
}

/// Acknowledges a page: nobody else is reached.
#[utoipa::path(
    post,
    path = "/api/pages/{id}/acknowledge",
    operation_id = "acknowledgePage",
    tag = "on-call",
    params(ProjectQuery, ("id" = i64, Path)),
    responses((status = 200, description = "Acknowledged", body = Done), (status = 409, description = "It is not open"), Failures, NotFound)
)]
pub async fn acknowledge(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<ChangeOwn>,
    Path(page): Path<String>,
) -> Result<Response, ApiError> {
    let page = alerting.rooms.oncall.oncall_page(access.project.number, id(&page, NO_PAGE)?).await?.id;
    let done =
        alerting.rooms.oncall.acknowledge_pages(&access.actor(&alerting.clock), &access.project, &[page]).await?;
    if done.is_empty() {
        return conflict(&alerting, &access, page, "the page is not open").await;
    }
    Ok(Json(Done { message: "the page was acknowledged".to_owned() }).into_response())
}

/// Resolves a page: its acknowledge links end.
#[utoipa::path(
    post,
    path = "/api/pages/{id}/resolve",
    operation_id = "resolvePage",
    tag = "on-call",
    params(ProjectQuery, ("id" = i64, Path)),
    request_body = PageResolveRequest,
    responses((status = 200, description = "Resolved", body = PageResolved), (status = 409, description = "It is resolved"), Failures, NotFound)
)]
pub async fn resolve(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<ChangeOwn>,
    Path(page): Path<String>,
    JsonBody(request): JsonBody<PageResolveRequest>,
) -> Result<Response, ApiError> {
    let page = alerting.rooms.oncall.oncall_page(access.project.number, id(&page, NO_PAGE)?).await?;
    if request.archive_issue {
        require(access.role, Permission::Write)?;
        if page.issue_hash().is_none() {
            return Err(ApiError::unprocessable("the page was not opened for an Issue"));
        }
    }
    let done = alerting.rooms.oncall.resolve_pages(&access.actor(&alerting.clock), &access.project, &[page.id]).await?;
    if done.is_empty() {
        return conflict(&alerting, &access, page.id, "the page is resolved already").await;
    }
    let archived_issue = request.archive_issue && archive(&alerting, &query, &access, &[page.id]).await? > 0;
    Ok(Json(PageResolved { message: "the page was resolved".to_owned(), archived_issue }).into_response())
}

/// 409 with the status of the page.
async fn conflict(
    alerting: &Alerting,
    access: &ProjectAccess<ChangeOwn>,
    page: i64,
    error: &str,
) -> Result<Response, ApiError> {
    let page = alerting.rooms.oncall.oncall_page(access.project.number, page).await?;
    Ok(conflict_with(json!({ "error": error, "status": page.status })))
}

/// Archives the Issues of pages of the project. Returns their number.
async fn archive(
    alerting: &Alerting,
    query: &Arc<QueryContext>,
    access: &ProjectAccess<ChangeOwn>,
    ids: &[i64],
) -> Result<usize, ApiError> {
    let mut hashes = Vec::new();
    for id in ids {
        match alerting.rooms.oncall.oncall_page(access.project.number, *id).await {
            Ok(page) => hashes.extend(page.issue_hash().map(str::to_owned)),
            Err(tidewatch_accounts::ControlError::Missing(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    hashes.sort();
    hashes.dedup();
    if hashes.is_empty() {
        return Ok(0);
    }
    let count = hashes.len();
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    triage::archive(&executor, &access.actor(&alerting.clock), &access.project, HashesRequest { hashes }).await?;
    Ok(count)
}

fn bounded(count: usize) -> Result<(), ApiError> {
    let most = limits::ONCALL_BULK_MAX;
    match count {
        0 => Err(ApiError::malformed("the list is empty")),
        count if count > most => Err(ApiError::unprocessable(format!("at most {most} entries"))),
        _ => Ok(()),
    }
}
