//! The timeline of an incident: its alerts and updates, and the deploys and Issues of its project.
//!
//! The timeline is bounded. An incident is shown also when Issues cannot be read.

use std::sync::Arc;

use tidewatch_alerts::incidents::views::TimelineEntry;
use tidewatch_alerts::incidents::{GroupedAlert, Incident, is_momentary};
use tidewatch_alerts::status_pages::rfc3339;
use tidewatch_limits as limits;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::issues::onsets::{self, OnsetKind};
use tidewatch_query::time::Range;

use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use tidewatch_query::context::QueryContext;

/// Events of an incident, by time.
pub struct Timeline {
    /// The earliest first.
    pub entries: Vec<TimelineEntry>,
    /// Whether Issues are missing, because they could not be read.
    pub lacks_issues: bool,
}

/// The timeline of an incident with these alerts.
pub async fn of(
    alerting: &Alerting,
    query: &Arc<QueryContext>,
    accounts: &Accounts,
    incident: &Incident,
    alerts: &[GroupedAlert],
) -> Result<Timeline, ApiError> {
    let mut found = vec![entry(incident.started_ns, "opened", incident.title.clone())];
    for alert in alerts {
        let mut fired = entry(alert.fired_ns, "alert_fired", alert.subject.clone());
        fired.1.path = alert.path.clone();
        found.push(fired);
        let ended_ns = alert.resolved_ns.filter(|_| !is_momentary(&alert.rule_type));
        found.extend(ended_ns.map(|at_ns| entry(at_ns, "alert_ended", alert.subject.clone())));
    }
    for update in alerting.rooms.incidents.incident_updates(incident.id).await? {
        let mut written = entry(update.at_ns, "update", update.status.name().to_owned());
        written.1.message = update.message;
        written.1.author = update.author;
        found.push(written);
    }
    let mut lacks_issues = false;
    if let Some(project) = incident.project {
        let from = incident.started_ns.saturating_sub(limits::INCIDENT_CAUSES_BEFORE.as_nanos() as i64);
        let range = Range { from, to: incident.resolved_ns.map_or(i64::MAX, |end_ns| end_ns.saturating_add(1)) };
        let deploys = deploys(accounts, project).await?.into_iter();
        let within = deploys.filter(|(at_ns, _)| (range.from..range.to).contains(at_ns));
        found.extend(within.map(|(at_ns, title)| entry(at_ns, "deploy", title)));
        match issues(query, accounts, project, range).await {
            Ok(issues) => found.extend(issues),
            // Updates can be written while the store answers nothing.
            Err(error) => {
                tracing::warn!(incident = incident.id, %error, "a timeline has no Issues: {error}");
                lacks_issues = true;
            }
        }
    }
    found.sort_by_key(|(at_ns, _)| *at_ns);
    found.truncate(limits::INCIDENT_TIMELINE_MAX);
    Ok(Timeline { entries: found.into_iter().map(|(_, entry)| entry).collect(), lacks_issues })
}

fn entry(at_ns: i64, kind: &str, title: String) -> (i64, TimelineEntry) {
    let entry = TimelineEntry {
        time: rfc3339(at_ns),
        kind: kind.to_owned(),
        title,
        message: String::new(),
        author: String::new(),
        path: String::new(),
    };
    (at_ns, entry)
}

/// Issues that occurred for the first time or returned; the last entry counts those that are left out.
async fn issues(
    query: &Arc<QueryContext>,
    accounts: &Accounts,
    project: u32,
    range: Range,
) -> Result<Vec<(i64, TimelineEntry)>, QueryError> {
    let Some(id) = accounts.control.projects.project_by_number(project).map(|project| project.id) else {
        return Ok(Vec::new());
    };
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    let (onsets, total) = onsets::in_range(&executor, project, range, limits::INCIDENT_ISSUES_MAX).await?;
    let shown = onsets.len();
    let mut found: Vec<(i64, TimelineEntry)> = Vec::with_capacity(shown + 1);
    for onset in onsets {
        let kind = match onset.kind {
            OnsetKind::New => "issue_new",
            OnsetKind::Regressed => "issue_regressed",
        };
        let mut began = entry(onset.at_ns, kind, onset.title);
        began.1.path = format!("/p/{id}/issues/{}", onset.hash);
        found.push(began);
    }
    if let (Some((last_ns, _)), true) = (found.last(), total > shown) {
        let mut more = entry(*last_ns, "issue_new", format!("{} more Issues", total - shown));
        more.1.path = format!("/p/{id}/issues");
        found.push(more);
    }
    Ok(found)
}

/// Reported deploys, and first sights of versions that nobody reported.
async fn deploys(accounts: &Accounts, project: u32) -> Result<Vec<(i64, String)>, ApiError> {
    let title = |service: &str, version: &str, environment: &str| match environment {
        "" => format!("{service} {version}"),
        environment => format!("{service} {version} in {environment}"),
    };
    let reported = accounts.control.projects.deploys(project).await?;
    let mut found: Vec<(i64, String)> =
        reported.iter().map(|one| (one.deployed_ns, title(&one.service, &one.version, &one.environment))).collect();
    for seen in accounts.control.projects.first_versions(project).await? {
        let is_reported = |one: &&tidewatch_accounts::Deploy| {
            (&one.service, &one.version, &one.environment) == (&seen.service, &seen.version, &seen.environment)
        };
        if reported.iter().find(is_reported).is_none() {
            found.push((seen.first_ns, title(&seen.service, &seen.version, &seen.environment)));
        }
    }
    Ok(found)
}
