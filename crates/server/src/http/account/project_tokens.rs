//! `/api/projects/token`, `/api/projects/source-map-token`: rotation of a project's tokens.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;

use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::bodies::project::{NewToken, NewUploadToken, RotateTokenRequest};
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, ProjectAccess, ViaFreshLogin, ViaLogin};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_accounts::TokenKind;
use tidewatch_limits as limits;

/// Replaces the token that exporters send. The previous token stays valid for `graceHours`, by default one day; older
/// tokens end immediately. With `graceHours` 0 only the new token is valid.
#[utoipa::path(
    post,
    path = "/api/projects/token",
    operation_id = "rotateToken",
    tag = "projects",
    params(ProjectQuery),
    request_body = RotateTokenRequest,
    responses((status = 200, description = "Success", body = NewToken), Failures)
)]
pub async fn rotate_token(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ViaFreshLogin<Admin>>,
    JsonBody(request): JsonBody<RotateTokenRequest>,
) -> Result<Json<NewToken>, ApiError> {
    let token = rotate(&accounts, &access, TokenKind::Runtime, &request).await?;
    Ok(Json(NewToken { token }))
}

/// Replaces the token that uploads of symbols and source maps send. The previous token stays valid for `graceHours`, by
/// default one day; older tokens end immediately. With `graceHours` 0 only the new token is valid.
#[utoipa::path(
    post,
    path = "/api/projects/source-map-token",
    operation_id = "rotateUploadToken",
    tag = "projects",
    params(ProjectQuery),
    request_body = RotateTokenRequest,
    responses((status = 200, description = "Success", body = NewUploadToken), Failures)
)]
pub async fn rotate_upload_token(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ViaFreshLogin<Admin>>,
    JsonBody(request): JsonBody<RotateTokenRequest>,
) -> Result<Json<NewUploadToken>, ApiError> {
    let token = rotate(&accounts, &access, TokenKind::Upload, &request).await?;
    Ok(Json(NewUploadToken { source_map_token: token.clone(), token }))
}

async fn rotate(
    accounts: &Accounts,
    access: &ProjectAccess<ViaFreshLogin<Admin>>,
    kind: TokenKind,
    request: &RotateTokenRequest,
) -> Result<String, ApiError> {
    let grace = match request.grace_hours {
        None => limits::TOKEN_GRACE,
        Some(hours) if hours <= limits::TOKEN_GRACE_HOURS_MAX => Duration::from_secs(60 * 60 * hours),
        Some(_) => {
            let most = limits::TOKEN_GRACE_HOURS_MAX;
            return Err(ApiError::unprocessable(format!("graceHours is 0 to {most}")));
        }
    };
    Ok(accounts
        .control
        .credentials
        .rotate_token(&access.actor(&accounts.clock), access.project.number, kind, grace)
        .await?)
}

/// Ends the previous token before its grace period is over.
#[utoipa::path(
    delete,
    path = "/api/projects/token/previous",
    operation_id = "endPreviousToken",
    tag = "projects",
    params(ProjectQuery),
    responses((status = 200, description = "Ended", body = Done), NotFound, Failures)
)]
pub async fn end_previous_token(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ViaLogin<Admin>>,
) -> Result<Json<Done>, ApiError> {
    end_previous(&accounts, &access, TokenKind::Runtime).await
}

/// Ends the previous upload token before its grace period is over.
#[utoipa::path(
    delete,
    path = "/api/projects/source-map-token/previous",
    operation_id = "endPreviousUploadToken",
    tag = "projects",
    params(ProjectQuery),
    responses((status = 200, description = "Ended", body = Done), NotFound, Failures)
)]
pub async fn end_previous_upload_token(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ViaLogin<Admin>>,
) -> Result<Json<Done>, ApiError> {
    end_previous(&accounts, &access, TokenKind::Upload).await
}

async fn end_previous(
    accounts: &Accounts,
    access: &ProjectAccess<ViaLogin<Admin>>,
    kind: TokenKind,
) -> Result<Json<Done>, ApiError> {
    if !accounts.control.credentials.end_previous_tokens(&access.actor(&accounts.clock), &access.project, kind).await? {
        return Err(ApiError::not_found("no replaced token is still taken"));
    }
    Ok(Json(Done { message: "the replaced token was ended".to_owned() }))
}
