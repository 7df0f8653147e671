//! Evaluates rules: reads values, steps their states, and applies the changes.
//!
//! - [`measure`]: the values of polled rules. [`absent`]: subjects without one. [`poll`]: evaluates them.
//! - [`arrivals`]: evaluates the rules of data that has just arrived.
//! - [`preview`]: a rule over the last seven days.
//!
//! Rules that measure the same share one query. Storing data never waits for a rule.

mod absent;
pub mod arrivals;
mod measure;
pub mod poll;
pub mod preview;

use std::sync::Arc;

use tidewatch_accounts::Project;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_query::time_windows::Windows;
use xxhash_rust::xxh3::xxh3_64;

use super::config::RuleConfig;
use super::state::Terms;
use super::words::line;
use crate::channels::{AlertStatus, Notification, SeriesPoint, Severity};
use crate::rules::{NotificationRule, alert_key};

/// Measurement of a rule about a subject.
#[derive(Debug, Clone, PartialEq)]
struct Measured {
    /// Index of the window.
    window: i64,
    /// The subject: the name of an Endpoint, the hash of an Issue; empty: the project.
    subject: String,
    /// The value, in the unit of the rule; `None`: not enough data.
    value: Option<f64>,
    /// Whether the value breaches.
    breaches: bool,
    /// One line: what, how much.
    title: String,
    /// Sentences.
    body: String,
    /// The page that shows it, below that of the project, with the query string.
    page: String,
}

/// A rule with its parsed configuration.
struct Parsed {
    rule: NotificationRule,
    config: RuleConfig,
}

impl Parsed {
    /// The rule; `None`, and a line in the log, for a configuration of another release.
    fn of(rule: NotificationRule) -> Option<Parsed> {
        match RuleConfig::stored(&rule.rule_type, &rule.config) {
            Ok(config) => Some(Parsed { rule, config }),
            Err(error) => {
                tracing::warn!(rule = rule.id, %error, "a notification rule cannot be evaluated: {error}");
                None
            }
        }
    }

    fn terms(&self, now_ns: i64) -> Terms {
        Terms {
            for_ns: self.config.for_minutes().saturating_mul(MINUTE_NS),
            cooldown_ns: self.rule.cooldown_minutes.saturating_mul(MINUTE_NS),
            is_snoozed: self.rule.snoozed_until_ns > now_ns,
        }
    }

    fn severity(&self, value: f64) -> Severity {
        self.rule.severity.unwrap_or_else(|| super::severity::automatic(&self.config, value))
    }

    /// The notification of a firing or an end.
    fn notification(
        &self,
        project: &Project,
        found: &Measured,
        status: AlertStatus,
        severity: Severity,
        series: Vec<SeriesPoint>,
        at_ns: i64,
    ) -> Notification {
        Notification {
            organization: project.organization_id,
            project: Some(project.number),
            alert_key: alert_key(self.rule.id, &subject_key(&found.subject)),
            status,
            severity,
            rule_type: self.rule.rule_type.clone(),
            rule_name: self.rule.name.clone(),
            subject: line(&found.title),
            body: found.body.clone(),
            path: format!("/p/{}{}", project.id, found.page),
            series,
            at_ns,
        }
    }
}

/// The key of a subject in the database: its name, or the start of a long one with a hash.
fn subject_key(subject: &str) -> String {
    const BYTES_MAX: usize = 300;
    if subject.len() <= BYTES_MAX {
        return subject.to_owned();
    }
    let mut end = BYTES_MAX;
    while !subject.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}#{:016x}", &subject[..end], xxh3_64(subject.as_bytes()))
}

/// The window that a rule measures now. It ends with the current minute, or for a rule of something missing with the
/// last full one: the current minute is not full yet.
fn now_window(config: &RuleConfig, now_ns: i64) -> Windows {
    let minutes = config.lookback_minutes();
    let start_of_minute = now_ns.saturating_sub(now_ns.rem_euclid(MINUTE_NS));
    let (to, minutes) = if matches!(config, RuleConfig::ThroughputDrop(_) | RuleConfig::SloBurn(_)) {
        (start_of_minute, minutes)
    } else {
        (start_of_minute.saturating_add(MINUTE_NS), minutes + 1)
    };
    let width = minutes.saturating_mul(MINUTE_NS);
    Windows { from: to.saturating_sub(width), width, count: 1 }
}

/// Projects share one reference.
type SharedProject = Arc<Project>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_subject_has_a_short_key() {
        assert_eq!(subject_key("GET /cart"), "GET /cart");
        let (one, other) = ("é".repeat(500), format!("{}x", "é".repeat(499)));
        assert!(subject_key(&one).len() < 320);
        assert_ne!(subject_key(&one), subject_key(&other));
    }

    #[test]
    fn the_window_ends_with_the_current_minute() {
        let config = RuleConfig::parse("error_rate_threshold", &serde_json::Value::Null).expect("right");
        let windows = now_window(&config, 10 * MINUTE_NS + 5);
        assert_eq!((windows.range().from, windows.range().to), (5 * MINUTE_NS, 11 * MINUTE_NS));
        let config = RuleConfig::parse("throughput_drop", &serde_json::Value::Null).expect("right");
        let windows = now_window(&config, 20 * MINUTE_NS + 5);
        assert_eq!((windows.range().from, windows.range().to), (5 * MINUTE_NS, 20 * MINUTE_NS));
    }
}
