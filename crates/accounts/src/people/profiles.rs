//! Profiles of users.

use std::sync::Arc;

use serde_json::json;

use super::People;
use crate::{Actor, ControlError, User};

/// New values of a profile; `None` leaves a value unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Display name.
    pub name: Option<String>,
    /// IANA name.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`.
    pub theme: Option<String>,
}

impl People {
    /// Changes the user's profile. Returns the user as stored.
    pub async fn change_profile(&self, actor: &Actor, user: i64, new: &Profile) -> Result<Arc<User>, ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query(
            "UPDATE users SET name = COALESCE($2, name), timezone = COALESCE($3, timezone), \
             theme = COALESCE($4, theme) WHERE id = $1",
        )
        .bind(user)
        .bind(&new.name)
        .bind(&new.timezone)
        .bind(&new.theme)
        .execute(write.on())
        .await?;
        let details = json!({ "name": new.name, "timezone": new.timezone, "theme": new.theme });
        write.audit(actor.did("user.change").on("user", user).with(details)).await?;
        write.changes_directory();
        write.commit().await?;
        self.database.user(user).ok_or(ControlError::UnknownUser)
    }
}
