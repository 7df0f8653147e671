//! `/api/organizations/{id}/schedules...`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::people::{People, description, id, instant, name};
use super::views;
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, ChangeOwn, OrganizationAccess, Read};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};
use tidewatch_accounts::Permission;
use tidewatch_alerts::oncall::schedule::{Schedule, ScheduleDefinition};
use tidewatch_alerts::oncall::views::*;
use tidewatch_alerts::oncall::{NewOverride, NewSchedule, OncallSchedule};
use tidewatch_limits as limits;

const NO_SCHEDULE: &str = "no such schedule";

/// The schedules of an organization.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/schedules",
    operation_id = "listSchedules",
    tag = "on-call",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = Schedules), Failures)
)]
pub async fn list(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Read>,
) -> Result<Json<Schedules>, ApiError> {
    let organization = access.organization.id;
    let schedules = alerting.rooms.oncall.oncall_schedules(organization, alerting.clock.now_ns()).await?;
    Ok(Json(Schedules { schedules: schedules.iter().map(|one| views::schedule(organization, one)).collect() }))
}

/// Creates a schedule.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/schedules",
    operation_id = "createSchedule",
    tag = "on-call",
    params(("id" = i64, Path)),
    request_body = ScheduleRequest,
    responses((status = 201, description = "Created", body = ScheduleView), Failures)
)]
pub async fn create(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    JsonBody(request): JsonBody<ScheduleRequest>,
) -> Result<(StatusCode, Json<ScheduleView>), ApiError> {
    let organization = access.organization.id;
    let id = alerting
        .rooms
        .oncall
        .save_oncall_schedule(&access.actor(&alerting.clock), organization, None, &checked(request)?)
        .await?;
    let stored = alerting.rooms.oncall.oncall_schedule(organization, id, alerting.clock.now_ns()).await?;
    Ok((StatusCode::CREATED, Json(views::schedule(organization, &stored))))
}

/// The timeline of a schedule that is not stored.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/schedules/preview",
    operation_id = "previewSchedule",
    tag = "on-call",
    params(("id" = i64, Path)),
    request_body = SchedulePreviewRequest,
    responses((status = 200, description = "Success", body = Timeline), Failures)
)]
pub async fn preview(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
    JsonBody(request): JsonBody<SchedulePreviewRequest>,
) -> Result<Json<Timeline>, ApiError> {
    let (from_ns, to_ns) = range(Some(&request.from), Some(&request.to))?;
    let definition = definition(request.definition)?;
    let schedule = Schedule::new(&request.timezone, &definition, Vec::new()).map_err(ApiError::unprocessable)?;
    timeline_of(&accounts, access.organization.id, &schedule, &definition, from_ns, to_ns).await
}

/// A schedule and the overrides that have not ended.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/schedules/{scheduleId}",
    operation_id = "getSchedule",
    tag = "on-call",
    params(("id" = i64, Path), ("scheduleId" = i64, Path)),
    responses((status = 200, description = "Success", body = ScheduleDetail), Failures, NotFound)
)]
pub async fn get(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Read>,
    Path((_organization, schedule)): Path<(String, String)>,
) -> Result<Json<ScheduleDetail>, ApiError> {
    let stored = stored(&alerting, &access, &schedule, alerting.clock.now_ns()).await?;
    let overrides = stored.overrides.iter().map(views::oncall_override).collect();
    Ok(Json(ScheduleDetail { schedule: views::schedule(access.organization.id, &stored), overrides }))
}

/// Changes a schedule. Its overrides remain.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/schedules/{scheduleId}",
    operation_id = "changeSchedule",
    tag = "on-call",
    params(("id" = i64, Path), ("scheduleId" = i64, Path)),
    request_body = ScheduleRequest,
    responses((status = 200, description = "Success", body = ScheduleView), Failures, NotFound)
)]
pub async fn change(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, schedule)): Path<(String, String)>,
    JsonBody(request): JsonBody<ScheduleRequest>,
) -> Result<Json<ScheduleView>, ApiError> {
    let (organization, schedule) = (access.organization.id, id(&schedule, NO_SCHEDULE)?);
    let new = checked(request)?;
    alerting
        .rooms
        .oncall
        .save_oncall_schedule(&access.actor(&alerting.clock), organization, Some(schedule), &new)
        .await?;
    let stored = alerting.rooms.oncall.oncall_schedule(organization, schedule, alerting.clock.now_ns()).await?;
    Ok(Json(views::schedule(organization, &stored)))
}

/// Deletes a schedule. Not possible while a policy reaches it.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/schedules/{scheduleId}",
    operation_id = "deleteSchedule",
    tag = "on-call",
    params(("id" = i64, Path), ("scheduleId" = i64, Path)),
    responses((status = 200, description = "Deleted", body = Done), Failures, NotFound)
)]
pub async fn delete(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, schedule)): Path<(String, String)>,
) -> Result<Json<Done>, ApiError> {
    let schedule = id(&schedule, NO_SCHEDULE)?;
    alerting
        .rooms
        .oncall
        .delete_oncall_schedule(&access.actor(&alerting.clock), access.organization.id, schedule)
        .await?;
    Ok(Json(Done { message: "the schedule was deleted".to_owned() }))
}

/// The range of a timeline.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TimelineQuery {
    /// The beginning, RFC 3339.
    from: Option<String>,
    /// The end, at most 62 days later.
    to: Option<String>,
}

/// Lists the people who are on call in a range, by layer and together.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/schedules/{scheduleId}/timeline",
    operation_id = "scheduleTimeline",
    tag = "on-call",
    params(("id" = i64, Path), ("scheduleId" = i64, Path), TimelineQuery),
    responses((status = 200, description = "Success", body = Timeline), Failures, NotFound)
)]
pub async fn timeline(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
    Path((_organization, schedule)): Path<(String, String)>,
    query: Result<Query<TimelineQuery>, QueryRejection>,
) -> Result<Json<Timeline>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let (from_ns, to_ns) = range(query.from.as_deref(), query.to.as_deref())?;
    let stored = stored(&alerting, &access, &schedule, from_ns).await?;
    let definition: ScheduleDefinition = serde_json::from_str(&stored.definition).map_err(ApiError::internal)?;
    let schedule = stored.schedule().ok_or_else(|| ApiError::internal("a schedule cannot be read"))?;
    timeline_of(&accounts, access.organization.id, &schedule, &definition, from_ns, to_ns).await
}

/// Puts somebody on call instead of those of the layers. Every member may.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/schedules/{scheduleId}/overrides",
    operation_id = "createOverride",
    tag = "on-call",
    params(("id" = i64, Path), ("scheduleId" = i64, Path)),
    request_body = OverrideRequest,
    responses((status = 201, description = "Created", body = OverrideView), Failures, NotFound)
)]
pub async fn add_override(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<ChangeOwn>,
    Path((_organization, schedule)): Path<(String, String)>,
    JsonBody(request): JsonBody<OverrideRequest>,
) -> Result<(StatusCode, Json<OverrideView>), ApiError> {
    let schedule = id(&schedule, NO_SCHEDULE)?;
    let start_ns = instant("startAt", Some(&request.start_at))?;
    let end_ns = instant("endAt", Some(&request.end_at))?;
    if start_ns >= end_ns {
        return Err(ApiError::unprocessable("an override ends after it starts"));
    }
    if end_ns.saturating_sub(start_ns) > limits::ONCALL_OVERRIDE_MAX.as_nanos() as i64 {
        return Err(ApiError::unprocessable("an override lasts at most 30 days"));
    }
    let (actor, organization) = (access.actor(&alerting.clock), access.organization.id);
    let new = NewOverride { user: request.user_id, start_ns, end_ns };
    let created = alerting.rooms.oncall.add_oncall_override(&actor, organization, schedule, new).await?;
    let stored = alerting.rooms.oncall.oncall_schedule(organization, schedule, i64::MIN).await?;
    let found = stored.overrides.iter().find(|one| one.id == created).map(views::oncall_override);
    Ok((StatusCode::CREATED, Json(found.ok_or_else(|| ApiError::not_found("no such override"))?)))
}

/// Deletes an override: who created it, who is on call by it, and admins.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/schedules/{scheduleId}/overrides/{overrideId}",
    operation_id = "deleteOverride",
    tag = "on-call",
    params(("id" = i64, Path), ("scheduleId" = i64, Path), ("overrideId" = i64, Path)),
    responses((status = 200, description = "Deleted", body = Done), Failures, NotFound)
)]
pub async fn delete_override(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<ChangeOwn>,
    Path((_organization, schedule, replaced)): Path<(String, String, String)>,
) -> Result<Json<Done>, ApiError> {
    let (schedule, replaced) = (id(&schedule, NO_SCHEDULE)?, id(&replaced, "no such override")?);
    let is_admin = access.role.permits(Permission::Admin);
    alerting
        .rooms
        .oncall
        .delete_oncall_override(&access.actor(&alerting.clock), access.organization.id, schedule, replaced, is_admin)
        .await?;
    Ok(Json(Done { message: "the override was deleted".to_owned() }))
}

async fn stored(
    alerting: &Alerting,
    access: &OrganizationAccess<Read>,
    schedule: &str,
    since_ns: i64,
) -> Result<OncallSchedule, ApiError> {
    Ok(alerting.rooms.oncall.oncall_schedule(access.organization.id, id(schedule, NO_SCHEDULE)?, since_ns).await?)
}

fn range(from: Option<&str>, to: Option<&str>) -> Result<(i64, i64), ApiError> {
    let (from_ns, to_ns) = (instant("from", from)?, instant("to", to)?);
    if from_ns >= to_ns {
        return Err(ApiError::malformed("to is not after from"));
    }
    if to_ns.saturating_sub(from_ns) > limits::ONCALL_TIMELINE_MAX.as_nanos() as i64 {
        return Err(ApiError::malformed("a timeline has at most 62 days"));
    }
    Ok((from_ns, to_ns))
}

fn definition(value: Value) -> Result<ScheduleDefinition, ApiError> {
    serde_json::from_value(value).map_err(|error| ApiError::unprocessable(format!("definition is wrong: {error}")))
}

fn checked(request: ScheduleRequest) -> Result<NewSchedule, ApiError> {
    let mut definition = definition(request.definition)?;
    for (number, layer) in (1..).zip(&mut definition.layers) {
        if layer.id.is_empty() || layer.id.len() > limits::ONCALL_NAME_CHARS_MAX {
            layer.id = format!("layer-{number}");
        }
    }
    Schedule::new(&request.timezone, &definition, Vec::new()).map_err(ApiError::unprocessable)?;
    let users = definition.layers.iter().flat_map(|layer| layer.user_ids.iter().copied()).collect();
    Ok(NewSchedule {
        team: request.team_id,
        name: name("name", &request.name)?,
        description: description("description", &request.description)?,
        timezone: request.timezone,
        definition: serde_json::to_string(&definition).map_err(ApiError::internal)?,
        users,
    })
}

async fn timeline_of(
    accounts: &Accounts,
    organization: i64,
    schedule: &Schedule,
    definition: &ScheduleDefinition,
    from_ns: i64,
    to_ns: i64,
) -> Result<Json<Timeline>, ApiError> {
    let people = People::of(accounts, organization).await?;
    let view = |shifts: Vec<_>| shifts.into_iter().map(views::shift).collect::<Vec<ShiftView>>();
    let layers: Vec<LayerTimeline> = definition
        .layers
        .iter()
        .enumerate()
        .map(|(index, layer)| LayerTimeline {
            id: layer.id.clone(),
            name: layer.name.clone(),
            shifts: view(schedule.layer_shifts(index, from_ns, to_ns)),
        })
        .collect();
    let result = view(schedule.shifts(from_ns, to_ns));
    let shown = layers.iter().flat_map(|layer| &layer.shifts).chain(&result);
    let users: BTreeMap<i64, Option<OncallPerson>> =
        shown.map(|shift| (shift.user_id, people.person(shift.user_id))).collect();
    let (from, to) = (tidewatch_query::time::to_rfc3339(from_ns), tidewatch_query::time::to_rfc3339(to_ns));
    Ok(Json(Timeline { from, to, layers, result, users }))
}
