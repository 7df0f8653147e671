//! Notifications and their outbox rows, as their causes write them.

use tidewatch_accounts::{ControlError, Write};

use crate::channels::{Channels, NOTIFICATIONS_QUEUED, Notification, Target};

/// The purpose that the configurations of targets are sealed for.
pub(crate) const TARGET_SEALED_AS: &str = "notification target";

impl Channels {
    /// Stores and queues a notification whose cause changes nothing else: see [`Write::notify`].
    pub async fn notify(&self, notification: &Notification, targets: &[Target]) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let id = notify(&mut write, notification, targets).await?;
        write.commit().await?;
        Ok(id)
    }
}

/// Stores a notification and queues it for each target. Returns its row id.
pub async fn notify(
    write: &mut Write<'_>,
    notification: &Notification,
    targets: &[Target],
) -> Result<i64, ControlError> {
    let series = serde_json::to_string(&notification.series).map_err(|_| ControlError::Unreadable("a notification"))?;
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO notifications (organization_id, project, alert_key, status, severity, rule_type, rule_name, \
         subject, body, path, series, created_ns) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id",
    )
    .bind(notification.organization)
    .bind(notification.project.map(i64::from))
    .bind(&notification.alert_key)
    .bind(notification.status.name())
    .bind(notification.severity.name())
    .bind(&notification.rule_type)
    .bind(&notification.rule_name)
    .bind(&notification.subject)
    .bind(&notification.body)
    .bind(&notification.path)
    .bind(&series)
    .bind(notification.at_ns)
    .fetch_one(write.on())
    .await?;
    for target in targets {
        let (channel, sealed) = match target {
            Target::Channel(id) => (Some(*id), String::new()),
            Target::Direct { channel_type, config } => {
                let target = serde_json::json!({ "channelType": channel_type, "config": config });
                (None, write.database().sealer().seal(TARGET_SEALED_AS, &target.to_string())?)
            }
        };
        sqlx::query(
            "INSERT INTO notification_outbox (notification_id, channel_id, target_sealed, next_try_ns) \
             VALUES ($1, $2, $3, $4)",
        )
        .bind(id)
        .bind(channel)
        .bind(sealed)
        .bind(notification.at_ns)
        .execute(write.on())
        .await?;
    }
    write.signals(NOTIFICATIONS_QUEUED);
    Ok(id)
}
