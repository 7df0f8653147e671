//! Stored results of monitors and their sums by hour and day, with their bounds.

use sqlx::AssertSqlSafe;
use tidewatch_accounts::{ControlError, Write};
use tidewatch_domain::units::{DAY_NS, HOUR_NS};
use tidewatch_limits as limits;

use super::monitors::{MonitorResult, MonitorTimings};
use crate::monitors::standing::MonitorOutcome;

/// Stores a result.
pub(super) async fn insert(write: &mut Write<'_>, monitor: i64, result: &MonitorResult) -> Result<(), ControlError> {
    let timings = result.timings;
    sqlx::query(
        "INSERT INTO monitor_results (monitor_id, at_ns, outcome, reason, status_code, trace_id, dns_ns, connect_ns, \
         tls_ns, wait_ns, total_ns, tls_expires_ns, output) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    )
    .bind(monitor)
    .bind(result.at_ns)
    .bind(result.outcome.name())
    .bind(&result.reason)
    .bind(result.status_code)
    .bind(&result.trace_id)
    .bind(timings.dns_ns)
    .bind(timings.connect_ns)
    .bind(timings.tls_ns)
    .bind(timings.wait_ns)
    .bind(timings.total_ns)
    .bind(result.tls_expires_ns)
    .bind(if result.outcome == MonitorOutcome::Down { result.output.as_str() } else { "" })
    .execute(write.on())
    .await?;
    Ok(())
}

/// Adds a result to the sums of its hour and day. The first result of an hour removes what is past its retention.
pub(super) async fn sum(write: &mut Write<'_>, monitor: i64, result: &MonitorResult) -> Result<(), ControlError> {
    let (hour_ns, day_ns) = (result.at_ns.div_euclid(HOUR_NS) * HOUR_NS, result.at_ns.div_euclid(DAY_NS) * DAY_NS);
    let timings = result.timings;
    let known: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM monitor_hours WHERE monitor_id = $1 AND hour_ns = $2")
        .bind(monitor)
        .bind(hour_ns)
        .fetch_one(write.on())
        .await?;
    let (up, missed) =
        (i64::from(result.outcome == MonitorOutcome::Up), i64::from(result.outcome == MonitorOutcome::Missed));
    sqlx::query(
        "INSERT INTO monitor_hours (monitor_id, hour_ns, total, up, missed, timed, dns_ns, connect_ns, tls_ns, \
         wait_ns, total_ns, max_ns) VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $10) \
         ON CONFLICT (monitor_id, hour_ns) DO UPDATE SET total = monitor_hours.total + 1, \
         up = monitor_hours.up + excluded.up, missed = monitor_hours.missed + excluded.missed, \
         timed = monitor_hours.timed + excluded.timed, dns_ns = monitor_hours.dns_ns + excluded.dns_ns, \
         connect_ns = monitor_hours.connect_ns + excluded.connect_ns, tls_ns = monitor_hours.tls_ns + excluded.tls_ns, \
         wait_ns = monitor_hours.wait_ns + excluded.wait_ns, total_ns = monitor_hours.total_ns + excluded.total_ns, \
         max_ns = CASE WHEN excluded.max_ns > monitor_hours.max_ns THEN excluded.max_ns ELSE monitor_hours.max_ns END",
    )
    .bind(monitor)
    .bind(hour_ns)
    .bind(up)
    .bind(missed)
    .bind(i64::from(timings.total_ns.is_some()))
    .bind(timings.dns_ns.unwrap_or_default())
    .bind(timings.connect_ns.unwrap_or_default())
    .bind(timings.tls_ns.unwrap_or_default())
    .bind(timings.wait_ns.unwrap_or_default())
    .bind(timings.total_ns.unwrap_or_default())
    .execute(write.on())
    .await?;
    add_to_day(write, monitor, day_ns, 1, up, missed).await?;
    if known == 0 {
        remove_old(write, monitor, result.at_ns).await?;
    }
    Ok(())
}

async fn add_to_day(
    write: &mut Write<'_>,
    monitor: i64,
    day_ns: i64,
    total: i64,
    up: i64,
    missed: i64,
) -> Result<(), ControlError> {
    sqlx::query(
        "INSERT INTO monitor_days (monitor_id, day_ns, total, up, missed) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (monitor_id, day_ns) DO UPDATE SET total = monitor_days.total + excluded.total, \
         up = monitor_days.up + excluded.up, missed = monitor_days.missed + excluded.missed",
    )
    .bind(monitor)
    .bind(day_ns)
    .bind(total)
    .bind(up)
    .bind(missed)
    .execute(write.on())
    .await?;
    Ok(())
}

/// Stores that checks were not made: one row of results, and their number by day.
pub(super) async fn add_missed(
    write: &mut Write<'_>,
    monitor: i64,
    at_ns: i64,
    missed: &[(i64, i64)],
) -> Result<(), ControlError> {
    let count: i64 = missed.iter().map(|(_, count)| count).sum();
    if count == 0 {
        return Ok(());
    }
    for (day_ns, count) in missed {
        add_to_day(write, monitor, *day_ns, *count, 0, *count).await?;
    }
    let checks = if count == 1 { "1 check was".to_owned() } else { format!("{count} checks were") };
    let result = MonitorResult {
        id: 0,
        at_ns,
        outcome: MonitorOutcome::Missed,
        reason: format!("{checks} not made: the server did not run, or was busy"),
        status_code: None,
        trace_id: String::new(),
        timings: MonitorTimings::default(),
        tls_expires_ns: None,
        output: String::new(),
    };
    insert(write, monitor, &result).await
}

/// Removes results past their retention. Sums are bounded by number, so that a clock that jumps ahead removes none.
async fn remove_old(write: &mut Write<'_>, monitor: i64, now_ns: i64) -> Result<(), ControlError> {
    let kept_ns = i64::try_from(limits::MONITOR_RESULTS_RETENTION.as_nanos()).unwrap_or(i64::MAX);
    sqlx::query("DELETE FROM monitor_results WHERE monitor_id = $1 AND at_ns < $2")
        .bind(monitor)
        .bind(now_ns.saturating_sub(kept_ns))
        .execute(write.on())
        .await?;
    keep_newest(write, "monitor_results", "at_ns", monitor, limits::MONITOR_RESULTS_MAX).await?;
    keep_newest(write, "monitor_hours", "hour_ns", monitor, limits::MONITOR_HOURS_MAX).await?;
    keep_newest(write, "monitor_days", "day_ns", monitor, limits::MONITOR_DAYS_MAX).await
}

/// Deletes the rows of a monitor but the `count` newest by `column`.
pub(super) async fn keep_newest(
    write: &mut Write<'_>,
    table: &str,
    column: &str,
    monitor: i64,
    count: i64,
) -> Result<(), ControlError> {
    let statement = format!(
        "DELETE FROM {table} WHERE monitor_id = $1 AND {column} <= (SELECT {column} FROM {table} \
         WHERE monitor_id = $1 ORDER BY {column} DESC LIMIT 1 OFFSET $2)"
    );
    sqlx::query(AssertSqlSafe(statement)).bind(monitor).bind(count).execute(write.on()).await?;
    Ok(())
}
