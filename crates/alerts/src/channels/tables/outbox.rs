//! Notifications that wait to be sent. A node claims messages, sends them, and marks them: delivery is at least once.
//!
//! A message is one notification to one target, or several to one channel when a storm exceeds its rate
//! ([`limits::CHANNEL_MESSAGES_MAX`]). What a message contains is fixed before its first attempt, and so is its id: a
//! receiver that honours ids takes a message once, however often it is sent.

use std::collections::BTreeSet;

use serde_json::Value;
use sqlx::AnyConnection;
use tidewatch_accounts::{ControlError, Write};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;

use super::channels::{ESCALATION, Outcome, opened, record_outcome};
use crate::channels::{AlertStatus, Channels, Notification, Severity};

/// Types of channels whose receivers follow each alert: they take no digests.
const FOLLOWING_ALERTS: &[&str] = &["pagerduty", "opsgenie"];

/// A message that this node may send until its lease ends.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedMessage {
    /// Row id of its first notification in the outbox.
    pub id: i64,
    /// Identifies the message at the receiver; equal in every attempt.
    pub key: String,
    /// The channel; `None`: a direct target.
    pub channel: Option<i64>,
    /// Type and configuration of the target. `None`: sealed with another key.
    pub target: Option<(String, Value)>,
    /// Earlier attempts.
    pub tries: i64,
    /// The recipients of a mail that have it from earlier attempts.
    pub delivered: Vec<String>,
    /// One, or those of a digest.
    pub notifications: Vec<Notification>,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt<'a> {
    /// Error of the attempt, one sentence.
    pub error: &'a str,
    /// The recipients of a mail that have it.
    pub delivered: &'a [String],
    /// Whether further attempts are pointless.
    pub is_final: bool,
    /// Seconds for which the receiver takes nothing.
    pub retry_after_seconds: Option<u64>,
}

/// Rows that are due at `$1`. A row that was never attempted is due at any time, and so is one whose times no clock of
/// ours can have set: the clock has jumped back.
const DUE: &str = "o.sent_ns IS NULL AND o.failed_ns IS NULL \
     AND (o.tries = 0 OR o.next_try_ns <= $1 OR o.next_try_ns > $2) \
     AND (o.claimed_until_ns <= $1 OR o.claimed_until_ns > $3)";

/// Stands for the channel of rows with a direct target.
const DIRECT: i64 = 0;

/// Delay from the n-th failed attempt to the next one; `None`: it was the last. WIRE 7.
fn retry_delay_ns(tries: i64) -> Option<i64> {
    let index = usize::try_from(tries).ok()?.checked_sub(1)?;
    limits::NOTIFICATION_RETRIES.get(index).map(|delay| delay.as_nanos() as i64)
}

#[derive(Clone, Copy)]
struct Times {
    now_ns: i64,
    /// Later next attempts were set by another clock.
    latest_try_ns: i64,
    /// Later ends of leases were set by another clock.
    lease_end_ns: i64,
}

impl Channels {
    /// Claims messages to at most `targets_max` channels and direct targets that are due at `now_ns`, none of the
    /// channels in `busy`. No other node sends them for [`limits::NOTIFICATION_LEASE`]. Escalations are not claimed.
    pub async fn claim_notifications(
        &self,
        now_ns: i64,
        busy: &BTreeSet<i64>,
        targets_max: usize,
    ) -> Result<Vec<ClaimedMessage>, ControlError> {
        let after = |duration: std::time::Duration| now_ns.saturating_add(duration.as_nanos() as i64);
        let times = Times {
            now_ns,
            latest_try_ns: after(limits::NOTIFICATION_RETRY_MAX),
            lease_end_ns: after(limits::NOTIFICATION_LEASE),
        };
        // Most polls find nothing and do not need the writer's lock.
        let mut connection = self.database.pool().acquire().await?;
        let due = due_channels(&mut connection, times, busy).await?;
        drop(connection);
        if due.is_empty() || targets_max == 0 {
            return Ok(Vec::new());
        }
        let mut write = self.database.write().await?;
        let (mut claimed, mut left) = (Vec::new(), targets_max);
        for (channel, allowed) in due_channels(write.on(), times, busy).await? {
            let allowed = if channel == DIRECT { allowed.min(left) } else { allowed };
            let messages = claim_of_channel(&mut write, times, channel, allowed).await?;
            left -= if channel == DIRECT { messages.len() } else { 1 };
            for id in messages {
                claimed.push(load(&mut write, id).await?);
            }
            if left == 0 {
                break;
            }
        }
        write.commit().await?;
        Ok(claimed)
    }

    /// Extends the lease of claimed messages, or ends it with `until_ns` 0: then they are due again.
    pub async fn lease_notifications(&self, messages: &[ClaimedMessage], until_ns: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        for message in messages {
            sqlx::query(
                "UPDATE notification_outbox SET claimed_until_ns = $2 \
                 WHERE message_id = $1 AND tries = $3 AND sent_ns IS NULL AND failed_ns IS NULL",
            )
            .bind(message.id)
            .bind(until_ns)
            .bind(message.tries)
            .execute(write.on())
            .await?;
        }
        write.commit().await
    }

    /// Records that the target took a message. `warning`: what some of its recipients failed with, else empty.
    pub async fn mark_notification_sent(
        &self,
        message: &ClaimedMessage,
        warning: &str,
        now_ns: i64,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        // The configuration of a direct target is no longer needed.
        sqlx::query(
            "UPDATE notification_outbox SET sent_ns = $2, claimed_until_ns = 0, error = $3, target_sealed = '' \
             WHERE message_id = $1 AND sent_ns IS NULL",
        )
        .bind(message.id)
        .bind(now_ns)
        .bind(warning)
        .execute(write.on())
        .await?;
        if let Some(channel) = message.channel {
            record_outcome(&mut write, channel, Outcome::Sent(warning), now_ns).await?;
        }
        write.commit().await
    }

    /// Records a failed attempt at a message: it is due again later, or given up. Returns whether it is given up.
    pub async fn defer_notification(
        &self,
        message: &ClaimedMessage,
        failed: &FailedAttempt<'_>,
        now_ns: i64,
    ) -> Result<bool, ControlError> {
        let tries = message.tries + 1;
        let delay_ns = retry_delay_ns(tries).filter(|_| !failed.is_final);
        let wait_ns = failed.retry_after_seconds.map_or(0, |seconds| seconds.saturating_mul(SECOND_NS as u64) as i64);
        let delay_ns = delay_ns.map(|delay| delay.max(wait_ns).min(limits::NOTIFICATION_RETRY_MAX.as_nanos() as i64));
        let delivered = serde_json::to_string(failed.delivered)
            .map_err(|_| ControlError::Unreadable("the recipients of a mail"))?;
        let mut write = self.database.write().await?;
        // Another node may have sent it after the lease.
        let changed = sqlx::query(
            "UPDATE notification_outbox SET tries = $3, error = $4, delivered = $5, claimed_until_ns = 0, \
             next_try_ns = $6, failed_ns = $7 \
             WHERE message_id = $1 AND tries = $2 AND sent_ns IS NULL AND failed_ns IS NULL",
        )
        .bind(message.id)
        .bind(message.tries)
        .bind(tries)
        .bind(failed.error)
        .bind(delivered)
        .bind(now_ns.saturating_add(delay_ns.unwrap_or(0)))
        .bind(delay_ns.is_none().then_some(now_ns))
        .execute(write.on())
        .await?;
        let is_given_up = delay_ns.is_none();
        if let (Some(channel), 1..) = (message.channel, changed.rows_affected()) {
            let outcome = if is_given_up { Outcome::GivenUp(failed.error) } else { Outcome::Failed(failed.error) };
            record_outcome(&mut write, channel, outcome, now_ns).await?;
        }
        write.commit().await?;
        Ok(is_given_up)
    }

    /// Deletes rows that were sent or given up before `before_ns`.
    pub async fn delete_old_notification_rows(&self, before_ns: i64) -> Result<u64, ControlError> {
        let mut write = self.database.write().await?;
        let deleted = sqlx::query("DELETE FROM notification_outbox WHERE sent_ns < $1 OR failed_ns < $1")
            .bind(before_ns)
            .execute(write.on())
            .await?;
        write.commit().await?;
        Ok(deleted.rows_affected())
    }
}

/// The channels with rows that are due and the number of messages that each may get now, oldest rows first.
async fn due_channels(
    on: &mut AnyConnection,
    times: Times,
    busy: &BTreeSet<i64>,
) -> Result<Vec<(i64, usize)>, ControlError> {
    let due: Vec<(i64, String, i64)> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "SELECT COALESCE(o.channel_id, 0), COALESCE(MIN(c.channel_type), ''), MIN(o.id) FROM notification_outbox o \
         LEFT JOIN notification_channels c ON c.id = o.channel_id \
         WHERE {DUE} AND COALESCE(c.channel_type, '') <> $4 GROUP BY COALESCE(o.channel_id, 0) ORDER BY 3"
    )))
    .bind(times.now_ns)
    .bind(times.latest_try_ns)
    .bind(times.lease_end_ns)
    .bind(ESCALATION)
    .fetch_all(&mut *on)
    .await?;
    let mut channels = Vec::new();
    for (channel, channel_type, _) in due.into_iter().filter(|(channel, ..)| !busy.contains(channel)) {
        if channel == DIRECT {
            channels.push((channel, limits::NOTIFICATION_CLAIM_MAX));
            continue;
        }
        let begun: i64 = sqlx::query_scalar(
            "SELECT COUNT(DISTINCT message_id) FROM notification_outbox \
             WHERE channel_id = $1 AND attempted_ns > $2 AND attempted_ns <= $3",
        )
        .bind(channel)
        .bind(times.now_ns.saturating_sub(limits::CHANNEL_WINDOW.as_nanos() as i64))
        .bind(times.now_ns)
        .fetch_one(&mut *on)
        .await?;
        let most = match FOLLOWING_ALERTS.contains(&channel_type.as_str()) {
            true => limits::CHANNEL_EVENTS_MAX,
            false => limits::CHANNEL_MESSAGES_MAX,
        };
        let allowed = usize::try_from(most - begun).unwrap_or(0);
        if allowed > 0 {
            channels.push((channel, allowed));
        }
    }
    Ok(channels)
}

/// Claims at most `allowed` messages of a channel: those to repeat, then new ones. Of more new notifications than that
/// a digest is made. Returns the ids of the messages.
async fn claim_of_channel(
    write: &mut Write<'_>,
    times: Times,
    channel: i64,
    allowed: usize,
) -> Result<Vec<i64>, ControlError> {
    let allowed = allowed.min(limits::NOTIFICATION_CLAIM_MAX);
    let mut messages: Vec<i64> = sqlx::query_scalar(sqlx::AssertSqlSafe(format!(
        "SELECT DISTINCT o.message_id FROM notification_outbox o \
         WHERE {DUE} AND COALESCE(o.channel_id, 0) = $4 AND o.message_id IS NOT NULL ORDER BY o.message_id LIMIT $5"
    )))
    .bind(times.now_ns)
    .bind(times.latest_try_ns)
    .bind(times.lease_end_ns)
    .bind(channel)
    .bind(allowed as i64)
    .fetch_all(write.on())
    .await?;
    let left = allowed - messages.len();
    let fresh: Vec<i64> = sqlx::query_scalar(
        "SELECT id FROM notification_outbox WHERE COALESCE(channel_id, 0) = $1 AND message_id IS NULL \
         AND sent_ns IS NULL AND failed_ns IS NULL ORDER BY id LIMIT $2",
    )
    .bind(channel)
    .bind(limits::DIGEST_NOTIFICATIONS_MAX)
    .fetch_all(write.on())
    .await?;
    let channel_type: Option<String> =
        sqlx::query_scalar("SELECT channel_type FROM notification_channels WHERE id = $1")
            .bind(channel)
            .fetch_optional(write.on())
            .await?;
    let takes_digests = channel_type.is_some_and(|known| !FOLLOWING_ALERTS.contains(&known.as_str()));
    match fresh.as_slice() {
        [first, .., last] if fresh.len() > left && left > 0 && takes_digests => {
            sqlx::query(
                "UPDATE notification_outbox SET message_id = $2 WHERE channel_id = $1 AND id <= $3 \
                 AND message_id IS NULL AND sent_ns IS NULL AND failed_ns IS NULL",
            )
            .bind(channel)
            .bind(*first)
            .bind(*last)
            .execute(write.on())
            .await?;
            messages.push(*first);
        }
        _ => {
            for id in fresh.iter().copied().take(left) {
                sqlx::query("UPDATE notification_outbox SET message_id = id WHERE id = $1")
                    .bind(id)
                    .execute(write.on())
                    .await?;
                messages.push(id);
            }
        }
    }
    for message in &messages {
        sqlx::query("UPDATE notification_outbox SET claimed_until_ns = $2, attempted_ns = $3 WHERE message_id = $1")
            .bind(*message)
            .bind(times.lease_end_ns)
            .bind(times.now_ns)
            .execute(write.on())
            .await?;
    }
    Ok(messages)
}

/// The content of a message.
async fn load(write: &mut Write<'_>, id: i64) -> Result<ClaimedMessage, ControlError> {
    type Head = (Option<i64>, String, i64, String, Option<String>, Option<String>);
    type Columns = (i64, Option<i64>, String, String, String, String, String, String, String, String, String, i64);
    let (channel, target_sealed, tries, delivered, channel_type, config_sealed): Head = sqlx::query_as(
        "SELECT o.channel_id, o.target_sealed, o.tries, o.delivered, c.channel_type, c.config_sealed \
         FROM notification_outbox o LEFT JOIN notification_channels c ON c.id = o.channel_id WHERE o.id = $1",
    )
    .bind(id)
    .fetch_one(write.on())
    .await?;
    let rows: Vec<Columns> = sqlx::query_as(
        "SELECT n.organization_id, n.project, n.alert_key, n.status, n.severity, n.rule_type, n.rule_name, n.subject, \
         n.body, n.path, n.series, n.created_ns \
         FROM notification_outbox o JOIN notifications n ON n.id = o.notification_id WHERE o.message_id = $1 \
         ORDER BY o.id",
    )
    .bind(id)
    .fetch_all(write.on())
    .await?;
    let notification = |row: Columns| {
        let (organization, project, alert_key, status, severity, rule_type, rule_name, subject, ..) = row;
        let (body, path, series, at_ns) = (row.8, row.9, row.10, row.11);
        Some(Notification {
            organization,
            project: project.and_then(|number| u32::try_from(number).ok()),
            alert_key,
            status: if status == AlertStatus::Firing.name() { AlertStatus::Firing } else { AlertStatus::Resolved },
            severity: Severity::of_name(&severity)?,
            rule_type,
            rule_name,
            subject,
            body,
            path,
            series: serde_json::from_str(&series).ok()?,
            at_ns,
        })
    };
    let read: Option<Vec<Notification>> = rows.into_iter().map(notification).collect();
    let notifications = read.filter(|all| !all.is_empty()).ok_or(ControlError::Unreadable("a notification"))?;
    let database = write.database();
    let target = match (channel_type, config_sealed) {
        (Some(channel_type), Some(sealed)) => opened(database, &sealed).map(|config| (channel_type, config)),
        _ => opened(database, &target_sealed)
            .and_then(|target| Some((target["channelType"].as_str()?.to_owned(), target["config"].clone()))),
    };
    // Row ids begin again in a new database; the time distinguishes its messages.
    let key = format!("ntf_{id}_{:x}", notifications[0].at_ns);
    let delivered = serde_json::from_str(&delivered).unwrap_or_default();
    Ok(ClaimedMessage { id, key, channel, target, tries, delivered, notifications })
}
