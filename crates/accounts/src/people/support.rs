//! Functions for `tidewatch admin`.

use serde_json::json;

use super::People;
use crate::{Actor, ControlError, Role};

impl People {
    /// Sets the user's role in the organization, and makes the user a member if necessary. No rule is checked.
    pub async fn promote(&self, actor: &Actor, organization: i64, user: i64, role: Role) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
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
