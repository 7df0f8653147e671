//! The column with the grouping rules of a project.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidewatch_domain::query_language::ParseLimits;
use tidewatch_domain::rules::grouping_rules::{GroupingRule, GroupingRules};
use tidewatch_limits as limits;

const LIMITS: ParseLimits =
    ParseLimits { bytes: limits::QUERY_TEXT_BYTES_MAX, terms: limits::QUERY_TERMS_MAX, depth: limits::QUERY_DEPTH_MAX };

/// The value of the column.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StoredRules {
    /// The number of the latest rule.
    pub last: i64,
    /// In order.
    pub rules: Vec<StoredRule>,
}

/// A stored rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredRule {
    /// Its number.
    pub id: i64,
    /// The query.
    pub query: String,
    /// The template.
    pub template: String,
}

impl StoredRules {
    /// Reads the column.
    pub fn read(text: &str) -> StoredRules {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// The rules of the column. Rules that this version of the program refuses are left out.
pub fn read_rules(text: &str) -> Arc<GroupingRules> {
    let stored = StoredRules::read(text).rules.into_iter();
    let rule = |StoredRule { id, query, template }| GroupingRule { id, query, template };
    let rules: Vec<GroupingRule> =
        stored.map(rule).filter(|rule| GroupingRules::parse(std::slice::from_ref(rule), LIMITS).is_ok()).collect();
    Arc::new(GroupingRules::parse(&rules, LIMITS).unwrap_or_default())
}
