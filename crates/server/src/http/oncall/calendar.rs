//! The iCalendar feed of the caller's shifts. Calendars cannot send headers, so its address has a secret token, which no
//! log line and no span of ours shows.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use url::Url;

use crate::contexts::{Accounts, Alerting, Process};
use crate::error::ApiError;
use crate::http::confirmation::Done;
use crate::http::gate::auth::LoginUser;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{Failures, NotFound, TooMany};
use tidewatch_alerts::oncall::calendar::{Event, feed as calendar_of};
use tidewatch_alerts::oncall::page_views::OncallCalendar;
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::OncallFeed;
use tidewatch_query::time::to_rfc3339;

/// Whether the caller has a feed.
#[utoipa::path(
    get,
    path = "/api/on-call-calendar",
    operation_id = "getOncallCalendar",
    tag = "on-call",
    responses((status = 200, description = "Success", body = OncallCalendar), Failures)
)]
pub async fn get(
    State(alerting): State<Arc<Alerting>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<OncallCalendar>, ApiError> {
    let created = alerting.rooms.oncall.oncall_calendar(caller.user.id).await?;
    Ok(Json(OncallCalendar { created_at: created.map(to_rfc3339), url: None }))
}

/// Creates the address of the caller's feed; an earlier one ends.
#[utoipa::path(
    post,
    path = "/api/on-call-calendar",
    operation_id = "createOncallCalendar",
    tag = "on-call",
    responses((status = 200, description = "Success", body = OncallCalendar), Failures)
)]
pub async fn create(
    State(alerting): State<Arc<Alerting>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<OncallCalendar>, ApiError> {
    let actor = caller.actor(&alerting.clock);
    let token = alerting.rooms.oncall.create_oncall_calendar(&actor).await?;
    let url = format!("{}/api/on-call/calendar/{token}", process.config.base_url());
    Ok(Json(OncallCalendar { created_at: Some(to_rfc3339(actor.at_ns)), url: Some(url) }))
}

/// Ends the address of the caller's feed.
#[utoipa::path(
    delete,
    path = "/api/on-call-calendar",
    operation_id = "endOncallCalendar",
    tag = "on-call",
    responses((status = 200, description = "Success", body = Done), Failures)
)]
pub async fn end(State(alerting): State<Arc<Alerting>>, LoginUser(caller): LoginUser) -> Result<Json<Done>, ApiError> {
    alerting.rooms.oncall.end_oncall_calendar(&caller.actor(&alerting.clock)).await?;
    Ok(Json(Done { message: "the feed has ended".to_owned() }))
}

/// The shifts of a user from a week ago to two months ahead, as iCalendar.
#[utoipa::path(
    get,
    path = "/api/on-call/calendar/{token}",
    operation_id = "oncallCalendarFeed",
    tag = "on-call",
    params(("token" = String, Path, description = "`twc_...`, may end with `.ics`")),
    responses((status = 200, description = "Success", content_type = "text/calendar", body = String), NotFound, TooMany),
    security(())
)]
pub async fn feed(
    _: PerIp<OncallFeed>,
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    Path(token): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    let token = token.strip_suffix(".ics").unwrap_or(&token);
    let user =
        alerting.rooms.oncall.user_of_oncall_calendar(token).await?.and_then(|user| accounts.control.people.user(user));
    let user = user.filter(|user| !user.is_disabled).ok_or_else(|| ApiError::not_found("no such feed"))?;
    let now_ns = alerting.clock.now_ns();
    let to_ns = now_ns.saturating_add(limits::ONCALL_TIMELINE_MAX.as_nanos() as i64);
    let from_ns = now_ns.saturating_sub(limits::ONCALL_CALENDAR_PAST.as_nanos() as i64);
    let mut events = Vec::new();
    for membership in accounts.control.people.memberships(user.id) {
        for stored in alerting.rooms.oncall.oncall_schedules(membership.organization.id, from_ns).await? {
            let Some(schedule) = stored.schedule() else { continue };
            let own = schedule.shifts(from_ns, to_ns).into_iter().filter(|shift| shift.user == user.id);
            events.extend(own.map(|shift| Event { schedule: stored.id, name: stored.name.clone(), shift }));
        }
    }
    let base_url = process.config.base_url();
    let host = Url::parse(&base_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let headers = [(CONTENT_TYPE, "text/calendar; charset=utf-8"), (CACHE_CONTROL, "private, no-store")];
    Ok((headers, calendar_of(&host, &events, now_ns)))
}
