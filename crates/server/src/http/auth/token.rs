//! The token endpoint: exchanges device codes, refresh tokens and authorization codes for access tokens. WIRE 5.4.
//!
//! Errors are the codes of RFC 6749 as `{"error": "<code>"}`, always with status 400. A device code poll that exceeds
//! the window of its address fails with `slow_down` instead of 429 (Spec: errors).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, PRAGMA};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::auth::bodies::credentials::{LogoutRequest, TokenAnswer, TokenRequest};
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::ClientInfo;
use crate::http::gate::body::FormOrJson;
use crate::http::gate::per_ip::PerIp;
use crate::http::gate::resource::is_ours;
use crate::http::openapi::{ErrorBody, TooMany};
use tidewatch_accounts::{Exchange, Exchanged, Issued, Poll};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::{Logout, Token};

/// The headers of every response of the endpoint. RFC 6749, 5.1.
const NO_STORE: [(HeaderName, &str); 2] = [(CACHE_CONTROL, "no-store"), (PRAGMA, "no-cache")];

/// Exchanges a device code, a refresh token or an authorization code for tokens.
#[utoipa::path(
    post,
    path = "/api/auth/token",
    operation_id = "token",
    tag = "credentials",
    request_body = TokenRequest,
    responses(
        (status = 200, description = "Success", body = TokenAnswer),
        (status = 400, description = "`authorization_pending`, `slow_down`, `access_denied`, `expired_token`, `invalid_grant`, `invalid_target`, `invalid_request` or `unsupported_grant_type`", body = ErrorBody),
        TooMany
    ),
    security(())
)]
pub async fn token(
    over: Result<PerIp<Token>, ApiError>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    request: Result<FormOrJson<TokenRequest>, ApiError>,
) -> Response {
    (NO_STORE, exchange(&accounts, &process, over, from, request).await.map(Json)).into_response()
}

/// Like `/api/auth/token`, at the path that device login uses.
#[utoipa::path(
    post,
    path = "/api/auth/device/token",
    operation_id = "deviceToken",
    tag = "credentials",
    request_body = TokenRequest,
    responses(
        (status = 200, description = "Success", body = TokenAnswer),
        (status = 400, description = "Like `/api/auth/token`", body = ErrorBody),
        TooMany
    ),
    security(())
)]
pub async fn device_token(
    over: Result<PerIp<Token>, ApiError>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    request: Result<FormOrJson<TokenRequest>, ApiError>,
) -> Response {
    (NO_STORE, exchange(&accounts, &process, over, from, request).await.map(Json)).into_response()
}

async fn exchange(
    accounts: &Accounts,
    process: &Process,
    over: Result<PerIp<Token>, ApiError>,
    from: ClientInfo,
    request: Result<FormOrJson<TokenRequest>, ApiError>,
) -> Result<TokenAnswer, ApiError> {
    let request = match (over, request) {
        (Ok(_), request) => request?.0,
        // The error of a request that exceeds the window depends on its grant type.
        (Err(error), Ok(FormOrJson(request))) => {
            return Err(error.for_grant(request.grant_type.as_deref().unwrap_or_default()));
        }
        (Err(error), Err(_)) => return Err(error),
    };
    let issued = match request.grant_type.as_deref() {
        Some("device_code" | "urn:ietf:params:oauth:grant-type:device_code") => {
            device(accounts, from, &request).await?
        }
        Some("refresh_token") => refresh(accounts, process, from, &request).await?,
        Some("authorization_code") => code(accounts, from, &request).await?,
        Some(_) => return Err(oauth_error("unsupported_grant_type")),
        None => return Err(oauth_error("invalid_request")),
    };
    let access_token = accounts.logins.issue_access(&issued.user, issued.family, &issued.resource, issued.at_ns)?;
    // A repeated response has less than the whole life of the token left.
    let age = accounts.clock.now_ns().saturating_sub(issued.at_ns).max(0) / SECOND_NS;
    Ok(TokenAnswer {
        access_token,
        refresh_token: issued.refresh_token,
        token_type: "Bearer".to_owned(),
        expires_in: limits::ACCESS_LIFE.as_secs() as i64 - age,
        scope: issued.scope.level.text(),
        email: issued.user.email.clone(),
    })
}

async fn device(accounts: &Accounts, from: ClientInfo, request: &TokenRequest) -> Result<Issued, ApiError> {
    let code = required(&request.device_code)?;
    let actor = from.actor(&accounts.clock, "device");
    match accounts.control.credentials.poll_device(&actor, code, request.client_id.as_deref()).await? {
        Poll::Pending => Err(oauth_error("authorization_pending")),
        Poll::SlowDown => Err(ApiError::SlowDown),
        Poll::Denied => Err(oauth_error("access_denied")),
        Poll::Expired => Err(oauth_error("expired_token")),
        Poll::Invalid => Err(oauth_error("invalid_grant")),
        Poll::Issued(issued) => Ok(issued),
    }
}

async fn refresh(
    accounts: &Accounts,
    process: &Process,
    from: ClientInfo,
    request: &TokenRequest,
) -> Result<Issued, ApiError> {
    let token = required(&request.refresh_token)?;
    let resource = request.resource.as_deref().filter(|resource| !resource.is_empty());
    if resource.is_some_and(|resource| !is_ours(&process.config.base_url(), resource)) {
        return Err(oauth_error("invalid_target"));
    }
    let actor = from.actor(&accounts.clock, "client");
    Ok(accounts.control.credentials.refresh_grant(&actor, token, request.client_id.as_deref(), resource).await?)
}

async fn code(accounts: &Accounts, from: ClientInfo, request: &TokenRequest) -> Result<Issued, ApiError> {
    let verifier = required(&request.code_verifier)?;
    let exchange = Exchange {
        code: required(&request.code)?,
        client_id: required(&request.client_id)?,
        redirect_uri: required(&request.redirect_uri)?,
        code_challenge: &challenge(verifier).ok_or_else(|| oauth_error("invalid_request"))?,
        resource: request.resource.as_deref(),
    };
    match accounts.control.credentials.exchange_code(&from.actor(&accounts.clock, "client"), &exchange).await? {
        Exchanged::Issued(issued) => Ok(issued),
        Exchanged::Invalid => Err(oauth_error("invalid_grant")),
        Exchanged::InvalidTarget => Err(oauth_error("invalid_target")),
    }
}

/// The S256 challenge of a verifier. `None` unless the verifier has 43 to 128 unreserved characters. RFC 7636.
pub fn challenge(verifier: &str) -> Option<String> {
    let is_valid = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    is_valid.then(|| URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)))
}

/// Revokes the grant of a refresh token. The response does not reveal whether the token was valid.
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
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    request: Result<FormOrJson<LogoutRequest>, ApiError>,
) -> Result<Json<StatusAnswer>, ApiError> {
    if let Ok(FormOrJson(LogoutRequest { refresh_token: Some(token) })) = request {
        accounts.control.credentials.end_grant_of(&from.actor(&accounts.clock, "client"), &token).await?;
    }
    Ok(Json(StatusAnswer::of("ok")))
}

fn required(field: &Option<String>) -> Result<&str, ApiError> {
    field.as_deref().filter(|text| !text.is_empty()).ok_or_else(|| oauth_error("invalid_request"))
}

fn oauth_error(code: &str) -> ApiError {
    ApiError::malformed(code)
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
