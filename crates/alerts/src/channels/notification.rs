//! Notifications: what people are notified of, and the targets to which each is sent.
//!
//! A notification is written in the transaction of its cause, with one outbox row per target, so a crash between the
//! cause and the delivery loses nothing, and a cause that is rolled back notifies nobody.

use serde::{Deserialize, Serialize};

/// Key of the configuration of a direct target: a line that this target alone receives, such as a link with a token. It
/// is sealed with the target and never part of the stored notification; delivery adds it to the body.
pub const PRIVATE_LINE: &str = "private";

/// Severity of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing to do now.
    Info,
    /// Look at it today.
    Warning,
    /// Look at it now.
    Critical,
}

impl Severity {
    /// The name on the wire and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }

    /// The severity of a name.
    pub fn of_name(name: &str) -> Option<Severity> {
        [Severity::Info, Severity::Warning, Severity::Critical].into_iter().find(|one| one.name() == name)
    }
}

/// Whether an alert begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertStatus {
    /// It fires.
    Firing,
    /// It has ended.
    Resolved,
}

impl AlertStatus {
    /// The name on the wire and in the database.
    pub fn name(self) -> &'static str {
        match self {
            AlertStatus::Firing => "firing",
            AlertStatus::Resolved => "resolved",
        }
    }
}

/// An alert of which people are notified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notification {
    /// Row id of the organization.
    pub organization: i64,
    /// Number of the project; `None`: of the organization.
    pub project: Option<u32>,
    /// Equal for the notification that an alert fires and the one that it ended: `rule:12:GET /cart`, `monitor:3`.
    pub alert_key: String,
    /// Whether it begins or ends.
    pub status: AlertStatus,
    /// Severity of the alert.
    pub severity: Severity,
    /// The type of its rule (wire, 7), or `monitor`.
    pub rule_type: String,
    /// The name of its rule.
    pub rule_name: String,
    /// One line: what, how much.
    pub subject: String,
    /// Sentences: since when, against what is normal. Plain, not HTML.
    pub body: String,
    /// Path of the page that shows it, with the query string: `/issues/…`.
    pub path: String,
    /// Points of the chart; may be empty.
    pub series: Vec<SeriesPoint>,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
}

/// A point of the chart of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// The value, in the unit of the rule.
    pub value: f64,
}

/// Where a notification is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A channel, by row id.
    Channel(i64),
    /// A type of channel and its configuration, of a contact method.
    Direct {
        /// The type (wire, 7).
        channel_type: String,
        /// Its configuration.
        config: serde_json::Value,
    },
}
