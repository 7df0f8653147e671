//! User accounts and their passwords.

use std::sync::Arc;

use serde_json::json;

use super::audit::Actor;
use super::db::Write;
use super::sessions::end_sessions;
use super::{Control, ControlError, User};

/// The stored password of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredUser {
    /// Row id.
    pub id: i64,
    /// PHC string or bcrypt; `None`: no password, signs in with a provider.
    pub password_hash: Option<String>,
}

/// A user to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUser {
    /// Lower case.
    pub email: String,
    /// Display name.
    pub name: String,
    /// PHC string; `None`: signs in with a provider.
    pub password_hash: Option<String>,
    /// The address was verified, by a mailed link or by a provider.
    pub is_email_verified: bool,
}

/// Inserts a user and returns its id. [`ControlError::EmailTaken`] when another user has this address.
pub(super) async fn insert_user(write: &mut Write<'_>, new: &NewUser, at_ns: i64) -> Result<i64, ControlError> {
    let inserted = sqlx::query_scalar(
        "INSERT INTO users (email, name, password_hash, email_verified_ns, created_ns) VALUES ($1, $2, $3, $4, $5) \
         RETURNING id",
    )
    .bind(&new.email)
    .bind(&new.name)
    .bind(&new.password_hash)
    .bind(new.is_email_verified.then_some(at_ns))
    .bind(at_ns)
    .fetch_one(write.on())
    .await;
    write.changes_directory();
    inserted.map_err(|error| match error.as_database_error() {
        Some(cause) if cause.is_unique_violation() => ControlError::EmailTaken,
        _ => error.into(),
    })
}

impl Control {
    /// Creates a user without memberships. [`ControlError::EmailTaken`] when another user has this address.
    pub async fn create_user(&self, actor: &Actor, new: &NewUser) -> Result<Arc<User>, ControlError> {
        let mut write = self.write().await?;
        let id = insert_user(&mut write, new, actor.at_ns).await?;
        write.audit(actor.did("user.create").on("user", id).with(json!({ "email": new.email }))).await?;
        write.commit().await?;
        self.user(id).ok_or(ControlError::UnknownUser)
    }

    /// Finds a user by e-mail address, ignoring case; `None` if unknown or disabled.
    pub async fn stored_user(&self, email: &str) -> Result<Option<StoredUser>, ControlError> {
        let found: Option<(i64, Option<String>)> =
            sqlx::query_as("SELECT id, password_hash FROM users WHERE email = $1 AND disabled_ns IS NULL")
                .bind(email.trim().to_lowercase())
                .fetch_optional(self.pool())
                .await?;
        Ok(found.map(|(id, password_hash)| StoredUser { id, password_hash }))
    }

    /// Sets the password and ends every session of the user.
    pub async fn set_password(&self, actor: &Actor, user: i64, password_hash: &str) -> Result<(), ControlError> {
        let mut write = self.write().await?;
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
            .execute(self.pool())
            .await?;
        Ok(())
    }
}
