//! `POST /api/forgot-password`, `/api/password-reset`. WIRE 5.2.
//!
//! The content and the timing of the response to `forgot-password` do not reveal whether the account exists: the work
//! is done after the response. The token of a link is sent in a header; routes with the token in their path are for
//! existing clients.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::{fields, password};
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::people::{ForgotPasswordRequest, ResetPasswordRequest, ResetRequested, ResetView};
use crate::http::confirmation::Done;
use crate::http::gate::auth::ClientInfo;
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::link_token::LinkToken;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{Failures, TooMany};
use tidewatch_accounts::mail::templates;
use tidewatch_limits::per_ip::{ForgotPassword, ResetConsumption, ResetValidation};

const REQUESTED: &str = "if there is an account with this address, a mail with a link is on its way to it";
const NO_MAIL: &str = "this server has no mail server: its operator sets another password with \
    `tidewatch admin reset-password --email ADDRESS`";
const NO_LINK: &str = "the link has been used or has run out; ask for another";

/// Mails a link to reset the password, at most one per hour. The response is the same for every address. Without a mail
/// server it names the operator's command.
#[utoipa::path(
    post,
    path = "/api/forgot-password",
    operation_id = "forgotPassword",
    tag = "account",
    request_body = ForgotPasswordRequest,
    responses((status = 200, description = "The request was accepted", body = ResetRequested), Failures, TooMany),
    security(())
)]
pub async fn forgot(
    _: PerIp<ForgotPassword>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    AnonymousBody(request): AnonymousBody<ForgotPasswordRequest>,
) -> Result<Json<ResetRequested>, ApiError> {
    let has_mail_server = accounts.mailer.is_set_up;
    let message = if has_mail_server { REQUESTED } else { NO_MAIL };
    let response = Json(ResetRequested { message: message.to_owned(), has_mail_server });
    // An invalid address gets the same response.
    let Some(email) = fields::email(&request.email).ok().filter(|_| has_mail_server) else { return Ok(response) };
    let busy = ApiError::Overloaded("too many passwords are being asked for; try again later");
    let permit = accounts.mailer.reset_permits.clone().try_acquire_owned().map_err(|_| busy)?;
    tokio::spawn(async move {
        let _permit = permit;
        let (actor, base) = (from.actor(&accounts.clock, &email), process.config.base_url());
        let mail = |token: &str| templates::password_reset(&base, &email, token);
        match accounts.control.sign_in.begin_reset(&actor, &email, mail).await {
            Ok(()) => accounts.mailer.wake(),
            Err(error) => tracing::error!(%error, "a forgotten password cannot be worked on: {error}"),
        }
    });
    Ok(response)
}

/// Whether a password reset link is valid, and the address of its account.
#[utoipa::path(
    get,
    path = "/api/password-reset/{token}",
    operation_id = "passwordReset",
    tag = "account",
    params(("token" = String, Path)),
    responses((status = 200, description = "Success", body = ResetView), Failures, TooMany),
    security(())
)]
pub async fn look_up(
    _: PerIp<ResetValidation>,
    State(accounts): State<Arc<Accounts>>,
    LinkToken(token): LinkToken,
) -> Result<Json<ResetView>, ApiError> {
    let email = accounts.control.sign_in.reset_email(&token, accounts.clock.now_ns()).await?;
    Ok(Json(ResetView { valid: email.is_some(), email }))
}

/// Sets a new password and ends all sessions of the account. The link can be used once.
#[utoipa::path(
    post,
    path = "/api/password-reset/{token}",
    operation_id = "resetPassword",
    tag = "account",
    params(("token" = String, Path)),
    request_body = ResetPasswordRequest,
    responses((status = 200, description = "Set", body = Done), Failures, TooMany),
    security(())
)]
pub async fn reset(
    _: PerIp<ResetConsumption>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    LinkToken(token): LinkToken,
    AnonymousBody(request): AnonymousBody<ResetPasswordRequest>,
) -> Result<Json<Done>, ApiError> {
    password::check(&request.password)?;
    let email = accounts.control.sign_in.reset_email(&token, accounts.clock.now_ns()).await?;
    let email = email.ok_or_else(|| ApiError::malformed(NO_LINK))?;
    let hash = password::hash(&accounts, request.password).await?;
    // Of concurrent requests, the database accepts one.
    let ends_tokens = request.end_personal_access_tokens.unwrap_or(false);
    match accounts
        .control
        .sign_in
        .finish_reset(&from.actor(&accounts.clock, &email), &token, &hash, ends_tokens)
        .await?
    {
        true => Ok(Json(Done { message: "the password was set; sign in with it".to_owned() })),
        false => Err(ApiError::malformed(NO_LINK)),
    }
}

/// Whether a password reset link is valid, and the address of its account.
#[utoipa::path(
    get,
    path = "/api/password-reset",
    operation_id = "passwordResetOfLink",
    tag = "account",
    params(("Link-Token" = String, Header, description = "`twr_...`, from the link")),
    responses((status = 200, description = "Success", body = ResetView), Failures, TooMany),
    security(())
)]
pub async fn look_up_link(
    window: PerIp<ResetValidation>,
    accounts: State<Arc<Accounts>>,
    token: LinkToken,
) -> Result<Json<ResetView>, ApiError> {
    look_up(window, accounts, token).await
}

/// Sets a new password and ends all sessions of the account. The link can be used once.
#[utoipa::path(
    post,
    path = "/api/password-reset",
    operation_id = "resetPasswordOfLink",
    tag = "account",
    params(("Link-Token" = String, Header, description = "`twr_...`, from the link")),
    request_body = ResetPasswordRequest,
    responses((status = 200, description = "Set", body = Done), Failures, TooMany),
    security(())
)]
pub async fn reset_link(
    window: PerIp<ResetConsumption>,
    from: ClientInfo,
    accounts: State<Arc<Accounts>>,
    token: LinkToken,
    body: AnonymousBody<ResetPasswordRequest>,
) -> Result<Json<Done>, ApiError> {
    reset(window, from, accounts, token, body).await
}
