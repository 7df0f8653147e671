//! `/api/organizations/{id}/status-pages/{pageId}/maintenance`: planned work.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use tidewatch_alerts::status_pages::views::{MaintenanceRequest, MaintenanceView, StatusPageDone};
use tidewatch_alerts::status_pages::{MaintenanceWindow, settings};
use tidewatch_limits as limits;
use tidewatch_query::time;

use super::view;
use super::visible::number;
use crate::contexts::Alerting;
use crate::error::ApiError;
use crate::http::gate::auth::{OrganizationAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};

const NO_PAGE: &str = "no such status page";
const NO_WINDOW: &str = "no such maintenance window";

/// Plans maintenance on a status page.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/status-pages/{pageId}/maintenance",
    operation_id = "planMaintenance",
    tag = "status pages",
    params(("id" = i64, Path), ("pageId" = i64, Path)),
    request_body = MaintenanceRequest,
    responses((status = 201, description = "Created", body = MaintenanceView), Failures, NotFound)
)]
pub async fn plan(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Write>,
    Path((_organization, page)): Path<(String, String)>,
    JsonBody(request): JsonBody<MaintenanceRequest>,
) -> Result<(StatusCode, Json<MaintenanceView>), ApiError> {
    let stored = store(&alerting, &access, &page, 0, request).await?;
    Ok((StatusCode::CREATED, stored))
}

/// Replaces a maintenance window.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/status-pages/{pageId}/maintenance/{windowId}",
    operation_id = "changeMaintenance",
    tag = "status pages",
    params(("id" = i64, Path), ("pageId" = i64, Path), ("windowId" = i64, Path)),
    request_body = MaintenanceRequest,
    responses((status = 200, description = "Success", body = MaintenanceView), Failures, NotFound)
)]
pub async fn change(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Write>,
    Path((_organization, page, window)): Path<(String, String, String)>,
    JsonBody(request): JsonBody<MaintenanceRequest>,
) -> Result<Json<MaintenanceView>, ApiError> {
    let window = number(&window, NO_WINDOW)?;
    if window <= 0 {
        return Err(ApiError::not_found(NO_WINDOW));
    }
    store(&alerting, &access, &page, window, request).await
}

/// Deletes a maintenance window.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/status-pages/{pageId}/maintenance/{windowId}",
    operation_id = "deleteMaintenance",
    tag = "status pages",
    params(("id" = i64, Path), ("pageId" = i64, Path), ("windowId" = i64, Path)),
    responses((status = 200, description = "Deleted", body = StatusPageDone), Failures, NotFound)
)]
pub async fn delete(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Write>,
    Path((_organization, page, window)): Path<(String, String, String)>,
) -> Result<Json<StatusPageDone>, ApiError> {
    let (page, id) = (number(&page, NO_PAGE)?, number(&window, NO_WINDOW)?);
    alerting
        .rooms
        .status_pages
        .delete_maintenance_window(&access.actor(&alerting.clock), access.organization.id, page, id)
        .await?;
    alerting.status_pages.forget();
    Ok(Json(StatusPageDone { id }))
}

async fn store(
    alerting: &Alerting,
    access: &OrganizationAccess<Write>,
    page: &str,
    id: i64,
    request: MaintenanceRequest,
) -> Result<Json<MaintenanceView>, ApiError> {
    let page = number(page, NO_PAGE)?;
    let starts_ns = time::parse(&request.starts_at, "startsAt")?;
    let ends_ns = time::parse(&request.ends_at, "endsAt")?;
    let longest_ns = limits::STATUS_MAINTENANCE_SPAN_MAX.as_nanos() as i64;
    if ends_ns <= starts_ns || ends_ns.saturating_sub(starts_ns) > longest_ns {
        return Err(ApiError::unprocessable("endsAt is after startsAt, by at most 30 days"));
    }
    let title = settings::line("title", &request.title, limits::INCIDENT_TITLE_CHARS_MAX);
    let description = settings::lines("description", &request.description, limits::INCIDENT_MESSAGE_CHARS_MAX);
    let window = MaintenanceWindow {
        id,
        title: title.map_err(ApiError::unprocessable)?,
        description: description.map_err(ApiError::unprocessable)?,
        starts_ns,
        ends_ns,
    };
    let actor = access.actor(&alerting.clock);
    let id = alerting.rooms.status_pages.put_maintenance_window(&actor, access.organization.id, page, &window).await?;
    alerting.status_pages.forget();
    Ok(Json(view::maintenance(&MaintenanceWindow { id, ..window })))
}
