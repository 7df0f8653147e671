//! Incidents, their timeline and post-mortems.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IncidentView {
    /// Its id.
    pub id: i64,
    /// One line.
    pub title: String,
    /// `info`, `warning` or `critical`.
    pub severity: String,
    /// `investigating`, `identified`, `monitoring` or `resolved`.
    pub status: String,
    /// Whether alerts have opened it: it is resolved a few minutes after they end.
    pub automatic: bool,
    /// Id of the project; null: of the organization.
    pub project_id: Option<String>,
    /// Name of the project.
    pub project_name: Option<String>,
    /// When it began.
    #[schema(format = DateTime)]
    pub started_at: String,
    /// When it ended; null: open.
    #[schema(format = DateTime)]
    pub resolved_at: Option<String>,
    /// Its latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// The incidents of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IncidentsView {
    /// Latest first.
    pub incidents: Vec<IncidentView>,
    /// The `before` of the next page; null on the last.
    pub next: Option<i64>,
}

/// Body of `POST /api/organizations/{id}/incidents`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IncidentRequest {
    /// 1 to 200 characters.
    pub title: String,
    /// `info`, `warning` or `critical`.
    #[serde(default)]
    pub severity: Option<String>,
    /// `investigating` when null.
    #[serde(default)]
    pub status: Option<String>,
    /// Message for the status pages too; at most 5000 characters.
    #[serde(default)]
    pub message: String,
    /// The project that it is about; null: the organization.
    #[serde(default)]
    pub project_id: Option<String>,
    /// Ids of the status pages that show it.
    #[serde(default)]
    pub status_page_ids: Vec<i64>,
}

/// Body of `PUT /api/organizations/{id}/incidents/{incidentId}`; null keeps a value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct IncidentChangeRequest {
    /// 1 to 200 characters.
    pub title: Option<String>,
    /// `info`, `warning` or `critical`.
    pub severity: Option<String>,
    /// Ids of the status pages that show it.
    pub status_page_ids: Option<Vec<i64>>,
}

/// Body of `POST /api/organizations/{id}/incidents/{incidentId}/updates`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct IncidentUpdateRequest {
    /// `investigating`, `identified`, `monitoring` or `resolved`.
    pub status: String,
    /// 1 to 5000 characters. The subscribers of the status pages that show the incident receive it.
    pub message: String,
}

/// Id of a created incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct IncidentCreated {
    /// Its id.
    pub id: i64,
}

/// An incident with all that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IncidentDetail {
    /// The incident.
    pub incident: IncidentView,
    /// Its alerts, earliest first.
    pub alerts: Vec<IncidentAlertView>,
    /// Alerts, updates, deploys, and Issues that were new or returned; earliest first.
    pub timeline: Vec<TimelineEntry>,
    /// Whether the timeline has no Issues because they could not be read.
    pub lacks_issues: bool,
    /// The status pages that show it.
    pub status_page_ids: Vec<i64>,
    /// Its post-mortem.
    pub post_mortem: Option<PostMortemView>,
    /// A beginning of a post-mortem, with the timeline: Markdown.
    pub post_mortem_draft: String,
}

/// An alert of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IncidentAlertView {
    /// Subject of the alert.
    pub subject: String,
    /// The type of its rule.
    pub rule_type: String,
    /// `info`, `warning` or `critical`.
    pub severity: String,
    /// The page that shows it.
    pub path: String,
    /// When it began.
    #[schema(format = DateTime)]
    pub fired_at: String,
    /// When it ended; null: it fires.
    #[schema(format = DateTime)]
    pub resolved_at: Option<String>,
    /// Whether it is of something that has happened, such as a new Issue: it is over when it has fired.
    pub momentary: bool,
}

/// An event of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    /// When.
    #[schema(format = DateTime)]
    pub time: String,
    /// `opened`, `alert_fired`, `alert_ended`, `update`, `deploy`, `issue_new` or `issue_regressed`.
    pub kind: String,
    /// One line.
    pub title: String,
    /// The message of an update; otherwise empty.
    pub message: String,
    /// Author of an update; empty: the server.
    pub author: String,
    /// The page of an alert or an Issue; otherwise empty.
    pub path: String,
}

/// A post-mortem.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostMortemView {
    /// Markdown.
    pub body: String,
    /// The body as a tree without HTML.
    pub nodes: Vec<MarkdownNode>,
    /// Whether the status pages of the incident show it.
    pub published: bool,
    /// Author of the latest change.
    pub author: String,
    /// Its latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// An incident with a post-mortem.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostMortemRow {
    /// The incident.
    pub incident: IncidentView,
    /// Whether its status pages show the post-mortem.
    pub published: bool,
    /// Its latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// The post-mortems of an organization.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostMortems {
    /// Latest incident first.
    pub post_mortems: Vec<PostMortemRow>,
}

/// Body of `PUT /api/organizations/{id}/incidents/{incidentId}/post-mortem`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PostMortemRequest {
    /// Markdown, at most 64 KiB.
    pub body: String,
    /// Whether the status pages of the incident show it.
    #[serde(default)]
    pub published: bool,
}

/// Body of `POST /api/organizations/{id}/post-mortems/preview`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PreviewRequest {
    /// Markdown, at most 64 KiB.
    pub body: String,
}

/// Markdown as a tree.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MarkdownView {
    /// The blocks.
    pub nodes: Vec<MarkdownNode>,
}

/// A node of Markdown. No string of it is HTML.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MarkdownNode {
    /// `text`, `code`, `code_block`, `paragraph`, `heading`, `list`, `numbered_list`, `item`, `quote`, `emphasis`,
    /// `strong`, `struck`, `link`, `break`, `rule`, `table`, `row` or `cell`.
    pub kind: String,
    /// The characters of `text`, `code` and `code_block`.
    pub text: String,
    /// Of `heading`: 1 to 6; otherwise 0.
    pub level: u8,
    /// Of `link`: `http`, `https`, `mailto` or a path; otherwise empty.
    pub href: String,
    /// Its children.
    #[schema(no_recursion)]
    pub children: Vec<MarkdownNode>,
}
