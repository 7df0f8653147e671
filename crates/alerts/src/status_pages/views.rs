//! Status pages: their settings, and what visitors read. WIRE 6.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST` and `PUT /api/organizations/{id}/status-pages…`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusPageRequest {
    /// 1 to 200 characters.
    pub name: String,
    /// `^[a-z0-9][a-z0-9-]{1,58}[a-z0-9]$`, unique.
    pub slug: String,
    /// Whether visitors see it.
    #[serde(default)]
    pub is_public: bool,
    /// Ids of 1 to 50 monitors, in order.
    #[serde(default)]
    pub check_ids: Vec<i64>,
    /// At most 500 characters.
    #[serde(default)]
    pub description: Option<String>,
    /// A bare host name, unique; null or empty: none.
    #[serde(default)]
    pub custom_domain: Option<String>,
    /// Groups of its monitors; monitors in none are first.
    #[serde(default)]
    pub groups: Vec<StatusGroup>,
}

/// A group of components.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusGroup {
    /// 1 to 100 characters.
    pub name: String,
    /// Ids of its monitors.
    pub check_ids: Vec<i64>,
}

/// A status page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusPageView {
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// The last part of its address.
    pub slug: String,
    /// Whether visitors see it.
    pub is_public: bool,
    /// Ids of its monitors, in order.
    pub check_ids: Vec<i64>,
    /// Description of the page's subject.
    pub description: String,
    /// The host at whose root it is shown.
    pub custom_domain: Option<String>,
    /// Groups of its monitors.
    pub groups: Vec<StatusGroup>,
    /// Whether it has a logo.
    pub has_logo: bool,
    /// Confirmed subscribers.
    pub subscribers: i64,
    /// Its maintenance windows, latest first.
    pub maintenance: Vec<MaintenanceView>,
    /// When it was created.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Its latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// The status pages of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusPagesView {
    /// By name.
    pub status_pages: Vec<StatusPageView>,
    /// The monitors that a page can show, by name.
    pub checks: Vec<StatusCheckChoice>,
}

/// A monitor that a page can show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusCheckChoice {
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// `http`, `tcp`, …
    pub check_type: String,
    /// `up`, `down` or `unknown`.
    pub status: String,
}

/// A maintenance window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceView {
    /// Its id.
    pub id: i64,
    /// One line.
    pub title: String,
    /// Description of the work.
    pub description: String,
    /// Its begin.
    #[schema(format = DateTime)]
    pub starts_at: String,
    /// Its end.
    #[schema(format = DateTime)]
    pub ends_at: String,
}

/// Body of `POST` and `PUT /api/organizations/{id}/status-pages/{pageId}/maintenance…`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceRequest {
    /// 1 to 200 characters.
    pub title: String,
    /// At most 5000 characters.
    #[serde(default)]
    pub description: String,
    /// Its begin.
    #[schema(format = DateTime)]
    pub starts_at: String,
    /// Its end, at most 30 days later.
    #[schema(format = DateTime)]
    pub ends_at: String,
}

/// Answer to a deletion or a change of a status page's object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StatusPageDone {
    /// Its id.
    pub id: i64,
}

/// Body of `GET /api/status/{slug}`. WIRE 6.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicStatus {
    /// The name of the page.
    pub name: String,
    /// Description of the page's subject.
    pub description: String,
    /// Whether `/api/status/{slug}/logo` exists.
    pub has_logo: bool,
    /// Its monitors, in order.
    pub checks: Vec<PublicCheck>,
    /// Its incidents of the last 90 days, latest first.
    pub past_incidents: Vec<PublicPastIncident>,
    /// Its maintenance windows, latest first.
    pub maintenance: Vec<MaintenanceView>,
    /// When it was read; at most 30 seconds ago.
    #[schema(format = DateTime)]
    pub generated_at: String,
}

/// A monitor on a public page.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicCheck {
    /// Its name.
    pub name: String,
    /// `http`, `tcp`, …
    pub check_type: String,
    /// `up`, `down` or `unknown`.
    pub status: String,
    /// The name of its group; empty: none.
    pub group: String,
    /// up / (total - missed) of 90 days, in percent; null without checks.
    pub uptime_pct: Option<f64>,
    /// 90 days, earliest first.
    pub days: Vec<PublicDay>,
    /// Its outages, latest first.
    pub incidents: Vec<PublicOutage>,
}

/// A UTC day of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicDay {
    /// Begin of the day.
    #[schema(format = DateTime)]
    pub bucket: String,
    /// Results.
    pub total: i64,
    /// Results that were up.
    pub up: i64,
    /// Checks that did not happen.
    pub missed: i64,
    /// Always 0: latency is not public.
    pub avg_latency_ms: i64,
    /// Always 0: latency is not public.
    pub max_latency_ms: i64,
}

/// A time in which a monitor was down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicOutage {
    /// Its begin.
    #[schema(format = DateTime)]
    pub started_at: String,
    /// Its end; null: it is down.
    #[schema(format = DateTime)]
    pub resolved_at: Option<String>,
}

/// An incident on a public page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicPastIncident {
    /// One line.
    pub title: String,
    /// Its begin.
    #[schema(format = DateTime)]
    pub started_at: String,
    /// Its end; null: open.
    #[schema(format = DateTime)]
    pub resolved_at: Option<String>,
    /// Its updates, latest first.
    pub updates: Vec<PublicUpdate>,
}

/// An update of an incident on a public page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicUpdate {
    /// `investigating`, `identified`, `monitoring` or `resolved`.
    pub status: String,
    /// Message to readers.
    pub message: String,
    /// When it was written.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// Body of `GET /api/status-domains/resolve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResolvedDomain {
    /// The page of the host of the request.
    pub slug: String,
}
