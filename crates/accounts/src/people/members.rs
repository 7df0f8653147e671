//! Members of an organization: listing, role changes, removal. The rules are in `member_rules.rs`.

use std::collections::HashMap;

use serde_json::json;
use uuid::Uuid;

use super::People;
use super::member_rules::{MemberAction, may_change_role, may_override, may_remove};
use crate::{Actor, ControlError, Role, Write};

/// A member of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Id of the user.
    pub user_id: i64,
    /// Lower case.
    pub email: String,
    /// Display name.
    pub name: String,
    /// Role in the organization.
    pub role: Role,
    /// Nanoseconds since the epoch.
    pub joined_ns: i64,
    /// Has a confirmed authenticator or a passkey.
    pub has_two_factor: bool,
    /// Roles in single projects that override `role`, by project id.
    pub project_roles: Vec<(Uuid, Role)>,
}

const NO_MEMBER: ControlError = ControlError::Missing("no such member");

impl People {
    /// Returns the members of an organization, ascending by user id.
    pub async fn members(&self, organization: i64) -> Result<Vec<Member>, ControlError> {
        let rows: Vec<(i64, String, String, String, i64)> = sqlx::query_as(
            "SELECT users.id, users.email, users.name, memberships.role, memberships.created_ns FROM memberships \
             JOIN users ON users.id = memberships.user_id WHERE memberships.organization_id = $1 ORDER BY users.id",
        )
        .bind(organization)
        .fetch_all(self.database.pool())
        .await?;
        let overrides: Vec<(i64, String, String)> = sqlx::query_as(
            "SELECT project_roles.user_id, projects.id, project_roles.role FROM project_roles \
             JOIN projects ON projects.number = project_roles.project \
             WHERE projects.organization_id = $1 ORDER BY projects.number",
        )
        .bind(organization)
        .fetch_all(self.database.pool())
        .await?;
        let mut by_user: HashMap<i64, Vec<(Uuid, Role)>> = HashMap::new();
        for (user, project, role) in overrides {
            let (Ok(project), Some(role)) = (Uuid::parse_str(&project), Role::parse(&role)) else { continue };
            by_user.entry(user).or_default().push((project, role));
        }
        let member = |(user_id, email, name, role, joined_ns): (i64, String, String, String, i64)| Member {
            user_id,
            email,
            name,
            role: Role::parse(&role).unwrap_or(Role::Readonly),
            joined_ns,
            has_two_factor: self.database.user(user_id).is_some_and(|user| user.has_two_factor),
            project_roles: by_user.remove(&user_id).unwrap_or_default(),
        };
        Ok(rows.into_iter().map(member).collect())
    }

    /// Returns one member. [`ControlError::Missing`] if the user is none.
    pub async fn member(&self, organization: i64, user: i64) -> Result<Member, ControlError> {
        let members = self.members(organization).await?;
        members.into_iter().find(|member| member.user_id == user).ok_or(NO_MEMBER)
    }

    /// Changes a member's role. [`ControlError::Forbidden`] if a rule forbids it. An admin's invitations are revoked.
    pub async fn change_member_role(
        &self,
        actor: &Actor,
        organization: i64,
        user: i64,
        new: Role,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let action = member_action(&mut write, actor, organization, user).await?;
        may_change_role(action, new)?;
        sqlx::query("UPDATE memberships SET role = $3 WHERE organization_id = $1 AND user_id = $2")
            .bind(organization)
            .bind(user)
            .bind(new.as_str())
            .execute(write.on())
            .await?;
        if action.target == Role::Admin {
            revoke_invitations_of(&mut write, actor, organization, user).await?;
        }
        let details = json!({ "role": [action.target.as_str(), new.as_str()] });
        write.audit(actor.did("member.change_role").on("user", user).within(organization).with(details)).await?;
        write.changes_directory();
        write.commit().await
    }

    /// Removes a member; members may remove themselves. Also removes the member's project roles and revokes their
    /// invitations. [`ControlError::Forbidden`] if a rule forbids it.
    pub async fn remove_member(&self, actor: &Actor, organization: i64, user: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let action = member_action(&mut write, actor, organization, user).await?;
        may_remove(action)?;
        sqlx::query(
            "DELETE FROM project_roles WHERE user_id = $2 \
             AND project IN (SELECT number FROM projects WHERE organization_id = $1)",
        )
        .bind(organization)
        .bind(user)
        .execute(write.on())
        .await?;
        sqlx::query("DELETE FROM memberships WHERE organization_id = $1 AND user_id = $2")
            .bind(organization)
            .bind(user)
            .execute(write.on())
            .await?;
        revoke_invitations_of(&mut write, actor, organization, user).await?;
        let verb = if action.is_self { "member.leave" } else { "member.remove" };
        let details = json!({ "role": action.target.as_str() });
        write.audit(actor.did(verb).on("user", user).within(organization).with(details)).await?;
        write.changes_directory();
        write.commit().await
    }

    /// Replaces the member's project roles. [`ControlError::Missing`] for projects of other organizations.
    pub async fn set_project_roles(
        &self,
        actor: &Actor,
        organization: i64,
        user: i64,
        roles: &[(Uuid, Role)],
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        may_override(member_action(&mut write, actor, organization, user).await?)?;
        sqlx::query(
            "DELETE FROM project_roles WHERE user_id = $2 \
             AND project IN (SELECT number FROM projects WHERE organization_id = $1)",
        )
        .bind(organization)
        .bind(user)
        .execute(write.on())
        .await?;
        for (project, role) in roles {
            let number: Option<i64> =
                sqlx::query_scalar("SELECT number FROM projects WHERE id = $1 AND organization_id = $2")
                    .bind(project.to_string())
                    .bind(organization)
                    .fetch_optional(write.on())
                    .await?;
            let number = number.ok_or(ControlError::Missing("no such project in this organization"))?;
            sqlx::query(
                "INSERT INTO project_roles (project, user_id, role) VALUES ($1, $2, $3) \
                 ON CONFLICT (project, user_id) DO UPDATE SET role = excluded.role",
            )
            .bind(number)
            .bind(user)
            .bind(role.as_str())
            .execute(write.on())
            .await?;
        }
        let roles: Vec<_> =
            roles.iter().map(|(project, role)| json!({ "project": project, "role": role.as_str() })).collect();
        let details = json!({ "projectRoles": roles });
        write.audit(actor.did("member.set_project_roles").on("user", user).within(organization).with(details)).await?;
        write.changes_directory();
        write.commit().await
    }
}

/// Reads both roles inside the transaction: the request was authorized with an earlier state.
async fn member_action(
    write: &mut Write<'_>,
    actor: &Actor,
    organization: i64,
    user: i64,
) -> Result<MemberAction, ControlError> {
    let target = write.role_of(organization, user).await?.ok_or(NO_MEMBER)?;
    let actor_role = match actor.user_id {
        Some(id) => write.role_of(organization, id).await?,
        // The command line.
        None => Some(Role::Owner),
    };
    let actor_role = actor_role.ok_or(ControlError::Forbidden("you are not a member of this organization"))?;
    Ok(MemberAction { actor: actor_role, target, is_self: actor.user_id == Some(user) })
}

impl Write<'_> {
    /// Returns the role of a user in an organization; `None`: no member.
    pub async fn role_of(&mut self, organization: i64, user: i64) -> Result<Option<Role>, ControlError> {
        let role: Option<String> =
            sqlx::query_scalar("SELECT role FROM memberships WHERE organization_id = $1 AND user_id = $2")
                .bind(organization)
                .bind(user)
                .fetch_optional(self.on())
                .await?;
        Ok(role.as_deref().and_then(Role::parse))
    }
}

/// Revokes the invitations by a member who loses the right to invite.
pub(crate) async fn revoke_invitations_of(
    write: &mut Write<'_>,
    actor: &Actor,
    organization: i64,
    user: i64,
) -> Result<(), ControlError> {
    sqlx::query(
        "UPDATE invitations SET revoked_ns = $3 WHERE organization_id = $1 AND invited_by = $2 \
         AND accepted_ns IS NULL AND revoked_ns IS NULL",
    )
    .bind(organization)
    .bind(user)
    .bind(actor.at_ns)
    .execute(write.on())
    .await?;
    Ok(())
}
