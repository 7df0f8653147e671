//! Saved views: `/api/saved-views`. A view is a name, a page and its query string.

mod bodies;
mod stored;

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::{Path, State};

use self::bodies::*;
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::gate::auth::{ChangeOwn, ProjectAccess};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(list, create)).routes(routes!(change, delete)).routes(routes!(star, unstar))
}

/// The own saved views of a project and the shared ones.
#[utoipa::path(
    get,
    path = "/api/saved-views",
    operation_id = "listSavedViews",
    tag = "saved views",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = SavedViews), Failures)
)]
async fn list(State(accounts): State<Arc<Accounts>>, access: ProjectAccess) -> Result<Json<SavedViews>, ApiError> {
    let rights = stored::rights(access.role);
    Ok(Json(stored::list(&accounts.control, &access.project, access.user.id, rights).await?))
}

/// Saves a view of a page. Every member saves private views; sharing needs more than read access.
#[utoipa::path(
    post,
    path = "/api/saved-views",
    operation_id = "createSavedView",
    tag = "saved views",
    params(ProjectQuery),
    request_body = SavedViewRequest,
    responses((status = 200, description = "Success", body = SavedViewChanged), Failures)
)]
async fn create(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ChangeOwn>,
    JsonBody(request): JsonBody<SavedViewRequest>,
) -> Result<Json<SavedViewChanged>, ApiError> {
    let (actor, rights) = (access.actor(&accounts.clock), stored::rights(access.role));
    Ok(Json(stored::create(&accounts.control.projects, &actor, &access.project, rights, request).await?))
}

/// Renames, shares or updates an own view; admins change shared ones of others.
#[utoipa::path(
    put,
    path = "/api/saved-views/{id}",
    operation_id = "changeSavedView",
    tag = "saved views",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the view")),
    request_body = SavedViewChange,
    responses((status = 200, description = "Success", body = SavedViewChanged), Failures, NotFound)
)]
async fn change(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ChangeOwn>,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<SavedViewChange>,
) -> Result<Json<SavedViewChanged>, ApiError> {
    let (actor, rights) = (access.actor(&accounts.clock), stored::rights(access.role));
    Ok(Json(stored::change(&accounts.control.projects, &actor, &access.project, rights, view_id(&id)?, request).await?))
}

/// Deletes an own view; admins delete shared ones of others.
#[utoipa::path(
    delete,
    path = "/api/saved-views/{id}",
    operation_id = "deleteSavedView",
    tag = "saved views",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the view")),
    responses((status = 200, description = "Success", body = SavedViewChanged), Failures, NotFound)
)]
async fn delete(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ChangeOwn>,
    Path(id): Path<String>,
) -> Result<Json<SavedViewChanged>, ApiError> {
    let (id, rights) = (view_id(&id)?, stored::rights(access.role));
    accounts.control.projects.delete_view(&access.actor(&accounts.clock), &access.project, rights, id).await?;
    Ok(Json(SavedViewChanged { id }))
}

/// Stars a view for the caller.
#[utoipa::path(
    put,
    path = "/api/saved-views/{id}/star",
    operation_id = "starSavedView",
    tag = "saved views",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the view")),
    responses((status = 200, description = "Success", body = SavedViewChanged), Failures, NotFound)
)]
async fn star(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ChangeOwn>,
    Path(id): Path<String>,
) -> Result<Json<SavedViewChanged>, ApiError> {
    set_star(&accounts, &access, &id, true).await
}

/// Removes the caller's star of a view.
#[utoipa::path(
    delete,
    path = "/api/saved-views/{id}/star",
    operation_id = "unstarSavedView",
    tag = "saved views",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the view")),
    responses((status = 200, description = "Success", body = SavedViewChanged), Failures, NotFound)
)]
async fn unstar(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ChangeOwn>,
    Path(id): Path<String>,
) -> Result<Json<SavedViewChanged>, ApiError> {
    set_star(&accounts, &access, &id, false).await
}

async fn set_star(
    accounts: &Accounts,
    access: &ProjectAccess<ChangeOwn>,
    id: &str,
    is_starred: bool,
) -> Result<Json<SavedViewChanged>, ApiError> {
    let id = view_id(id)?;
    accounts.control.projects.star_view(access.user.id, &access.project, id, is_starred).await?;
    Ok(Json(SavedViewChanged { id }))
}

fn view_id(id: &str) -> Result<i64, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("no such saved view"))
}
