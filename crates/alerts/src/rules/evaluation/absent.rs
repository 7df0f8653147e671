//! Subjects that have a state, and of which an evaluation measures nothing.

use super::{Measured, Parsed};
use crate::rules::config::RuleConfig;
use crate::rules::state::Seen;
use crate::rules::words::{escaped, minutes};

/// Meaning of an absence of data. A change that is not listed is over, and an Issue that does not occur has no spike;
/// of other rules data may be late.
pub(super) fn seen(config: &RuleConfig) -> Seen {
    match config {
        RuleConfig::Change(_) | RuleConfig::IssueSpike(_) => Seen::Fine,
        _ => Seen::NoData,
    }
}

/// The subject `key` in words, for the notification of an end.
pub(super) fn measured(parsed: &Parsed, key: &str) -> Measured {
    let history = || "/alerts/history".to_owned();
    let (title, body, page) = match &parsed.config {
        RuleConfig::Change(_) => {
            let (kind, name) = key.split_once(':').unwrap_or_default();
            let page = match kind {
                "endpoint" => format!("/endpoints/{}", escaped(name)),
                "task" => format!("/tasks/{}", escaped(name)),
                "ai" => format!("/ai/{}", escaped(name)),
                "service" => format!("/services/{}", escaped(name)),
                "issue" => format!("/issues/{}", escaped(name)),
                _ => history(),
            };
            let subject = if kind == "issue" { format!("Issue {name}") } else { name.to_owned() };
            (subject, "It is not among the changes for the worse.".to_owned(), page)
        }
        RuleConfig::IssueSpike(rule) => (
            format!("Issue {key} does not occur"),
            format!("No occurrences in {}.", minutes(rule.lookback_minutes)),
            format!("/issues/{key}"),
        ),
        _ => {
            let what = if key.is_empty() { parsed.rule.name.as_str() } else { key };
            (what.to_owned(), "Nothing was measured for an hour.".to_owned(), history())
        }
    };
    Measured { window: 0, subject: key.to_owned(), value: None, breaches: false, title, body, page }
}
