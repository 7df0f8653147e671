//! `GET /api/organizations/{id}/oncall/handover`: what the next person on call must know.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use utoipa::IntoParams;

use super::people::People;
use super::views;
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::gate::auth::{OrganizationAccess, Read};
use crate::http::openapi::{Failures, NotFound};
use tidewatch_alerts::oncall::OncallPage;
use tidewatch_alerts::oncall::page_views::{Handover, PageView};
use tidewatch_alerts::oncall::policy::{PolicyDefinition, StepTarget, TargetKind};
use tidewatch_limits as limits;

/// The schedule of a handover.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct HandoverQuery {
    /// Id of the schedule.
    schedule_id: i64,
}

/// The last shift of a schedule that ended, and its pages: who acknowledged them, which are still open.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/oncall/handover",
    operation_id = "oncallHandover",
    tag = "on-call",
    params(("id" = i64, Path), HandoverQuery),
    responses((status = 200, description = "Success", body = Handover), Failures, NotFound)
)]
pub async fn handover(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
    query: Result<Query<HandoverQuery>, QueryRejection>,
) -> Result<Json<Handover>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let (organization, now_ns) = (access.organization.id, alerting.clock.now_ns());
    let since_ns = now_ns.saturating_sub(limits::ONCALL_TIMELINE_MAX.as_nanos() as i64);
    let stored = alerting.rooms.oncall.oncall_schedule(organization, query.schedule_id, since_ns).await?;
    let people = People::of(&accounts, organization).await?;
    let shift = stored.schedule().and_then(|schedule| schedule.last_ended(now_ns));
    let pages = match shift {
        Some(shift) => alerting.rooms.oncall.oncall_pages_between(organization, shift.start_ns, shift.end_ns).await?,
        None => Vec::new(),
    };
    let readable = accounts.control.projects.projects_of(access.user.id);
    let is_readable = |page: &OncallPage| readable.iter().any(|(project, _)| project.number == page.project);
    let reaches = StepTarget { kind: TargetKind::Schedule, id: stored.id };
    let pages = pages.iter().filter(|page| is_readable(page) && has_target(page, reaches));
    let pages: Vec<PageView> = pages.map(|page| views::page(&accounts, &people, page)).collect();
    let count = |status: &str| pages.iter().filter(|page| page.status == status).count();
    Ok(Json(Handover {
        schedule_id: stored.id,
        schedule_name: stored.name.clone(),
        shift: shift.map(views::shift),
        person: shift.and_then(|shift| people.person(shift.user)),
        open: count("open"),
        acknowledged: count("acknowledged"),
        resolved: count("resolved"),
        pages,
    }))
}

fn has_target(page: &OncallPage, target: StepTarget) -> bool {
    let policy: Option<PolicyDefinition> = serde_json::from_str(&page.policy_definition).ok();
    policy.is_some_and(|policy| policy.steps.iter().any(|step| step.targets.contains(&target)))
}
