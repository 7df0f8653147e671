//! Saved views in the control database: their rights, their checks, their form in answers.
//!
//! Invariant: a view belongs to a known page, so that opening one never follows an address.

use super::bodies::*;
use crate::error::ApiError;
use tidewatch_accounts::{
    Actor, Control, NewView, Permission, Project, Projects, Role, SavedView, ViewChange, ViewRights,
};
use tidewatch_limits as limits;
use tidewatch_query::time;

/// Rights of a role on saved views: every member saves private views; sharing needs [`Permission::Write`]; an admin
/// changes every shared view.
pub fn rights(role: Role) -> ViewRights {
    ViewRights { may_share: role.permits(Permission::Write), is_admin: role.permits(Permission::Admin) }
}

/// `GET /api/saved-views`.
pub async fn list(control: &Control, project: &Project, user: i64, rights: ViewRights) -> Result<SavedViews, ApiError> {
    let stored = control.projects.saved_views(project.number, user).await?;
    let mut data: Vec<SavedViewRow> = stored.into_iter().filter_map(|one| row(control, user, rights, one)).collect();
    data.sort_by_cached_key(|one| (!one.starred, one.shared, one.name.to_lowercase(), one.id));
    Ok(SavedViews { data })
}

/// `None` for a page that this release does not have.
fn row(control: &Control, user: i64, rights: ViewRights, view: SavedView) -> Option<SavedViewRow> {
    let own = view.owner == user;
    let owner = control.people.user(view.owner).map_or_else(String::new, |user| match user.name.as_str() {
        "" => user.email.clone(),
        name => name.to_owned(),
    });
    Some(SavedViewRow {
        id: view.id,
        page: serde_json::from_value(view.page.into()).ok()?,
        name: view.name,
        search: view.search,
        shared: view.is_shared,
        starred: view.is_starred,
        may_change: own || rights.is_admin,
        owner,
        own,
        created_at: time::to_rfc3339(view.created_ns),
        updated_at: time::to_rfc3339(view.updated_ns),
    })
}

/// `POST /api/saved-views`.
pub async fn create(
    projects: &Projects,
    actor: &Actor,
    project: &Project,
    rights: ViewRights,
    request: SavedViewRequest,
) -> Result<SavedViewChanged, ApiError> {
    let SavedViewRequest { name, page, search, shared } = request;
    let page = serde_json::to_value(page).ok().and_then(|page| page.as_str().map(str::to_owned));
    let view = NewView {
        name: checked_name(&name)?,
        page: page.ok_or_else(|| ApiError::malformed("page is unknown"))?,
        search: checked_search(search)?,
        is_shared: shared,
    };
    Ok(SavedViewChanged { id: projects.save_view(actor, project, rights, &view).await? })
}

/// `PUT /api/saved-views/{id}`.
pub async fn change(
    projects: &Projects,
    actor: &Actor,
    project: &Project,
    rights: ViewRights,
    id: i64,
    request: SavedViewChange,
) -> Result<SavedViewChanged, ApiError> {
    let change = ViewChange {
        name: request.name.as_deref().map(checked_name).transpose()?,
        search: request.search.map(checked_search).transpose()?,
        is_shared: request.shared,
    };
    projects.change_view(actor, project, rights, id, &change).await?;
    Ok(SavedViewChanged { id })
}

/// The trimmed name.
fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let most = limits::SAVED_VIEW_NAME_CHARS_MAX;
    if name.is_empty() || name.chars().count() > most || name.chars().any(char::is_control) {
        return Err(ApiError::unprocessable(format!("a name has 1 to {most} characters")));
    }
    Ok(name.to_owned())
}

/// A query string as browsers write it: it can neither end the query of an address nor start another part of it.
fn checked_search(search: String) -> Result<String, ApiError> {
    let most = limits::SAVED_VIEW_SEARCH_BYTES_MAX;
    if search.len() > most {
        return Err(ApiError::unprocessable(format!("search has more than {most} bytes")));
    }
    let is_query = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'?' | b'\\' | b'"' | b'<' | b'>');
    if !search.bytes().all(is_query) {
        return Err(ApiError::unprocessable("search is no percent-encoded query string"));
    }
    Ok(search)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Item "Saved views": a name of 1 to 100 characters; a query string, bounded.
    #[test]
    fn names_and_query_strings_are_checked() {
        for (name, expected) in [
            ("  slow \u{e9} ", Some("slow \u{e9}")),
            ("", None),
            ("  ", None),
            ("a\nb", None),
            (&"\u{e9}".repeat(100), Some("\u{e9}".repeat(100).as_str())),
            (&"x".repeat(101), None),
        ] {
            assert_eq!(checked_name(name).ok().as_deref(), expected, "{name:?}");
        }
        for (search, is_right) in [
            ("", true),
            ("q=duration%3E200ms&from=now-1h&to=now", true),
            ("q=a+b&sort=-p95,count:x/y", true),
            ("q=a b", false),
            ("?q=a", false),
            ("q=a#top", false),
            ("q=\u{e9}", false),
            ("q=\"x\"", false),
            (&"x".repeat(8 * 1024), true),
            (&"x".repeat(8 * 1024 + 1), false),
        ] {
            assert_eq!(checked_search(search.to_owned()).is_ok(), is_right, "{search:?}");
        }
    }

    // Item "Saved views": every member creates private views; sharing needs Write; admins change shared views.
    #[test]
    fn roles_have_the_rights_of_the_table() {
        for (role, may_share, is_admin) in [
            (Role::Owner, true, true),
            (Role::Admin, true, true),
            (Role::User, true, false),
            (Role::Readonly, false, false),
        ] {
            assert_eq!(rights(role), ViewRights { may_share, is_admin });
        }
    }
}
