//! Organizations and the first registration.

use std::sync::Arc;

use serde_json::json;

use super::People;
use super::users::{NewUser, insert_user};
use crate::projects::insert_project;
use crate::{Actor, ControlError, NewProject, OrganizationSettings, Project, Role, User, Write};

/// The first registration: an organization, its owner and a project.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Address of the owner, lower case.
    pub email: String,
    /// Display name of the owner.
    pub name: String,
    /// Argon2id hash of the password, PHC string.
    pub password_hash: String,
    /// Name of the organization.
    pub organization_name: String,
    /// IANA name of the organization's time zone.
    pub timezone: String,
    /// Name of the project.
    pub project_name: String,
    /// Framework of the project.
    pub framework: String,
}

impl People {
    /// Registers the first account, in one transaction. [`ControlError::OrganizationExists`] once any organization or
    /// user exists.
    pub async fn register(&self, actor: &Actor, new: &NewAccount) -> Result<(Arc<User>, Arc<Project>), ControlError> {
        let mut write = self.database.write().await?;
        let taken: i64 =
            sqlx::query_scalar("SELECT (SELECT COUNT(*) FROM organizations) + (SELECT COUNT(*) FROM users)")
                .fetch_one(write.on())
                .await?;
        if taken > 0 {
            return Err(ControlError::OrganizationExists);
        }
        let owner = NewUser {
            email: new.email.clone(),
            name: new.name.clone(),
            password_hash: Some(new.password_hash.clone()),
            is_email_verified: false,
        };
        let user = insert_user(&mut write, &owner, actor.at_ns).await?;
        let actor = Actor { user_id: Some(user), name: new.email.clone(), ..actor.clone() };
        let organization_id =
            insert_organization(&mut write, &actor, &new.organization_name, &new.timezone, user).await?;
        let project = NewProject { organization_id, name: new.project_name.clone(), framework: new.framework.clone() };
        let number = insert_project(&mut write, &actor, &project).await?;
        write.commit().await?;
        let user = self.database.user(user).ok_or(ControlError::UnknownUser)?;
        let project = self.database.project_by_number(number).ok_or(ControlError::UnknownProject)?;
        Ok((user, project))
    }

    /// Creates the first organization and project, for a user who signed in with a provider.
    /// [`ControlError::OrganizationExists`] once there is one.
    pub async fn set_up(
        &self,
        actor: &Actor,
        user: i64,
        name: &str,
        timezone: &str,
        project: &str,
        framework: &str,
    ) -> Result<Arc<Project>, ControlError> {
        let mut write = self.database.write().await?;
        let organizations: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM organizations").fetch_one(write.on()).await?;
        if organizations > 0 {
            return Err(ControlError::OrganizationExists);
        }
        let organization_id = insert_organization(&mut write, actor, name, timezone, user).await?;
        let new = NewProject { organization_id, name: project.to_owned(), framework: framework.to_owned() };
        let number = insert_project(&mut write, actor, &new).await?;
        write.commit().await?;
        self.database.project_by_number(number).ok_or(ControlError::UnknownProject)
    }
}

/// The new values of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationChange {
    /// Display name.
    pub name: String,
    /// IANA name.
    pub timezone: String,
    /// All settings.
    pub settings: OrganizationSettings,
}

impl People {
    /// Changes name, time zone and settings of an organization.
    pub async fn change_organization(
        &self,
        actor: &Actor,
        id: i64,
        change: &OrganizationChange,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let settings = serde_json::to_value(change.settings).unwrap_or_default();
        sqlx::query("UPDATE organizations SET name = $2, timezone = $3, settings = $4 WHERE id = $1")
            .bind(id)
            .bind(&change.name)
            .bind(&change.timezone)
            .bind(settings.to_string())
            .execute(write.on())
            .await?;
        let details = json!({ "name": change.name, "timezone": change.timezone, "settings": settings });
        write.audit(actor.did("organization.change").on("organization", id).within(id).with(details)).await?;
        write.changes_directory();
        write.commit().await
    }
}

impl People {
    /// Creates an organization owned by `owner`. Returns its id.
    pub async fn create_organization(
        &self,
        actor: &Actor,
        name: &str,
        timezone: &str,
        owner: i64,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let id = insert_organization(&mut write, actor, name, timezone, owner).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Adds a member. [`ControlError::MemberAlready`] if the user is one. No rule is checked.
    pub async fn add_member(
        &self,
        actor: &Actor,
        organization: i64,
        user: i64,
        role: Role,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        insert_membership(&mut write, organization, user, role, actor.at_ns).await?;
        let details = json!({ "role": role.as_str() });
        write.audit(actor.did("member.add").on("user", user).within(organization).with(details)).await?;
        write.commit().await
    }

    /// Sets the user's role in one project, which overrides the one in the organization; `None` removes it. WIRE 5.3.
    pub async fn set_project_role(
        &self,
        actor: &Actor,
        project: &Project,
        user: i64,
        role: Option<Role>,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM project_roles WHERE project = $1 AND user_id = $2")
            .bind(i64::from(project.number))
            .bind(user)
            .execute(write.on())
            .await?;
        if let Some(role) = role {
            sqlx::query("INSERT INTO project_roles (project, user_id, role) VALUES ($1, $2, $3)")
                .bind(i64::from(project.number))
                .bind(user)
                .bind(role.as_str())
                .execute(write.on())
                .await?;
        }
        let details = json!({ "user": user, "role": role.map(Role::as_str) });
        let entry = actor.did("project.set_role").on_project(project).with(details);
        write.audit(entry).await?;
        write.changes_directory();
        write.commit().await
    }
}

/// Inserts an organization and the membership of its owner. Returns its id.
pub(super) async fn insert_organization(
    write: &mut Write<'_>,
    actor: &Actor,
    name: &str,
    timezone: &str,
    owner: i64,
) -> Result<i64, ControlError> {
    let id: i64 =
        sqlx::query_scalar("INSERT INTO organizations (name, timezone, created_ns) VALUES ($1, $2, $3) RETURNING id")
            .bind(name)
            .bind(timezone)
            .bind(actor.at_ns)
            .fetch_one(write.on())
            .await?;
    insert_membership(write, id, owner, Role::Owner, actor.at_ns).await?;
    write
        .audit(actor.did("organization.create").on("organization", id).within(id).with(json!({ "name": name })))
        .await?;
    Ok(id)
}

/// Adds a member. [`ControlError::MemberAlready`] if the user is one.
pub(crate) async fn insert_membership(
    write: &mut Write<'_>,
    organization: i64,
    user: i64,
    role: Role,
    at_ns: i64,
) -> Result<(), ControlError> {
    let inserted =
        sqlx::query("INSERT INTO memberships (organization_id, user_id, role, created_ns) VALUES ($1, $2, $3, $4)")
            .bind(organization)
            .bind(user)
            .bind(role.as_str())
            .bind(at_ns)
            .execute(write.on())
            .await;
    write.changes_directory();
    match inserted {
        Ok(_) => Ok(()),
        Err(error) if error.as_database_error().is_some_and(|cause| cause.is_unique_violation()) => {
            Err(ControlError::MemberAlready)
        }
        Err(error) => Err(error.into()),
    }
}
