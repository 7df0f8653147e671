//! What `tidewatch admin` asks for besides the rest.

use std::sync::Arc;

use serde_json::json;

use super::audit::By;
use super::{Control, ControlError, Organization, Role, User};

impl Control {
    /// Everybody who is not disabled, by id.
    pub fn users(&self) -> Vec<Arc<User>> {
        let mut users: Vec<_> = self.directory.read().everybody().filter(|user| !user.is_disabled).cloned().collect();
        users.sort_by_key(|user| user.id);
        users
    }

    /// By id.
    pub fn organizations(&self) -> Vec<Arc<Organization>> {
        let mut organizations: Vec<_> = self.directory.read().every_organization().cloned().collect();
        organizations.sort_by_key(|organization| organization.id);
        organizations
    }

    /// The role, whatever it was before; a member from now on.
    pub async fn promote(&self, by: &By, organization: i64, user: i64, role: Role) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query(
            "INSERT INTO memberships (organization_id, user_id, role, created_ns) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role",
        )
        .bind(organization)
        .bind(user)
        .bind(role.as_str())
        .bind(by.at_ns)
        .execute(write.on())
        .await?;
        let details = json!({ "role": role.as_str() });
        write.audit(by.did("member.set_role").on("user", user).within(organization).with(details)).await?;
        write.changes_directory();
        write.commit().await
    }
}
