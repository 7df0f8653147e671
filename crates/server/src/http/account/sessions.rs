//! `/api/me/sessions`, `POST /api/me/logout`: the user's sessions.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};

use super::view::rfc3339;
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::bodies::people::SessionView;
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::LoginUser;
use crate::http::openapi::{Failures, NotFound};

/// The user's sessions, the last used first.
#[utoipa::path(
    get,
    path = "/api/me/sessions",
    operation_id = "listSessions",
    tag = "account",
    responses((status = 200, description = "Success", body = Vec<SessionView>), Failures)
)]
pub async fn list(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<Vec<SessionView>>, ApiError> {
    let own = caller.session.map(|session| session.id);
    let sessions = accounts.control.sign_in.sessions(&caller.user, accounts.clock.now_ns()).await?;
    let view = |session: tidewatch_accounts::Session| SessionView {
        id: session.id,
        current: Some(session.id) == own,
        user_agent: session.user_agent,
        address: session.address,
        created_at: rfc3339(session.created_ns),
        last_seen_at: rfc3339(session.last_seen_ns),
        expires_at: rfc3339(session.expires_ns),
    };
    Ok(Json(sessions.into_iter().map(view).collect()))
}

/// Ends one of the user's sessions immediately.
#[utoipa::path(
    delete,
    path = "/api/me/sessions/{id}",
    operation_id = "endSession",
    tag = "account",
    params(("id" = i64, Path, description = "The session's id")),
    responses((status = 200, description = "Ended", body = StatusAnswer), NotFound, Failures)
)]
pub async fn end(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    Path(id): Path<String>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let unknown = || ApiError::not_found("no such session");
    let id = id.parse().map_err(|_| unknown())?;
    if !accounts.control.sign_in.end_session(&caller.actor(&accounts.clock), caller.user.id, id).await? {
        return Err(unknown());
    }
    Ok(Json(StatusAnswer::of("ended")))
}

/// Signs out: ends the session of the request and removes its cookie.
#[utoipa::path(
    post,
    path = "/api/me/logout",
    operation_id = "signOut",
    tag = "account",
    responses((status = 200, description = "Signed out", body = StatusAnswer), Failures)
)]
pub async fn logout(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<StatusAnswer>, ApiError> {
    if let Some(session) = caller.session {
        accounts.control.sign_in.end_session(&caller.actor(&accounts.clock), caller.user.id, session.id).await?;
    }
    caller.from.cookies.clear();
    Ok(Json(StatusAnswer::of("ok")))
}
