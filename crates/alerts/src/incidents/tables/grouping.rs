//! Notifications become incidents: the new notifications, the incidents that they may change and the cursor are read
//! and written in one transaction under a lease, so that none counts twice and none is lost.

use std::collections::BTreeSet;
use std::time::Duration;

use tidewatch_accounts::{ControlError, Write};
use tidewatch_limits as limits;

use super::announce::{Announcer, RULE_TYPE};
use super::rows::{self, AlertColumns, COLUMNS, Columns};
use super::{GroupedAlert, Incident, IncidentStatus, IncidentUpdate};
use crate::channels::{AlertStatus, CHANNEL_FAILED, Severity};
use crate::incidents::Incidents;
use crate::oncall::page_of_subject;

/// The types of notifications that are no alerts: those of status pages, tests of targets, and channels that do not work.
const NO_ALERTS: [&str; 3] = [RULE_TYPE, "test", CHANNEL_FAILED];
/// The name of the cursor's row.
const CURSOR: &str = "notifications";

/// A notification, as far as incidents depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertFact {
    /// Row id of the organization.
    pub organization: i64,
    /// Number of the project; `None`: of the organization.
    pub project: Option<u32>,
    /// Equal for the beginning and the end of an alert.
    pub key: String,
    /// Whether it begins or ends.
    pub status: AlertStatus,
    /// Severity of the alert.
    pub severity: Severity,
    /// The type of its rule.
    pub rule_type: String,
    /// One line.
    pub subject: String,
    /// The page that shows it.
    pub path: String,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
}

/// An incident with its alerts, as the grouping changes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupedIncident {
    /// Row id; `None`: not stored yet.
    pub id: Option<i64>,
    /// Row id of the organization.
    pub organization: i64,
    /// Number of the project; `None`: of the organization.
    pub project: Option<u32>,
    /// One line.
    pub title: String,
    /// The highest of its alerts.
    pub severity: Severity,
    /// Whether alerts have opened it.
    pub is_automatic: bool,
    /// Nanoseconds since the epoch.
    pub started_ns: i64,
    /// The latest beginning or end of one of its alerts.
    pub last_alert_ns: i64,
    /// Since when none of its alerts fires.
    pub quiet_ns: Option<i64>,
    /// `None`: open.
    pub resolved_ns: Option<i64>,
    /// Its alerts, in the order of their rows. New ones are appended.
    pub alerts: Vec<GroupedAlert>,
}

impl Incidents {
    /// Groups the notifications after the cursor: `group` receives the incidents that they may change, the
    /// notifications in order, and the time. `grace`: incidents whose last alert ended this long ago are among them.
    /// Returns the number of notifications; `None`: `holder` has not the lease
    /// `lease`.
    pub async fn group_notifications(
        &self,
        lease: &str,
        holder: &str,
        announcer: &Announcer,
        now_ns: i64,
        grace: Duration,
        group: impl FnOnce(&mut Vec<GroupedIncident>, &[AlertFact], i64),
    ) -> Result<Option<usize>, ControlError> {
        let mut write = self.database.write().await?;
        if !write.has_lease(lease, holder).await? {
            return Ok(None);
        }
        let (facts, cursor) = new_facts(&mut write).await?;
        let mut organizations: BTreeSet<i64> = facts.iter().map(|fact| fact.organization).collect();
        let quiet_before_ns = now_ns.saturating_sub(grace.as_nanos() as i64);
        let due: Vec<i64> = sqlx::query_scalar(
            "SELECT DISTINCT organization_id FROM incidents \
             WHERE resolved_ns IS NULL AND automatic = 1 AND quiet_ns <= $1",
        )
        .bind(quiet_before_ns)
        .fetch_all(write.on())
        .await?;
        organizations.extend(due);
        if organizations.is_empty() && cursor.is_none() {
            return Ok(Some(0));
        }
        let mut incidents = Vec::new();
        for organization in organizations {
            incidents.append(&mut changeable(&mut write, organization).await?);
        }
        let before = incidents.clone();
        group(&mut incidents, &facts, now_ns);
        for (index, incident) in incidents.iter().enumerate() {
            if before.get(index) != Some(incident) {
                store(&mut write, announcer, before.get(index), incident, now_ns).await?;
            }
        }
        if let Some(cursor) = cursor {
            sqlx::query(
                "INSERT INTO incident_cursor (name, notification_id) VALUES ($1, $2) \
                 ON CONFLICT (name) DO UPDATE SET notification_id = excluded.notification_id",
            )
            .bind(CURSOR)
            .bind(cursor)
            .execute(write.on())
            .await?;
        }
        write.commit().await?;
        Ok(Some(facts.len()))
    }

    /// Whether [`Incidents::group_notifications`] may have something to do: a read without the writer's lock.
    pub async fn has_ungrouped_notifications(&self, now_ns: i64, grace: Duration) -> Result<bool, ControlError> {
        let quiet_before_ns = now_ns.saturating_sub(grace.as_nanos() as i64);
        let count: i64 = sqlx::query_scalar(
            "SELECT (SELECT COUNT(*) FROM (SELECT id FROM notifications WHERE id > \
             COALESCE((SELECT notification_id FROM incident_cursor WHERE name = $1), 0) LIMIT 1) AS new) \
             + (SELECT COUNT(*) FROM incidents WHERE resolved_ns IS NULL AND automatic = 1 AND quiet_ns <= $2)",
        )
        .bind(CURSOR)
        .bind(quiet_before_ns)
        .fetch_one(self.database.pool())
        .await?;
        Ok(count > 0)
    }
}

/// The notifications after the cursor, and the new cursor if there are any.
async fn new_facts(write: &mut Write<'_>) -> Result<(Vec<AlertFact>, Option<i64>), ControlError> {
    type Row = (i64, i64, Option<i64>, String, String, String, String, String, String, i64);
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT id, organization_id, project, alert_key, status, severity, rule_type, subject, path, created_ns \
         FROM notifications \
         WHERE id > COALESCE((SELECT notification_id FROM incident_cursor WHERE name = $1), 0) ORDER BY id LIMIT $2",
    )
    .bind(CURSOR)
    .bind(limits::INCIDENT_NOTIFICATIONS)
    .fetch_all(write.on())
    .await?;
    let cursor = rows.last().map(|row| row.0);
    let mut facts = Vec::with_capacity(rows.len());
    for (_, organization, project, key, status, severity, rule_type, subject, path, at_ns) in rows {
        // The messages of a page are about an alert that counts itself.
        if NO_ALERTS.contains(&rule_type.as_str()) || page_of_subject(&key).is_some() {
            continue;
        }
        facts.push(AlertFact {
            organization,
            project: project.and_then(|number| u32::try_from(number).ok()),
            key,
            status: if status == AlertStatus::Firing.name() { AlertStatus::Firing } else { AlertStatus::Resolved },
            severity: Severity::of_name(&severity).ok_or(ControlError::Unreadable("a notification"))?,
            rule_type,
            subject,
            path,
            at_ns,
        });
    }
    Ok((facts, cursor))
}

/// The incidents of an organization that are open or have an alert that fires.
async fn changeable(write: &mut Write<'_>, organization: i64) -> Result<Vec<GroupedIncident>, ControlError> {
    let statement = format!(
        "SELECT {COLUMNS}, last_alert_ns, quiet_ns FROM incidents i WHERE organization_id = $1 AND (resolved_ns IS NULL \
         OR EXISTS (SELECT 1 FROM incident_alerts a WHERE a.incident_id = i.id AND a.resolved_ns IS NULL)) ORDER BY id"
    );
    type Row = (i64, i64, Option<i64>, String, String, String, i64, i64, Option<i64>, i64, i64, Option<i64>);
    let rows: Vec<Row> =
        sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(organization).fetch_all(write.on()).await?;
    let mut incidents = Vec::with_capacity(rows.len());
    for (a, b, c, d, e, f, g, h, i, j, last_alert_ns, quiet_ns) in rows {
        let columns: Columns = (a, b, c, d, e, f, g, h, i, j);
        let Incident { id, organization, project, title, severity, is_automatic, started_ns, resolved_ns, .. } =
            rows::incident(columns)?;
        let alerts: Vec<AlertColumns> = sqlx::query_as(
            "SELECT alert_key, rule_type, severity, subject, path, fired_ns, resolved_ns FROM incident_alerts \
             WHERE incident_id = $1 ORDER BY id",
        )
        .bind(id)
        .fetch_all(write.on())
        .await?;
        incidents.push(GroupedIncident {
            id: Some(id),
            organization,
            project,
            title,
            severity,
            is_automatic,
            started_ns,
            last_alert_ns,
            quiet_ns,
            resolved_ns,
            alerts: alerts.into_iter().map(rows::alert).collect::<Result<_, _>>()?,
        });
    }
    Ok(incidents)
}

/// Stores an incident that the grouping has opened or changed.
async fn store(
    write: &mut Write<'_>,
    announcer: &Announcer,
    before: Option<&GroupedIncident>,
    incident: &GroupedIncident,
    now_ns: i64,
) -> Result<(), ControlError> {
    let id = match incident.id {
        Some(id) => id,
        None => {
            sqlx::query_scalar(
                "INSERT INTO incidents (organization_id, project, title, severity, status, automatic, started_ns, \
                 last_alert_ns, updated_ns) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8) RETURNING id",
            )
            .bind(incident.organization)
            .bind(incident.project.map(i64::from))
            .bind(&incident.title)
            .bind(incident.severity.name())
            .bind(IncidentStatus::Investigating.name())
            .bind(i64::from(incident.is_automatic))
            .bind(incident.started_ns)
            .bind(now_ns)
            .fetch_one(write.on())
            .await?
        }
    };
    sqlx::query("UPDATE incidents SET severity = $2, last_alert_ns = $3, quiet_ns = $4, updated_ns = $5 WHERE id = $1")
        .bind(id)
        .bind(incident.severity.name())
        .bind(incident.last_alert_ns)
        .bind(incident.quiet_ns)
        .bind(now_ns)
        .execute(write.on())
        .await?;
    let known = before.map_or(&[][..], |before| &before.alerts);
    store_alerts(write, id, known, &incident.alerts).await?;
    if incident.resolved_ns.is_some() && before.is_none_or(|before| before.resolved_ns.is_none()) {
        let update = IncidentUpdate {
            status: IncidentStatus::Resolved,
            message: "All alerts of this incident have ended.".to_owned(),
            author: String::new(),
            at_ns: incident.resolved_ns.unwrap_or(now_ns),
        };
        super::changes::add_update(write, announcer, id, &update).await?;
    }
    Ok(())
}

/// Inserts the alerts after those of `known`, and sets the end of those that have ended.
async fn store_alerts(
    write: &mut Write<'_>,
    incident: i64,
    known: &[GroupedAlert],
    alerts: &[GroupedAlert],
) -> Result<(), ControlError> {
    for (index, alert) in alerts.iter().enumerate() {
        match known.get(index) {
            Some(before) if before == alert => {}
            Some(before) => {
                sqlx::query(
                    "UPDATE incident_alerts SET resolved_ns = $4, severity = $5 \
                     WHERE incident_id = $1 AND alert_key = $2 AND fired_ns = $3 AND resolved_ns IS NULL",
                )
                .bind(incident)
                .bind(&before.key)
                .bind(before.fired_ns)
                .bind(alert.resolved_ns)
                .bind(alert.severity.name())
                .execute(write.on())
                .await?;
            }
            None => {
                sqlx::query(
                    "INSERT INTO incident_alerts (incident_id, alert_key, rule_type, severity, subject, path, \
                     fired_ns, resolved_ns) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                )
                .bind(incident)
                .bind(&alert.key)
                .bind(&alert.rule_type)
                .bind(alert.severity.name())
                .bind(&alert.subject)
                .bind(&alert.path)
                .bind(alert.fired_ns)
                .bind(alert.resolved_ns)
                .execute(write.on())
                .await?;
            }
        }
    }
    Ok(())
}
