//! Applies a notification to a channel of type `escalation`: it opens a page, counts one up, or resolves it.

use tidewatch_accounts::tokens::random_uuid;
use tidewatch_accounts::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

use super::pages::resolve;
use super::policies::policy_of;
use crate::channels::{AlertStatus, Notification, Severity};
use crate::oncall::{OnCall, progress};

/// An event in the life of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageEvent {
    /// It was opened.
    Opened(i64),
    /// It was open already: its cause fired again.
    Counted(i64),
    /// It was resolved.
    Resolved(i64),
    /// There was none to resolve.
    None,
}

/// A page that a person opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPage {
    /// The policy.
    pub policy: i64,
    /// One line.
    pub subject: String,
    /// Sentences; may be empty.
    pub body: String,
    /// Severity of the alert.
    pub severity: Severity,
}

impl OnCall {
    /// Opens a page for a project. Returns its id.
    pub async fn open_page(&self, actor: &Actor, project: &Project, new: &NewPage) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let notification = Notification {
            organization: project.organization_id,
            project: Some(project.number),
            alert_key: format!("manual:{}", random_uuid()?),
            status: AlertStatus::Firing,
            severity: new.severity,
            rule_type: "manual".to_owned(),
            rule_name: actor.name.clone(),
            subject: new.subject.clone(),
            body: new.body.clone(),
            path: String::new(),
            series: Vec::new(),
            at_ns: actor.at_ns,
        };
        let event = apply(&mut write, project.number, new.policy, &notification).await?;
        let (PageEvent::Opened(id) | PageEvent::Counted(id) | PageEvent::Resolved(id)) = event else {
            return Err(ControlError::Missing("no such page"));
        };
        write.audit(actor.did("page.open").on("page", id).within(project.organization_id)).await?;
        write.commit().await?;
        Ok(id)
    }
}

/// Rule id, `|` and token of the key of an alert, `rule:12:GET /cart`.
fn dedup_key(alert_key: &str) -> String {
    let Some(rule) = alert_key.strip_prefix("rule:") else { return alert_key.to_owned() };
    let (id, token) = rule.split_once(':').unwrap_or((rule, ""));
    format!("{id}|{token}")
}

/// Applies a notification to the pages of a policy.
pub(super) async fn apply(
    write: &mut Write<'_>,
    project: u32,
    policy: i64,
    notification: &Notification,
) -> Result<PageEvent, ControlError> {
    let organization = notification.organization;
    let (policy_name, definition) = policy_of(write, organization, policy).await?;
    let key = dedup_key(&notification.alert_key);
    let known: Option<i64> = sqlx::query_scalar(
        "SELECT id FROM oncall_pages WHERE project = $1 AND policy_id = $2 AND dedup_key = $3 AND status <> 'resolved'",
    )
    .bind(i64::from(project))
    .bind(policy)
    .bind(&key)
    .fetch_optional(write.on())
    .await?;
    let at_ns = notification.at_ns;
    match (notification.status, known) {
        (AlertStatus::Resolved, None) => Ok(PageEvent::None),
        (AlertStatus::Resolved, Some(id)) => {
            resolve(write, id, None, at_ns).await?;
            Ok(PageEvent::Resolved(id))
        }
        (AlertStatus::Firing, Some(id)) => {
            sqlx::query("UPDATE oncall_pages SET event_count = event_count + 1, last_event_ns = $2 WHERE id = $1")
                .bind(id)
                .bind(at_ns)
                .execute(write.on())
                .await?;
            Ok(PageEvent::Counted(id))
        }
        (AlertStatus::Firing, None) => {
            let is_urgent = progress::is_urgent(&definition, notification.severity)?;
            let opened = progress::opened(at_ns);
            let id: i64 = sqlx::query_scalar(
                "INSERT INTO oncall_pages (organization_id, project, policy_id, policy_name, policy, dedup_key, \
                 rule_type, rule_name, severity, urgency, subject, body, path, status, event_count, opened_ns, \
                 last_event_ns, step, round, next_ns, wait_ns) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'open', 1, $14, $14, $15, $16, $17, \
                 $18) RETURNING id",
            )
            .bind(organization)
            .bind(i64::from(project))
            .bind(policy)
            .bind(&policy_name)
            .bind(&definition)
            .bind(&key)
            .bind(&notification.rule_type)
            .bind(&notification.rule_name)
            .bind(notification.severity.name())
            .bind(if is_urgent { "high" } else { "low" })
            .bind(&notification.subject)
            .bind(&notification.body)
            .bind(&notification.path)
            .bind(at_ns)
            .bind(opened.step)
            .bind(opened.round)
            .bind(opened.next_ns)
            .bind(opened.wait_ns)
            .fetch_one(write.on())
            .await?;
            forget_old_pages(write, project).await?;
            Ok(PageEvent::Opened(id))
        }
    }
}

/// Deletes resolved pages beyond [`limits::ONCALL_PAGES_MAX`] of a project, the oldest ones.
async fn forget_old_pages(write: &mut Write<'_>, project: u32) -> Result<(), ControlError> {
    sqlx::query(
        "DELETE FROM oncall_pages WHERE project = $1 AND status = 'resolved' AND id < (SELECT MIN(id) FROM \
         (SELECT id FROM oncall_pages WHERE project = $1 ORDER BY id DESC LIMIT $2) AS newest)",
    )
    .bind(i64::from(project))
    .bind(limits::ONCALL_PAGES_MAX)
    .execute(write.on())
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_rules_become_rule_id_and_token() {
        for (alert_key, expected) in [
            ("rule:12:GET /cart", "12|GET /cart"),
            ("rule:12:a:b", "12|a:b"),
            ("rule:12", "12|"),
            ("monitor:3", "monitor:3"),
        ] {
            assert_eq!(dedup_key(alert_key), expected);
        }
    }
}
