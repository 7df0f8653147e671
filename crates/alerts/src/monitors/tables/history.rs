//! Reads of monitors for pages and status pages: days, states, changes of states, results, and sums over time.

use std::collections::HashMap;

use tidewatch_accounts::ControlError;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_limits as limits;

use super::monitors::{MonitorResult, MonitorTimings, from_row};
use crate::monitors::Monitors;
use crate::monitors::standing::{MonitorOutcome, MonitorState};

/// The results of a monitor on one UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorDay {
    /// Start of the day, nanoseconds since the epoch.
    pub day_ns: i64,
    /// All results.
    pub total: i64,
    /// Good ones.
    pub up: i64,
    /// Checks that were not made.
    pub missed: i64,
}

/// A monitor as a status page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorSummary {
    /// Row id.
    pub id: i64,
    /// Number of the project.
    pub project: u32,
    /// Its name.
    pub name: String,
    /// `http`, `tcp`, `tls`, `dns`, `heartbeat` or `browser`.
    pub check_type: String,
    /// Whether it is checked.
    pub is_enabled: bool,
    /// The state.
    pub state: MonitorState,
    /// Time since which it has the state, nanoseconds since the epoch.
    pub since_ns: i64,
}

/// A change of the state of a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorTransition {
    /// Row id.
    pub id: i64,
    /// Row id of the monitor.
    pub monitor: i64,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// The state before.
    pub from: MonitorState,
    /// The state since.
    pub to: MonitorState,
    /// Reason of the change; empty for a recovery.
    pub reason: String,
    /// Hexadecimal; empty without a trace.
    pub trace_id: String,
}

/// Sums of the results of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorSums {
    /// Start, nanoseconds since the epoch.
    pub bucket_ns: i64,
    /// All results.
    pub total: i64,
    /// Good ones.
    pub up: i64,
    /// Checks that were not made.
    pub missed: i64,
    /// Results with a duration.
    pub timed: i64,
    /// Sums over these of each phase, nanoseconds.
    pub dns_ns: i64,
    /// See `dns_ns`.
    pub connect_ns: i64,
    /// See `dns_ns`.
    pub tls_ns: i64,
    /// See `dns_ns`.
    pub wait_ns: i64,
    /// Sum of the durations, nanoseconds.
    pub total_ns: i64,
    /// The longest duration, nanoseconds.
    pub max_ns: i64,
}

/// Which results of a monitor are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorResultsOf {
    /// Row id of the monitor.
    pub monitor: i64,
    /// First nanosecond.
    pub from_ns: i64,
    /// Nanosecond after the last.
    pub to_ns: i64,
    /// Only bad and missed ones.
    pub is_failed_only: bool,
}

struct ResultRow {
    id: i64,
    at_ns: i64,
    outcome: String,
    reason: String,
    status_code: Option<i64>,
    trace_id: String,
    dns_ns: Option<i64>,
    connect_ns: Option<i64>,
    tls_ns: Option<i64>,
    wait_ns: Option<i64>,
    total_ns: Option<i64>,
    tls_expires_ns: Option<i64>,
    output: String,
}

from_row!(MonitorSums { bucket_ns, total, up, missed, timed, dns_ns, connect_ns, tls_ns, wait_ns, total_ns, max_ns });
from_row!(ResultRow {
    id,
    at_ns,
    outcome,
    reason,
    status_code,
    trace_id,
    dns_ns,
    connect_ns,
    tls_ns,
    wait_ns,
    total_ns,
    tls_expires_ns,
    output,
});

const RESULT_COLUMNS: &str = "id, at_ns, outcome, reason, status_code, trace_id, dns_ns, connect_ns, tls_ns, wait_ns, \
    total_ns, tls_expires_ns, output";

impl ResultRow {
    fn result(self) -> MonitorResult {
        MonitorResult {
            id: self.id,
            at_ns: self.at_ns,
            outcome: MonitorOutcome::of_name(&self.outcome),
            reason: self.reason,
            status_code: self.status_code,
            trace_id: self.trace_id,
            timings: MonitorTimings {
                dns_ns: self.dns_ns,
                connect_ns: self.connect_ns,
                tls_ns: self.tls_ns,
                wait_ns: self.wait_ns,
                total_ns: self.total_ns,
            },
            tls_expires_ns: self.tls_expires_ns,
            output: self.output,
        }
    }
}

/// Columns of `monitors m`.
const SUMMARY_COLUMNS: &str = "m.id, m.project, m.name, m.check_type, m.enabled, m.state, m.since_ns";

/// A row of [`SUMMARY_COLUMNS`].
type SummaryColumns = (i64, i64, String, String, i64, String, i64);

fn summary(row: SummaryColumns) -> Result<MonitorSummary, ControlError> {
    let (id, project, name, check_type, enabled, state, since_ns) = row;
    let project = u32::try_from(project).map_err(|_| ControlError::Unreadable("the project of a monitor"))?;
    let state = MonitorState::of_name(&state);
    Ok(MonitorSummary { id, project, name, check_type, is_enabled: enabled != 0, state, since_ns })
}

impl Monitors {
    /// Returns for each monitor its UTC days with results in `from_ns..to_ns`, ascending. Monitors without a result are
    /// absent.
    pub async fn monitor_days(
        &self,
        ids: &[i64],
        from_ns: i64,
        to_ns: i64,
    ) -> Result<HashMap<i64, Vec<MonitorDay>>, ControlError> {
        let mut days = HashMap::new();
        for id in ids {
            let rows: Vec<(i64, i64, i64, i64)> = sqlx::query_as(
                "SELECT day_ns, total, up, missed FROM monitor_days WHERE monitor_id = $1 AND day_ns >= $2 \
                 AND day_ns < $3 ORDER BY day_ns",
            )
            .bind(*id)
            .bind(from_ns)
            .bind(to_ns)
            .fetch_all(self.database.pool())
            .await?;
            let day = |(day_ns, total, up, missed)| MonitorDay { day_ns, total, up, missed };
            if !rows.is_empty() {
                days.insert(*id, rows.into_iter().map(day).collect());
            }
        }
        Ok(days)
    }

    /// Returns the existing ones of these monitors, in this order.
    pub async fn monitor_states(&self, ids: &[i64]) -> Result<Vec<MonitorSummary>, ControlError> {
        let statement = format!("SELECT {SUMMARY_COLUMNS} FROM monitors m WHERE m.id = $1");
        let mut found = Vec::new();
        for id in ids {
            let row: Option<SummaryColumns> = sqlx::query_as(sqlx::AssertSqlSafe(statement.clone()))
                .bind(*id)
                .fetch_optional(self.database.pool())
                .await?;
            found.extend(row.map(summary).transpose()?);
        }
        Ok(found)
    }

    /// Returns the monitors of all projects of an organization, by name.
    pub async fn monitors_of_organization(&self, organization: i64) -> Result<Vec<MonitorSummary>, ControlError> {
        let statement = format!(
            "SELECT {SUMMARY_COLUMNS} FROM monitors m JOIN projects p ON p.number = m.project \
             WHERE p.organization_id = $1 ORDER BY m.name, m.id"
        );
        let rows: Vec<SummaryColumns> =
            sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(organization).fetch_all(self.database.pool()).await?;
        rows.into_iter().map(summary).collect()
    }

    /// Returns the latest changes of the state of a monitor since `from_ns`, newest first, at most
    /// [`limits::MONITOR_TRANSITIONS_MAX`].
    pub async fn monitor_transitions(&self, id: i64, from_ns: i64) -> Result<Vec<MonitorTransition>, ControlError> {
        type Columns = (i64, i64, String, String, String, String);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT id, at_ns, from_state, to_state, reason, trace_id FROM monitor_transitions \
             WHERE monitor_id = $1 AND at_ns >= $2 ORDER BY id DESC LIMIT $3",
        )
        .bind(id)
        .bind(from_ns)
        .bind(limits::MONITOR_TRANSITIONS_MAX)
        .fetch_all(self.database.pool())
        .await?;
        let transition = |(row, at_ns, from, to, reason, trace_id): Columns| MonitorTransition {
            id: row,
            monitor: id,
            at_ns,
            from: MonitorState::of_name(&from),
            to: MonitorState::of_name(&to),
            reason,
            trace_id,
        };
        Ok(rows.into_iter().map(transition).collect())
    }

    /// Returns results, newest first, and the number of all of them.
    pub async fn monitor_results(
        &self,
        of: MonitorResultsOf,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<MonitorResult>, u64), ControlError> {
        let MonitorResultsOf { monitor, from_ns, to_ns, is_failed_only } = of;
        let outcome = if is_failed_only { " AND outcome <> 'up'" } else { "" };
        let condition = format!("monitor_id = $1 AND at_ns >= $2 AND at_ns < $3{outcome}");
        let statement = format!(
            "SELECT {RESULT_COLUMNS} FROM monitor_results WHERE {condition} ORDER BY at_ns DESC, id DESC \
             LIMIT $4 OFFSET $5"
        );
        let rows: Vec<ResultRow> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(monitor)
            .bind(from_ns)
            .bind(to_ns)
            .bind(limit)
            .bind(offset)
            .fetch_all(self.database.pool())
            .await?;
        let statement = format!("SELECT COUNT(*) FROM monitor_results WHERE {condition}");
        let total: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .bind(monitor)
            .bind(from_ns)
            .bind(to_ns)
            .fetch_one(self.database.pool())
            .await?;
        Ok((rows.into_iter().map(ResultRow::result).collect(), total.unsigned_abs()))
    }

    /// Returns the latest results, newest first.
    pub async fn latest_monitor_results(&self, monitor: i64, limit: i64) -> Result<Vec<MonitorResult>, ControlError> {
        let statement = format!(
            "SELECT {RESULT_COLUMNS} FROM monitor_results WHERE monitor_id = $1 ORDER BY at_ns DESC, id DESC LIMIT $2"
        );
        let rows: Vec<ResultRow> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(monitor)
            .bind(limit)
            .fetch_all(self.database.pool())
            .await?;
        Ok(rows.into_iter().map(ResultRow::result).collect())
    }

    /// Returns sums of results by buckets of `width_ns`, ascending. Buckets of whole hours are read from the sums by
    /// hour, which outlive the results.
    pub async fn monitor_sums(
        &self,
        monitor: i64,
        from_ns: i64,
        to_ns: i64,
        width_ns: i64,
    ) -> Result<Vec<MonitorSums>, ControlError> {
        // PostgreSQL sums integers to decimals.
        let sum = |what: &str, name: &str| format!("CAST(COALESCE(SUM({what}), 0) AS INTEGER) AS {name}");
        let integer = if self.database.engine() == tidewatch_accounts::Engine::Postgres { "BIGINT" } else { "INTEGER" };
        let (table, time, columns) = if width_ns % HOUR_NS == 0 {
            let names = ["total", "up", "missed", "timed", "dns_ns", "connect_ns", "tls_ns", "wait_ns", "total_ns"];
            let mut columns: Vec<String> = names.iter().map(|name| sum(name, name)).collect();
            columns.push("MAX(max_ns) AS max_ns".to_owned());
            ("monitor_hours", "hour_ns", columns)
        } else {
            let is = |outcome: &str| format!("CASE WHEN outcome = '{outcome}' THEN 1 ELSE 0 END");
            let mut columns = vec![sum("1", "total"), sum(&is("up"), "up"), sum(&is("missed"), "missed")];
            columns.push(sum("CASE WHEN total_ns IS NULL THEN 0 ELSE 1 END", "timed"));
            columns.extend(["dns_ns", "connect_ns", "tls_ns", "wait_ns", "total_ns"].map(|name| sum(name, name)));
            columns.push("COALESCE(MAX(total_ns), 0) AS max_ns".to_owned());
            ("monitor_results", "at_ns", columns)
        };
        let columns = columns.join(", ").replace("AS INTEGER)", &format!("AS {integer})"));
        let statement = format!(
            "SELECT ({time} / {width_ns}) * {width_ns} AS bucket_ns, {columns} FROM {table} \
             WHERE monitor_id = $1 AND {time} >= $2 AND {time} < $3 GROUP BY 1 ORDER BY 1"
        );
        let sums = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(monitor)
            .bind(from_ns)
            .bind(to_ns)
            .fetch_all(self.database.pool())
            .await?;
        Ok(sums)
    }

    /// Number of monitors of a project that are down.
    pub async fn monitors_down(&self, project: u32) -> Result<i64, ControlError> {
        let count = sqlx::query_scalar("SELECT COUNT(*) FROM monitors WHERE project = $1 AND state = 'down'")
            .bind(i64::from(project))
            .fetch_one(self.database.pool())
            .await?;
        Ok(count)
    }
}
