//! People's passwords and sessions.

use std::sync::Arc;

use serde_json::json;

use super::audit::By;
use super::db::Write;
use super::sessions::end_sessions;
use super::{Control, ControlError, User};

/// What a login is checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredUser {
    pub id: i64,
    /// None: has no password, signs in elsewhere.
    pub password_hash: Option<String>,
}

/// Somebody to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUser {
    /// Lower case.
    pub email: String,
    pub name: String,
    /// None: signs in elsewhere.
    pub password_hash: Option<String>,
    /// Somebody other than the person says that the address is theirs: a link was followed, a provider vouches.
    pub is_email_verified: bool,
}

/// Returns the new user's id. [`ControlError::EmailTaken`] when there is one with this address.
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
    /// A user without any membership.
    pub async fn create_user(&self, by: &By, new: &NewUser) -> Result<Arc<User>, ControlError> {
        let mut write = self.write().await?;
        let id = insert_user(&mut write, new, by.at_ns).await?;
        write.audit(by.did("user.create").on("user", id).with(json!({ "email": new.email }))).await?;
        write.commit().await?;
        self.user(id).ok_or(ControlError::UnknownUser)
    }

    /// By e-mail, in any case of letters. Nobody who is disabled.
    pub async fn stored_user(&self, email: &str) -> Result<Option<StoredUser>, ControlError> {
        let found: Option<(i64, Option<String>)> =
            sqlx::query_as("SELECT id, password_hash FROM users WHERE email = $1 AND disabled_ns IS NULL")
                .bind(email.trim().to_lowercase())
                .fetch_optional(self.pool())
                .await?;
        Ok(found.map(|(id, password_hash)| StoredUser { id, password_hash }))
    }

    /// Sets another password and ends every session of the user.
    pub async fn set_password(&self, by: &By, user: i64, password_hash: &str) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query("UPDATE users SET password_hash = $2 WHERE id = $1")
            .bind(user)
            .bind(password_hash)
            .execute(write.on())
            .await?;
        end_sessions(&mut write, user, by.at_ns).await?;
        write.audit(by.did("user.set_password").on("user", user)).await?;
        write.commit().await
    }

    /// The same password, hashed as we hash today. Nothing, if it was changed meanwhile.
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
