//! Monitors: checks of an address, or of a job that reports, at intervals. WIRE 6.
//!
//! Effects of their results are in `results`, their sums in `sums`, changes by users in `changes`; what others
//! read of them in `history`.

use serde_json::{Value, json};
use tidewatch_accounts::tokens::{hash, prefixed_token};
use tidewatch_accounts::{Actor, ControlError, Database, Project, Write};
use tidewatch_limits as limits;

use crate::monitors::Monitors;
use crate::monitors::standing::{MonitorOutcome, MonitorStanding, MonitorState};
use crate::tables::RowValues;

/// The purpose that the configurations of monitors are sealed for.
pub(super) const SEALED_AS: &str = "monitor";
/// The prefix of the tokens of heartbeats.
const HEARTBEAT_PREFIX: &str = "twh_";
pub(super) const NO_MONITOR: ControlError = ControlError::Missing("no such monitor");

/// Durations of the phases of a check, nanoseconds; `None`: there was no such phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MonitorTimings {
    /// Resolution of the name.
    pub dns_ns: Option<i64>,
    /// TCP connection.
    pub connect_ns: Option<i64>,
    /// TLS handshake.
    pub tls_ns: Option<i64>,
    /// From the request to the first byte of the response.
    pub wait_ns: Option<i64>,
    /// Everything.
    pub total_ns: Option<i64>,
}

/// A result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorResult {
    /// Row id; 0 before it is stored.
    pub id: i64,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// The outcome.
    pub outcome: MonitorOutcome,
    /// Reason of a bad or missed result; empty if it is good.
    pub reason: String,
    /// HTTP status.
    pub status_code: Option<i64>,
    /// Trace id that the request carried, hexadecimal; may be empty.
    pub trace_id: String,
    /// Durations.
    pub timings: MonitorTimings,
    /// End of the validity of the certificate, nanoseconds since the epoch.
    pub tls_expires_ns: Option<i64>,
    /// Output of the script of a check by a browser. Stored if the result is bad.
    pub output: String,
}

impl MonitorResult {
    /// A result without durations.
    pub fn unmeasured(at_ns: i64, outcome: MonitorOutcome, reason: String) -> MonitorResult {
        MonitorResult {
            id: 0,
            at_ns,
            outcome,
            reason,
            status_code: None,
            trace_id: String::new(),
            timings: MonitorTimings::default(),
            tls_expires_ns: None,
            output: String::new(),
        }
    }
}

/// The parts of a monitor that a user chooses. Checked by `alerts::monitors`.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMonitor {
    /// Its name.
    pub name: String,
    /// `http`, `tcp`, `tls`, `dns`, `heartbeat` or `browser`.
    pub check_type: String,
    /// Whether it is checked.
    pub is_enabled: bool,
    /// Seconds between two checks.
    pub interval_seconds: i64,
    /// Seconds that a check may take.
    pub timeout_seconds: i64,
    /// Consecutive bad results that make it down.
    pub failure_threshold: i64,
    /// Seconds between two reports of a heartbeat, and how much later one may arrive; otherwise 0.
    pub period_seconds: i64,
    /// See `period_seconds`.
    pub grace_seconds: i64,
    /// The configuration of its type.
    pub config: Value,
}

/// A monitor.
#[derive(Debug, Clone, PartialEq)]
pub struct Monitor {
    /// Row id.
    pub id: i64,
    /// Number of the project.
    pub project: u32,
    /// Settings by a user.
    pub chosen: NewMonitor,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Time of the latest change by a user, nanoseconds since the epoch.
    pub updated_ns: i64,
    /// State, derived from its results.
    pub standing: MonitorStanding,
    /// The time of the schedule that was done last, nanoseconds since the epoch.
    pub slot_ns: Option<i64>,
    /// Of a heartbeat: the latest report, nanoseconds since the epoch.
    pub ping_ns: Option<i64>,
}

/// Reads a row by the names of its fields.
macro_rules! from_row {
    ($row:ident { $($field:ident),* $(,)? }) => {
        impl<'r> sqlx::FromRow<'r, sqlx::any::AnyRow> for $row {
            fn from_row(row: &'r sqlx::any::AnyRow) -> Result<$row, sqlx::Error> {
                use sqlx::Row as _;
                Ok($row { $($field: row.try_get(stringify!($field))?),* })
            }
        }
    };
}
pub(super) use from_row;

/// The columns of a monitor.
pub(super) const COLUMNS: &str = "id, project, name, check_type, enabled, interval_seconds, timeout_seconds, \
    failure_threshold, period_seconds, grace_seconds, config_sealed, created_ns, updated_ns, state, failures, \
    since_ns, slot_ns, ping_ns";

/// A row of [`COLUMNS`].
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) project: i64,
    pub(super) name: String,
    pub(super) check_type: String,
    pub(super) enabled: i64,
    pub(super) interval_seconds: i64,
    pub(super) timeout_seconds: i64,
    pub(super) failure_threshold: i64,
    pub(super) period_seconds: i64,
    pub(super) grace_seconds: i64,
    config_sealed: String,
    created_ns: i64,
    updated_ns: i64,
    state: String,
    failures: i64,
    since_ns: i64,
    pub(super) slot_ns: Option<i64>,
    pub(super) ping_ns: Option<i64>,
}

from_row!(Row {
    id,
    project,
    name,
    check_type,
    enabled,
    interval_seconds,
    timeout_seconds,
    failure_threshold,
    period_seconds,
    grace_seconds,
    config_sealed,
    created_ns,
    updated_ns,
    state,
    failures,
    since_ns,
    slot_ns,
    ping_ns,
});

impl Row {
    /// State, derived from its results.
    pub(super) fn standing(&self) -> MonitorStanding {
        MonitorStanding { state: MonitorState::of_name(&self.state), failures: self.failures, since_ns: self.since_ns }
    }

    pub(super) fn monitor(self, database: &Database) -> Result<Monitor, ControlError> {
        let opened = database.sealer().open(SEALED_AS, &self.config_sealed)?;
        let config = serde_json::from_str(&opened).map_err(|_| ControlError::Unreadable("a monitor"))?;
        let standing = self.standing();
        Ok(Monitor {
            id: self.id,
            project: u32::try_from(self.project).map_err(|_| ControlError::Unreadable("the project of a monitor"))?,
            chosen: NewMonitor {
                name: self.name,
                check_type: self.check_type,
                is_enabled: self.enabled != 0,
                interval_seconds: self.interval_seconds,
                timeout_seconds: self.timeout_seconds,
                failure_threshold: self.failure_threshold,
                period_seconds: self.period_seconds,
                grace_seconds: self.grace_seconds,
                config,
            },
            created_ns: self.created_ns,
            updated_ns: self.updated_ns,
            standing,
            slot_ns: self.slot_ns,
            ping_ns: self.ping_ns,
        })
    }
}

impl Monitors {
    /// Returns the monitors of a project, by name.
    pub async fn monitors(&self, project: u32) -> Result<Vec<Monitor>, ControlError> {
        let statement = format!("SELECT {COLUMNS} FROM monitors WHERE project = $1 ORDER BY name, id");
        let rows: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(i64::from(project))
            .fetch_all(self.database.pool())
            .await?;
        rows.into_iter().map(|row| row.monitor(&self.database)).collect()
    }

    /// Returns a monitor of a project. [`ControlError::Missing`] if there is none.
    pub async fn monitor(&self, project: u32, id: i64) -> Result<Monitor, ControlError> {
        let statement = format!("SELECT {COLUMNS} FROM monitors WHERE project = $1 AND id = $2");
        let row: Option<Row> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(i64::from(project))
            .bind(id)
            .fetch_optional(self.database.pool())
            .await?;
        row.ok_or(NO_MONITOR)?.monitor(&self.database)
    }

    /// Stores a monitor. Returns its row id, and the token of a heartbeat, which cannot be read again.
    /// [`ControlError::TooMany`] beyond [`limits::MONITORS_MAX`].
    pub async fn create_monitor(
        &self,
        actor: &Actor,
        project: &Project,
        new: &NewMonitor,
    ) -> Result<(i64, Option<String>), ControlError> {
        let token = if new.period_seconds > 0 { Some(prefixed_token(HEARTBEAT_PREFIX)?) } else { None };
        let sealed = self.database.sealer().seal(SEALED_AS, &new.config.to_string())?;
        let mut write = self.database.write().await?;
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM monitors WHERE project = $1")
            .bind(i64::from(project.number))
            .fetch_one(write.on())
            .await?;
        if count >= limits::MONITORS_MAX {
            return Err(ControlError::TooMany("monitors in this project"));
        }
        let id = chosen(new, sealed, actor.at_ns)
            .set("project", i64::from(project.number))
            .set("check_type", &new.check_type)
            .set("token_hash", token.as_deref().map(hash))
            .set("created_ns", actor.at_ns)
            .set("since_ns", actor.at_ns)
            .insert(&mut write)
            .await?;
        audit(&mut write, actor, "monitor.create", project, id, &new.name).await?;
        write.commit().await?;
        Ok((id, token))
    }

    /// Replaces the token of a heartbeat and returns the new one. The old one ends at once.
    pub async fn replace_heartbeat_token(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
    ) -> Result<String, ControlError> {
        let token = prefixed_token(HEARTBEAT_PREFIX)?;
        let mut write = self.database.write().await?;
        let name: Option<String> = sqlx::query_scalar(
            "UPDATE monitors SET token_hash = $3 WHERE id = $1 AND project = $2 AND period_seconds > 0 RETURNING name",
        )
        .bind(id)
        .bind(i64::from(project.number))
        .bind(hash(&token))
        .fetch_optional(write.on())
        .await?;
        let name = name.ok_or(ControlError::Missing("no such heartbeat"))?;
        audit(&mut write, actor, "monitor.replace_token", project, id, &name).await?;
        write.commit().await?;
        Ok(token)
    }
}

/// Adds the change of a monitor to the audit log.
/// The columns that a user chooses; the configuration is sealed.
pub(super) fn chosen(new: &NewMonitor, sealed: String, at_ns: i64) -> RowValues {
    RowValues::of("monitors")
        .set("name", &new.name)
        .set("enabled", i64::from(new.is_enabled))
        .set("interval_seconds", new.interval_seconds)
        .set("timeout_seconds", new.timeout_seconds)
        .set("failure_threshold", new.failure_threshold)
        .set("period_seconds", new.period_seconds)
        .set("grace_seconds", new.grace_seconds)
        .set("config_sealed", sealed)
        .set("updated_ns", at_ns)
}

pub(super) async fn audit(
    write: &mut Write<'_>,
    actor: &Actor,
    action: &'static str,
    project: &Project,
    id: i64,
    name: &str,
) -> Result<(), ControlError> {
    let details = json!({ "monitor": id, "name": name });
    write.audit(actor.did(action).on_project(project).with(details)).await
}
