//! Organisations and the first registration.

use std::sync::Arc;

use serde_json::json;

use super::audit::By;
use super::db::Write;
use super::organization_settings::OrganizationSettings;
use super::projects::insert_project;
use super::users::{NewUser, insert_user};
use super::{Control, ControlError, NewProject, Project, Role, User};

/// The first registration: an organisation, its owner and a project.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Lower case.
    pub email: String,
    pub name: String,
    /// Argon2id, PHC string.
    pub password_hash: String,
    pub organization_name: String,
    pub timezone: String,
    pub project_name: String,
    pub framework: String,
}

impl Control {
    /// Registers the first account, all of it or nothing. Fails once any organisation or user exists.
    pub async fn register(&self, by: &By, new: &NewAccount) -> Result<(Arc<User>, Arc<Project>), ControlError> {
        let mut write = self.write().await?;
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
        let user = insert_user(&mut write, &owner, by.at_ns).await?;
        let by = By { user_id: Some(user), name: new.email.clone(), ..by.clone() };
        let organization_id = insert_organization(&mut write, &by, &new.organization_name, &new.timezone, user).await?;
        let project = NewProject { organization_id, name: new.project_name.clone(), framework: new.framework.clone() };
        let number = insert_project(self, &mut write, &by, &project).await?;
        write.commit().await?;
        let user = self.user(user).ok_or(ControlError::UnknownUser)?;
        let project = self.project_by_number(number).ok_or(ControlError::UnknownProject)?;
        Ok((user, project))
    }
}

/// What shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationChange {
    pub name: String,
    pub timezone: String,
    pub settings: OrganizationSettings,
}

impl Control {
    pub async fn change_organization(&self, by: &By, id: i64, change: &OrganizationChange) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        let settings = serde_json::to_value(change.settings).unwrap_or_default();
        sqlx::query("UPDATE organizations SET name = $2, timezone = $3, settings = $4 WHERE id = $1")
            .bind(id)
            .bind(&change.name)
            .bind(&change.timezone)
            .bind(settings.to_string())
            .execute(write.on())
            .await?;
        let details = json!({ "name": change.name, "timezone": change.timezone, "settings": settings });
        write.audit(by.did("organization.change").on("organization", id).within(id).with(details)).await?;
        write.changes_directory();
        write.commit().await
    }
}

impl Control {
    /// An organisation whose owner is `owner`. Returns its id.
    pub async fn create_organization(
        &self,
        by: &By,
        name: &str,
        timezone: &str,
        owner: i64,
    ) -> Result<i64, ControlError> {
        let mut write = self.write().await?;
        let id = insert_organization(&mut write, by, name, timezone, owner).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Makes the user a member. [`ControlError::MemberAlready`] when it is one.
    pub async fn add_member(&self, by: &By, organization: i64, user: i64, role: Role) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        insert_membership(&mut write, organization, user, role, by.at_ns).await?;
        let details = json!({ "role": role.as_str() });
        write.audit(by.did("member.add").on("user", user).within(organization).with(details)).await?;
        write.commit().await
    }

    /// The user's role in one project instead of the organisation's; none: the organisation's. WIRE 5.3.
    pub async fn set_project_role(
        &self,
        by: &By,
        project: &Project,
        user: i64,
        role: Option<Role>,
    ) -> Result<(), ControlError> {
        let mut write = self.write().await?;
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
        let entry = by.did("project.set_role").on("project", project.id).within(project.organization_id).with(details);
        write.audit(entry).await?;
        write.changes_directory();
        write.commit().await
    }
}

/// Returns its id.
pub(super) async fn insert_organization(
    write: &mut Write<'_>,
    by: &By,
    name: &str,
    timezone: &str,
    owner: i64,
) -> Result<i64, ControlError> {
    let id: i64 =
        sqlx::query_scalar("INSERT INTO organizations (name, timezone, created_ns) VALUES ($1, $2, $3) RETURNING id")
            .bind(name)
            .bind(timezone)
            .bind(by.at_ns)
            .fetch_one(write.on())
            .await?;
    insert_membership(write, id, owner, Role::Owner, by.at_ns).await?;
    write.audit(by.did("organization.create").on("organization", id).within(id).with(json!({ "name": name }))).await?;
    Ok(id)
}

/// Makes the user a member.
pub(super) async fn insert_membership(
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
