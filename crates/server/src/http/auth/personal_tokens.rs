//! `/api/personal-access-tokens`: the user's personal access tokens. WIRE 5.4.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::fields::{check_name, check_projects, project_ids, rfc3339};
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::auth::bodies::credentials::{NewPersonalToken, NewPersonalTokenRequest, PersonalTokenView};
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::{FreshLoginUser, LoginUser};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};
use tidewatch_accounts::{PersonalToken, Scope, ScopeLevel};
use tidewatch_domain::units::DAY_NS;
use tidewatch_limits as limits;

/// The user's personal access tokens, the newest first.
#[utoipa::path(
    get,
    path = "/api/personal-access-tokens",
    operation_id = "listPersonalAccessTokens",
    tag = "credentials",
    responses((status = 200, description = "Success", body = Vec<PersonalTokenView>), Failures)
)]
pub async fn list(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<Vec<PersonalTokenView>>, ApiError> {
    let tokens = accounts.control.credentials.personal_tokens(caller.user.id).await?;
    let view = |token: PersonalToken| PersonalTokenView {
        id: token.id,
        name: token.name,
        prefix: token.prefix,
        scopes: token.scope.level.words(),
        project_ids: project_ids(&token.scope),
        created_at: rfc3339(token.created_ns),
        expires_at: token.expires_ns.map(rfc3339),
        last_used_at: token.last_used_ns.map(rfc3339),
    };
    Ok(Json(tokens.into_iter().map(view).collect()))
}

/// Creates a personal access token, with which programs act for the user within its scopes. The default `scopes` are
/// read and write; by default the token expires after 90 days.
#[utoipa::path(
    post,
    path = "/api/personal-access-tokens",
    operation_id = "createPersonalAccessToken",
    tag = "credentials",
    request_body = NewPersonalTokenRequest,
    responses((status = 201, description = "Created", body = NewPersonalToken), Failures)
)]
pub async fn create(
    State(accounts): State<Arc<Accounts>>,
    FreshLoginUser(caller): FreshLoginUser,
    JsonBody(request): JsonBody<NewPersonalTokenRequest>,
) -> Result<(StatusCode, Json<NewPersonalToken>), ApiError> {
    let name = check_name(&request.name)?;
    let actor = caller.actor(&accounts.clock);
    let days = request.expires_in_days.unwrap_or(limits::PERSONAL_TOKEN_DAYS);
    let most = limits::PERSONAL_TOKEN_DAYS_MAX;
    if !(1..=most).contains(&days) {
        return Err(ApiError::malformed(format!("expiresInDays must be 1 to {most}")));
    }
    let expires_ns = Some(actor.at_ns.saturating_add(i64::from(days).saturating_mul(DAY_NS)));
    let projects = check_projects(&accounts, &caller, request.project_ids.as_deref())?;
    let scope = Scope { level: level(request.scopes.as_deref())?, projects };
    let (created, token) =
        accounts.control.credentials.create_personal_token(&actor, caller.user.id, name, &scope, expires_ns).await?;
    let response = NewPersonalToken {
        id: created.id,
        name: created.name,
        prefix: created.prefix,
        token,
        scopes: created.scope.level.words(),
        project_ids: project_ids(&created.scope),
        created_at: rfc3339(created.created_ns),
        expires_at: created.expires_ns.map(rfc3339),
    };
    Ok((StatusCode::CREATED, Json(response)))
}

/// Deletes a personal access token. It is invalid immediately.
#[utoipa::path(
    delete,
    path = "/api/personal-access-tokens/{id}",
    operation_id = "deletePersonalAccessToken",
    tag = "credentials",
    params(("id" = i64, Path, description = "The token's id")),
    responses((status = 200, description = "Deleted", body = StatusAnswer), NotFound, Failures)
)]
pub async fn delete(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    Path(id): Path<String>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let unknown = || ApiError::not_found("no such token");
    let id = id.parse().map_err(|_| unknown())?;
    if !accounts.control.credentials.delete_personal_token(&caller.actor(&accounts.clock), caller.user.id, id).await? {
        return Err(unknown());
    }
    Ok(Json(StatusAnswer::of("deleted")))
}

/// The highest of the requested scopes, which includes the others. Fails with 400 if one is unknown.
fn level(scopes: Option<&[String]>) -> Result<ScopeLevel, ApiError> {
    let Some(scopes) = scopes else { return Ok(ScopeLevel::requested(None)) };
    let wrong = || ApiError::malformed("scopes are one or more of read, write and admin");
    let levels = scopes.iter().map(|word| ScopeLevel::parse(word)).collect::<Option<Vec<_>>>();
    levels.and_then(|levels| levels.into_iter().max()).ok_or_else(wrong)
}
