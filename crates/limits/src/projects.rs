//! Limits of projects: settings, deploys, saved views, decisions on Issues.

use std::time::Duration;

use crate::units::minutes;

/// Reported deploys of a project; beyond it the earliest are deleted.
pub const DEPLOYS_MAX: usize = 10_000;
/// Characters of the service, environment, version, commit or author of a reported deploy.
pub const DEPLOY_CHARS_MAX: usize = 200;
/// Issues of a project with a stored decision: resolved, muted or archived.
pub const ISSUE_DECISIONS_MAX: i64 = 50_000;
/// Hashes of a project that are merged into others.
pub const ISSUE_MERGES_MAX: i64 = 10_000;
/// Hashes of a project that a version of the grouping rule points at the Issue of an earlier one.
pub const ISSUE_HASHES_MAX: i64 = 100_000;
/// Hashes of a project that wait to be compared with earlier versions of the grouping rule. Further ones are found in
/// the store.
pub const NEW_HASHES_MAX: usize = 10_000;
/// Pause after a failed regrouping of stored exceptions.
pub const REGROUP_RETRY: Duration = Duration::from_secs(60);
/// Time in which the Issues of one batch of stored exceptions follow their rows.
pub const REGROUP_DEADLINE: Duration = Duration::from_secs(120);
/// Hashes that are compared at once.
pub const NEW_HASHES_COMPARED: usize = 200;
/// Grouping rules of a project.
pub const GROUPING_RULES_MAX: usize = 50;
/// Characters of the template of a grouping rule.
pub const GROUPING_TEMPLATE_CHARS_MAX: usize = 500;
/// Exceptions that a preview of a grouping rule reads.
pub const GROUPING_PREVIEW_EVENTS_MAX: u64 = 200_000;
/// Fingerprints that a grouping rule may make of the exceptions of the last seven days.
pub const GROUPING_PREVIEW_HASHES_MAX: u64 = 1000;
/// Entries of the activity of one Issue, without comments; beyond it the earliest are deleted.
pub const ISSUE_ACTIVITY_MAX: i64 = 500;
/// Comments on one Issue.
pub const ISSUE_COMMENTS_MAX: i64 = 500;
/// Bytes of the template of links to the code host, and of the folder that is cut from paths.
pub const SOURCE_URL_BYTES_MAX: usize = 500;
/// Characters of a comment on an Issue.
pub const ISSUE_COMMENT_CHARS_MAX: usize = 10_000;
/// Saved views of one user in a project, private and shared.
pub const SAVED_VIEWS_OF_USER_MAX: i64 = 100;
/// Shared views of a project.
pub const SAVED_VIEWS_SHARED_MAX: i64 = 500;
/// Characters of the name of a saved view.
pub const SAVED_VIEW_NAME_CHARS_MAX: usize = 100;
/// Bytes of the query string of a saved view.
pub const SAVED_VIEW_SEARCH_BYTES_MAX: usize = 8 * 1024;
/// Bytes of the address of a reported deploy's page.
pub const DEPLOY_URL_BYTES_MAX: usize = 2000;
/// A reported deploy without a time repeats one of equal service, environment and version within this time.
pub const DEPLOY_REPEAT: Duration = minutes(60);
/// A first sight within this time of a reported deploy of the version belongs to it.
pub const DEPLOY_SEEN_WITHIN: Duration = minutes(60);
/// The time of a reported deploy may be this far ahead of the server's clock.
pub const DEPLOY_AHEAD_MAX: Duration = minutes(60);
/// Maximum grace period that a token rotation may request, hours.
pub const TOKEN_GRACE_HOURS_MAX: u64 = 168;
/// Default time for which a project's replaced token is still accepted.
pub const TOKEN_GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Healthcheck paths of a project. WIRE 5.6.
pub const HEALTHCHECK_PATHS_MAX: usize = 50;
/// Size of a project's healthcheck paths, one per line, bytes: every journal record of its traces contains them.
pub const HEALTHCHECK_PATHS_BYTES_MAX: usize = 4096;
/// Labels on a project's allowlist of profile labels. WIRE 5.6.
pub const PROFILE_LABELS_MAX: usize = 20;
/// Characters of a healthcheck path or profile label.
pub const SETTING_TEXT_CHARS_MAX: usize = 200;
/// The project's own terms of content flags.
pub const AI_FLAGGED_TERMS_MAX: usize = 200;
/// Characters of such a term.
pub const AI_FLAGGED_TERM_CHARS_MAX: usize = 100;
/// Size of all such terms of a project: every journal record of spans contains them. Bytes.
pub const AI_FLAGGED_TERMS_BYTES_MAX: usize = 8 * 1024;
/// Projects of one organization. Every node has all of them in memory.
pub const PROJECTS_PER_ORGANIZATION_MAX: i64 = 500;
/// Projects that one request may create.
pub const PROJECTS_AT_ONCE_MAX: usize = 50;
/// Characters in the name of a project. WIRE 5.6.
pub const PROJECT_NAME_CHARS_MAX: usize = 100;
