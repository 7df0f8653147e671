//! Limits of teams, schedules, policies, pages and contact methods.

use std::time::Duration;

use crate::units::{minutes, seconds};

/// Teams of an organization.
pub const ONCALL_TEAMS_MAX: i64 = 100;
/// Members and projects of a team, each.
pub const ONCALL_TEAM_ENTRIES_MAX: usize = 200;
/// On-call schedules of an organization.
pub const ONCALL_SCHEDULES_MAX: i64 = 100;
/// Escalation policies of an organization.
pub const ONCALL_POLICIES_MAX: i64 = 100;
/// Characters of the names of teams, schedules, layers and policies.
pub const ONCALL_NAME_CHARS_MAX: usize = 100;
/// Characters of the descriptions of teams and schedules, and of the body of a page that a person opens.
pub const ONCALL_DESCRIPTION_CHARS_MAX: usize = 1000;
/// Layers of a schedule.
pub const ONCALL_LAYERS_MAX: usize = 10;
/// People in a layer.
pub const ONCALL_LAYER_USERS_MAX: usize = 100;
/// Restrictions of a layer.
pub const ONCALL_RESTRICTIONS_MAX: usize = 20;
/// Days of a custom rotation.
pub const ONCALL_INTERVAL_DAYS_MAX: i64 = 365;
/// Length of an override.
pub const ONCALL_OVERRIDE_MAX: Duration = minutes(30 * 24 * 60);
/// Overrides of a schedule that have not ended long ago.
pub const ONCALL_OVERRIDES_MAX: i64 = 500;
/// Range of a timeline.
pub const ONCALL_TIMELINE_MAX: Duration = minutes(62 * 24 * 60);
/// How far back an iCalendar feed reaches.
pub const ONCALL_CALENDAR_PAST: Duration = minutes(7 * 24 * 60);
/// Steps of an escalation policy.
pub const ONCALL_STEPS_MAX: usize = 10;
/// Targets of a step.
pub const ONCALL_STEP_TARGETS_MAX: usize = 10;
/// Minutes between two steps.
pub const ONCALL_STEP_MINUTES_MAX: i64 = 1440;
/// How often the steps of a policy run again.
pub const ONCALL_REPEAT_MAX: i64 = 5;
/// Pages of a project that are stored; resolved ones beyond are deleted, oldest first.
pub const ONCALL_PAGES_MAX: i64 = 10_000;
/// Pages that one request acknowledges or resolves, and hashes of Issues in one request.
pub const ONCALL_BULK_MAX: usize = 500;
/// Pages of one answer.
pub const ONCALL_PAGES_LISTED_MAX: i64 = 100;
/// Deliveries of a page in one answer.
pub const ONCALL_DELIVERIES_LISTED_MAX: i64 = 500;
/// Pages of a handover.
pub const ONCALL_HANDOVER_PAGES_MAX: i64 = 500;
/// Contact methods of a user.
pub const ONCALL_CONTACT_METHODS_MAX: usize = 20;
/// Bytes of one value of the configuration of a contact method.
pub const ONCALL_CONTACT_BYTES_MAX: usize = 2000;
/// Digits of a phone number. ITU-T E.164 has at most 15.
pub const PHONE_DIGITS_MIN: usize = 8;
/// The largest such number.
pub const PHONE_DIGITS_MAX: usize = 15;
/// Characters of an SMS, of which a link is never cut: three segments of GSM's alphabet at most.
pub const SMS_CHARS_MAX: usize = 320;
/// Codes and tests that a user sends to contact methods in an hour.
pub const ONCALL_CONTACT_SENDS_MAX: i64 = 10;
/// Life of the code that verifies a contact method.
pub const ONCALL_CODE_LIFE: Duration = minutes(10);
/// Attempts to enter such a code.
pub const ONCALL_CODE_ATTEMPTS_MAX: i64 = 5;
/// Steps of a chain of contact methods.
pub const ONCALL_CHAIN_STEPS_MAX: usize = 10;
/// Minutes until a step of a chain.
pub const ONCALL_CHAIN_MINUTES_MAX: i64 = 120;
/// Notifications, pages and people that one statement of the escalation lists.
pub const ONCALL_BATCH: i64 = 100;
/// Seconds between two looks for pages that are due. WIRE 7: `ONCALL_POLL_SECONDS`.
pub const ONCALL_POLL_SECONDS: u64 = 30;
/// The smallest such value.
pub const ONCALL_POLL_SECONDS_MIN: u64 = 5;
/// Pause between two looks for notifications that become pages.
pub const ONCALL_PAUSE: Duration = seconds(2);
/// The time for which one node opens and escalates pages, unless it extends it.
pub const ONCALL_LEASE: Duration = seconds(60);
