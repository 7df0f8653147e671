//! `/api/organizations/{id}/status-pages`: the status pages of an organization. WIRE 6.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tidewatch_accounts::ControlError;
use tidewatch_alerts::status_pages::views::*;
use tidewatch_alerts::status_pages::{
    NewStatusPage, PageContents, PublicPage, first_day_ns, logo as logo_file, settings,
};
use tidewatch_limits as limits;

use super::visible::number;
use super::{public, view};
use crate::contexts::{Accounts, Alerting, Process};
use crate::error::ApiError;
use crate::http::gate::auth::{Admin, OrganizationAccess, Read};
use crate::http::gate::body::{JsonBody, LogoBody};
use crate::http::openapi::{Failures, NotFound};

const NO_PAGE: &str = "no such status page";

/// The status pages of an organization, and the monitors that they can show.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/status-pages",
    operation_id = "listStatusPages",
    tag = "status pages",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = StatusPagesView), Failures)
)]
pub async fn list(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
) -> Result<Json<StatusPagesView>, ApiError> {
    let organization = access.organization.id;
    let mut status_pages = Vec::new();
    for page in alerting.rooms.status_pages.status_pages(organization).await? {
        let windows = alerting.rooms.status_pages.maintenance_windows(page.id).await?;
        status_pages.push(view::page(page, &windows));
    }
    let monitors = alerting.status_pages.source().monitors(accounts.control.database(), organization).await?;
    let checks = monitors.into_iter().map(|monitor| StatusCheckChoice {
        id: monitor.id,
        name: monitor.name,
        check_type: monitor.check_type,
        status: monitor.state.name().to_owned(),
    });
    Ok(Json(StatusPagesView { status_pages, checks: checks.collect() }))
}

/// Creates a status page.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/status-pages",
    operation_id = "createStatusPage",
    tag = "status pages",
    params(("id" = i64, Path)),
    request_body = StatusPageRequest,
    responses((status = 201, description = "Created", body = StatusPageView), Failures)
)]
pub async fn create(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    access: OrganizationAccess<Admin>,
    JsonBody(request): JsonBody<StatusPageRequest>,
) -> Result<(StatusCode, Json<StatusPageView>), ApiError> {
    let organization = access.organization.id;
    let new = checked(&alerting, &accounts, &process, organization, &request).await?;
    let id = alerting
        .rooms
        .status_pages
        .create_status_page(&access.actor(&alerting.clock), organization, &new)
        .await
        .map_err(taken)?;
    alerting.status_pages.forget();
    Ok((StatusCode::CREATED, Json(stored(&alerting, organization, id).await?)))
}

/// Replaces the settings of a status page.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/status-pages/{pageId}",
    operation_id = "changeStatusPage",
    tag = "status pages",
    params(("id" = i64, Path), ("pageId" = i64, Path)),
    request_body = StatusPageRequest,
    responses((status = 200, description = "Success", body = StatusPageView), Failures, NotFound)
)]
pub async fn change(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, page)): Path<(String, String)>,
    JsonBody(request): JsonBody<StatusPageRequest>,
) -> Result<Json<StatusPageView>, ApiError> {
    let (organization, page) = (access.organization.id, number(&page, NO_PAGE)?);
    stored(&alerting, organization, page).await?;
    let new = checked(&alerting, &accounts, &process, organization, &request).await?;
    alerting
        .rooms
        .status_pages
        .change_status_page(&access.actor(&alerting.clock), organization, page, &new)
        .await
        .map_err(taken)?;
    alerting.status_pages.forget();
    Ok(Json(stored(&alerting, organization, page).await?))
}

/// Deletes a status page with its subscribers and its logo.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/status-pages/{pageId}",
    operation_id = "deleteStatusPage",
    tag = "status pages",
    params(("id" = i64, Path), ("pageId" = i64, Path)),
    responses((status = 200, description = "Deleted", body = StatusPageDone), Failures, NotFound)
)]
pub async fn delete(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, page)): Path<(String, String)>,
) -> Result<Json<StatusPageDone>, ApiError> {
    let page = number(&page, NO_PAGE)?;
    alerting
        .rooms
        .status_pages
        .delete_status_page(&access.actor(&alerting.clock), access.organization.id, page)
        .await?;
    alerting.status_pages.forget();
    let blobs = alerting.status_logos.clone();
    let removed = tokio::task::spawn_blocking(move || blobs.delete(&public::logo_name(page))).await;
    removed.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    Ok(Json(StatusPageDone { id: page }))
}

/// Sets the logo of a status page: a PNG or JPEG file of at most 1 MB.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/status-pages/{pageId}/logo",
    operation_id = "setStatusPageLogo",
    tag = "status pages",
    params(("id" = i64, Path), ("pageId" = i64, Path)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, description = "Success", body = StatusPageView), Failures, NotFound)
)]
pub async fn logo(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, page)): Path<(String, String)>,
    LogoBody(file): LogoBody,
) -> Result<Json<StatusPageView>, ApiError> {
    let (organization, page) = (access.organization.id, number(&page, NO_PAGE)?);
    stored(&alerting, organization, page).await?;
    let content_type = logo_file::content_type(&file);
    let content_type = content_type.ok_or_else(|| ApiError::unprocessable("a logo is a PNG or JPEG file"))?;
    store_logo(&alerting, page, file).await?;
    alerting
        .rooms
        .status_pages
        .set_status_page_logo(&access.actor(&alerting.clock), organization, page, content_type)
        .await?;
    alerting.status_pages.forget();
    Ok(Json(stored(&alerting, organization, page).await?))
}

async fn store_logo(alerting: &Alerting, page: i64, file: Bytes) -> Result<(), ApiError> {
    let blobs = alerting.status_logos.clone();
    let write = tokio::task::spawn_blocking(move || blobs.put(&public::logo_name(page), &file)).await;
    write.map_err(ApiError::internal)?.map_err(ApiError::internal)
}

/// Removes the logo of a status page.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/status-pages/{pageId}/logo",
    operation_id = "removeStatusPageLogo",
    tag = "status pages",
    params(("id" = i64, Path), ("pageId" = i64, Path)),
    responses((status = 200, description = "Success", body = StatusPageView), Failures, NotFound)
)]
pub async fn remove_logo(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, page)): Path<(String, String)>,
) -> Result<Json<StatusPageView>, ApiError> {
    let (organization, page) = (access.organization.id, number(&page, NO_PAGE)?);
    alerting.rooms.status_pages.set_status_page_logo(&access.actor(&alerting.clock), organization, page, "").await?;
    alerting.status_pages.forget();
    let blobs = alerting.status_logos.clone();
    let removed = tokio::task::spawn_blocking(move || blobs.delete(&public::logo_name(page))).await;
    removed.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    Ok(Json(stored(&alerting, organization, page).await?))
}

/// Shows visitors' view of these settings. Nothing is stored.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/status-pages/preview",
    operation_id = "previewStatusPage",
    tag = "status pages",
    params(("id" = i64, Path)),
    request_body = StatusPageRequest,
    responses((status = 200, description = "Success", body = PublicStatus), Failures)
)]
pub async fn preview(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    access: OrganizationAccess<Read>,
    JsonBody(request): JsonBody<StatusPageRequest>,
) -> Result<Response, ApiError> {
    let (organization, now_ns) = (access.organization.id, alerting.clock.now_ns());
    let settings = checked(&alerting, &accounts, &process, organization, &request).await?;
    let ids: Vec<i64> = settings.components.iter().map(|component| component.check_id).collect();
    let page = tidewatch_alerts::status_pages::StatusPage {
        id: 0,
        organization,
        settings,
        logo: None,
        subscribers: 0,
        created_ns: now_ns,
        updated_ns: now_ns,
    };
    let source = alerting.status_pages.source();
    let monitors = source.monitors(accounts.control.database(), organization).await?;
    let days = source.days(accounts.control.database(), &ids, first_day_ns(now_ns), now_ns).await?;
    let outages = alerting.rooms.status_pages.outages(organization, first_day_ns(now_ns)).await?;
    let contents = PageContents { monitors: &monitors, days: &days, outages: &outages, ..PageContents::default() };
    let page = PublicPage::new(&page, contents, false, now_ns);
    Ok(Json(view::public(&page)).into_response())
}

async fn stored(alerting: &Alerting, organization: i64, id: i64) -> Result<StatusPageView, ApiError> {
    let page = alerting.rooms.status_pages.status_page(id).await?.filter(|page| page.organization == organization);
    let page = page.ok_or_else(|| ApiError::not_found(NO_PAGE))?;
    let windows = alerting.rooms.status_pages.maintenance_windows(id).await?;
    Ok(view::page(page, &windows))
}

/// A slug or domain of another page is no conflict for clients of this route. WIRE 6: 422.
fn taken(error: ControlError) -> ApiError {
    match error {
        ControlError::Conflict(why) => ApiError::unprocessable(why),
        other => other.into(),
    }
}

async fn checked(
    alerting: &Alerting,
    accounts: &Accounts,
    process: &Process,
    organization: i64,
    request: &StatusPageRequest,
) -> Result<NewStatusPage, ApiError> {
    let groups: Vec<(String, Vec<i64>)> =
        request.groups.iter().map(|group| (group.name.clone(), group.check_ids.clone())).collect();
    let description = request.description.as_deref().unwrap_or_default();
    let new = || -> Result<NewStatusPage, String> {
        Ok(NewStatusPage {
            name: settings::line("name", &request.name, limits::STATUS_PAGE_NAME_CHARS_MAX)?,
            slug: settings::slug(&request.slug)?,
            is_public: request.is_public,
            description: settings::lines("description", description, limits::STATUS_PAGE_DESCRIPTION_CHARS_MAX)?,
            custom_domain: settings::custom_domain(request.custom_domain.as_deref().unwrap_or_default())?,
            components: settings::components(&request.check_ids, &groups)?,
        })
    };
    let new = new().map_err(ApiError::unprocessable)?;
    let own = url::Url::parse(&process.config.base_url()).ok().and_then(|url| url.host_str().map(str::to_owned));
    if new.custom_domain.is_some() && new.custom_domain == own {
        return Err(ApiError::unprocessable("customDomain is the host of this server"));
    }
    let monitors = alerting.status_pages.source().monitors(accounts.control.database(), organization).await?;
    let known: HashSet<i64> = monitors.iter().map(|monitor| monitor.id).collect();
    if new.components.iter().any(|component| !known.contains(&component.check_id)) {
        return Err(ApiError::unprocessable("checkIds has a monitor that this organization does not have"));
    }
    Ok(new)
}
