//! Limits of notification rules and incidents.

use std::time::Duration;

use crate::units::{KB, minutes, seconds};

/// Notification rules of a project.
pub const NOTIFICATION_RULES_MAX: i64 = 200;
/// Characters of the name of a notification rule.
pub const RULE_NAME_CHARS_MAX: usize = 100;
/// Bytes of the configuration of a notification rule, as JSON.
pub const RULE_CONFIG_BYTES_MAX: usize = 16 * 1024;
/// Minutes of the cooldown and of the snooze of a notification rule: 30 days.
pub const RULE_MINUTES_MAX: i64 = 30 * 24 * 60;
/// Subjects of a notification rule that one evaluation looks at, those with most records.
pub const RULE_SUBJECTS_MAX: usize = 1000;
/// Changes of states of notification rules in one transaction.
pub const RULE_CHANGES_MAX: usize = 200;
/// Issues of a project that a rule for new Issues knows from before, the latest.
pub const KNOWN_ISSUES_MAX: usize = 100_000;
/// Known Issues that one statement adds.
pub const KNOWN_ISSUES_PER_STATEMENT: usize = 500;
/// Rows in memory that rules on arrival have not evaluated yet, of one project.
pub const RULE_ARRIVALS_MAX: usize = 100_000;
/// Interval between two evaluations of rules on arrival.
pub const RULE_ARRIVALS_PAUSE: Duration = Duration::from_millis(250);
/// The time for which one node evaluates polled rules, unless it extends it.
pub const RULE_LEASE: Duration = seconds(90);
/// Pause after a failed evaluation of rules on arrival.
pub const RULE_ARRIVALS_RETRY: Duration = seconds(5);
/// Time that one evaluation of the rules of a project may take.
pub const RULE_DEADLINE: Duration = seconds(30);
/// Interval between two evaluations of polled rules, seconds, unless the operator sets another. WIRE 7.
pub const NOTIFICATION_POLL_SECONDS: u64 = 60;
/// Shortest interval between two evaluations of polled rules, seconds. WIRE 7.
pub const NOTIFICATION_POLL_SECONDS_MIN: u64 = 5;
/// Days that notifications are kept for the history.
pub const NOTIFICATION_DAYS: i64 = 90;
/// Points of the preview of a notification rule.
pub const RULE_PREVIEW_POINTS_MAX: i64 = 2016;
/// Moments in the preview of a notification rule at which it would have fired, the latest.
pub const RULE_PREVIEW_FIRINGS_MAX: usize = 500;
/// Time within which an alert joins the open incident of its project, counted from the incident's latest alert.
pub const INCIDENT_GROUP_WINDOW: Duration = minutes(5);
/// Default time from the end of the last alert of an incident to its resolution: an alert that fires again joins it.
pub const INCIDENT_GRACE_SECONDS: u64 = 300;
/// Issues on the timeline of one incident.
pub const INCIDENT_ISSUES_MAX: usize = 50;
/// Interval at which new notifications are grouped into incidents.
pub const INCIDENT_PAUSE: Duration = seconds(2);
/// Lease of the node that groups notifications.
pub const INCIDENT_LEASE: Duration = seconds(60);
/// Notifications that one transaction groups.
pub const INCIDENT_NOTIFICATIONS: i64 = 200;
/// Alerts stored with one incident; further ones only raise its severity.
pub const INCIDENT_ALERTS_MAX: usize = 200;
/// Open incidents of an organization; beyond, alerts join the latest one, and none is opened by hand.
pub const INCIDENTS_OPEN_MAX: usize = 100;
/// Incidents in one answer.
pub const INCIDENTS_LISTED_MAX: i64 = 100;
/// Updates of one incident.
pub const INCIDENT_UPDATES_MAX: i64 = 200;
/// Characters in the title of an incident.
pub const INCIDENT_TITLE_CHARS_MAX: usize = 200;
/// Characters in one update of an incident, and in the description of a maintenance window.
pub const INCIDENT_MESSAGE_CHARS_MAX: usize = 5000;
/// Time before an incident whose deploys and new Issues are on its timeline.
pub const INCIDENT_CAUSES_BEFORE: Duration = minutes(60);
/// Entries of the timeline of an incident.
pub const INCIDENT_TIMELINE_MAX: usize = 500;
/// Size of a post-mortem, bytes.
pub const POST_MORTEM_BYTES_MAX: usize = 64 * KB;
/// Depth of nested elements in Markdown; deeper ones are shown without their formatting.
pub const MARKDOWN_DEPTH_MAX: usize = 16;
/// Length of the address of a link in Markdown, bytes; a longer one is no link.
pub const MARKDOWN_LINK_BYTES_MAX: usize = 2000;
