//! `PUT /api/me`, `POST /api/me/sessions/revoke`: what people set about themselves.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::{fields, view};
use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{InPerson, SignedIn, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::Failures;
use tidewatch_accounts::{AlsoEnd, Profile};
use tidewatch_query::views::account::{NewLogin, UserView};
use tidewatch_query::views::people::{ProfileRequest, RevokeSessionsRequest};

/// Changes one's name, time zone or theme: what is absent stays.
#[utoipa::path(
    put,
    path = "/api/me",
    operation_id = "changeProfile",
    tag = "account",
    request_body = ProfileRequest,
    responses((status = 200, description = "The answer", body = UserView), Failures)
)]
pub async fn change(
    State(app): State<Arc<App>>,
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
    let user = app.control.change_profile(&caller.by(&app), caller.user.id, &profile).await?;
    Ok(Json(view::user_view(&user)))
}

/// Signs out everywhere else, and ends personal access tokens and passkeys where asked. The answer is a new login.
#[utoipa::path(
    post,
    path = "/api/me/sessions/revoke",
    operation_id = "revokeSessions",
    tag = "account",
    request_body = RevokeSessionsRequest,
    responses((status = 200, description = "The answer", body = NewLogin), Failures)
)]
pub async fn revoke_sessions(
    State(app): State<Arc<App>>,
    InPerson(caller): InPerson,
    JsonBody(request): JsonBody<RevokeSessionsRequest>,
) -> Result<Json<NewLogin>, ApiError> {
    if request.end_passkeys == Some(true) {
        caller.check_fresh(&app)?;
    }
    let by = caller.by(&app);
    let also = AlsoEnd {
        personal_tokens: request.end_personal_access_tokens.unwrap_or(false),
        passkeys: request.end_passkeys.unwrap_or(false),
    };
    app.control.revoke_sessions(&by, caller.user.id, also).await?;
    let user = app.control.user(caller.user.id).ok_or(ApiError::Unauthorized("the account is gone"))?;
    Ok(Json(NewLogin { token: view::renew_session(&app, &caller, &user).await? }))
}
