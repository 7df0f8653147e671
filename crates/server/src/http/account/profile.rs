//! `PUT /api/me`, `POST /api/me/sessions/revoke`: the user's own profile and sessions.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::{fields, view};
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::bodies::login::{NewLogin, UserView};
use crate::http::account::bodies::people::{ProfileRequest, RevokeSessionsRequest};
use crate::http::gate::auth::{LoginUser, SignedIn, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::Failures;
use tidewatch_accounts::{AlsoRevoke, Profile};

/// Changes the user's name, time zone or theme. Absent fields are unchanged.
#[utoipa::path(
    put,
    path = "/api/me",
    operation_id = "changeProfile",
    tag = "account",
    request_body = ProfileRequest,
    responses((status = 200, description = "Success", body = UserView), Failures)
)]
pub async fn change(
    State(accounts): State<Arc<Accounts>>,
    caller: SignedIn<Write>,
    JsonBody(request): JsonBody<ProfileRequest>,
) -> Result<Json<UserView>, ApiError> {
    let theme = match request.theme.as_deref() {
        None => None,
        Some(theme @ ("system" | "light" | "dark")) => Some(theme.to_owned()),
        Some(_) => return Err(ApiError::malformed("theme is not one of system, light and dark")),
    };
    let profile = Profile {
        name: request.name.as_deref().map(|name| fields::text("name", name)).transpose()?,
        timezone: request.timezone.as_deref().map(|zone| fields::timezone(Some(zone))).transpose()?,
        theme,
    };
    let user = accounts.control.people.change_profile(&caller.actor(&accounts.clock), caller.user.id, &profile).await?;
    Ok(Json(view::user_view(&user)))
}

/// Ends all sessions of the user and, if requested, the personal access tokens and passkeys. The response has the token
/// of a new session.
#[utoipa::path(
    post,
    path = "/api/me/sessions/revoke",
    operation_id = "revokeSessions",
    tag = "account",
    request_body = RevokeSessionsRequest,
    responses((status = 200, description = "Success", body = NewLogin), Failures)
)]
pub async fn revoke_sessions(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<RevokeSessionsRequest>,
) -> Result<Json<NewLogin>, ApiError> {
    if request.end_passkeys == Some(true) {
        caller.check_fresh(&accounts.clock)?;
    }
    let actor = caller.actor(&accounts.clock);
    let also = AlsoRevoke {
        personal_tokens: request.end_personal_access_tokens.unwrap_or(false),
        passkeys: request.end_passkeys.unwrap_or(false),
    };
    accounts.control.sign_in.revoke_sessions(&actor, caller.user.id, also).await?;
    let user = accounts.control.people.user(caller.user.id).ok_or(ApiError::Unauthorized("the account is gone"))?;
    Ok(Json(NewLogin { token: view::renew_session(&accounts, &caller, &user).await? }))
}
