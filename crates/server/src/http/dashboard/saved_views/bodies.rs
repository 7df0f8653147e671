//! Saved views: named query strings of pages.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The pages of a project that have saved views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SavedViewPage {
    /// The overview.
    Overview,
    /// The list of Endpoints.
    Endpoints,
    /// The list of Tasks.
    Tasks,
    /// The lists of AI traces.
    Ai,
    /// The list of Issues.
    Issues,
    /// The list of sessions.
    Sessions,
    /// The search of traces.
    Traces,
    /// The search of logs.
    Logs,
    /// The metrics explorer.
    Metrics,
    /// The list of profiles.
    Profiles,
}

/// Body of `POST /api/saved-views`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedViewRequest {
    /// 1 to 100 characters.
    pub name: String,
    /// The page.
    pub page: SavedViewPage,
    /// Query string of the page without the question mark: percent-encoded, at most 8 KiB.
    #[serde(default)]
    pub search: String,
    /// Whether every member of the project sees it. Sharing needs more than read access.
    #[serde(default)]
    pub shared: bool,
}

/// Body of `PUT /api/saved-views/{id}`; null keeps a value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SavedViewChange {
    /// 1 to 100 characters.
    pub name: Option<String>,
    /// Query string of the page without the question mark: percent-encoded, at most 8 KiB.
    pub search: Option<String>,
    /// Whether every member of the project sees it.
    pub shared: Option<bool>,
}

/// A saved view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedViewRow {
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// The page.
    pub page: SavedViewPage,
    /// Query string of the page without the question mark; may be empty.
    pub search: String,
    /// Whether every member of the project sees it.
    pub shared: bool,
    /// Whether the caller has starred it.
    pub starred: bool,
    /// Whether the caller may change and delete it.
    pub may_change: bool,
    /// Name of the user who created it, or the e-mail address; empty for a disabled account.
    pub owner: String,
    /// Whether the caller created it.
    pub own: bool,
    /// Time of its creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Response of `GET /api/saved-views`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SavedViews {
    /// The starred views first, then the private, then the shared ones; each by name.
    pub data: Vec<SavedViewRow>,
}

/// Response of changes of a saved view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SavedViewChanged {
    /// Id of the view.
    pub id: i64,
}
