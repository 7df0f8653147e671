//! Results of monitors, and what follows from them in the same transaction: sums, the state, its changes, and the
//! notifications about these.
//!
//! The transaction checks the lease of the node that made the check.

use sqlx::AssertSqlSafe;
use tidewatch_accounts::tokens::hash;
use tidewatch_accounts::{ControlError, Write};
use tidewatch_limits as limits;

use super::monitors::{COLUMNS, Monitor, MonitorResult, Row, from_row};
use super::sums::{add_missed, insert, keep_newest, sum};
use crate::channels::{AlertStatus, Notification, SeriesPoint, Severity, Target, notify};
use crate::monitors::Monitors;
use crate::monitors::standing::{MonitorChange, MonitorStanding, MonitorState};

/// A lease and its holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease<'a> {
    /// The name.
    pub name: &'a str,
    /// The holder.
    pub holder: &'a str,
}

/// The time of the schedule that a result belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorSlot<'a> {
    /// The result is stored by the holder of this lease only.
    pub lease: Lease<'a>,
    /// Nanoseconds since the epoch.
    pub slot_ns: i64,
    /// Checks that were not made since the slot before: start of the UTC day, and their number.
    pub missed: Vec<(i64, i64)>,
}

impl Monitors {
    /// Returns the enabled monitors.
    pub async fn scheduled_monitors(&self) -> Result<Vec<ScheduledMonitor>, ControlError> {
        let scheduled = sqlx::query_as(
            "SELECT id, check_type, interval_seconds, period_seconds, grace_seconds, slot_ns, ping_ns FROM monitors \
             WHERE enabled = 1",
        );
        Ok(scheduled.fetch_all(self.database.pool()).await?)
    }

    /// Returns a monitor of any project. `None` if there is none.
    pub async fn any_monitor(&self, id: i64) -> Result<Option<Monitor>, ControlError> {
        let statement = format!("SELECT {COLUMNS} FROM monitors WHERE id = $1");
        let row: Option<Row> =
            sqlx::query_as(AssertSqlSafe(statement)).bind(id).fetch_optional(self.database.pool()).await?;
        row.map(|row| row.monitor(&self.database)).transpose()
    }

    /// Stores the result of a check with what follows from it. `slot`: `None` for a check that a user has requested.
    ///
    /// Returns false, and stores nothing, if the monitor was paused or deleted, if the lease is another node's, or if
    /// the slot has a result.
    pub async fn record_monitor_result(
        &self,
        monitor: i64,
        result: &MonitorResult,
        slot: Option<&MonitorSlot<'_>>,
    ) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let Some(row) = read(&mut write, monitor).await?.filter(|row| row.enabled != 0) else { return Ok(false) };
        if let Some(slot) = slot {
            let has_lease = write.has_lease(slot.lease.name, slot.lease.holder).await?;
            if !has_lease || row.slot_ns == Some(slot.slot_ns) {
                return Ok(false);
            }
            sqlx::query("UPDATE monitors SET slot_ns = $2 WHERE id = $1")
                .bind(monitor)
                .bind(slot.slot_ns)
                .execute(write.on())
                .await?;
            add_missed(&mut write, monitor, result.at_ns, &slot.missed).await?;
        }
        add(&mut write, &row, result).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Stores the report of a job: `result` has its time and outcome. Returns false if no heartbeat has this token.
    /// A paused one keeps its state. Repetitions within [`limits::HEARTBEAT_REPEAT`] are no further results.
    pub async fn record_heartbeat(&self, token: &str, result: &MonitorResult) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let id: Option<i64> = sqlx::query_scalar("SELECT id FROM monitors WHERE token_hash = $1")
            .bind(hash(token))
            .fetch_optional(write.on())
            .await?;
        let Some(id) = id else { return Ok(false) };
        let Some(row) = read(&mut write, id).await? else { return Ok(false) };
        if row.enabled == 0 {
            return Ok(true);
        }
        let latest: Option<(i64, String)> = sqlx::query_as(
            "SELECT at_ns, outcome FROM monitor_results WHERE monitor_id = $1 ORDER BY at_ns DESC, id DESC LIMIT 1",
        )
        .bind(id)
        .fetch_optional(write.on())
        .await?;
        let repeat_ns = i64::try_from(limits::HEARTBEAT_REPEAT.as_nanos()).unwrap_or(i64::MAX);
        let has_state = row.standing().state.name() == result.outcome.name();
        let is_repeated = has_state
            && latest.is_some_and(|(at_ns, outcome)| {
                outcome == result.outcome.name() && (0..repeat_ns).contains(&result.at_ns.saturating_sub(at_ns))
            });
        sqlx::query("UPDATE monitors SET ping_ns = $2 WHERE id = $1")
            .bind(id)
            .bind(result.at_ns)
            .execute(write.on())
            .await?;
        if !is_repeated {
            add(&mut write, &row, result).await?;
        }
        write.commit().await?;
        Ok(true)
    }
}

/// A monitor as its schedule reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledMonitor {
    /// Row id.
    pub id: i64,
    /// See [`super::NewMonitor::check_type`].
    pub check_type: String,
    /// Seconds between two checks.
    pub interval_seconds: i64,
    /// See [`super::NewMonitor::period_seconds`].
    pub period_seconds: i64,
    /// See [`super::NewMonitor::period_seconds`].
    pub grace_seconds: i64,
    /// See [`Monitor::slot_ns`].
    pub slot_ns: Option<i64>,
    /// See [`Monitor::ping_ns`].
    pub ping_ns: Option<i64>,
}

from_row!(ScheduledMonitor { id, check_type, interval_seconds, period_seconds, grace_seconds, slot_ns, ping_ns });

/// The stored monitor.
pub(super) async fn read(write: &mut Write<'_>, id: i64) -> Result<Option<Row>, ControlError> {
    let statement = format!("SELECT {COLUMNS} FROM monitors WHERE id = $1");
    Ok(sqlx::query_as(AssertSqlSafe(statement)).bind(id).fetch_optional(write.on()).await?)
}

/// Stores a result with what follows from it.
async fn add(write: &mut Write<'_>, row: &Row, result: &MonitorResult) -> Result<(), ControlError> {
    insert(write, row.id, result).await?;
    sum(write, row.id, result).await?;
    let next = row.standing().after(result.outcome, row.failure_threshold, result.at_ns);
    sqlx::query("UPDATE monitors SET failures = $2 WHERE id = $1")
        .bind(row.id)
        .bind(next.failures)
        .execute(write.on())
        .await?;
    settle(write, row, next, &result.reason, &result.trace_id).await
}

/// Stores a change of the state, and notifies of one from or to [`MonitorState::Down`]. Nothing if the state is equal.
pub(super) async fn settle(
    write: &mut Write<'_>,
    row: &Row,
    after: MonitorStanding,
    reason: &str,
    trace_id: &str,
) -> Result<(), ControlError> {
    let before = row.standing();
    if after.state == before.state {
        return Ok(());
    }
    sqlx::query("UPDATE monitors SET state = $2, failures = $3, since_ns = $4 WHERE id = $1")
        .bind(row.id)
        .bind(after.state.name())
        .bind(after.failures)
        .bind(after.since_ns)
        .execute(write.on())
        .await?;
    sqlx::query(
        "INSERT INTO monitor_transitions (monitor_id, at_ns, from_state, to_state, reason, trace_id) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(row.id)
    .bind(after.since_ns)
    .bind(before.state.name())
    .bind(after.state.name())
    .bind(reason)
    .bind(trace_id)
    .execute(write.on())
    .await?;
    keep_newest(write, "monitor_transitions", "id", row.id, limits::MONITOR_TRANSITIONS_MAX).await?;
    if before.state == MonitorState::Down || after.state == MonitorState::Down {
        let change = MonitorChange { name: row.name.clone(), before, after, reason: reason.to_owned() };
        notify_by_rules(write, row, &change).await?;
    }
    Ok(())
}

/// Notifies by every `check_down` rule of the project that is enabled and not snoozed.
async fn notify_by_rules(write: &mut Write<'_>, row: &Row, change: &MonitorChange) -> Result<(), ControlError> {
    let at_ns = change.after.since_ns;
    let found: Vec<(i64, String, String)> = sqlx::query_as(
        "SELECT channel_id, name, severity FROM notification_rules WHERE project = $1 AND rule_type = 'check_down' \
         AND enabled = 1 AND snoozed_until_ns <= $2 ORDER BY id",
    )
    .bind(row.project)
    .bind(at_ns)
    .fetch_all(write.on())
    .await?;
    if found.is_empty() {
        return Ok(());
    }
    let (organization, project): (i64, String) =
        sqlx::query_as("SELECT organization_id, id FROM projects WHERE number = $1")
            .bind(row.project)
            .fetch_one(write.on())
            .await?;
    let (subject, body) = change.words();
    let series = latest_durations(write, row.id).await?;
    let status = if change.after.state == MonitorState::Down { AlertStatus::Firing } else { AlertStatus::Resolved };
    for (channel, rule_name, severity) in found {
        let notification = Notification {
            organization,
            project: u32::try_from(row.project).ok(),
            alert_key: format!("monitor:{}", row.id),
            status,
            severity: Severity::of_name(&severity).unwrap_or(Severity::Critical),
            rule_type: "check_down".to_owned(),
            rule_name,
            subject: subject.clone(),
            body: body.clone(),
            path: format!("/p/{project}/monitors/{}", row.id),
            series: series.clone(),
            at_ns,
        };
        notify(write, &notification, &[Target::Channel(channel)]).await?;
    }
    Ok(())
}

/// The latest durations in milliseconds, ascending by time.
async fn latest_durations(write: &mut Write<'_>, monitor: i64) -> Result<Vec<SeriesPoint>, ControlError> {
    let rows: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT at_ns, total_ns FROM monitor_results WHERE monitor_id = $1 AND total_ns IS NOT NULL \
         ORDER BY at_ns DESC LIMIT $2",
    )
    .bind(monitor)
    .bind(limits::MONITOR_SPARKLINE_POINTS)
    .fetch_all(write.on())
    .await?;
    let point = |(at_ns, total_ns): (i64, i64)| SeriesPoint { at_ns, value: total_ns as f64 / 1e6 };
    Ok(rows.into_iter().rev().map(point).collect())
}
