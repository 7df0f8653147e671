//! Device login: a program without a browser requests access, and the user decides at `/device`. RFC 8628; WIRE 5.4.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};

use super::fields::{check_projects, rfc3339};
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::auth::bodies::credentials::{
    DeviceAuthorizeAnswer, DeviceAuthorizeRequest, DeviceDecision, DeviceQuery, DeviceView,
};
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::{ClientInfo, FreshLoginUser, LoginUser, SignedIn};
use crate::http::gate::body::{FormOrJson, JsonBody};
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, NotFound, TooMany};
use tidewatch_accounts::{DeviceRequest, Scope, ScopeLevel};
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::DeviceAuthorize;

/// The client ids of programs that may use device login, with their display names.
const CLIENTS: [(&str, &str); 4] = [
    ("traceway-cli", "Traceway CLI"),
    ("traceway-mcp", "Traceway MCP server"),
    ("tidewatch-cli", "Tidewatch CLI"),
    ("tidewatch-mcp", "Tidewatch MCP server"),
];

/// The display name of a device login client; the id itself if it is unknown.
pub fn client_name(id: &str) -> &str {
    CLIENTS.iter().find(|(known, _)| *known == id).map_or(id, |(_, name)| name)
}

/// Begins a device login.
#[utoipa::path(
    post,
    path = "/api/auth/device/authorize",
    operation_id = "authorizeDevice",
    tag = "credentials",
    request_body = DeviceAuthorizeRequest,
    responses((status = 200, description = "Success", body = DeviceAuthorizeAnswer), Failures, TooMany),
    security(())
)]
pub async fn authorize(
    _: PerIp<DeviceAuthorize>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    FormOrJson(request): FormOrJson<DeviceAuthorizeRequest>,
) -> Result<Json<DeviceAuthorizeAnswer>, ApiError> {
    let client = request.client_id.as_deref().filter(|id| !id.is_empty()).unwrap_or(CLIENTS[0].0);
    if CLIENTS.iter().all(|(known, _)| *known != client) {
        return Err(ApiError::malformed("invalid_client"));
    }
    let level = ScopeLevel::requested(request.scope.as_deref());
    let code =
        accounts.control.credentials.begin_device_login(&from.actor(&accounts.clock, client), client, level).await?;
    let page = format!("{}/device", process.config.base_url());
    Ok(Json(DeviceAuthorizeAnswer {
        verification_uri_complete: format!("{page}?user_code={}", code.user_code),
        verification_uri: page,
        device_code: code.device_code,
        user_code: code.user_code,
        expires_in: limits::DEVICE_CODE_LIFE.as_secs(),
        interval: limits::DEVICE_INTERVAL.as_secs(),
    }))
}

/// The request of a device, by its user code.
#[utoipa::path(
    get,
    path = "/api/device",
    operation_id = "getDevice",
    tag = "credentials",
    params(DeviceQuery),
    responses(
        (status = 200, description = "Success", body = DeviceView),
        (status = 410, description = "The code has expired", body = ErrorBody),
        NotFound, Failures
    )
)]
pub async fn get(
    State(accounts): State<Arc<Accounts>>,
    _: LoginUser,
    Query(query): Query<DeviceQuery>,
) -> Result<Json<DeviceView>, ApiError> {
    let found = pending_request(&accounts, query.user_code.as_deref().unwrap_or_default()).await?;
    Ok(Json(DeviceView {
        client_name: client_name(&found.client_id).to_owned(),
        user_code: found.user_code,
        status: found.status,
        address: found.address,
        scope: found.level.text(),
        requested_at: rfc3339(found.created_ns),
        expires_at: rfc3339(found.expires_ns),
    }))
}

/// Approves the request of a device.
#[utoipa::path(
    post,
    path = "/api/device/approve",
    operation_id = "approveDevice",
    tag = "credentials",
    request_body = DeviceDecision,
    responses(
        (status = 200, description = "Approved", body = StatusAnswer),
        (status = 409, description = "The request was approved or denied already", body = ErrorBody),
        (status = 410, description = "The code has expired", body = ErrorBody),
        NotFound, Failures
    )
)]
pub async fn approve(
    State(accounts): State<Arc<Accounts>>,
    FreshLoginUser(caller): FreshLoginUser,
    JsonBody(decision): JsonBody<DeviceDecision>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let found = pending_request(&accounts, &decision.user_code).await?;
    // The user may grant less than the device requests, but not more.
    let level =
        decision.scope.as_deref().map_or(found.level, |scope| ScopeLevel::requested(Some(scope)).min(found.level));
    let projects = check_projects(&accounts, &caller, decision.project_ids.as_deref())?;
    decide(&accounts, &caller, &found, Some(&Scope { level, projects })).await
}

/// Denies the request of a device.
#[utoipa::path(
    post,
    path = "/api/device/deny",
    operation_id = "denyDevice",
    tag = "credentials",
    request_body = DeviceDecision,
    responses(
        (status = 200, description = "Denied", body = StatusAnswer),
        (status = 409, description = "The request was approved or denied already", body = ErrorBody),
        (status = 410, description = "The code has expired", body = ErrorBody),
        NotFound, Failures
    )
)]
pub async fn deny(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(decision): JsonBody<DeviceDecision>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let found = pending_request(&accounts, &decision.user_code).await?;
    decide(&accounts, &caller, &found, None).await
}

async fn decide(
    accounts: &Accounts,
    caller: &SignedIn,
    found: &DeviceRequest,
    approved: Option<&Scope>,
) -> Result<Json<StatusAnswer>, ApiError> {
    if !accounts
        .control
        .credentials
        .answer_device(&caller.actor(&accounts.clock), &caller.user, &found.user_code, approved)
        .await?
    {
        return Err(ApiError::Conflict("this code has been answered already"));
    }
    Ok(Json(StatusAnswer::of(if approved.is_some() { "approved" } else { "denied" })))
}

async fn pending_request(accounts: &Accounts, user_code: &str) -> Result<DeviceRequest, ApiError> {
    let found = accounts.control.credentials.device_request(user_code).await?;
    let found = found.ok_or_else(|| ApiError::not_found("no device waits with this code"))?;
    if found.expires_ns <= accounts.clock.now_ns() {
        return Err(ApiError::NoLongerValid("this code has expired; start again on the device"));
    }
    Ok(found)
}
