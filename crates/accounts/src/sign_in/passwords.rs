//! Passwords of users.

use super::SignIn;
use super::sessions::end_sessions;
use crate::{Actor, ControlError};

/// The stored password of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredUser {
    /// Row id.
    pub id: i64,
    /// PHC string or bcrypt; `None`: no password, signs in with a provider.
    pub password_hash: Option<String>,
}

impl SignIn {
    /// Finds a user by e-mail address, ignoring case; `None` if unknown or disabled.
    pub async fn stored_user(&self, email: &str) -> Result<Option<StoredUser>, ControlError> {
        let found: Option<(i64, Option<String>)> =
            sqlx::query_as("SELECT id, password_hash FROM users WHERE email = $1 AND disabled_ns IS NULL")
                .bind(email.trim().to_lowercase())
                .fetch_optional(self.database.pool())
                .await?;
        Ok(found.map(|(id, password_hash)| StoredUser { id, password_hash }))
    }

    /// Sets the password and ends every session of the user.
    pub async fn set_password(&self, actor: &Actor, user: i64, password_hash: &str) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("UPDATE users SET password_hash = $2 WHERE id = $1")
            .bind(user)
            .bind(password_hash)
            .execute(write.on())
            .await?;
        end_sessions(&mut write, user, actor.at_ns).await?;
        write.audit(actor.did("user.set_password").on("user", user)).await?;
        write.commit().await
    }

    /// Replaces the hash `old` of an unchanged password with `new`. Does nothing if the password was changed meanwhile.
    pub async fn rehash_password(&self, user: i64, old: &str, new: &str) -> Result<(), ControlError> {
        sqlx::query("UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2")
            .bind(user)
            .bind(old)
            .bind(new)
            .execute(self.database.pool())
            .await?;
        Ok(())
    }
}
