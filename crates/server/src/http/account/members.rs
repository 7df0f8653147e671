//! `/api/organizations/{id}/members...`: the members of an organization, and their roles. WIRE 5.3. The rules are in
//! `accounts/people/member_rules.rs`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use uuid::Uuid;

use super::view::rfc3339;
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::bodies::people::{MemberView, ProjectRole, ProjectRoles, RoleRequest};
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, OrganizationAccess, Read, ViaFreshLogin, require};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};
use tidewatch_accounts::{Member, Permission, Role};
use tidewatch_limits as limits;

/// The members of an organization, with their roles.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/members",
    operation_id = "listMembers",
    tag = "organizations",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = Vec<MemberView>), Failures)
)]
pub async fn list(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
) -> Result<Json<Vec<MemberView>>, ApiError> {
    let members = accounts.control.people.members(access.organization.id).await?;
    Ok(Json(members.into_iter().map(view).collect()))
}

/// Changes the role of a member. The caller's own role and the owner's cannot be changed. Only the owner can appoint
/// admins.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/members/{userId}",
    operation_id = "changeMemberRole",
    tag = "organizations",
    params(("id" = i64, Path), ("userId" = i64, Path)),
    request_body = RoleRequest,
    responses((status = 200, description = "Success", body = MemberView), Failures, NotFound)
)]
pub async fn change_role(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<ViaFreshLogin<Admin>>,
    Path((_organization, user)): Path<(String, String)>,
    JsonBody(request): JsonBody<RoleRequest>,
) -> Result<Json<MemberView>, ApiError> {
    let (user, role) = (number(&user)?, given_role(&request.role)?);
    accounts
        .control
        .people
        .change_member_role(&access.actor(&accounts.clock), access.organization.id, user, role)
        .await?;
    Ok(Json(view(accounts.control.people.member(access.organization.id, user).await?)))
}

/// Removes a member. Every member except the owner can also remove themselves.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/members/{userId}",
    operation_id = "removeMember",
    tag = "organizations",
    params(("id" = i64, Path), ("userId" = i64, Path)),
    responses((status = 200, description = "Removed", body = Done), Failures, NotFound)
)]
pub async fn remove(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<ViaFreshLogin<Read>>,
    Path((_organization, user)): Path<(String, String)>,
) -> Result<Json<Done>, ApiError> {
    let user = number(&user)?;
    if user != access.user.id {
        // The role is checked before the response reveals whether the member exists.
        require(access.role, Permission::Admin)?;
    }
    accounts.control.people.remove_member(&access.actor(&accounts.clock), access.organization.id, user).await?;
    Ok(Json(Done { message: "the member was removed".to_owned() }))
}

/// The roles that a member has in single projects.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/members/{userId}/project-roles",
    operation_id = "memberProjectRoles",
    tag = "organizations",
    params(("id" = i64, Path), ("userId" = i64, Path)),
    responses((status = 200, description = "Success", body = ProjectRoles), Failures, NotFound)
)]
pub async fn project_roles(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
    Path((_organization, user)): Path<(String, String)>,
) -> Result<Json<ProjectRoles>, ApiError> {
    let member = accounts.control.people.member(access.organization.id, number(&user)?).await?;
    Ok(Json(ProjectRoles { project_roles: view(member).project_roles }))
}

/// Replaces the roles that a member has in single projects. Not possible for owners and admins.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/members/{userId}/project-roles",
    operation_id = "changeMemberProjectRoles",
    tag = "organizations",
    params(("id" = i64, Path), ("userId" = i64, Path)),
    request_body = ProjectRoles,
    responses((status = 200, description = "Success", body = ProjectRoles), Failures, NotFound)
)]
pub async fn change_project_roles(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<ViaFreshLogin<Admin>>,
    Path((_organization, user)): Path<(String, String)>,
    JsonBody(request): JsonBody<ProjectRoles>,
) -> Result<Json<ProjectRoles>, ApiError> {
    let user = number(&user)?;
    if request.project_roles.len() > limits::PROJECT_ROLES_MAX {
        return Err(ApiError::unprocessable(format!("at most {} projectRoles", limits::PROJECT_ROLES_MAX)));
    }
    let read = |one: &ProjectRole| match (Uuid::try_parse(&one.project_id), one.role.as_str()) {
        (Ok(project), "user") => Ok((project, Role::User)),
        (Ok(project), "readonly") => Ok((project, Role::Readonly)),
        (Err(_), _) => Err(ApiError::malformed("projectId is not a UUID")),
        _ => Err(ApiError::malformed("a role in a project is user or readonly")),
    };
    let roles = request.project_roles.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    accounts
        .control
        .people
        .set_project_roles(&access.actor(&accounts.clock), access.organization.id, user, &roles)
        .await?;
    let member = accounts.control.people.member(access.organization.id, user).await?;
    Ok(Json(ProjectRoles { project_roles: view(member).project_roles }))
}

/// Parses a role that can be given to a member. Fails with 400 for other values, `owner` among them.
pub fn given_role(text: &str) -> Result<Role, ApiError> {
    Role::parse(text)
        .filter(|role| *role != Role::Owner)
        .ok_or_else(|| ApiError::malformed("role is not one of admin, user and readonly"))
}

/// Parses an id in a path. Fails with 400.
pub fn number(text: &str) -> Result<i64, ApiError> {
    text.parse().map_err(|_| ApiError::malformed("the id is not a number"))
}

fn view(member: Member) -> MemberView {
    let project_role =
        |(project, role): (Uuid, Role)| ProjectRole { project_id: project.to_string(), role: role.as_str().to_owned() };
    MemberView {
        user_id: member.user_id,
        email: member.email,
        name: member.name,
        role: member.role.as_str().to_owned(),
        joined_at: rfc3339(member.joined_ns),
        two_factor: member.has_two_factor,
        project_roles: member.project_roles.into_iter().map(project_role).collect(),
    }
}
