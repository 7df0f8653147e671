//! Step-up: repeated authentication before credentials or roles change, or data is deleted. Routes that require it fail
//! with 403 and the code `step_up_required` (`FreshLoginUser`, `ViaFreshLogin` in `gate/auth`). A step-up is valid for
//! [`limits::STEP_UP_LIFE`] in its session.
//!
//! Passkeys and codes work like the second step of a login: `mfaToken` is valid for `POST
//! /api/login/mfa/passkey/start`, and wrong codes count in the same window of the account.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::fields::rfc3339;
use super::passkeys;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::{available, check_password_of};
use crate::http::auth::bodies::step_up::{StepUpAnswer, StepUpRequest, StepUpWays};
use crate::http::gate::auth::LoginUser;
use crate::http::gate::body::JsonBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{Failures, TooMany};
use tidewatch_accounts::{SecondFactorOutcome, SecondFactorResponse};
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::{Passkey, StepUp};

/// Begins a step-up. Returns the methods by which the user can authenticate.
#[utoipa::path(
    post,
    path = "/api/me/step-up/start",
    operation_id = "beginStepUp",
    tag = "account",
    responses((status = 200, description = "Success", body = StepUpWays), Failures, TooMany)
)]
pub async fn methods(
    _: PerIp<Passkey>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<StepUpWays>, ApiError> {
    let user = &caller.user;
    let has = accounts.control.sign_in.second_factors(user.id).await?;
    let methods = available([
        ("password", !user.has_no_password && !process.config.sso.disable_password_login),
        ("totp", has.totp),
        ("passkey", has.passkeys > 0 && accounts.passkeys.is_some()),
    ]);
    let mfa_token = match has.any() {
        true => Some(accounts.control.sign_in.await_second_factor(user.id, accounts.clock.now_ns()).await?),
        false => None,
    };
    let providers = accounts.control.sign_in.providers_of(user.id).await?;
    let providers = providers.into_iter().filter(|id| accounts.sso.provider(id).is_some()).collect();
    Ok(Json(StepUpWays { methods, mfa_token, providers }))
}

/// Completes a step-up. A new sign-in, also with a provider, counts as a step-up in the new session.
#[utoipa::path(
    post,
    path = "/api/me/step-up",
    operation_id = "stepUp",
    tag = "account",
    request_body = StepUpRequest,
    responses((status = 200, description = "Authenticated", body = StepUpAnswer), Failures, TooMany)
)]
pub async fn prove(
    _: PerIp<StepUp>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<StepUpRequest>,
) -> Result<Json<StepUpAnswer>, ApiError> {
    let actor = caller.actor(&accounts.clock);
    let wrong = ApiError::Forbidden("that was not accepted");
    let code = request.code.map(|code| code.replace(' ', ""));
    let how = match (request.password, &request.mfa_token) {
        (Some(password), None) => {
            check_password_of(&accounts, &caller.user, password).await?;
            "password"
        }
        (None, Some(token)) => {
            let proof = passkeys::proof_of(&accounts, request.challenge_id.as_ref(), request.passkey.as_ref())?;
            let response = match (&code, &proof) {
                (Some(code), None) => SecondFactorResponse::Code(code),
                (None, Some(proof)) => SecondFactorResponse::Passkey(proof),
                _ => return Err(ApiError::malformed("one of code, and passkey with challengeId is needed")),
            };
            match accounts.control.sign_in.verify_second_factor(&actor, token, response).await? {
                SecondFactorOutcome::In { user, link: None } if user.id == caller.user.id => {}
                SecondFactorOutcome::In { .. } | SecondFactorOutcome::No => return Err(wrong),
                SecondFactorOutcome::TooMany => return Err(ApiError::TooMany(limits::SECOND_FACTOR_WINDOW.as_secs())),
            }
            if proof.is_some() { "passkey" } else { "second factor" }
        }
        _ => return Err(ApiError::malformed("one of password and mfaToken is needed")),
    };
    let session = caller.session.ok_or(wrong)?;
    accounts.control.sign_in.prove_session(&actor, session.id, how, actor.at_ns).await?;
    let until_ns = actor.at_ns.saturating_add(limits::STEP_UP_LIFE.as_nanos() as i64);
    Ok(Json(StepUpAnswer { until: rfc3339(until_ns) }))
}
