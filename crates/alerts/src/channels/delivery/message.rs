//! The content of a message: one notification, or the digest of several.

use std::fmt::Write as _;

use tidewatch_limits as limits;

use crate::channels::{AlertStatus, Notification, SeriesPoint, Severity};

/// The rule type of a digest.
pub const DIGEST: &str = "digest";

/// A message to one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Identifies the message at the receiver; equal in every attempt.
    pub id: String,
    /// Equal for the message that an alert fires and the one that it ended.
    pub alert_key: String,
    /// Whether the alert begins or ends.
    pub status: AlertStatus,
    /// Severity of the alert.
    pub severity: Severity,
    /// The type of the rule.
    pub rule_type: String,
    /// The name of the rule.
    pub rule_name: String,
    /// One line.
    pub subject: String,
    /// Sentences, plain.
    pub body: String,
    /// Absolute address of the page that shows it. `None`: the base URL is not set.
    pub url: Option<String>,
    /// Path and query string of that page.
    pub path: String,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// Points of the chart; may be empty.
    pub series: Vec<SeriesPoint>,
}

impl Message {
    /// Builds the message `id` from at least one notification. `base_url` has no slash at its end.
    pub fn of(id: &str, notifications: &[Notification], base_url: Option<&str>) -> Message {
        let first = &notifications[0];
        let mut message = Message {
            id: id.to_owned(),
            alert_key: first.alert_key.clone(),
            status: first.status,
            severity: first.severity,
            rule_type: first.rule_type.clone(),
            rule_name: first.rule_name.clone(),
            subject: first.subject.clone(),
            body: first.body.clone(),
            url: None,
            path: first.path.clone(),
            at_ns: first.at_ns,
            series: first.series.clone(),
        };
        if notifications.len() > 1 {
            let worst = notifications.iter().map(|one| one.severity).max();
            message.alert_key = format!("{DIGEST}:{id}");
            message.status = AlertStatus::Firing;
            message.severity = worst.unwrap_or(first.severity);
            message.rule_type = DIGEST.to_owned();
            message.rule_name = format!("{} notifications", notifications.len());
            message.subject = digest_subject(notifications);
            message.body = digest_body(notifications);
            message.path = history_of(&first.path);
            message.series = Vec::new();
        }
        message.url = base_url.map(|base| format!("{base}{}", message.path));
        message
    }

    /// The time as in RFC 3339.
    pub fn timestamp(&self) -> String {
        jiff::Timestamp::from_nanosecond(i128::from(self.at_ns))
            .unwrap_or_default()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string()
    }

    /// `Critical`, `Warning`, `Info`, or `Resolved`.
    pub fn label(&self) -> &'static str {
        match (self.status, self.severity) {
            (AlertStatus::Resolved, _) => "Resolved",
            (AlertStatus::Firing, Severity::Critical) => "Critical",
            (AlertStatus::Firing, Severity::Warning) => "Warning",
            (AlertStatus::Firing, Severity::Info) => "Info",
        }
    }

    /// The label and the subject: `Critical: GET /cart fails`.
    pub fn title(&self) -> String {
        format!("{}: {}", self.label(), self.subject)
    }

    /// The color of label and chart, `0xRRGGBB`.
    pub fn color(&self) -> u32 {
        match (self.status, self.severity) {
            (AlertStatus::Resolved, _) => 0x1A_7F_37,
            (AlertStatus::Firing, Severity::Critical) => 0xC6_28_28,
            (AlertStatus::Firing, Severity::Warning) => 0xB4_5F_06,
            (AlertStatus::Firing, Severity::Info) => 0x0B_5C_AD,
        }
    }

    /// The picture of the chart, PNG. `None`: there are fewer than two points.
    pub fn picture(&self) -> Option<Vec<u8>> {
        super::chart::png(&self.series, self.color())
    }
}

/// The page that lists what a digest contains, of the project of `path`: `/p/<project>/…`.
fn history_of(path: &str) -> String {
    match path.strip_prefix("/p/").and_then(|rest| rest.split(['/', '?']).next()) {
        Some(project) => format!("/p/{project}/alerts/history"),
        None => "/".to_owned(),
    }
}

fn digest_subject(notifications: &[Notification]) -> String {
    let mut parts = Vec::new();
    for severity in [Severity::Critical, Severity::Warning, Severity::Info] {
        let is_counted = |one: &&Notification| one.status == AlertStatus::Firing && one.severity == severity;
        match notifications.iter().filter(is_counted).count() {
            0 => {}
            count => parts.push(format!("{count} {}", severity.name())),
        }
    }
    match notifications.iter().filter(|one| one.status == AlertStatus::Resolved).count() {
        0 => {}
        count => parts.push(format!("{count} resolved")),
    }
    format!("{} notifications: {}", notifications.len(), parts.join(", "))
}

fn digest_body(notifications: &[Notification]) -> String {
    let mut body = String::new();
    for one in notifications.iter().take(limits::DIGEST_LINES_MAX) {
        let label = if one.status == AlertStatus::Resolved { "resolved" } else { one.severity.name() };
        let subject = truncated(&one.subject, limits::NOTIFICATION_ANSWER_CHARS_SHOWN);
        // Writing to a string succeeds.
        let _ = writeln!(body, "- {label}: {subject}");
    }
    let left = notifications.len().saturating_sub(limits::DIGEST_LINES_MAX);
    if left > 0 {
        let _ = writeln!(body, "and {left} more.");
    }
    body.truncate(body.trim_end().len());
    body
}

/// At most `most` characters of a string; a cut one ends with an ellipsis.
pub fn truncated(value: &str, most: usize) -> String {
    match value.char_indices().nth(most) {
        None => value.to_owned(),
        Some(_) => value.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder::{message, notification};
    use super::*;

    #[test]
    fn one_notification_is_sent_as_it_is() {
        let sent = message(AlertStatus::Firing, Severity::Critical);
        assert_eq!(sent.title(), "Critical: GET /cart fails");
        assert_eq!(sent.url.as_deref(), Some("https://tide.example.com/p/7f/endpoints/GET%20%2Fcart?from=now-1h"));
        assert_eq!(sent.timestamp(), "2026-01-02T03:04:05Z");
        assert_eq!(message(AlertStatus::Resolved, Severity::Critical).label(), "Resolved");
        let without_base = Message::of("ntf_1", &[notification(AlertStatus::Firing, Severity::Info)], None);
        assert_eq!(without_base.url, None);
    }

    /// Item "Channels": a digest lists the notifications.
    #[test]
    fn a_digest_counts_and_lists_its_notifications() {
        let one = |number: usize, status, severity| Notification {
            subject: format!("subject {number}"),
            ..notification(status, severity)
        };
        let mut all: Vec<Notification> =
            (0..52).map(|number| one(number, AlertStatus::Firing, Severity::Warning)).collect();
        all.push(one(52, AlertStatus::Firing, Severity::Critical));
        all.push(one(53, AlertStatus::Resolved, Severity::Critical));
        let digest = Message::of("ntf_1_a", &all, Some("https://tide.example.com"));
        assert_eq!(digest.subject, "54 notifications: 1 critical, 52 warning, 1 resolved");
        assert_eq!((digest.severity, digest.status), (Severity::Critical, AlertStatus::Firing));
        assert_eq!(digest.url.as_deref(), Some("https://tide.example.com/p/7f/alerts/history"));
        let lines: Vec<&str> = digest.body.lines().collect();
        assert_eq!(lines.len(), 51);
        assert_eq!((lines[0], lines[50]), ("- warning: subject 0", "and 4 more."));
        let last = Message::of("x", &all[52..], None);
        assert_eq!(last.body, "- critical: subject 52\n- resolved: subject 53");
    }

    #[test]
    fn strings_are_cut_between_characters() {
        for (value, most, expected) in
            [("abc", 3, "abc"), ("abcd", 3, "ab\u{2026}"), ("\u{e9}\u{e9}", 1, "\u{2026}"), ("", 0, "")]
        {
            assert_eq!(truncated(value, most), expected);
        }
    }
}
