//! Channels: where the notifications of a project are sent, and whether that works.

use serde_json::{Value, json};
use tidewatch_accounts::audit::Entry;
use tidewatch_accounts::{Actor, ControlError, Database, Project, Write};
use tidewatch_limits as limits;

use super::notifications::{TARGET_SEALED_AS, notify};
use crate::channels::{AlertStatus, Channels, NOTIFICATIONS_QUEUED, Notification, Severity, Target};
use crate::tables::{RowValues, is_targeted};

/// The type of the channels that start an escalation policy. They have no delivery of their own.
pub const ESCALATION: &str = "escalation";
/// The rule type of the notification that a channel does not work.
pub const CHANNEL_FAILED: &str = "channel_failed";

/// A channel with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Row id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its type (wire, 7).
    pub channel_type: String,
    /// Its configuration with the secrets. `None`: sealed with another key.
    pub config: Option<Value>,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Time of the latest change, nanoseconds since the epoch.
    pub updated_ns: i64,
    /// Time of the latest message that it took, nanoseconds since the epoch.
    pub sent_ns: Option<i64>,
    /// Since when every attempt has failed, nanoseconds since the epoch. `None`: it works, or nothing was sent.
    pub failing_since_ns: Option<i64>,
    /// Error of the latest attempt; empty if it succeeded.
    pub error: String,
    /// Notifications that wait to be sent to it.
    pub waiting: i64,
    /// Rules that notify it.
    pub rules: i64,
}

/// The outcome of sending to a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome<'a> {
    /// It took the message; with what some of the recipients failed with, else empty.
    Sent(&'a str),
    /// It failed, and is attempted again.
    Failed(&'a str),
    /// It failed, and the message is given up.
    GivenUp(&'a str),
}

const NO_CHANNEL: ControlError = ControlError::Missing("no such channel");
const CHANGED_MEANWHILE: ControlError = ControlError::Conflict("the channel was changed meanwhile; load it again");

impl Channels {
    /// Returns the channels of a project, by name.
    pub async fn channels(&self, project: u32) -> Result<Vec<Channel>, ControlError> {
        self.channels_where(project, None).await
    }

    /// Returns a channel of a project.
    pub async fn channel(&self, project: u32, id: i64) -> Result<Channel, ControlError> {
        self.channels_where(project, Some(id)).await?.pop().ok_or(NO_CHANNEL)
    }

    async fn channels_where(&self, project: u32, id: Option<i64>) -> Result<Vec<Channel>, ControlError> {
        type Columns = (i64, String, String, String, i64, i64, Option<i64>, Option<i64>, String, i64, i64);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT c.id, c.name, c.channel_type, c.config_sealed, c.created_ns, c.updated_ns, c.sent_ns, \
             c.failing_since_ns, c.error, \
             (SELECT COUNT(*) FROM notification_outbox o \
              WHERE o.channel_id = c.id AND o.sent_ns IS NULL AND o.failed_ns IS NULL), \
             (SELECT COUNT(*) FROM notification_rules r WHERE r.channel_id = c.id) \
             FROM notification_channels c WHERE c.project = $1 AND ($2 = 0 OR c.id = $2) ORDER BY LOWER(c.name), c.id",
        )
        .bind(i64::from(project))
        .bind(id.unwrap_or(0))
        .fetch_all(self.database.pool())
        .await?;
        let channel = |row: Columns| {
            let (id, name, channel_type, sealed, created_ns, updated_ns, sent_ns, failing_since_ns, ..) = row;
            let (error, waiting, rules) = (row.8, row.9, row.10);
            let config = opened(&self.database, &sealed);
            Channel {
                id,
                name,
                channel_type,
                config,
                created_ns,
                updated_ns,
                sent_ns,
                failing_since_ns,
                error,
                waiting,
                rules,
            }
        };
        Ok(rows.into_iter().map(channel).collect())
    }

    /// Stores a channel. Returns its row id. [`ControlError::TooMany`] beyond [`limits::CHANNELS_MAX`].
    pub async fn create_channel(
        &self,
        actor: &Actor,
        project: &Project,
        name: &str,
        channel_type: &str,
        config: &Value,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM notification_channels WHERE project = $1")
            .bind(i64::from(project.number))
            .fetch_one(write.on())
            .await?;
        if count >= limits::CHANNELS_MAX {
            return Err(ControlError::TooMany("channels in this project"));
        }
        let row = self.chosen(name, channel_type, config)?.set("project", i64::from(project.number));
        let row = row.set("created_ns", actor.at_ns).set("updated_ns", actor.at_ns);
        let id = row.insert(&mut write).await?;
        write.audit(about(actor.did("channel.create"), project, id, name, channel_type)).await?;
        write.commit().await?;
        Ok(id)
    }

    /// The columns that a user chooses.
    fn chosen(&self, name: &str, channel_type: &str, config: &Value) -> Result<RowValues, ControlError> {
        let sealed = self.database.sealer().seal(TARGET_SEALED_AS, &config.to_string())?;
        let row = RowValues::of("notification_channels").set("name", name);
        Ok(row.set("channel_type", channel_type).set("config_sealed", sealed))
    }

    /// Replaces name, type and configuration of a channel. Messages that wait for another attempt are due at once.
    /// [`ControlError::Conflict`] if the channel differs from `before`, from which the secrets were taken.
    pub async fn change_channel(
        &self,
        actor: &Actor,
        project: &Project,
        before: &Channel,
        name: &str,
        channel_type: &str,
        config: &Value,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        // Two changes at one time of the clock differ too.
        let updated_ns = actor.at_ns.max(before.updated_ns + 1);
        let row = self.chosen(name, channel_type, config)?.set("updated_ns", updated_ns);
        let keys = [("id", before.id), ("project", i64::from(project.number)), ("updated_ns", before.updated_ns)];
        if row.update(&mut write, &keys).await? == 0 {
            return Err(CHANGED_MEANWHILE);
        }
        sqlx::query(
            "UPDATE notification_outbox SET next_try_ns = $2 \
             WHERE channel_id = $1 AND sent_ns IS NULL AND failed_ns IS NULL AND next_try_ns > $2",
        )
        .bind(before.id)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        write.signals(NOTIFICATIONS_QUEUED);
        write.audit(about(actor.did("channel.change"), project, before.id, name, channel_type)).await?;
        write.commit().await
    }

    /// Deletes a channel with the rules that notify it and with what waits to be sent to it.
    pub async fn delete_channel(&self, actor: &Actor, project: &Project, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let found: Option<(String, String)> =
            sqlx::query_as("SELECT name, channel_type FROM notification_channels WHERE id = $1 AND project = $2")
                .bind(id)
                .bind(i64::from(project.number))
                .fetch_optional(write.on())
                .await?;
        let (name, channel_type) = found.ok_or(NO_CHANNEL)?;
        if is_targeted(&mut write, project.organization_id, "channel", id).await? {
            return Err(ControlError::Unacceptable(
                "an escalation policy reaches this channel; remove it from that step first",
            ));
        }
        sqlx::query("DELETE FROM notification_channels WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(about(actor.did("channel.delete"), project, id, &name, &channel_type)).await?;
        write.commit().await
    }

    /// Records the outcome of a test of a channel; `error` is empty if it succeeded.
    pub async fn record_channel_test(&self, id: i64, error: &str, now_ns: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let outcome = if error.is_empty() { Outcome::Sent("") } else { Outcome::Failed(error) };
        record_outcome(&mut write, id, outcome, now_ns).await?;
        write.commit().await
    }
}

/// The content of a sealed target. `None`: it was sealed with another key.
pub(super) fn opened(database: &Database, sealed: &str) -> Option<Value> {
    let opened = database.sealer().open(TARGET_SEALED_AS, sealed).ok()?;
    serde_json::from_str(&opened).ok()
}

/// Stores the outcome of sending to a channel. The first message that is given up is reported through another channel
/// of the project, and so is that it works again.
pub(super) async fn record_outcome(
    write: &mut Write<'_>,
    id: i64,
    outcome: Outcome<'_>,
    now_ns: i64,
) -> Result<(), ControlError> {
    type Columns = (i64, String, i64, String, Option<i64>, Option<i64>);
    let found: Option<Columns> = sqlx::query_as(
        "SELECT p.organization_id, p.id, c.project, c.name, c.failing_since_ns, c.reported_through \
         FROM notification_channels c JOIN projects p ON p.number = c.project WHERE c.id = $1",
    )
    .bind(id)
    .fetch_optional(write.on())
    .await?;
    // Deleted meanwhile.
    let Some((organization, project_id, project, name, failing_since_ns, reported_through)) = found else {
        return Ok(());
    };
    let mut reported = reported_through;
    let notification = |status, severity, subject: String, body: String| Notification {
        organization,
        project: u32::try_from(project).ok(),
        alert_key: format!("channel:{id}"),
        status,
        severity,
        rule_type: CHANNEL_FAILED.to_owned(),
        rule_name: name.clone(),
        subject,
        body,
        path: format!("/p/{project_id}/alerts/channels"),
        series: Vec::new(),
        at_ns: now_ns,
    };
    match outcome {
        Outcome::Sent(_) => {
            if let Some(other) = reported_through {
                let subject = format!("Notifications reach the channel {name} again");
                let body = "Notifications that were given up meanwhile are on the page of the alerts.".to_owned();
                let works = notification(AlertStatus::Resolved, Severity::Info, subject, body);
                if is_channel(write, other).await? {
                    notify(write, &works, &[Target::Channel(other)]).await?;
                }
                reported = None;
            }
        }
        Outcome::GivenUp(error) if reported_through.is_none() => {
            reported = other_channel(write, project, id).await?;
            if let Some(other) = reported {
                let subject = format!("Notifications do not reach the channel {name}");
                let body = format!(
                    "A notification was given up after {} attempts. The latest one failed: {error}.",
                    limits::NOTIFICATION_TRIES
                );
                let fails = notification(AlertStatus::Firing, Severity::Warning, subject, body);
                notify(write, &fails, &[Target::Channel(other)]).await?;
            }
        }
        Outcome::Failed(_) | Outcome::GivenUp(_) => {}
    }
    let (sent_ns, failing_since_ns, error) = match outcome {
        Outcome::Sent(error) => (Some(now_ns), None, error),
        Outcome::Failed(error) | Outcome::GivenUp(error) => (None, failing_since_ns.or(Some(now_ns)), error),
    };
    sqlx::query(
        "UPDATE notification_channels SET sent_ns = COALESCE($2, sent_ns), failing_since_ns = $3, error = $4, \
         reported_through = $5 WHERE id = $1",
    )
    .bind(id)
    .bind(sent_ns)
    .bind(failing_since_ns)
    .bind(error)
    .bind(reported)
    .execute(write.on())
    .await?;
    Ok(())
}

/// Another channel of the project to report a failure through, preferably one that works.
async fn other_channel(write: &mut Write<'_>, project: i64, id: i64) -> Result<Option<i64>, ControlError> {
    Ok(sqlx::query_scalar(
        "SELECT id FROM notification_channels WHERE project = $1 AND id <> $2 AND channel_type <> $3 \
         ORDER BY CASE WHEN failing_since_ns IS NULL THEN 0 ELSE 1 END, id LIMIT 1",
    )
    .bind(project)
    .bind(id)
    .bind(ESCALATION)
    .fetch_optional(write.on())
    .await?)
}

async fn is_channel(write: &mut Write<'_>, id: i64) -> Result<bool, ControlError> {
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM notification_channels WHERE id = $1")
        .bind(id)
        .fetch_one(write.on())
        .await?;
    Ok(count == 1)
}

fn about<'a>(entry: Entry<'a>, project: &Project, id: i64, name: &str, channel_type: &str) -> Entry<'a> {
    entry.on_project(project).with(json!({ "channel": id, "name": name, "type": channel_type }))
}
