//! Passwords in requests: checks and hashes them on blocking threads, with limited concurrency.

use crate::contexts::Accounts;
use crate::error::ApiError;
use tidewatch_accounts::User;
use tidewatch_accounts::secrets::password;
pub use tidewatch_accounts::secrets::password::Match;
use tidewatch_limits as limits;
use tidewatch_limits::admission::guesses::Guesser;

/// Fails with 400 if a new password is too short or too long. WIRE 5.1.
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

/// The hash of a new password as a PHC string. Fails with 503 if the queue is full.
pub async fn hash(accounts: &Accounts, password: String) -> Result<String, ApiError> {
    blocking(accounts, false, move || password::hash(&password)).await?.map_err(ApiError::internal)
}

/// Compares a password with a stored hash. Without a stored hash it does the same work, so that the time of a failure
/// does not reveal whether the account exists. Fails with 503 if the queue is full.
///
/// `is_known`: the user is signed in, or has signed in from this browser before. These requests have a queue of their
/// own.
pub async fn verify(
    accounts: &Accounts,
    password: String,
    stored: Option<String>,
    is_known: bool,
) -> Result<Match, ApiError> {
    blocking(accounts, is_known, move || match stored {
        Some(stored) => password::matches(&password, &stored),
        None => {
            let _ = password::hash(&password);
            Match::No
        }
    })
    .await
}

/// Fails with 403 unless `password` is the signed-in user's. Failures are rate limited like those of a known browser,
/// so that a stolen session cannot guess the password.
pub async fn check_of(accounts: &Accounts, user: &User, password: String) -> Result<(), ApiError> {
    let guesser = Guesser::Known("signed in");
    accounts.guesses.begin(&user.email, guesser, accounts.clock.now_ns())?;
    let is_long = password.len() > limits::PASSWORD_BYTES_MAX;
    let stored = accounts.control.sign_in.stored_user(&user.email).await?.and_then(|user| user.password_hash);
    if is_long || verify(accounts, password, stored, true).await? == Match::No {
        return Err(ApiError::Forbidden("the password is wrong"));
    }
    accounts.guesses.succeeded(&user.email, guesser);
    Ok(())
}

/// Runs `work` on a blocking thread after waiting in a bounded queue. Fails with 503 if the queue is full.
async fn blocking<T: Send + 'static>(
    accounts: &Accounts,
    is_known: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let queue = if is_known { &accounts.hashes_reserved } else { &accounts.hashes_waiting };
    let busy = ApiError::Overloaded("too many people sign in at once; try again");
    let _queued = queue.try_acquire().map_err(|_| busy)?;
    let _permit = accounts.hashing.acquire().await.map_err(ApiError::internal)?;
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}
