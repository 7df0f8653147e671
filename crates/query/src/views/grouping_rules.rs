//! `/api/grouping-rules`: the grouping rules of a project.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A grouping rule: exceptions that meet its query have the fingerprint of its template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupingRuleView {
    /// Number of the rule in the project.
    pub id: i64,
    /// A query of the query language.
    pub query: String,
    /// Template of the fingerprint.
    pub template: String,
}

/// `GET /api/grouping-rules`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupingRuleList {
    /// The rules, in the order in which they are tried.
    pub data: Vec<GroupingRuleView>,
    /// Maximum number of rules.
    pub max: usize,
}

/// Body of `POST` and `PUT /api/grouping-rules` and of the preview.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupingRuleRequest {
    /// A query of the query language: `type`, `message`, `stack`, `service`, `version`, `env` and attributes.
    pub query: String,
    /// Template of the fingerprint: text with `{{default}}`, `{{type}}`, `{{message}}`, `{{function}}`, `{{module}}`,
    /// `{{service.name}}` or any attribute.
    pub template: String,
    /// In a preview: the rule that the request would change; null: a new rule after the others.
    pub id: Option<i64>,
}

/// Body of `PUT /api/grouping-rules/order`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupingRuleOrder {
    /// Every rule once, in the order in which they are tried.
    pub ids: Vec<i64>,
}

/// Changed grouping rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupingRuleSaved {
    /// Number of the rule; 0 for a change of several.
    pub id: i64,
}

/// `POST /api/grouping-rules/preview`: the effect of a rule on the exceptions of the last seven days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupingRulePreview {
    /// Stored exceptions that the rule would group.
    pub events: u64,
    /// Issues that would become one with others.
    pub joined_issues: u64,
    /// Their exceptions that the rule would group.
    pub joined_events: u64,
    /// Issues whose exceptions would be of several Issues.
    pub split_issues: u64,
    /// Different fingerprints. More than 1,000 are refused.
    pub new_hashes: u64,
    /// Stored exceptions that were read. The latest 200,000 are.
    pub read_events: u64,
    /// Whether there are more than were read.
    pub partial: bool,
    /// Warning about a rule that groups too much; empty without one.
    pub warning: String,
}
