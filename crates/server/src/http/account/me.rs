//! `PUT /api/me/password`: changes the user's own password.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::password::{self, Match};
use super::view::begin_session;
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::bodies::login::{ChangePasswordRequest, NewLogin};
use crate::http::gate::auth::LoginUser;
use crate::http::gate::body::JsonBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{Failures, TooMany};
use tidewatch_limits::per_ip::PasswordChange;

/// Changes the user's password. All sessions end; the response has the token of a new one.
#[utoipa::path(
    put,
    path = "/api/me/password",
    operation_id = "changePassword",
    tag = "account",
    request_body = ChangePasswordRequest,
    responses((status = 200, description = "Success", body = NewLogin), Failures, TooMany)
)]
pub async fn change_password(
    _: PerIp<PasswordChange>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<ChangePasswordRequest>,
) -> Result<Json<NewLogin>, ApiError> {
    password::check(&request.new_password)?;
    let stored = accounts.control.sign_in.stored_user(&caller.user.email).await?.and_then(|user| user.password_hash);
    if password::verify(&accounts, request.current_password, stored, true).await? == Match::No {
        return Err(ApiError::Forbidden("the current password is wrong"));
    }
    let hash = password::hash(&accounts, request.new_password).await?;
    let actor = caller.actor(&accounts.clock);
    accounts.control.sign_in.set_password(&actor, caller.user.id, &hash).await?;
    let user = accounts.control.people.user(caller.user.id).ok_or(ApiError::Unauthorized("the account is gone"))?;
    Ok(Json(NewLogin { token: begin_session(&accounts, &caller.from, &user).await? }))
}
