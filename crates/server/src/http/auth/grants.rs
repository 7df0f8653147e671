//! `/api/me/grants`: the clients that the user has authorized, by device login or OAuth.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};

use super::device::client_name;
use super::fields::{project_ids, rfc3339};
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::auth::bodies::credentials::GrantView;
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::LoginUser;
use crate::http::openapi::{Failures, NotFound};
use tidewatch_accounts::Grant;

/// The clients that the user has authorized, the newest first.
#[utoipa::path(
    get,
    path = "/api/me/grants",
    operation_id = "listGrants",
    tag = "credentials",
    responses((status = 200, description = "Success", body = Vec<GrantView>), Failures)
)]
pub async fn list(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<Vec<GrantView>>, ApiError> {
    let grants = accounts.control.credentials.grants(caller.user.id, accounts.clock.now_ns()).await?;
    let view = |grant: Grant| GrantView {
        id: grant.id,
        client_name: grant.client_name.unwrap_or_else(|| client_name(&grant.client_id).to_owned()),
        client_id: grant.client_id,
        scopes: grant.scope.level.words(),
        project_ids: project_ids(&grant.scope),
        created_at: rfc3339(grant.created_ns),
        last_used_at: grant.last_used_ns.map(rfc3339),
    };
    Ok(Json(grants.into_iter().map(view).collect()))
}

/// Revokes the authorization of a client immediately.
#[utoipa::path(
    delete,
    path = "/api/me/grants/{id}",
    operation_id = "deleteGrant",
    tag = "credentials",
    params(("id" = i64, Path, description = "The sign-in's id")),
    responses((status = 200, description = "Ended", body = StatusAnswer), NotFound, Failures)
)]
pub async fn delete(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    Path(id): Path<String>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let unknown = || ApiError::not_found("no such sign-in");
    let id = id.parse().map_err(|_| unknown())?;
    if !accounts.control.credentials.delete_grant(&caller.actor(&accounts.clock), caller.user.id, id).await? {
        return Err(unknown());
    }
    Ok(Json(StatusAnswer::of("revoked")))
}
