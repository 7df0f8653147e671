//! Second factors: setup of an authenticator app, and the second step of a sign-in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use qrcode::QrCode;
use qrcode::render::svg::Color;

use super::passkeys;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::login::{LoginAnswer, LoginBundle};
use crate::http::account::{NEVER, begin_proved_session, bundle, check_password_of};
use crate::http::auth::bodies::sign_in::{
    CodeRequest, LinkMailRequest, PasswordRequest, RecoveryCodes, SecondFactorRequest, TotpSetup, TwoFactorView,
};
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::{ClientInfo, LoginUser, Via};
use crate::http::gate::body::{AnonymousBody, JsonBody};
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, NotFound, TooMany};
use tidewatch_accounts::mail::templates;
use tidewatch_accounts::secrets::totp::Codes;
use tidewatch_accounts::{LinkMail, PendingLink, ProviderSignIn, SecondFactorOutcome, SecondFactorResponse, User};
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::{SecondFactor, SecondFactorChange};

/// The user's second factors.
#[utoipa::path(
    get,
    path = "/api/me/two-factor",
    operation_id = "getTwoFactor",
    tag = "credentials",
    responses((status = 200, description = "Success", body = TwoFactorView), Failures)
)]
pub async fn get(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<TwoFactorView>, ApiError> {
    let has = accounts.control.sign_in.second_factors(caller.user.id).await?;
    let passkeys = accounts.control.sign_in.passkeys(caller.user.id).await?.iter().map(passkeys::view).collect();
    Ok(Json(TwoFactorView { totp: has.totp, recovery_codes_left: has.recovery_codes_left, passkeys }))
}

/// Begins the setup of an authenticator app. The app is a second factor after its first code is confirmed.
#[utoipa::path(
    post,
    path = "/api/me/two-factor/totp",
    operation_id = "beginTotp",
    tag = "credentials",
    request_body = PasswordRequest,
    responses((status = 200, description = "Success", body = TotpSetup), (status = 409, description = "An authenticator app is set up already", body = ErrorBody), Failures, TooMany)
)]
pub async fn begin(
    _: PerIp<SecondFactorChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<PasswordRequest>,
) -> Result<Json<TotpSetup>, ApiError> {
    check_password_of(&accounts, &caller.user, request.password).await?;
    let codes = Codes::new(&caller.user.email).map_err(ApiError::internal)?;
    if !accounts.control.sign_in.begin_totp(&caller.actor(&accounts.clock), caller.user.id, &codes).await? {
        return Err(ApiError::Conflict("two-factor authentication is on already"));
    }
    let uri = codes.uri().map_err(ApiError::internal)?;
    let qr = QrCode::new(uri.as_bytes()).map_err(ApiError::internal)?;
    let (dark, light) = (Color("#000000"), Color("#ffffff"));
    let qr_svg = qr.render().min_dimensions(200, 200).dark_color(dark).light_color(light).build();
    Ok(Json(TotpSetup { secret: codes.base32(), uri, qr_svg }))
}

/// Completes the setup of an authenticator app with one of its codes. Returns ten recovery codes, which are shown only
/// once.
#[utoipa::path(
    post,
    path = "/api/me/two-factor/totp/confirm",
    operation_id = "confirmTotp",
    tag = "credentials",
    request_body = CodeRequest,
    responses((status = 200, description = "Success", body = RecoveryCodes), Failures, TooMany)
)]
pub async fn confirm(
    _: PerIp<SecondFactorChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<CodeRequest>,
) -> Result<Json<RecoveryCodes>, ApiError> {
    let code = request.code.replace(' ', "");
    let codes = accounts.control.sign_in.confirm_totp(&caller.actor(&accounts.clock), &caller.user, &code).await?;
    let recovery_codes =
        codes.ok_or_else(|| ApiError::malformed("the code is wrong; is the clock of the device right?"))?;
    Ok(Json(RecoveryCodes { recovery_codes }))
}

/// Removes the authenticator app. Passkeys stay.
#[utoipa::path(
    delete,
    path = "/api/me/two-factor/totp",
    operation_id = "removeTotp",
    tag = "credentials",
    request_body = PasswordRequest,
    responses((status = 200, description = "Removed", body = StatusAnswer), Failures, TooMany)
)]
pub async fn remove(
    _: PerIp<SecondFactorChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<PasswordRequest>,
) -> Result<Json<StatusAnswer>, ApiError> {
    check_password_of(&accounts, &caller.user, request.password).await?;
    accounts.control.sign_in.remove_totp(&caller.actor(&accounts.clock), caller.user.id).await?;
    Ok(Json(StatusAnswer::of("disabled")))
}

/// Creates ten new recovery codes. The previous ones are invalid.
#[utoipa::path(
    post,
    path = "/api/me/two-factor/recovery-codes",
    operation_id = "replaceRecoveryCodes",
    tag = "credentials",
    request_body = PasswordRequest,
    responses((status = 200, description = "Success", body = RecoveryCodes), Failures, TooMany)
)]
pub async fn recovery_codes(
    _: PerIp<SecondFactorChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<PasswordRequest>,
) -> Result<Json<RecoveryCodes>, ApiError> {
    check_password_of(&accounts, &caller.user, request.password).await?;
    if !accounts.control.sign_in.second_factors(caller.user.id).await?.any() {
        return Err(ApiError::malformed("two-factor authentication is off"));
    }
    let recovery_codes =
        accounts.control.sign_in.replace_recovery_codes(&caller.actor(&accounts.clock), caller.user.id).await?;
    Ok(Json(RecoveryCodes { recovery_codes }))
}

/// Completes the second step of a sign-in.
#[utoipa::path(
    post,
    path = "/api/login/mfa",
    operation_id = "loginSecondFactor",
    tag = "credentials",
    request_body = SecondFactorRequest,
    responses((status = 200, description = "Success", body = LoginAnswer), Failures, TooMany),
    security(())
)]
pub async fn login(
    _: PerIp<SecondFactor>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    AnonymousBody(request): AnonymousBody<SecondFactorRequest>,
) -> Result<Json<LoginAnswer>, ApiError> {
    let code = request.code.map(|code| code.replace(' ', ""));
    let proof = passkeys::proof_of(&accounts, request.challenge_id.as_ref(), request.passkey.as_ref())?;
    let mail_code = request.mail_code.map(|code| code.replace(' ', ""));
    let response = match (&code, &request.recovery_code, &proof, request.password, &mail_code) {
        (Some(code), None, None, None, None) => SecondFactorResponse::Code(code),
        (None, Some(code), None, None, None) => SecondFactorResponse::RecoveryCode(code),
        (None, None, Some(proof), None, None) => SecondFactorResponse::Passkey(proof),
        (None, None, None, Some(password), None) => SecondFactorResponse::Password {
            is_right: is_password_of_waiting(&accounts, &request.mfa_token, password).await?,
        },
        (None, None, None, None, Some(code)) => SecondFactorResponse::MailCode(code),
        _ => {
            let message = "one of code, recoveryCode, password, mailCode, and passkey with challengeId is needed";
            return Err(ApiError::malformed(message));
        }
    };
    let actor = from.actor(&accounts.clock, "login");
    match accounts.control.sign_in.verify_second_factor(&actor, &request.mfa_token, response).await? {
        SecondFactorOutcome::In { user, link: None } => {
            from.record_sign_in(&accounts, &user, "second factor").await?;
            let token = begin_proved_session(&accounts, &from, &user, actor.at_ns).await?;
            Ok(Json(login_answer(&accounts, &process, &user, token)))
        }
        SecondFactorOutcome::In { user, link: Some(PendingLink { provider, profile }) } => {
            let entry = accounts
                .control
                .sign_in
                .sign_in_with_provider(&actor, &provider, &profile, false, Some(user.id))
                .await?;
            let ProviderSignIn::In { user, .. } = entry else {
                return Err(ApiError::Unauthorized("the account is another by now; sign in again"));
            };
            from.record_sign_in(&accounts, &user, &provider).await?;
            // A code from the mailbox proves the ownership of the account, but is not an authentication.
            let proved_ns = match response {
                SecondFactorResponse::MailCode(_) => profile.signed_in_ns.unwrap_or(NEVER),
                _ => actor.at_ns,
            };
            let token = begin_proved_session(&accounts, &from, &user, proved_ns).await?;
            Ok(Json(login_answer(&accounts, &process, &user, token)))
        }
        SecondFactorOutcome::No if proof.is_some() => Err(ApiError::Unauthorized("the passkey was not accepted")),
        SecondFactorOutcome::No => Err(ApiError::Unauthorized("wrong or expired code")),
        SecondFactorOutcome::TooMany => Err(ApiError::TooMany(limits::SECOND_FACTOR_WINDOW.as_secs())),
    }
}

/// Mails a code to the account to which a provider's sign-in is to be linked. Send it to `POST /api/login/mfa` as
/// `mailCode`.
#[utoipa::path(
    post,
    path = "/api/login/mfa/mail",
    operation_id = "mailLinkCode",
    tag = "credentials",
    request_body = LinkMailRequest,
    responses((status = 200, description = "Sent", body = StatusAnswer), (status = 409, description = "The code was sent before", body = ErrorBody), NotFound, Failures, TooMany),
    security(())
)]
pub async fn mail_code(
    _: PerIp<SecondFactor>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    AnonymousBody(request): AnonymousBody<LinkMailRequest>,
) -> Result<Json<StatusAnswer>, ApiError> {
    if !accounts.mailer.is_set_up {
        return Err(ApiError::not_found("this server sends no mail"));
    }
    let mail = |email: &str, code: &str| templates::link_code(&process.config.base_url(), email, code);
    match accounts
        .control
        .sign_in
        .mail_link_code(&from.actor(&accounts.clock, "login"), &request.mfa_token, mail)
        .await?
    {
        LinkMail::Sent => accounts.mailer.wake(),
        LinkMail::SentBefore => return Err(ApiError::Conflict("the code was sent; look into the mailbox")),
        LinkMail::Unknown => return Err(ApiError::Unauthorized("the sign-in took too long; begin again")),
        LinkMail::TooMany => return Err(ApiError::TooMany(limits::SECOND_FACTOR_WINDOW.as_secs())),
    }
    Ok(Json(StatusAnswer::of("sent")))
}

/// Whether `password` belongs to the user whose sign-in waits with `token` for its second step.
async fn is_password_of_waiting(accounts: &Accounts, token: &str, password: String) -> Result<bool, ApiError> {
    let waiting = accounts.control.sign_in.waiting_for_second_factor(token, accounts.clock.now_ns()).await?;
    let Some(user) = waiting.and_then(|id| accounts.control.people.user(id)) else { return Ok(false) };
    match check_password_of(accounts, &user, password).await {
        Ok(()) => Ok(true),
        Err(ApiError::Forbidden(_)) => Ok(false),
        Err(other) => Err(other),
    }
}

fn login_answer(accounts: &Accounts, process: &Process, user: &User, token: String) -> LoginAnswer {
    let LoginBundle { user, projects, organizations } = bundle(accounts, process, user, &Via::Login);
    LoginAnswer { token, user, projects, organizations }
}
