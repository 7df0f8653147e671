//! `POST /api/login`, `GET /api/me/login-bundle`. WIRE 5.1.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::password::Match;
use super::{password, view};
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::login::{LoginAnswer, LoginBundle, LoginOutcome, LoginRequest, SecondFactorNeeded};
use crate::http::gate::auth::{ClientInfo, SignedIn};
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, TooMany};
use tidewatch_accounts::{SecondFactors, User};
use tidewatch_limits as limits;
use tidewatch_limits::admission::guesses::Guesser;
use tidewatch_limits::per_ip::Login;

const WRONG: ApiError = ApiError::Unauthorized("wrong email or password");

/// Signs in with an e-mail address and a password. A malformed body is also a failed login.
#[utoipa::path(
    post,
    path = "/api/login",
    operation_id = "login",
    tag = "account",
    request_body = LoginRequest,
    responses((status = 200, description = "The session, or the available second factors", body = LoginOutcome), (status = 413, description = "The body is too large", body = ErrorBody), Failures, TooMany),
    security(())
)]
pub async fn login(
    _: PerIp<Login>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    body: Result<AnonymousBody<LoginRequest>, ApiError>,
) -> Result<Json<LoginOutcome>, ApiError> {
    if process.config.sso.disable_password_login {
        return Err(ApiError::Forbidden("nobody signs in with a password here"));
    }
    let AnonymousBody(LoginRequest { email, password }) = body.map_err(|error| match error {
        ApiError::Malformed(_) => WRONG,
        other => other,
    })?;
    if password.len() > limits::PASSWORD_BYTES_MAX {
        return Err(WRONG);
    }
    let stored = accounts.control.sign_in.stored_user(&email).await?;
    let (id, hash) = stored.map_or((None, None), |user| (Some(user.id), user.password_hash));
    let actor = from.actor(&accounts.clock, &email);
    let is_known = match id {
        Some(id) => from.is_known_to(id, &accounts).await?,
        None => false,
    };
    let guesser = match &from.device {
        Some(cookie) if is_known => Guesser::Known(cookie),
        _ => Guesser::Stranger(from.address),
    };
    let failures = accounts.guesses.begin(&email, guesser, actor.at_ns)?;
    let found = password::verify(&accounts, password.clone(), hash.clone(), is_known).await?;
    let Some(user) = id.filter(|_| found != Match::No).and_then(|id| accounts.control.people.user(id)) else {
        accounts.guesses.failed(from.address, actor.at_ns);
        // Consecutive failures are logged with decreasing frequency: the 1st, 2nd, 4th, ...
        if let Some(id) = id.filter(|_| failures.is_power_of_two()) {
            accounts.control.sign_in.record_refusal(&actor, id, &email, "password", failures).await?;
        }
        return Err(WRONG);
    };
    accounts.guesses.succeeded(&email, guesser);
    if let (Match::Outdated, Some(old)) = (found, hash) {
        let new = password::hash(&accounts, password).await?;
        accounts.control.sign_in.rehash_password(user.id, &old, &new).await?;
    }
    let has = accounts.control.sign_in.second_factors(user.id).await?;
    if has.any() {
        return Ok(Json(LoginOutcome::Next(second_step(&accounts, &user, has).await?)));
    }
    from.record_sign_in(&accounts, &user, "password").await?;
    let (token, LoginBundle { user, projects, organizations }) =
        view::session(&accounts, &process, &from, &user).await?;
    Ok(Json(LoginOutcome::In(LoginAnswer { token, user, projects, organizations })))
}

/// The second factors that complete a sign-in, and the token of the sign-in.
pub async fn second_step(accounts: &Accounts, user: &User, has: SecondFactors) -> Result<SecondFactorNeeded, ApiError> {
    let methods = available([
        ("totp", has.totp),
        ("passkey", has.passkeys > 0 && accounts.passkeys.is_some()),
        ("recovery", has.recovery_codes_left > 0),
    ]);
    let mfa_token = accounts.control.sign_in.await_second_factor(user.id, accounts.clock.now_ns()).await?;
    Ok(SecondFactorNeeded { mfa_required: true, mfa_token, methods })
}

/// The names of the usable methods.
pub fn available<const N: usize>(methods: [(&str, bool); N]) -> Vec<String> {
    methods.into_iter().filter(|(_, is_usable)| *is_usable).map(|(name, _)| name.to_owned()).collect()
}

/// The signed-in user, and the projects and organizations that the user may access.
#[utoipa::path(
    get,
    path = "/api/me/login-bundle",
    operation_id = "loginBundle",
    tag = "account",
    responses((status = 200, description = "Success", body = LoginBundle), Failures)
)]
pub async fn bundle(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    SignedIn { user, via, .. }: SignedIn,
) -> Json<LoginBundle> {
    Json(view::bundle(&accounts, &process, &user, &via))
}
