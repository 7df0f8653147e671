//! `GET /api/organizations/{id}/oncall/now`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::people::People;
use super::views;
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::gate::auth::{OrganizationAccess, Read};
use crate::http::openapi::Failures;
use tidewatch_alerts::oncall::OncallSchedule;
use tidewatch_alerts::oncall::views::{OncallNow, ScheduleNow, TeamNow};
use tidewatch_limits as limits;
use tidewatch_query::time::to_rfc3339;

/// Lists the people who are on call now and next, by team and schedule.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/oncall/now",
    operation_id = "oncallNow",
    tag = "on-call",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = OncallNow), Failures)
)]
pub async fn now(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
) -> Result<Json<OncallNow>, ApiError> {
    let (organization, now_ns) = (access.organization.id, alerting.clock.now_ns());
    let people = People::of(&accounts, organization).await?;
    let since_ns = now_ns.saturating_sub(limits::ONCALL_TIMELINE_MAX.as_nanos() as i64);
    let schedules = alerting.rooms.oncall.oncall_schedules(organization, since_ns).await?;
    let teams = alerting.rooms.oncall.oncall_teams(organization).await?;
    let team = |team: tidewatch_alerts::oncall::OncallTeam| {
        let own = schedules.iter().filter(|schedule| schedule.team == team.id);
        let schedules = own.map(|schedule| schedule_now(schedule, &people, now_ns)).collect();
        TeamNow { team: views::team(&accounts, organization, &people, team), schedules }
    };
    Ok(Json(OncallNow { teams: teams.into_iter().map(team).collect() }))
}

fn schedule_now(stored: &OncallSchedule, people: &People, now_ns: i64) -> ScheduleNow {
    let schedule = stored.schedule();
    let (current, next) = schedule.map_or((None, None), |schedule| schedule.current_and_next(now_ns));
    let next_up = next.and_then(|shift| people.person(shift.user));
    ScheduleNow {
        id: stored.id,
        name: stored.name.clone(),
        oncall: current.and_then(|shift| people.person(shift.user)).into_iter().collect(),
        since: current.map(|shift| to_rfc3339(shift.start_ns)),
        until: current.map(|shift| to_rfc3339(shift.end_ns)),
        next_at: next_up.is_some().then(|| next.map(|shift| to_rfc3339(shift.start_ns))).flatten(),
        next_up,
    }
}
