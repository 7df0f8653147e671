//! Deliveries of pages to people and channels.

use serde_json::{Value, json};
use tidewatch_accounts::{ControlError, Write};

use super::ack::insert_ack_link;
use super::pages::OncallPage;
use crate::channels::{AlertStatus, Notification, PRIVATE_LINE, Target, notify};
use crate::oncall::contact;

/// The step that reaches somebody.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub step: i64,
    pub round: i64,
    pub now_ns: i64,
}

/// A contact method that is used.
#[derive(Debug, Clone)]
pub(super) struct Method {
    pub method_type: String,
    pub config: Value,
    pub summary: String,
}

/// Queues a delivery to a person, with an acknowledge link of their own.
pub(super) async fn reach_user(
    write: &mut Write<'_>,
    base_url: &str,
    page: &OncallPage,
    at: At,
    user: i64,
    method: &Method,
) -> Result<(), ControlError> {
    let token = insert_ack_link(write, page.organization, Some(user), &page.ack_subject(), at.now_ns).await?;
    let mut config = contact::delivery(&method.method_type, &method.config);
    config[PRIVATE_LINE] = json!(format!("Acknowledge: {base_url}/ack#token={token}"));
    let target = Target::Direct { channel_type: method.method_type.clone(), config };
    let notification = notification(write, page, at.now_ns);
    let id = notify(write, &notification, &[target]).await?;
    insert_delivery(write, page, at, Some(user), &method.method_type, &method.summary, id).await
}

/// Queues a delivery to a channel, unless it was deleted.
pub(super) async fn reach_channel(
    write: &mut Write<'_>,
    page: &OncallPage,
    at: At,
    channel: i64,
) -> Result<(), ControlError> {
    let found: Option<(String, String)> = sqlx::query_as(
        "SELECT c.channel_type, c.name FROM notification_channels c JOIN projects p ON p.number = c.project \
         WHERE c.id = $1 AND p.organization_id = $2 AND c.channel_type <> 'escalation'",
    )
    .bind(channel)
    .bind(page.organization)
    .fetch_optional(write.on())
    .await?;
    let Some((channel_type, name)) = found else { return Ok(()) };
    let notification = notification(write, page, at.now_ns);
    let id = notify(write, &notification, &[Target::Channel(channel)]).await?;
    insert_delivery(write, page, at, None, &channel_type, &name, id).await
}

/// The notification of a page. It belongs to no project, so that the history of the project has the alert once.
fn notification(write: &Write<'_>, page: &OncallPage, at_ns: i64) -> Notification {
    let project = write.database().project_by_number(page.project).map(|project| project.id);
    let project = project.map(|id| id.to_string()).unwrap_or_default();
    Notification {
        organization: page.organization,
        project: None,
        alert_key: page.ack_subject(),
        status: AlertStatus::Firing,
        severity: page.severity,
        rule_type: page.rule_type.clone(),
        rule_name: page.rule_name.clone(),
        subject: page.subject.clone(),
        body: page.body.clone(),
        path: format!("/p/{project}/on-call?tab=pages&page={}", page.id),
        series: Vec::new(),
        at_ns,
    }
}

async fn insert_delivery(
    write: &mut Write<'_>,
    page: &OncallPage,
    at: At,
    user: Option<i64>,
    method_type: &str,
    target: &str,
    notification: i64,
) -> Result<(), ControlError> {
    sqlx::query(
        "INSERT INTO oncall_deliveries (page_id, step, round, user_id, method_type, target, notification_id, created_ns) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(page.id)
    .bind(at.step)
    .bind(at.round)
    .bind(user)
    .bind(method_type)
    .bind(target)
    .bind(notification)
    .bind(at.now_ns)
    .execute(write.on())
    .await?;
    Ok(())
}
