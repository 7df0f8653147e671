//! Second factors: setting up an authenticator, and the second step of a login.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use qrcode::QrCode;
use qrcode::render::svg::Color;

use super::passkeys;
use crate::app::App;
use crate::control::{Answered, Shown};
use crate::error::ApiError;
use crate::http::account::{check_password_of, session};
use crate::http::gate::auth::{InPerson, Origin};
use crate::http::gate::body::{AnonymousBody, JsonBody};
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, TooMany};
use crate::limits;
use crate::limits::per_ip::{SecondFactor, SecondFactorChange};
use crate::query::views::account::LoginAnswer;
use crate::query::views::auth::{
    CodeRequest, PasswordRequest, RecoveryCodes, SecondFactorRequest, StatusAnswer, TotpSetup, TwoFactorView,
};
use crate::secrets::totp::Codes;

/// Which second factors the reader has.
#[utoipa::path(
    get,
    path = "/api/me/two-factor",
    operation_id = "getTwoFactor",
    tag = "credentials",
    responses((status = 200, description = "The answer", body = TwoFactorView), Failures)
)]
pub async fn get(State(app): State<Arc<App>>, InPerson(caller): InPerson) -> Result<Json<TwoFactorView>, ApiError> {
    let has = app.control.second_factors(caller.user.id).await?;
    let passkeys = app.control.passkeys(caller.user.id).await?.iter().map(passkeys::view).collect();
    Ok(Json(TwoFactorView { totp: has.totp, recovery_codes_left: has.recovery_codes_left, passkeys }))
}

/// Begins to set up an authenticator. It counts once a code of it has been shown.
#[utoipa::path(
    post,
    path = "/api/me/two-factor/totp",
    operation_id = "beginTotp",
    tag = "credentials",
    request_body = PasswordRequest,
    responses((status = 200, description = "The answer", body = TotpSetup), (status = 409, description = "There is one already", body = ErrorBody), Failures, TooMany)
)]
pub async fn begin(
    _: PerIp<SecondFactorChange>,
    State(app): State<Arc<App>>,
    InPerson(caller): InPerson,
    JsonBody(request): JsonBody<PasswordRequest>,
) -> Result<Json<TotpSetup>, ApiError> {
    check_password_of(&app, &caller.user, request.password).await?;
    let codes = Codes::new(&caller.user.email).map_err(ApiError::internal)?;
    if !app.control.begin_totp(&caller.by(&app), caller.user.id, &codes).await? {
        return Err(ApiError::Conflict("two-factor authentication is on already"));
    }
    let uri = codes.uri().map_err(ApiError::internal)?;
    let qr = QrCode::new(uri.as_bytes()).map_err(ApiError::internal)?;
    let (dark, light) = (Color("#000000"), Color("#ffffff"));
    let qr_svg = qr.render().min_dimensions(200, 200).dark_color(dark).light_color(light).build();
    Ok(Json(TotpSetup { secret: codes.base32(), uri, qr_svg }))
}

/// Shows a code of the new authenticator; the answer is ten recovery codes, shown this once.
#[utoipa::path(
    post,
    path = "/api/me/two-factor/totp/confirm",
    operation_id = "confirmTotp",
    tag = "credentials",
    request_body = CodeRequest,
    responses((status = 200, description = "The answer", body = RecoveryCodes), Failures, TooMany)
)]
pub async fn confirm(
    _: PerIp<SecondFactorChange>,
    State(app): State<Arc<App>>,
    InPerson(caller): InPerson,
    JsonBody(request): JsonBody<CodeRequest>,
) -> Result<Json<RecoveryCodes>, ApiError> {
    let code = request.code.replace(' ', "");
    let codes = app.control.confirm_totp(&caller.by(&app), &caller.user, &code).await?;
    let recovery_codes =
        codes.ok_or_else(|| ApiError::malformed("the code is wrong; is the clock of the device right?"))?;
    Ok(Json(RecoveryCodes { recovery_codes }))
}

/// Turns the codes of an authenticator off; passkeys stay.
#[utoipa::path(
    delete,
    path = "/api/me/two-factor/totp",
    operation_id = "removeTotp",
    tag = "credentials",
    request_body = PasswordRequest,
    responses((status = 200, description = "Off", body = StatusAnswer), Failures, TooMany)
)]
pub async fn remove(
    _: PerIp<SecondFactorChange>,
    State(app): State<Arc<App>>,
    InPerson(caller): InPerson,
    JsonBody(request): JsonBody<PasswordRequest>,
) -> Result<Json<StatusAnswer>, ApiError> {
    check_password_of(&app, &caller.user, request.password).await?;
    app.control.remove_totp(&caller.by(&app), caller.user.id).await?;
    Ok(Json(StatusAnswer::of("disabled")))
}

/// Ten new recovery codes; the old ones are over.
#[utoipa::path(
    post,
    path = "/api/me/two-factor/recovery-codes",
    operation_id = "replaceRecoveryCodes",
    tag = "credentials",
    request_body = PasswordRequest,
    responses((status = 200, description = "The answer", body = RecoveryCodes), Failures, TooMany)
)]
pub async fn recovery_codes(
    _: PerIp<SecondFactorChange>,
    State(app): State<Arc<App>>,
    InPerson(caller): InPerson,
    JsonBody(request): JsonBody<PasswordRequest>,
) -> Result<Json<RecoveryCodes>, ApiError> {
    check_password_of(&app, &caller.user, request.password).await?;
    if !app.control.second_factors(caller.user.id).await?.any() {
        return Err(ApiError::malformed("two-factor authentication is off"));
    }
    let recovery_codes = app.control.replace_recovery_codes(&caller.by(&app), caller.user.id).await?;
    Ok(Json(RecoveryCodes { recovery_codes }))
}

/// The second step of a login.
#[utoipa::path(
    post,
    path = "/api/login/mfa",
    operation_id = "loginSecondFactor",
    tag = "credentials",
    request_body = SecondFactorRequest,
    responses((status = 200, description = "The answer", body = LoginAnswer), Failures, TooMany),
    security(())
)]
pub async fn login(
    _: PerIp<SecondFactor>,
    from: Origin,
    State(app): State<Arc<App>>,
    AnonymousBody(request): AnonymousBody<SecondFactorRequest>,
) -> Result<Json<LoginAnswer>, ApiError> {
    let code = request.code.map(|code| code.replace(' ', ""));
    let proof = match (&request.passkey, &request.challenge_id) {
        (Some(answer), Some(challenge)) => Some(passkeys::proof(passkeys::party(&app)?, challenge, answer)),
        _ => None,
    };
    let shown = match (&code, &request.recovery_code, &proof) {
        (Some(code), None, None) => Shown::Code(code),
        (None, Some(code), None) => Shown::RecoveryCode(code),
        (None, None, Some(proof)) => Shown::Passkey(proof),
        _ => return Err(ApiError::malformed("one of code, recoveryCode, and passkey with challengeId is needed")),
    };
    let by = from.by(&app, "login");
    match app.control.show_second_factor(&by, &request.mfa_token, shown).await? {
        Answered::In(user) => {
            app.control.record_sign_in(&by, &user, "second factor").await?;
            let (token, bundle) = session(&app, &from, &user).await?;
            let (user, projects, organizations) = (bundle.user, bundle.projects, bundle.organizations);
            Ok(Json(LoginAnswer { token, user, projects, organizations }))
        }
        Answered::No if proof.is_some() => Err(ApiError::Unauthorized("the passkey was not accepted")),
        Answered::No => Err(ApiError::Unauthorized("wrong or expired code")),
        Answered::TooMany => Err(ApiError::TooMany(limits::SECOND_FACTOR_WINDOW.as_secs())),
    }
}
