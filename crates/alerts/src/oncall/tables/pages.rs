//! Pages: lists, acknowledgement, resolution.

use serde_json::json;
use sqlx::Row;
use sqlx::any::AnyRow;
use tidewatch_accounts::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

use crate::channels::Severity;
use crate::oncall::OnCall;
use crate::oncall::progress::PageProgress;

/// A page: an alert that somebody must acknowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OncallPage {
    /// Row id.
    pub id: i64,
    /// Row id of the organization.
    pub organization: i64,
    /// Number of the project.
    pub project: u32,
    /// The policy; `None`: it was deleted.
    pub policy: Option<i64>,
    /// Name of the policy when the page was opened.
    pub policy_name: String,
    /// Definition of the policy when the page was opened, JSON.
    pub policy_definition: String,
    /// Equal for pages of one cause: rule id, `|` and token.
    pub dedup_key: String,
    /// Type of the rule.
    pub rule_type: String,
    /// Name of the rule.
    pub rule_name: String,
    /// Severity of the alert.
    pub severity: Severity,
    /// Whether the chains for high urgency run.
    pub is_urgent: bool,
    /// One line.
    pub subject: String,
    /// Sentences.
    pub body: String,
    /// Path of the page that shows the cause.
    pub path: String,
    /// `open`, `acknowledged` or `resolved`.
    pub status: String,
    /// Number of times that the cause has fired.
    pub event_count: i64,
    /// Nanoseconds since the epoch.
    pub opened_ns: i64,
    /// Nanoseconds since the epoch.
    pub last_event_ns: i64,
    /// Where it is in its policy.
    pub progress: PageProgress,
    /// User who acknowledged it.
    pub acknowledged_by: Option<i64>,
    /// `dashboard` or `link`; empty: not acknowledged.
    pub acknowledged_via: String,
    /// Nanoseconds since the epoch.
    pub acknowledged_ns: Option<i64>,
    /// User who resolved it; `None`: nobody, or the end of the alert.
    pub resolved_by: Option<i64>,
    /// Nanoseconds since the epoch.
    pub resolved_ns: Option<i64>,
}

impl OncallPage {
    /// The hash of the Issue that it was opened for.
    pub fn issue_hash(&self) -> Option<&str> {
        let is_of_issue = matches!(self.rule_type.as_str(), "new_error" | "error_regression");
        let token = self.dedup_key.split_once('|').map(|(_, token)| token);
        token.filter(|token| is_of_issue && !token.is_empty())
    }

    /// Subject of acknowledge links for the page.
    pub(super) fn ack_subject(&self) -> String {
        ack_subject(self.id)
    }
}

/// Which pages a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFilter<'a> {
    /// `open`, `acknowledged`, `resolved`, `active` (not resolved), or empty: all.
    pub status: &'a str,
    /// Maximum number.
    pub limit: i64,
    /// Pages that are left out, newest first.
    pub offset: i64,
}

/// A delivery of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDelivery {
    /// Row id.
    pub id: i64,
    /// The step, from 0.
    pub step: i64,
    /// Number of complete runs of all steps before this one.
    pub round: i64,
    /// User who was reached; `None`: a channel, or a deleted user.
    pub user: Option<i64>,
    /// Type of the contact method or channel.
    pub method_type: String,
    /// The target without secrets.
    pub target: String,
    /// `pending`, `sent`, `failed` or `cancelled`.
    pub status: &'static str,
    /// Of the last failed attempt; may be empty.
    pub error: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub sent_ns: Option<i64>,
}

pub(super) fn ack_subject(id: i64) -> String {
    format!("page:{id}")
}

/// The id of the page that acknowledge links and notifications name so.
pub(crate) fn page_of_subject(subject: &str) -> Option<i64> {
    subject.strip_prefix("page:")?.parse().ok()
}

/// The columns of [`page`].
pub(super) const COLUMNS: &str = "id, organization_id, project, policy_id, policy_name, policy, dedup_key, rule_type, rule_name, severity, \
     urgency, subject, body, path, status, event_count, opened_ns, last_event_ns, step, round, next_ns, wait_ns, \
     acknowledged_by, acknowledged_via, acknowledged_ns, resolved_by, resolved_ns";

pub(super) fn page(row: &AnyRow) -> Result<OncallPage, ControlError> {
    let severity: String = row.try_get(9)?;
    let urgency: String = row.try_get(10)?;
    Ok(OncallPage {
        id: row.try_get(0)?,
        organization: row.try_get(1)?,
        project: u32::try_from(row.try_get::<i64, _>(2)?).map_err(|_| ControlError::Unreadable("a page"))?,
        policy: row.try_get(3)?,
        policy_name: row.try_get(4)?,
        policy_definition: row.try_get(5)?,
        dedup_key: row.try_get(6)?,
        rule_type: row.try_get(7)?,
        rule_name: row.try_get(8)?,
        severity: Severity::of_name(&severity).ok_or(ControlError::Unreadable("a page"))?,
        is_urgent: urgency == "high",
        subject: row.try_get(11)?,
        body: row.try_get(12)?,
        path: row.try_get(13)?,
        status: row.try_get(14)?,
        event_count: row.try_get(15)?,
        opened_ns: row.try_get(16)?,
        last_event_ns: row.try_get(17)?,
        progress: PageProgress {
            step: row.try_get(18)?,
            round: row.try_get(19)?,
            next_ns: row.try_get(20)?,
            wait_ns: row.try_get(21)?,
        },
        acknowledged_by: row.try_get(22)?,
        acknowledged_via: row.try_get(23)?,
        acknowledged_ns: row.try_get(24)?,
        resolved_by: row.try_get(25)?,
        resolved_ns: row.try_get(26)?,
    })
}

impl OnCall {
    /// Returns the number of pages of a project, and some of them, newest first.
    pub async fn oncall_pages(
        &self,
        project: u32,
        filter: PageFilter<'_>,
    ) -> Result<(i64, Vec<OncallPage>), ControlError> {
        const OF: &str =
            "project = $1 AND (CAST($2 AS TEXT) = '' OR status = $2 OR ($2 = 'active' AND status <> 'resolved'))";
        let count = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM oncall_pages WHERE {OF}"));
        let count: i64 = sqlx::query_scalar(count)
            .bind(i64::from(project))
            .bind(filter.status)
            .fetch_one(self.database.pool())
            .await?;
        let list = format!("SELECT {COLUMNS} FROM oncall_pages WHERE {OF} ORDER BY id DESC LIMIT $3 OFFSET $4");
        let rows = sqlx::query(sqlx::AssertSqlSafe(list))
            .bind(i64::from(project))
            .bind(filter.status)
            .bind(filter.limit)
            .bind(filter.offset)
            .fetch_all(self.database.pool())
            .await?;
        Ok((count, rows.iter().map(page).collect::<Result<_, _>>()?))
    }

    /// Returns the pages of an organization that were opened in `from_ns..to_ns`, or before and not resolved then;
    /// oldest first, at most [`limits::ONCALL_HANDOVER_PAGES_MAX`] of the newest.
    pub async fn oncall_pages_between(
        &self,
        organization: i64,
        from_ns: i64,
        to_ns: i64,
    ) -> Result<Vec<OncallPage>, ControlError> {
        let list = format!(
            "SELECT {COLUMNS} FROM oncall_pages WHERE organization_id = $1 AND opened_ns < $3 \
             AND (opened_ns >= $2 OR resolved_ns IS NULL OR resolved_ns >= $2) ORDER BY id DESC LIMIT $4"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(list))
            .bind(organization)
            .bind(from_ns)
            .bind(to_ns)
            .bind(limits::ONCALL_HANDOVER_PAGES_MAX)
            .fetch_all(self.database.pool())
            .await?;
        rows.iter().rev().map(page).collect()
    }

    /// Returns a page of a project. [`ControlError::Missing`] if there is none.
    pub async fn oncall_page(&self, project: u32, id: i64) -> Result<OncallPage, ControlError> {
        let found = format!("SELECT {COLUMNS} FROM oncall_pages WHERE id = $1 AND project = $2");
        let row = sqlx::query(sqlx::AssertSqlSafe(found))
            .bind(id)
            .bind(i64::from(project))
            .fetch_optional(self.database.pool())
            .await?;
        row.as_ref().map(page).transpose()?.ok_or(ControlError::Missing("no such page"))
    }

    /// Returns the deliveries of a page, oldest first.
    pub async fn oncall_deliveries(&self, page: i64) -> Result<Vec<PageDelivery>, ControlError> {
        type Columns =
            (i64, i64, i64, Option<i64>, String, String, Option<i64>, i64, Option<String>, Option<i64>, Option<i64>);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT d.id, d.step, d.round, d.user_id, d.method_type, d.target, d.cancelled_ns, d.created_ns, \
             o.error, o.sent_ns, o.failed_ns \
             FROM oncall_deliveries d LEFT JOIN notification_outbox o ON o.notification_id = d.notification_id \
             WHERE d.page_id = $1 ORDER BY d.id LIMIT $2",
        )
        .bind(page)
        .bind(limits::ONCALL_DELIVERIES_LISTED_MAX)
        .fetch_all(self.database.pool())
        .await?;
        let delivery =
            |(id, step, round, user, method_type, target, cancelled, created_ns, error, sent_ns, failed): Columns| {
                let status = match (cancelled, sent_ns, failed) {
                    (Some(_), _, _) => "cancelled",
                    (None, Some(_), _) => "sent",
                    (None, None, Some(_)) => "failed",
                    // A row that has left the outbox was sent.
                    (None, None, None) => {
                        if error.is_some() {
                            "pending"
                        } else {
                            "sent"
                        }
                    }
                };
                let error = error.unwrap_or_default();
                PageDelivery { id, step, round, user, method_type, target, status, error, created_ns, sent_ns }
            };
        Ok(rows.into_iter().map(delivery).collect())
    }

    /// Acknowledges those of the pages that belong to the project and are open. Returns their ids.
    pub async fn acknowledge_pages(
        &self,
        actor: &Actor,
        project: &Project,
        ids: &[i64],
    ) -> Result<Vec<i64>, ControlError> {
        let mut write = self.database.write().await?;
        let mut done = Vec::new();
        for &id in ids {
            if is_of(&mut write, project.number, id).await? && acknowledge(&mut write, actor, id, "dashboard").await? {
                write.audit(actor.did("page.acknowledge").on("page", id).within(project.organization_id)).await?;
                done.push(id);
            }
        }
        write.commit().await?;
        Ok(done)
    }

    /// Resolves those of the pages that belong to the project and are not resolved. Returns their ids.
    pub async fn resolve_pages(&self, actor: &Actor, project: &Project, ids: &[i64]) -> Result<Vec<i64>, ControlError> {
        let mut write = self.database.write().await?;
        let mut done = Vec::new();
        for &id in ids {
            if is_of(&mut write, project.number, id).await?
                && resolve(&mut write, id, actor.user_id, actor.at_ns).await?
            {
                let details = json!({ "project": project.id });
                let entry = actor.did("page.resolve").on("page", id).within(project.organization_id);
                write.audit(entry.with(details)).await?;
                done.push(id);
            }
        }
        write.commit().await?;
        Ok(done)
    }

    /// The number of unresolved pages that were opened for Issues with these hashes.
    pub async fn pages_of_issues(&self, project: u32, hashes: &[String]) -> Result<i64, ControlError> {
        let rows: Vec<(String, String)> = sqlx::query_as(
            "SELECT rule_type, dedup_key FROM oncall_pages WHERE project = $1 AND status <> 'resolved' \
             AND rule_type IN ('new_error', 'error_regression')",
        )
        .bind(i64::from(project))
        .fetch_all(self.database.pool())
        .await?;
        let tokens = rows.iter().filter_map(|(_, key)| key.split_once('|').map(|(_, token)| token));
        let count = tokens.filter(|token| hashes.iter().any(|hash| hash == token)).count();
        Ok(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

async fn is_of(write: &mut Write<'_>, project: u32, id: i64) -> Result<bool, ControlError> {
    let found: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_pages WHERE id = $1 AND project = $2")
        .bind(id)
        .bind(i64::from(project))
        .fetch_one(write.on())
        .await?;
    Ok(found == 1)
}

/// Acknowledges a page: nobody else is reached. `false`: it is not open.
pub(super) async fn acknowledge(
    write: &mut Write<'_>,
    actor: &Actor,
    id: i64,
    via: &str,
) -> Result<bool, ControlError> {
    let changed = sqlx::query(
        "UPDATE oncall_pages SET status = 'acknowledged', next_ns = NULL, acknowledged_by = $2, \
         acknowledged_via = $3, acknowledged_ns = $4 WHERE id = $1 AND status = 'open'",
    )
    .bind(id)
    .bind(actor.user_id)
    .bind(via)
    .bind(actor.at_ns)
    .execute(write.on())
    .await?;
    if changed.rows_affected() == 0 {
        return Ok(false);
    }
    cancel_deliveries(write, id, actor.at_ns).await?;
    Ok(true)
}

/// Resolves a page and ends its acknowledge links. `false`: it is resolved.
pub(super) async fn resolve(
    write: &mut Write<'_>,
    id: i64,
    user: Option<i64>,
    at_ns: i64,
) -> Result<bool, ControlError> {
    let changed = sqlx::query(
        "UPDATE oncall_pages SET status = 'resolved', next_ns = NULL, resolved_by = $2, resolved_ns = $3 \
         WHERE id = $1 AND status <> 'resolved'",
    )
    .bind(id)
    .bind(user)
    .bind(at_ns)
    .execute(write.on())
    .await?;
    if changed.rows_affected() == 0 {
        return Ok(false);
    }
    cancel_deliveries(write, id, at_ns).await?;
    sqlx::query(
        "DELETE FROM ack_tokens WHERE subject = $2 \
         AND organization_id = (SELECT organization_id FROM oncall_pages WHERE id = $1)",
    )
    .bind(id)
    .bind(ack_subject(id))
    .execute(write.on())
    .await?;
    Ok(true)
}

/// Ends the chains of a page, and takes back what was not sent yet.
async fn cancel_deliveries(write: &mut Write<'_>, id: i64, at_ns: i64) -> Result<(), ControlError> {
    sqlx::query("DELETE FROM oncall_page_people WHERE page_id = $1").bind(id).execute(write.on()).await?;
    const WAITING: &str = "notification_id IN (SELECT d.notification_id FROM oncall_deliveries d WHERE d.page_id = $1)";
    let marked = format!(
        "UPDATE oncall_deliveries SET cancelled_ns = $2 WHERE page_id = $1 AND notification_id IN \
         (SELECT notification_id FROM notification_outbox WHERE sent_ns IS NULL AND failed_ns IS NULL AND {WAITING})"
    );
    sqlx::query(sqlx::AssertSqlSafe(marked)).bind(id).bind(at_ns).execute(write.on()).await?;
    let removed = format!("DELETE FROM notification_outbox WHERE sent_ns IS NULL AND failed_ns IS NULL AND {WAITING}");
    sqlx::query(sqlx::AssertSqlSafe(removed)).bind(id).execute(write.on()).await?;
    Ok(())
}
