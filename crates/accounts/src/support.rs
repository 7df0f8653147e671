//! Functions for `tidewatch admin`.

use std::sync::Arc;

use serde_json::json;

use super::audit::Actor;
use super::{Control, ControlError, Organization, Role, User};

impl Control {
    /// Returns all users who are not disabled, ascending by id.
    pub fn users(&self) -> Vec<Arc<User>> {
        let mut users: Vec<_> = self.directory().read().all_users().filter(|user| !user.is_disabled).cloned().collect();
        users.sort_by_key(|user| user.id);
        users
    }

    /// Returns all organizations, ascending by id.
    pub fn organizations(&self) -> Vec<Arc<Organization>> {
        let mut organizations: Vec<_> = self.directory().read().all_organizations().cloned().collect();
        organizations.sort_by_key(|organization| organization.id);
        organizations
    }

    /// Sets the user's role in the organization, and makes the user a member if necessary. No rule is checked.
    pub async fn promote(&self, actor: &Actor, organization: i64, user: i64, role: Role) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query(
            "INSERT INTO memberships (organization_id, user_id, role, created_ns) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role",
        )
        .bind(organization)
        .bind(user)
        .bind(role.as_str())
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        let details = json!({ "role": role.as_str() });
        write.audit(actor.did("member.set_role").on("user", user).within(organization).with(details)).await?;
        write.changes_directory();
        write.commit().await
    }
}
