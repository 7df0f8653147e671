//! Saved views: named query strings of the pages of a project, private or shared, and the stars of each user.

use serde_json::json;

use super::Projects;
use crate::audit::Entry;
use crate::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

/// A saved view, as one user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    /// Row id.
    pub id: i64,
    /// The user who created it.
    pub owner: i64,
    /// Its name.
    pub name: String,
    /// Name of the page.
    pub page: String,
    /// Query string of the page, without the question mark; may be empty.
    pub search: String,
    /// Whether every member of the project sees it.
    pub is_shared: bool,
    /// Whether the user has starred it.
    pub is_starred: bool,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Time of the latest change, nanoseconds since the epoch.
    pub updated_ns: i64,
}

/// The parts of a saved view that a user chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewView {
    /// Its name.
    pub name: String,
    /// Name of the page.
    pub page: String,
    /// Query string of the page.
    pub search: String,
    /// Whether every member of the project sees it.
    pub is_shared: bool,
}

/// The change of a saved view; `None` keeps the value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewChange {
    /// The new name.
    pub name: Option<String>,
    /// The new query string.
    pub search: Option<String>,
    /// Whether every member of the project sees it.
    pub is_shared: Option<bool>,
}

/// Rights of a user's role on saved views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewRights {
    /// Sharing views, and changing own shared ones.
    pub may_share: bool,
    /// Changing the shared views of other users.
    pub is_admin: bool,
}

const NO_VIEW: ControlError = ControlError::Missing("no such saved view");
const OF_ANOTHER: ControlError = ControlError::Forbidden("a shared view is changed by its owner or an admin");
const NOT_SHARED: ControlError = ControlError::Forbidden("sharing a view needs more than read access");

/// A stored view: owner, name, whether it is shared.
type Stored = (i64, String, i64);

impl Projects {
    /// Returns the own and the shared views of a project.
    pub async fn saved_views(&self, project: u32, user: i64) -> Result<Vec<SavedView>, ControlError> {
        type Columns = (i64, i64, String, String, String, i64, i64, i64, i64);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT v.id, v.owner, v.name, v.page, v.search, v.shared, \
             (SELECT COUNT(*) FROM saved_view_stars s WHERE s.view_id = v.id AND s.user_id = $2), \
             v.created_ns, v.updated_ns \
             FROM saved_views v WHERE v.project = $1 AND (v.owner = $2 OR v.shared = 1)",
        )
        .bind(i64::from(project))
        .bind(user)
        .fetch_all(self.database.pool())
        .await?;
        let view = |(id, owner, name, page, search, shared, stars, created_ns, updated_ns)| SavedView {
            id,
            owner,
            name,
            page,
            search,
            is_shared: shared != 0,
            is_starred: stars != 0,
            created_ns,
            updated_ns,
        };
        Ok(rows.into_iter().map(view).collect())
    }

    /// Stores a view of the actor. Returns its row id. [`ControlError::Forbidden`] if it is shared without the right;
    /// [`ControlError::TooMany`] beyond [`limits::SAVED_VIEWS_OF_USER_MAX`] and [`limits::SAVED_VIEWS_SHARED_MAX`].
    pub async fn save_view(
        &self,
        actor: &Actor,
        project: &Project,
        rights: ViewRights,
        view: &NewView,
    ) -> Result<i64, ControlError> {
        let owner = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        check_count(&mut write, project, Some(owner)).await?;
        if view.is_shared {
            check_sharing(&mut write, project, rights).await?;
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO saved_views (project, owner, name, page, search, shared, created_ns, updated_ns) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING id",
        )
        .bind(i64::from(project.number))
        .bind(owner)
        .bind(&view.name)
        .bind(&view.page)
        .bind(&view.search)
        .bind(i64::from(view.is_shared))
        .bind(actor.at_ns)
        .fetch_one(write.on())
        .await?;
        write.audit(about(actor.did("saved_view.create"), project, id, &view.name, view.is_shared)).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Changes a view. [`ControlError::Missing`] if the actor does not see it; [`ControlError::Forbidden`] if the
    /// actor may not change or share it; [`ControlError::TooMany`] beyond [`limits::SAVED_VIEWS_SHARED_MAX`].
    pub async fn change_view(
        &self,
        actor: &Actor,
        project: &Project,
        rights: ViewRights,
        id: i64,
        change: &ViewChange,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let (_, name, shared) = own_or_administered(&mut write, actor, project, rights, id).await?;
        let is_shared = change.is_shared.unwrap_or(shared != 0);
        if is_shared && shared == 0 {
            check_sharing(&mut write, project, rights).await?;
        } else if is_shared && !rights.may_share {
            return Err(NOT_SHARED);
        }
        sqlx::query(
            "UPDATE saved_views SET name = COALESCE($2, name), search = COALESCE($3, search), shared = $4, \
             updated_ns = $5 WHERE id = $1",
        )
        .bind(id)
        .bind(change.name.as_deref())
        .bind(change.search.as_deref())
        .bind(i64::from(is_shared))
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        let name = change.name.as_ref().unwrap_or(&name);
        let is_public = is_shared || shared != 0;
        write.audit(about(actor.did("saved_view.change"), project, id, name, is_public)).await?;
        write.commit().await
    }

    /// Deletes a view with its stars. Fails like [`Projects::change_view`].
    pub async fn delete_view(
        &self,
        actor: &Actor,
        project: &Project,
        rights: ViewRights,
        id: i64,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let (_, name, shared) = own_or_administered(&mut write, actor, project, rights, id).await?;
        sqlx::query("DELETE FROM saved_views WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(about(actor.did("saved_view.delete"), project, id, &name, shared != 0)).await?;
        write.commit().await
    }

    /// Sets or removes the star of a user on a view. [`ControlError::Missing`] if the user does not see the view.
    pub async fn star_view(&self, user: i64, project: &Project, id: i64, is_starred: bool) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        visible(&mut write, user, project, id).await?;
        let statement = if is_starred {
            "INSERT INTO saved_view_stars (view_id, user_id) VALUES ($1, $2) ON CONFLICT (view_id, user_id) DO NOTHING"
        } else {
            "DELETE FROM saved_view_stars WHERE view_id = $1 AND user_id = $2"
        };
        sqlx::query(statement).bind(id).bind(user).execute(write.on()).await?;
        write.commit().await
    }
}

/// The view, if the user sees it.
async fn visible(write: &mut Write<'_>, user: i64, project: &Project, id: i64) -> Result<Stored, ControlError> {
    let found: Option<Stored> = sqlx::query_as(
        "SELECT owner, name, shared FROM saved_views WHERE id = $1 AND project = $2 AND (owner = $3 OR shared = 1)",
    )
    .bind(id)
    .bind(i64::from(project.number))
    .bind(user)
    .fetch_optional(write.on())
    .await?;
    found.ok_or(NO_VIEW)
}

/// The view, if the actor may change it.
async fn own_or_administered(
    write: &mut Write<'_>,
    actor: &Actor,
    project: &Project,
    rights: ViewRights,
    id: i64,
) -> Result<Stored, ControlError> {
    let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
    let view = visible(write, user, project, id).await?;
    if view.0 == user || rights.is_admin { Ok(view) } else { Err(OF_ANOTHER) }
}

async fn check_sharing(write: &mut Write<'_>, project: &Project, rights: ViewRights) -> Result<(), ControlError> {
    if rights.may_share { check_count(write, project, None).await } else { Err(NOT_SHARED) }
}

/// Checks the number of views of `owner`; without an owner that of the shared views.
async fn check_count(write: &mut Write<'_>, project: &Project, owner: Option<i64>) -> Result<(), ControlError> {
    let (statement, most, what) = match owner {
        Some(_) => (
            "SELECT COUNT(*) FROM saved_views WHERE project = $1 AND owner = $2",
            limits::SAVED_VIEWS_OF_USER_MAX,
            "saved views of yours in this project",
        ),
        None => (
            "SELECT COUNT(*) FROM saved_views WHERE project = $1 AND shared = $2",
            limits::SAVED_VIEWS_SHARED_MAX,
            "shared views in this project",
        ),
    };
    let count: i64 = sqlx::query_scalar(statement)
        .bind(i64::from(project.number))
        .bind(owner.unwrap_or(1))
        .fetch_one(write.on())
        .await?;
    if count >= most { Err(ControlError::TooMany(what)) } else { Ok(()) }
}

/// The audit log is read by admins: it names shared views only.
fn about<'a>(entry: Entry<'a>, project: &Project, id: i64, name: &str, is_shared: bool) -> Entry<'a> {
    let details = match is_shared {
        true => json!({ "view": id, "name": name, "shared": true }),
        false => json!({ "view": id, "shared": false }),
    };
    entry.on("project", project.id).within(project.organization_id).with(details)
}
