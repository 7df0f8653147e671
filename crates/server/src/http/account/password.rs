//! Passwords: hashed with argon2id, off the async threads, a few at once. bcrypt is read, for those who bring accounts
//! along, and replaced at the next login.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::app::App;
use crate::error::ApiError;
use tidewatch_accounts::User;
use tidewatch_limits as limits;
use tidewatch_limits::admission::guesses::Guesser;

/// What a password is to a stored hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    No,
    Yes,
    /// Right, but hashed as we do not hash today.
    Outdated,
}

/// Refuses what is too short or too long to be hashed. WIRE 5.1.
pub fn check(password: &str) -> Result<(), ApiError> {
    if password.chars().count() < limits::PASSWORD_CHARS_MIN {
        let least = limits::PASSWORD_CHARS_MIN;
        return Err(ApiError::malformed(format!("password must have at least {least} characters")));
    }
    if password.len() > limits::PASSWORD_BYTES_MAX {
        return Err(ApiError::malformed("password is too long"));
    }
    Ok(())
}

/// A new password's hash, as a PHC string.
pub async fn hash(app: &Arc<App>, password: String) -> Result<String, ApiError> {
    blocking(app, false, move || {
        Argon2::default().hash_password(password.as_bytes()).map(|hash: PasswordHash| hash.to_string())
    })
    .await?
    .map_err(ApiError::internal)
}

/// Whether the password is the one hashed. Without a hash the same work is done in vain, so that the time of a
/// failure does not tell whether the account exists.
///
/// `is_known`: the person is signed in, or their browser is known to the account; they pass a queue of strangers.
pub async fn verify(
    app: &Arc<App>,
    password: String,
    stored: Option<String>,
    is_known: bool,
) -> Result<Match, ApiError> {
    blocking(app, is_known, move || match stored {
        Some(stored) => matches(&password, &stored),
        None => {
            let _: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
            Match::No
        }
    })
    .await
}

/// 403 unless it is the user's own, asked for once more. Guesses slow down as those of a known browser: a stolen session
/// does not find the password.
pub async fn check_of(app: &Arc<App>, user: &User, password: String) -> Result<(), ApiError> {
    let guesser = Guesser::Known("signed in");
    app.guesses.begin(&user.email, guesser, app.clock.now_ns())?;
    let is_long = password.len() > limits::PASSWORD_BYTES_MAX;
    let stored = app.control.stored_user(&user.email).await?.and_then(|user| user.password_hash);
    if is_long || verify(app, password, stored, true).await? == Match::No {
        return Err(ApiError::Forbidden("the password is wrong"));
    }
    app.guesses.succeeded(&user.email, guesser);
    Ok(())
}

/// A new password's hash, for the command line. Blocks.
pub fn hash_now(password: &str) -> anyhow::Result<String> {
    let hash: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| anyhow::anyhow!("the password cannot be hashed: {error}"))
}

fn matches(password: &str, stored: &str) -> Match {
    if let Some(cost) = bcrypt_cost(stored) {
        let right = cost <= limits::BCRYPT_COST_MAX && bcrypt::verify(password, stored).unwrap_or(false);
        return if right { Match::Outdated } else { Match::No };
    }
    let right = PasswordHash::new(stored)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
    if right { Match::Yes } else { Match::No }
}

/// The cost of a bcrypt hash: `$2b$12$...`.
fn bcrypt_cost(stored: &str) -> Option<u32> {
    let rest = ["$2a$", "$2b$", "$2x$", "$2y$"].into_iter().find_map(|prefix| stored.strip_prefix(prefix))?;
    Some(rest.split('$').next().and_then(|cost| cost.parse().ok()).unwrap_or(u32::MAX))
}

/// Waits for its turn in a bounded queue; 503 when that is full.
async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    is_known: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let queue = if is_known { &app.hashes_reserved } else { &app.hashes_waiting };
    let busy = ApiError::Overloaded("too many people sign in at once; try again");
    let _place = queue.try_acquire().map_err(|_| busy)?;
    let _permit = app.hashing.acquire().await.map_err(ApiError::internal)?;
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_hashes() {
        let argon: PasswordHash = Argon2::default().hash_password(b"correct horse").unwrap();
        let argon = argon.to_string();
        let bcrypt = bcrypt::hash("correct horse", 4).unwrap();
        let dear = bcrypt.replacen("$04$", "$31$", 1);
        for (password, stored, expected) in [
            ("correct horse", argon.as_str(), Match::Yes),
            ("wrong", argon.as_str(), Match::No),
            ("correct horse", bcrypt.as_str(), Match::Outdated),
            ("wrong", bcrypt.as_str(), Match::No),
            ("correct horse", dear.as_str(), Match::No),
            ("correct horse", "$2b$", Match::No),
            ("correct horse", "", Match::No),
        ] {
            assert_eq!(matches(password, stored), expected, "{password} {stored}");
        }
    }
}
