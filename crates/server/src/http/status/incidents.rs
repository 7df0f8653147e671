//! `/api/organizations/{id}/incidents`: incidents of alerts, and those that people open.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use tidewatch_accounts::Project;
use tidewatch_alerts::channels::Severity;
use tidewatch_alerts::incidents::views::*;
use tidewatch_alerts::incidents::{
    Incident, IncidentChange, IncidentFilter, IncidentStatus, NewIncident, is_momentary,
};
use tidewatch_alerts::status_pages::{rfc3339, settings};
use tidewatch_limits as limits;
use uuid::Uuid;

use super::timeline::{self, Timeline};
use super::visible::{find, sees};
use super::{post_mortems, view};
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::gate::auth::{OrganizationAccess, Read, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};
use tidewatch_query::context::QueryContext;

/// Query string of the list.
#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// `open` or `resolved`; all without it.
    status: Option<String>,
    /// Only incidents with a lower id: the `next` of the page before.
    before: Option<i64>,
}

/// The incidents of an organization, latest first. Those of projects that the caller cannot open are left out.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/incidents",
    operation_id = "listIncidents",
    tag = "incidents",
    params(("id" = i64, Path), ListQuery),
    responses((status = 200, description = "Success", body = IncidentsView), Failures)
)]
pub async fn list(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
    Query(query): Query<ListQuery>,
) -> Result<Json<IncidentsView>, ApiError> {
    let is_open = match query.status.as_deref() {
        None | Some("") => None,
        Some("open") => Some(true),
        Some("resolved") => Some(false),
        Some(_) => return Err(ApiError::malformed("status is open or resolved")),
    };
    let filter = IncidentFilter { is_open, before: query.before };
    let incidents = alerting.rooms.incidents.incidents(access.organization.id, filter).await?;
    let is_full = incidents.len() as i64 == limits::INCIDENTS_LISTED_MAX;
    let next = incidents.last().filter(|_| is_full).map(|last| last.id);
    let visible = incidents.iter().filter(|incident| sees(&accounts, access.user.id, incident));
    Ok(Json(IncidentsView { incidents: visible.map(|incident| view::incident(&accounts, incident)).collect(), next }))
}

/// Opens an incident. The subscribers of its status pages are notified.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/incidents",
    operation_id = "openIncident",
    tag = "incidents",
    params(("id" = i64, Path)),
    request_body = IncidentRequest,
    responses((status = 201, description = "Created", body = IncidentCreated), Failures, NotFound)
)]
pub async fn open(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Write>,
    JsonBody(request): JsonBody<IncidentRequest>,
) -> Result<(StatusCode, Json<IncidentCreated>), ApiError> {
    let organization = access.organization.id;
    let project = request.project_id.as_deref().filter(|id| !id.is_empty());
    let project = project.map(|id| own_project(&accounts, &access, id)).transpose()?;
    let status = match request.status.as_deref() {
        None => IncidentStatus::Investigating,
        Some(name) => status_of(name)?,
    };
    let new = NewIncident {
        project: project.map(|project| project.number),
        title: title_of(&request.title)?,
        severity: request.severity.as_deref().map_or(Ok(Severity::Warning), severity_of)?,
        status,
        message: message_of(&request.message)?,
        pages: pages_of(request.status_page_ids)?,
    };
    let id = alerting
        .rooms
        .incidents
        .open_incident(&access.actor(&alerting.clock), &alerting.announcer, organization, &new)
        .await?;
    changed(&alerting, &accounts);
    Ok((StatusCode::CREATED, Json(IncidentCreated { id })))
}

/// An incident with its alerts, timeline and post-mortem.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/incidents/{incidentId}",
    operation_id = "getIncident",
    tag = "incidents",
    params(("id" = i64, Path), ("incidentId" = i64, Path)),
    responses((status = 200, description = "Success", body = IncidentDetail), Failures, NotFound)
)]
pub async fn detail(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
    Path((_organization, id)): Path<(String, String)>,
) -> Result<Json<IncidentDetail>, ApiError> {
    let incident = find(&alerting, &accounts, &access, &id).await?;
    Ok(Json(detail_of(&alerting, &query, &accounts, &incident).await?))
}

/// Changes title, severity and status pages of an incident.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/incidents/{incidentId}",
    operation_id = "changeIncident",
    tag = "incidents",
    params(("id" = i64, Path), ("incidentId" = i64, Path)),
    request_body = IncidentChangeRequest,
    responses((status = 200, description = "Success", body = IncidentDetail), Failures, NotFound)
)]
pub async fn change(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Write>,
    Path((_organization, id)): Path<(String, String)>,
    JsonBody(request): JsonBody<IncidentChangeRequest>,
) -> Result<Json<IncidentDetail>, ApiError> {
    let incident = find(&alerting, &accounts, &access, &id).await?;
    let change = IncidentChange {
        title: request.title.as_deref().map(title_of).transpose()?,
        severity: request.severity.as_deref().map(severity_of).transpose()?,
        pages: request.status_page_ids.map(pages_of).transpose()?,
    };
    alerting
        .rooms
        .incidents
        .change_incident(&access.actor(&alerting.clock), incident.organization, incident.id, &change)
        .await?;
    changed(&alerting, &accounts);
    let incident = alerting.rooms.incidents.incident(incident.organization, incident.id).await?;
    Ok(Json(detail_of(&alerting, &query, &accounts, &incident).await?))
}

/// Adds an update to an incident. `resolved` ends it; another status opens it again.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/incidents/{incidentId}/updates",
    operation_id = "updateIncident",
    tag = "incidents",
    params(("id" = i64, Path), ("incidentId" = i64, Path)),
    request_body = IncidentUpdateRequest,
    responses((status = 201, description = "Created", body = IncidentDetail), Failures, NotFound)
)]
pub async fn update(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Write>,
    Path((_organization, id)): Path<(String, String)>,
    JsonBody(request): JsonBody<IncidentUpdateRequest>,
) -> Result<(StatusCode, Json<IncidentDetail>), ApiError> {
    let incident = find(&alerting, &accounts, &access, &id).await?;
    let (status, message) = (status_of(&request.status)?, message_of(&request.message)?);
    if message.is_empty() {
        return Err(ApiError::unprocessable("message is missing"));
    }
    let (actor, announcer) = (access.actor(&alerting.clock), &alerting.announcer);
    let (organization, id) = (incident.organization, incident.id);
    alerting.rooms.incidents.update_incident(&actor, announcer, organization, id, status, &message).await?;
    changed(&alerting, &accounts);
    let incident = alerting.rooms.incidents.incident(organization, id).await?;
    Ok((StatusCode::CREATED, Json(detail_of(&alerting, &query, &accounts, &incident).await?)))
}

/// Status pages show the change, and mails about it may wait.
fn changed(alerting: &Alerting, accounts: &Accounts) {
    alerting.status_pages.forget();
    accounts.mailer.wake();
}

fn own_project<N>(accounts: &Accounts, access: &OrganizationAccess<N>, id: &str) -> Result<Arc<Project>, ApiError> {
    let id = Uuid::try_parse(id).map_err(|_| ApiError::malformed("projectId is not a UUID"))?;
    let project =
        accounts.control.projects.project_by_id(id).filter(|project| project.organization_id == access.organization.id);
    let project = project.filter(|project| accounts.control.people.role_in(access.user.id, project).is_some());
    project.ok_or_else(|| ApiError::not_found("no such project"))
}

fn title_of(title: &str) -> Result<String, ApiError> {
    settings::line("title", title, limits::INCIDENT_TITLE_CHARS_MAX).map_err(ApiError::unprocessable)
}

fn message_of(message: &str) -> Result<String, ApiError> {
    settings::lines("message", message, limits::INCIDENT_MESSAGE_CHARS_MAX).map_err(ApiError::unprocessable)
}

fn severity_of(name: &str) -> Result<Severity, ApiError> {
    Severity::of_name(name).ok_or_else(|| ApiError::unprocessable("severity is info, warning or critical"))
}

fn status_of(name: &str) -> Result<IncidentStatus, ApiError> {
    IncidentStatus::of_name(name)
        .ok_or_else(|| ApiError::unprocessable("status is investigating, identified, monitoring or resolved"))
}

fn pages_of(mut pages: Vec<i64>) -> Result<Vec<i64>, ApiError> {
    pages.sort_unstable();
    pages.dedup();
    let most = limits::STATUS_PAGES_MAX;
    if pages.len() as i64 > most {
        return Err(ApiError::unprocessable(format!("statusPageIds has at most {most} status pages")));
    }
    Ok(pages)
}

async fn detail_of(
    alerting: &Alerting,
    query: &Arc<QueryContext>,
    accounts: &Accounts,
    incident: &Incident,
) -> Result<IncidentDetail, ApiError> {
    let alerts = alerting.rooms.incidents.incident_alerts(incident.id).await?;
    let Timeline { entries, lacks_issues } = timeline::of(alerting, query, accounts, incident, &alerts).await?;
    let alerts = alerts.into_iter().map(|alert| IncidentAlertView {
        momentary: is_momentary(&alert.rule_type),
        subject: alert.subject,
        rule_type: alert.rule_type,
        severity: alert.severity.name().to_owned(),
        path: alert.path,
        fired_at: rfc3339(alert.fired_ns),
        resolved_at: alert.resolved_ns.map(rfc3339),
    });
    let post_mortem = alerting.rooms.incidents.post_mortem(incident.id).await?;
    Ok(IncidentDetail {
        incident: view::incident(accounts, incident),
        alerts: alerts.collect(),
        post_mortem_draft: post_mortems::draft(&incident.title, &entries),
        timeline: entries,
        lacks_issues,
        status_page_ids: alerting.rooms.incidents.incident_pages(incident.id).await?,
        post_mortem: post_mortem.map(post_mortems::view_of),
    })
}
