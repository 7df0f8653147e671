//! The token endpoint: device code, refresh token and authorization code become access tokens. WIRE 5.4.
//!
//! Errors are RFC 6749's words as `{"error": "<word>"}`, always 400; a device-code poll over the per-IP window hears
//! `slow_down` and not 429 (Spec: errors).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, PRAGMA};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::Origin;
use crate::http::gate::body::FormOrJson;
use crate::http::gate::per_ip::PerIp;
use crate::http::gate::resource::is_ours;
use crate::http::openapi::{ErrorBody, TooMany};
use tidewatch_accounts::{Exchange, Exchanged, Issued, Poll};
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::{Logout, Token};
use tidewatch_query::views::auth::{LogoutRequest, StatusAnswer, TokenAnswer, TokenRequest};

/// RFC 6749, 5.1: on every answer of the endpoint.
const UNSTORED: [(HeaderName, &str); 2] = [(CACHE_CONTROL, "no-store"), (PRAGMA, "no-cache")];

/// Tokens for a device code, a refresh token or an authorization code.
#[utoipa::path(
    post,
    path = "/api/auth/token",
    operation_id = "token",
    tag = "credentials",
    request_body = TokenRequest,
    responses(
        (status = 200, description = "The answer", body = TokenAnswer),
        (status = 400, description = "`authorization_pending`, `slow_down`, `access_denied`, `expired_token`, `invalid_grant`, `invalid_target`, `invalid_request` or `unsupported_grant_type`", body = ErrorBody),
        TooMany
    ),
    security(())
)]
pub async fn token(
    over: Result<PerIp<Token>, ApiError>,
    from: Origin,
    State(app): State<Arc<App>>,
    request: Result<FormOrJson<TokenRequest>, ApiError>,
) -> Response {
    (UNSTORED, answer(&app, over, from, request).await.map(Json)).into_response()
}

/// The same, where devices look for it.
#[utoipa::path(
    post,
    path = "/api/auth/device/token",
    operation_id = "deviceToken",
    tag = "credentials",
    request_body = TokenRequest,
    responses(
        (status = 200, description = "The answer", body = TokenAnswer),
        (status = 400, description = "As of `/api/auth/token`", body = ErrorBody),
        TooMany
    ),
    security(())
)]
pub async fn device_token(
    over: Result<PerIp<Token>, ApiError>,
    from: Origin,
    State(app): State<Arc<App>>,
    request: Result<FormOrJson<TokenRequest>, ApiError>,
) -> Response {
    (UNSTORED, answer(&app, over, from, request).await.map(Json)).into_response()
}

async fn answer(
    app: &Arc<App>,
    over: Result<PerIp<Token>, ApiError>,
    from: Origin,
    request: Result<FormOrJson<TokenRequest>, ApiError>,
) -> Result<TokenAnswer, ApiError> {
    let request = match (over, request) {
        (Ok(_), request) => request?.0,
        // Which grant it is says what those over the window hear.
        (Err(error), Ok(FormOrJson(request))) => {
            return Err(error.for_grant(request.grant_type.as_deref().unwrap_or_default()));
        }
        (Err(error), Err(_)) => return Err(error),
    };
    let issued = match request.grant_type.as_deref() {
        Some("device_code" | "urn:ietf:params:oauth:grant-type:device_code") => device(app, from, &request).await?,
        Some("refresh_token") => refresh(app, from, &request).await?,
        Some("authorization_code") => code(app, from, &request).await?,
        Some(_) => return Err(word("unsupported_grant_type")),
        None => return Err(word("invalid_request")),
    };
    let access_token = app.logins.issue_access(&issued.user, issued.family, &issued.resource, issued.at_ns)?;
    // Less than its whole life when an answer is given again.
    let age = app.clock.now_ns().saturating_sub(issued.at_ns).max(0) / 1_000_000_000;
    Ok(TokenAnswer {
        access_token,
        refresh_token: issued.refresh_token,
        token_type: "Bearer".to_owned(),
        expires_in: limits::ACCESS_LIFE.as_secs() as i64 - age,
        scope: issued.scope.level.text(),
        email: issued.user.email.clone(),
    })
}

async fn device(app: &Arc<App>, from: Origin, request: &TokenRequest) -> Result<Issued, ApiError> {
    let code = needed(&request.device_code)?;
    let by = from.by(app, "device");
    match app.control.poll_device(&by, code, request.client_id.as_deref()).await? {
        Poll::Pending => Err(word("authorization_pending")),
        Poll::SlowDown => Err(ApiError::SlowDown),
        Poll::Denied => Err(word("access_denied")),
        Poll::Expired => Err(word("expired_token")),
        Poll::Invalid => Err(word("invalid_grant")),
        Poll::Issued(issued) => Ok(issued),
    }
}

async fn refresh(app: &Arc<App>, from: Origin, request: &TokenRequest) -> Result<Issued, ApiError> {
    let token = needed(&request.refresh_token)?;
    let resource = request.resource.as_deref().filter(|resource| !resource.is_empty());
    if resource.is_some_and(|resource| !is_ours(&app.config.base_url(), resource)) {
        return Err(word("invalid_target"));
    }
    let by = from.by(app, "client");
    Ok(app.control.refresh_grant(&by, token, request.client_id.as_deref(), resource).await?)
}

async fn code(app: &Arc<App>, from: Origin, request: &TokenRequest) -> Result<Issued, ApiError> {
    let verifier = needed(&request.code_verifier)?;
    let shown = Exchange {
        code: needed(&request.code)?,
        client_id: needed(&request.client_id)?,
        redirect_uri: needed(&request.redirect_uri)?,
        code_challenge: &challenge(verifier).ok_or_else(|| word("invalid_request"))?,
        resource: request.resource.as_deref(),
    };
    match app.control.exchange_code(&from.by(app, "client"), &shown).await? {
        Exchanged::Issued(issued) => Ok(issued),
        Exchanged::Invalid => Err(word("invalid_grant")),
        Exchanged::InvalidTarget => Err(word("invalid_target")),
    }
}

/// RFC 7636: S256 of a verifier of 43 to 128 unreserved characters.
pub fn challenge(verifier: &str) -> Option<String> {
    let is_right = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    is_right.then(|| URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)))
}

/// Ends the sign-in that a refresh token belongs to. Says the same whether there was one.
#[utoipa::path(
    post,
    path = "/api/auth/logout",
    operation_id = "logout",
    tag = "credentials",
    request_body = LogoutRequest,
    responses((status = 200, description = "`ok`", body = StatusAnswer), TooMany),
    security(())
)]
pub async fn logout(
    _: PerIp<Logout>,
    from: Origin,
    State(app): State<Arc<App>>,
    request: Result<FormOrJson<LogoutRequest>, ApiError>,
) -> Result<Json<StatusAnswer>, ApiError> {
    if let Ok(FormOrJson(LogoutRequest { refresh_token: Some(token) })) = request {
        app.control.end_grant_of(&from.by(&app, "client"), &token).await?;
    }
    Ok(Json(StatusAnswer::of("ok")))
}

fn needed(field: &Option<String>) -> Result<&str, ApiError> {
    field.as_deref().filter(|text| !text.is_empty()).ok_or_else(|| word("invalid_request"))
}

fn word(word: &str) -> ApiError {
    ApiError::malformed(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 7636, appendix B.
    #[test]
    fn s256() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge(verifier).as_deref(), Some("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
        for wrong in ["", "short", &"a".repeat(42), &"a".repeat(129), &"ä".repeat(30), &format!("{} ", "a".repeat(43))]
        {
            assert_eq!(challenge(wrong), None, "{wrong}");
        }
    }
}
