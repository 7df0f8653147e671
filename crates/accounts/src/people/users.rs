//! User accounts.

use std::sync::Arc;

use serde_json::json;

use super::People;
use crate::{Actor, ControlError, User, Write};

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
pub(crate) async fn insert_user(write: &mut Write<'_>, new: &NewUser, at_ns: i64) -> Result<i64, ControlError> {
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

impl People {
    /// Creates a user without memberships. [`ControlError::EmailTaken`] when another user has this address.
    pub async fn create_user(&self, actor: &Actor, new: &NewUser) -> Result<Arc<User>, ControlError> {
        let mut write = self.database.write().await?;
        let id = insert_user(&mut write, new, actor.at_ns).await?;
        write.audit(actor.did("user.create").on("user", id).with(json!({ "email": new.email }))).await?;
        write.commit().await?;
        self.database.user(id).ok_or(ControlError::UnknownUser)
    }
}
