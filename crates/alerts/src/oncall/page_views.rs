//! On-call: pages, handovers, contact methods and chains. WIRE 5.7.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidewatch_query::views::page::PageRequest;
use utoipa::ToSchema;

use super::views::{OncallPerson, ShiftView};

/// Body of `POST /api/pages`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(default)]
pub struct PagesRequest {
    /// `open`, `acknowledged`, `resolved`, `active` (not resolved), or empty: all.
    pub status: String,
    /// The page of the list.
    pub pagination: PageRequest,
}

/// Body of `POST /api/pages/open`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenPageRequest {
    /// The escalation policy.
    pub policy_id: i64,
    /// 1 to 100 characters.
    pub subject: String,
    /// At most 1000 characters.
    #[serde(default)]
    pub body: String,
    /// `critical`, `warning` or `info`.
    #[serde(default = "critical")]
    pub severity: String,
}

fn critical() -> String {
    "critical".to_owned()
}

/// Ids of pages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageIds {
    /// The pages; those of other projects and in other states are left out.
    pub ids: Vec<i64>,
    /// Archives the Issues for which they were opened; needs more than read access.
    #[serde(default)]
    pub archive_issues: bool,
}

/// Body of `POST /api/pages/{id}/resolve`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PageResolveRequest {
    /// Archives the Issue for which the page was opened; needs more than read access.
    pub archive_issue: bool,
}

/// Body of `POST /api/pages/for-issues`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct IssueHashes {
    /// Hashes of Issues.
    pub hashes: Vec<String>,
}

/// A page: an alert that somebody must acknowledge.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageView {
    /// Its id.
    pub id: i64,
    /// Its organization.
    pub organization_id: i64,
    /// Its project.
    pub project_id: String,
    /// Its policy; null: deleted.
    pub policy_id: Option<i64>,
    /// Name of the policy when the page was opened.
    pub policy_name: String,
    /// The policy when the page was opened.
    #[schema(value_type = Object)]
    pub policy_snapshot: Value,
    /// Name of the rule.
    pub rule_name: String,
    /// Type of the rule.
    pub rule_type: String,
    /// One line.
    pub subject: String,
    /// Sentences.
    pub body: String,
    /// Path of the page that shows the cause; may be empty.
    pub url: String,
    /// `critical`, `warning` or `info`.
    pub severity: String,
    /// `high` or `low`.
    pub urgency: String,
    /// `open`, `acknowledged` or `resolved`.
    pub status: String,
    /// Number of times that the cause has fired.
    pub event_count: i64,
    /// When it fired last.
    #[schema(format = DateTime)]
    pub last_event_at: String,
    /// The step that runs next, from 0.
    pub escalation_level: i64,
    /// Number of complete runs of all steps.
    pub repeat_iteration: i64,
    /// When the next step runs.
    pub next_escalation_at: Option<String>,
    /// User who acknowledged it.
    pub acknowledged_by: Option<i64>,
    /// Their name.
    pub acknowledged_by_name: Option<String>,
    /// `dashboard` or `link`; empty: not acknowledged.
    pub acknowledged_via: String,
    /// When it was acknowledged.
    pub acknowledged_at: Option<String>,
    /// User who resolved it; null: nobody, or the end of the alert.
    pub resolved_by: Option<i64>,
    /// Their name.
    pub resolved_by_name: Option<String>,
    /// When it was resolved.
    pub resolved_at: Option<String>,
    /// When it was opened.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Hash of the Issue that it was opened for; empty: none.
    pub issue_hash: String,
}

/// A delivery of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageNotification {
    /// Its id.
    pub id: i64,
    /// The step, from 0.
    pub level: i64,
    /// Number of complete runs of all steps before this one.
    pub iteration: i64,
    /// User who was reached; null: a channel.
    pub user_id: Option<i64>,
    /// The target without secrets.
    pub target_desc: String,
    /// Type of the contact method or channel.
    pub method_type: String,
    /// `pending`, `sent`, `failed` or `cancelled`.
    pub status: String,
    /// Of the last failed attempt.
    pub error_msg: String,
    /// When it was queued.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it was sent.
    pub sent_at: Option<String>,
}

/// A page with its deliveries.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PageDetail {
    /// The page.
    pub page: PageView,
    /// Its deliveries, oldest first.
    pub notifications: Vec<PageNotification>,
    /// Names of the members by id.
    pub users: BTreeMap<i64, String>,
}

/// A number of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageCount {
    /// The number.
    pub count: i64,
}

/// Answer of `POST /api/pages/bulk-acknowledge`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct BulkAcknowledged {
    /// Pages that were open.
    pub acknowledged: usize,
}

/// Answer of `POST /api/pages/bulk-resolve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkResolved {
    /// Pages that were not resolved.
    pub resolved: usize,
    /// Issues that were archived.
    pub archived_issues: usize,
}

/// Answer of `POST /api/pages/{id}/resolve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageResolved {
    /// One sentence.
    pub message: String,
    /// Whether the Issue was archived.
    pub archived_issue: bool,
}

/// Facts that the next person on call must know.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Handover {
    /// Id of the schedule.
    pub schedule_id: i64,
    /// Its name.
    pub schedule_name: String,
    /// The last shift that ended; null: none in the last 62 days.
    pub shift: Option<ShiftView>,
    /// Person of the last shift.
    pub person: Option<OncallPerson>,
    /// Pages of policies that reach the schedule, opened in the shift or open at its beginning; of projects that the
    /// caller reads.
    pub pages: Vec<PageView>,
    /// Number of them that are open now.
    pub open: usize,
    /// Number of them that are acknowledged and not resolved now.
    pub acknowledged: usize,
    /// Number of them that are resolved.
    pub resolved: usize,
}

/// Body of the routes that create and change a contact method.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ContactMethodRequest {
    /// `email`, `slack`, `pushover`, `telegram` or `sms`; empty keeps the type.
    pub method_type: String,
    /// Its configuration: `address` (the account's by default); `webhookUrl`, `channel`, `username`; `userKey`,
    /// `appToken`, `device`; `botToken`, `chatId`; `phoneNumber`, as in E.164. A masked value keeps the stored one.
    #[schema(value_type = Option<Object>)]
    pub config: Option<Value>,
    /// Whether it is used; null keeps the value.
    pub enabled: Option<bool>,
}

/// A contact method.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactMethodView {
    /// Its id.
    pub id: i64,
    /// Its owner.
    pub user_id: i64,
    /// The type.
    pub method_type: String,
    /// The configuration, secrets masked.
    #[schema(value_type = Object)]
    pub config: Value,
    /// The target without secrets.
    pub summary: String,
    /// Whether it is used.
    pub enabled: bool,
    /// Whether a code that was sent to it was entered. Pages use verified contact methods only.
    pub verified: bool,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// The contact methods of the caller.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactMethods {
    /// In the order of creation.
    pub methods: Vec<ContactMethodView>,
    /// Whether this server can send SMS: it has a Twilio account.
    pub sms_enabled: bool,
}

/// Body of `POST /api/contact-methods/{id}/verify`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ContactCode {
    /// The six digits that were sent.
    pub code: String,
}

/// Answer of `POST /api/contact-methods/{id}/verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContactVerified {
    /// True.
    pub verified: bool,
}

/// Answer of `POST /api/contact-methods/{id}/test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContactTested {
    /// The message is queued.
    pub success: bool,
}

/// A step of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserRuleView {
    /// The contact method.
    pub contact_method_id: i64,
    /// Minutes after a page has reached the person, 0 to 120.
    pub delay_minutes: i64,
}

/// The chains of the caller. An empty one uses all contact methods at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(default)]
pub struct UserRules {
    /// For pages of high urgency.
    pub high: Vec<UserRuleView>,
    /// For pages of low urgency.
    pub low: Vec<UserRuleView>,
}

/// The iCalendar feed of the caller's shifts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OncallCalendar {
    /// When its address was created; null: there is none.
    pub created_at: Option<String>,
    /// The address, in the answer that creates it only.
    pub url: Option<String>,
}
