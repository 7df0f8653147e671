//! Password hashing: argon2id, off the async threads, a few at once.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::app::App;
use crate::error::ApiError;

/// A new password's hash, as a PHC string.
pub async fn hash(app: &Arc<App>, password: String) -> Result<String, ApiError> {
    blocking(app, move || {
        Argon2::default().hash_password(password.as_bytes()).map(|hash: PasswordHash| hash.to_string())
    })
    .await?
    .map_err(ApiError::internal)
}

/// Whether the password is the one hashed. Without a hash the same work is done in vain, so that the time of a
/// failure does not tell whether the account exists.
pub async fn verify(app: &Arc<App>, password: String, stored: Option<String>) -> Result<bool, ApiError> {
    blocking(app, move || match stored {
        Some(stored) => PasswordHash::new(&stored)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()),
        None => {
            let _: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
            false
        }
    })
    .await
}

async fn blocking<T: Send + 'static>(app: &Arc<App>, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    let _permit = app.hashing.acquire().await.map_err(ApiError::internal)?;
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}
