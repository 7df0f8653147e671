//! Notification rules, their preview, and the history of notifications.

use serde::{Deserialize, Serialize};
use tidewatch_query::views::page::{PageRequest, ValuePoint};
use utoipa::ToSchema;

/// Severity of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleSeverity {
    /// Nothing to do now.
    Info,
    /// Look at it today.
    Warning,
    /// Look at it now.
    Critical,
}

/// Whether an alert began or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum NotificationStatus {
    /// It began.
    Firing,
    /// It ended.
    Resolved,
}

/// Body of `POST` and `PUT /api/notification-rules`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleRequest {
    /// Id of a channel of the project.
    pub channel_id: i64,
    /// 1 to 100 characters.
    pub name: String,
    /// Type of the rule (docs/use/alerts.md).
    pub rule_type: String,
    /// Keys of the type; absent ones have their default.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub config: serde_json::Value,
    /// Minutes between two notifications about one subject; 15 when absent.
    #[serde(default = "cooldown")]
    #[schema(default = 15)]
    pub cooldown_minutes: i64,
    /// `critical`, `warning` or `info`; empty: by the type and the value.
    #[serde(default)]
    pub severity: String,
}

/// Minutes between two notifications about one subject, unless the user chooses others.
pub(super) fn cooldown() -> i64 {
    15
}

/// A notification rule.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleView {
    /// Its id.
    pub id: i64,
    /// Id of its channel.
    pub channel_id: i64,
    /// Its name.
    pub name: String,
    /// Its type.
    pub rule_type: String,
    /// Its configuration, with every key.
    #[schema(value_type = Object)]
    pub config: serde_json::Value,
    /// Minutes between two notifications about one subject.
    pub cooldown_minutes: i64,
    /// `critical`, `warning` or `info`; empty: by the type and the value.
    pub severity: String,
    /// Whether it is evaluated.
    pub enabled: bool,
    /// Nothing fires before this time; null when it is not snoozed.
    #[schema(format = DateTime)]
    pub snoozed_until: Option<String>,
    /// Number of subjects for which it fires now.
    pub firing: u64,
    /// When it fired last; null: it has not.
    #[schema(format = DateTime)]
    pub last_fired_at: Option<String>,
    /// When it was created.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it was changed last.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Response of `GET /api/notification-rules`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RuleList {
    /// In the order of their creation.
    pub rules: Vec<RuleView>,
}

/// Response of `DELETE /api/notification-rules/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RuleDeleted {
    /// True.
    pub deleted: bool,
}

/// Body of `POST /api/notification-rules/{id}/snooze`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnoozeRequest {
    /// Minutes from now, at most 43,200; 0 ends a snooze.
    pub duration_minutes: i64,
}

/// Body of `POST /api/notification-rules/preview`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulePreviewRequest {
    /// Type of the rule.
    pub rule_type: String,
    /// Keys of the type; absent ones have their default.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub config: serde_json::Value,
    /// Minutes between two notifications about one subject; 15 when absent.
    #[serde(default = "cooldown")]
    #[schema(default = 15)]
    pub cooldown_minutes: i64,
}

/// A moment at which a rule would have fired.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleFiring {
    /// The time.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Subject and value, one line.
    pub subject: String,
    /// Severity of the alert.
    pub severity: RuleSeverity,
}

/// Response of `POST /api/notification-rules/preview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulePreview {
    /// The value in each window of the last seven days, of several subjects the one nearest to firing.
    pub series: Vec<ValuePoint>,
    /// The value beyond which the rule fires; null for types without one.
    pub threshold: Option<f64>,
    /// Unit of values and threshold; may be empty.
    pub unit: String,
    /// Moments at which the rule would have fired, ascending; at most the latest 500.
    pub firings: Vec<RuleFiring>,
    /// Number of these moments.
    pub count: u64,
}

/// Body of `POST /api/notification-history`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NotificationHistoryRequest {
    /// Start of the time range, inclusive; no start when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; no end when null.
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
    /// Only these; both when null.
    #[schema(default = json!(null))]
    pub status: Option<NotificationStatus>,
    /// Only these; every one when null.
    #[schema(default = json!(null))]
    pub severity: Option<RuleSeverity>,
    /// Only of this type of rule; every type when null or empty.
    #[schema(default = json!(null))]
    pub rule_type: Option<String>,
    /// Part of the subject or of the rule's name.
    #[schema(default = json!(null))]
    pub search: Option<String>,
    /// The page of the list.
    #[schema(default = json!(null))]
    pub pagination: Option<PageRequest>,
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationRow {
    /// Its id.
    pub id: i64,
    /// Equal for the notifications of one alert.
    pub alert_key: String,
    /// Whether the alert began or ended.
    pub status: NotificationStatus,
    /// Severity of the alert.
    pub severity: RuleSeverity,
    /// Type of the rule, or `monitor`.
    pub rule_type: String,
    /// Name of the rule.
    pub rule_name: String,
    /// Subject and value, one line.
    pub subject: String,
    /// Sentences.
    pub body: String,
    /// Path of the page that shows it.
    pub path: String,
    /// Whether the alert began and has not ended.
    pub open: bool,
    /// Number of targets that have it.
    pub sent: u64,
    /// Number of targets that it is still sent to.
    pub waiting: u64,
    /// Number of targets that it was given up for.
    pub failed: u64,
    /// The last error of a target that does not have it; empty without one.
    pub error: String,
    /// When it was created.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// Response of `GET /api/notification-history/open-count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct OpenAlerts {
    /// Alerts that began in the last 24 hours and have not ended.
    pub count: u64,
}
