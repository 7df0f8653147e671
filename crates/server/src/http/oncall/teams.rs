//! `/api/organizations/{id}/teams...`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use uuid::Uuid;

use super::people::{People, description, id, name};
use super::views;
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, OrganizationAccess, Read};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};
use tidewatch_alerts::oncall::NewTeam;
use tidewatch_alerts::oncall::views::{TeamRequest, TeamView, Teams};
use tidewatch_limits as limits;

const NO_TEAM: &str = "no such team";

/// The teams of an organization, with members and projects.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/teams",
    operation_id = "listTeams",
    tag = "on-call",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = Teams), Failures)
)]
pub async fn list(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
) -> Result<Json<Teams>, ApiError> {
    let organization = access.organization.id;
    let people = People::of(&accounts, organization).await?;
    let teams = alerting.rooms.oncall.oncall_teams(organization).await?;
    let teams = teams.into_iter().map(|team| views::team(&accounts, organization, &people, team)).collect();
    Ok(Json(Teams { teams }))
}

/// Creates a team.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/teams",
    operation_id = "createTeam",
    tag = "on-call",
    params(("id" = i64, Path)),
    request_body = TeamRequest,
    responses((status = 201, description = "Created", body = TeamView), Failures)
)]
pub async fn create(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Admin>,
    JsonBody(request): JsonBody<TeamRequest>,
) -> Result<(StatusCode, Json<TeamView>), ApiError> {
    let organization = access.organization.id;
    let new = checked(request)?;
    let team = alerting.rooms.oncall.save_oncall_team(&access.actor(&alerting.clock), organization, None, &new).await?;
    Ok((StatusCode::CREATED, Json(view(&alerting, &accounts, organization, team).await?)))
}

/// A team.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/teams/{teamId}",
    operation_id = "getTeam",
    tag = "on-call",
    params(("id" = i64, Path), ("teamId" = i64, Path)),
    responses((status = 200, description = "Success", body = TeamView), Failures, NotFound)
)]
pub async fn get(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
    Path((_organization, team)): Path<(String, String)>,
) -> Result<Json<TeamView>, ApiError> {
    Ok(Json(view(&alerting, &accounts, access.organization.id, id(&team, NO_TEAM)?).await?))
}

/// Changes a team.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/teams/{teamId}",
    operation_id = "changeTeam",
    tag = "on-call",
    params(("id" = i64, Path), ("teamId" = i64, Path)),
    request_body = TeamRequest,
    responses((status = 200, description = "Success", body = TeamView), Failures, NotFound)
)]
pub async fn change(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, team)): Path<(String, String)>,
    JsonBody(request): JsonBody<TeamRequest>,
) -> Result<Json<TeamView>, ApiError> {
    let (organization, team) = (access.organization.id, id(&team, NO_TEAM)?);
    let new = checked(request)?;
    alerting.rooms.oncall.save_oncall_team(&access.actor(&alerting.clock), organization, Some(team), &new).await?;
    Ok(Json(view(&alerting, &accounts, organization, team).await?))
}

/// Deletes a team. Not possible while it has schedules or a policy reaches it.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/teams/{teamId}",
    operation_id = "deleteTeam",
    tag = "on-call",
    params(("id" = i64, Path), ("teamId" = i64, Path)),
    responses((status = 200, description = "Deleted", body = Done), Failures, NotFound)
)]
pub async fn delete(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, team)): Path<(String, String)>,
) -> Result<Json<Done>, ApiError> {
    let team = id(&team, NO_TEAM)?;
    alerting.rooms.oncall.delete_oncall_team(&access.actor(&alerting.clock), access.organization.id, team).await?;
    Ok(Json(Done { message: "the team was deleted".to_owned() }))
}

async fn view(alerting: &Alerting, accounts: &Accounts, organization: i64, team: i64) -> Result<TeamView, ApiError> {
    let people = People::of(accounts, organization).await?;
    let teams = alerting.rooms.oncall.oncall_teams(organization).await?;
    let team = teams.into_iter().find(|one| one.id == team).ok_or_else(|| ApiError::not_found(NO_TEAM))?;
    Ok(views::team(accounts, organization, &people, team))
}

fn checked(request: TeamRequest) -> Result<NewTeam, ApiError> {
    let TeamRequest { name: given, description: about, member_ids, project_ids } = request;
    let most = limits::ONCALL_TEAM_ENTRIES_MAX;
    let is_long = member_ids.as_ref().is_some_and(|list| list.len() > most)
        || project_ids.as_ref().is_some_and(|list| list.len() > most);
    if is_long {
        return Err(ApiError::unprocessable(format!("a team has at most {most} members, and projects")));
    }
    let read = |project: &String| {
        Uuid::try_parse(project).map_err(|_| ApiError::malformed("an entry of projectIds is not a UUID"))
    };
    let projects = project_ids.map(|list| list.iter().map(read).collect::<Result<Vec<_>, _>>()).transpose()?;
    let (name, description) = (name("name", &given)?, description("description", &about)?);
    Ok(NewTeam { name, description, members: member_ids, projects })
}
