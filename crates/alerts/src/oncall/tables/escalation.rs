//! The rounds of the node with the lease: notifications become pages, pages reach people, chains continue.
//!
//! Each change is one transaction that checks the lease and reads its row again, so that two nodes, or one that is
//! killed, neither repeat nor lose it.

use std::collections::HashMap;

use tidewatch_accounts::{ControlError, Write};
use tidewatch_limits as limits;

use super::contacts::{ContactMethod, chain_of, usable_of};
use super::opening::apply;
use super::pages::{COLUMNS, OncallPage, page};
use super::policies::policy_of_channel;
use super::reach::{At, Method, reach_channel, reach_user};
use super::schedules::schedules_at;
use super::teams::members_of_teams;
use crate::channels::{AlertStatus, Notification, Severity};
use crate::oncall::progress::{self, ChainInput, PageProgress, PersonProgress, StepInput};
use crate::oncall::{LEASE, OnCall};

/// Outbox rows of channels that open pages. The time of the next try does not count: it is of another clock.
const WAITING: &str = "SELECT o.id FROM notification_outbox o JOIN notification_channels c ON c.id = o.channel_id \
     WHERE c.channel_type = 'escalation' AND o.sent_ns IS NULL AND o.failed_ns IS NULL ORDER BY o.id LIMIT $1";
/// A wait that is longer than its length began before the clock was set back.
const DUE_PAGES: &str = "SELECT id FROM oncall_pages WHERE status = 'open' AND next_ns IS NOT NULL \
     AND (next_ns <= $1 OR next_ns - wait_ns > $1) ORDER BY id LIMIT $2";
const DUE_PEOPLE: &str = "SELECT page_id, user_id FROM oncall_page_people \
     WHERE next_ns <= $1 OR next_ns - wait_ns > $1 ORDER BY page_id, user_id LIMIT $2";

impl OnCall {
    /// Whether notifications wait for a page.
    pub async fn has_waiting_pages(&self) -> Result<bool, ControlError> {
        let found: Vec<i64> = sqlx::query_scalar(WAITING).bind(1i64).fetch_all(self.database.pool()).await?;
        Ok(!found.is_empty())
    }

    /// Opens, counts up and resolves pages for the waiting notifications. Returns whether there may be more.
    pub async fn take_page_notifications(&self, holder: &str, now_ns: i64) -> Result<bool, ControlError> {
        let waiting: Vec<i64> =
            sqlx::query_scalar(WAITING).bind(limits::ONCALL_BATCH).fetch_all(self.database.pool()).await?;
        for id in &waiting {
            let mut write = self.database.write().await?;
            if !write.has_lease(LEASE, holder).await? {
                return Ok(false);
            }
            let (statement, error) = match take_one(&mut write, *id, now_ns).await? {
                // Another node has taken it.
                Taken::Nothing => continue,
                Taken::Done => ("UPDATE notification_outbox SET sent_ns = $2, error = $3 WHERE id = $1", ""),
                Taken::Failed(why) => ("UPDATE notification_outbox SET failed_ns = $2, error = $3 WHERE id = $1", why),
            };
            sqlx::query(statement).bind(*id).bind(now_ns).bind(error).execute(write.on()).await?;
            write.commit().await?;
        }
        Ok(waiting.len() as i64 == limits::ONCALL_BATCH)
    }

    /// Runs the steps that are due. Returns whether there may be more.
    pub async fn advance_pages(&self, holder: &str, now_ns: i64) -> Result<bool, ControlError> {
        let due: Vec<i64> = sqlx::query_scalar(DUE_PAGES)
            .bind(now_ns)
            .bind(limits::ONCALL_BATCH)
            .fetch_all(self.database.pool())
            .await?;
        for id in &due {
            let mut write = self.database.write().await?;
            if !write.has_lease(LEASE, holder).await? {
                return Ok(false);
            }
            if let Some(page) = open_page(&mut write, *id).await? {
                run_step(&mut write, &page, now_ns).await?;
                write.commit().await?;
            }
        }
        Ok(due.len() as i64 == limits::ONCALL_BATCH)
    }

    /// Continues the chains of people that are due. Returns whether there may be more. `base_url` begins links.
    pub async fn advance_page_people(&self, holder: &str, base_url: &str, now_ns: i64) -> Result<bool, ControlError> {
        let due: Vec<(i64, i64)> =
            sqlx::query_as(DUE_PEOPLE).bind(now_ns).bind(limits::ONCALL_BATCH).fetch_all(self.database.pool()).await?;
        for &(id, user) in &due {
            let mut write = self.database.write().await?;
            if !write.has_lease(LEASE, holder).await? {
                return Ok(false);
            }
            if let Some(page) = open_page(&mut write, id).await? {
                continue_chain(&mut write, base_url, &page, user, now_ns).await?;
            }
            write.commit().await?;
        }
        Ok(due.len() as i64 == limits::ONCALL_BATCH)
    }
}

/// Outcome of an outbox row.
enum Taken {
    /// It does not wait.
    Nothing,
    /// A page was opened, counted up or resolved.
    Done,
    /// It cannot become a page.
    Failed(&'static str),
}

/// Takes one outbox row.
async fn take_one(write: &mut Write<'_>, id: i64, now_ns: i64) -> Result<Taken, ControlError> {
    type Columns = (String, i64, i64, String, String, String, String, String, String, String, String);
    let found: Option<Columns> = sqlx::query_as(
        "SELECT c.config_sealed, c.project, n.organization_id, n.alert_key, n.status, n.severity, n.rule_type, \
         n.rule_name, n.subject, n.body, n.path \
         FROM notification_outbox o JOIN notification_channels c ON c.id = o.channel_id \
         JOIN notifications n ON n.id = o.notification_id \
         WHERE o.id = $1 AND o.sent_ns IS NULL AND o.failed_ns IS NULL",
    )
    .bind(id)
    .fetch_optional(write.on())
    .await?;
    let Some((sealed, project, organization, alert_key, status, severity, rule_type, rule_name, subject, body, path)) =
        found
    else {
        return Ok(Taken::Nothing);
    };
    let Some(policy) = policy_of_channel(write.database(), &sealed) else {
        return Ok(Taken::Failed("the channel names no escalation policy"));
    };
    let project = u32::try_from(project).map_err(|_| ControlError::Unreadable("a channel"))?;
    let notification = Notification {
        organization,
        project: Some(project),
        alert_key,
        status: if status == "firing" { AlertStatus::Firing } else { AlertStatus::Resolved },
        severity: Severity::of_name(&severity).ok_or(ControlError::Unreadable("a notification"))?,
        rule_type,
        rule_name,
        subject,
        body,
        path,
        series: Vec::new(),
        at_ns: now_ns,
    };
    match apply(write, project, policy, &notification).await {
        Ok(_) => Ok(Taken::Done),
        Err(ControlError::Missing(_)) => Ok(Taken::Failed("the escalation policy does not exist")),
        Err(error) => Err(error),
    }
}

async fn open_page(write: &mut Write<'_>, id: i64) -> Result<Option<OncallPage>, ControlError> {
    let found = format!("SELECT {COLUMNS} FROM oncall_pages WHERE id = $1 AND status = 'open'");
    let row = sqlx::query(sqlx::AssertSqlSafe(found)).bind(id).fetch_optional(write.on()).await?;
    row.as_ref().map(page).transpose()
}

async fn run_step(write: &mut Write<'_>, page: &OncallPage, now_ns: i64) -> Result<(), ControlError> {
    let schedules = schedules_at(write, page.organization, now_ns).await?;
    let teams: HashMap<i64, Vec<i64>> = members_of_teams(write, page.organization).await?;
    let on_call = |id| {
        let schedule = schedules.iter().find(|schedule| schedule.id == id)?.schedule()?;
        schedule.user_at(now_ns).map(|(user, _)| user)
    };
    let outcome = progress::step(&StepInput {
        policy: &page.policy_definition,
        progress: page.progress,
        on_call: &on_call,
        teams: &teams,
        now_ns,
    })?;
    let PageProgress { step, round, next_ns, wait_ns } = outcome.progress;
    sqlx::query("UPDATE oncall_pages SET step = $2, round = $3, next_ns = $4, wait_ns = $5 WHERE id = $1")
        .bind(page.id)
        .bind(step)
        .bind(round)
        .bind(next_ns)
        .bind(wait_ns)
        .execute(write.on())
        .await?;
    let Some(ran) = outcome.ran else { return Ok(()) };
    let at = At { step: ran, round: page.progress.round, now_ns };
    for channel in outcome.channels {
        reach_channel(write, page, at, channel).await?;
    }
    let members: Vec<i64> = sqlx::query_scalar("SELECT user_id FROM memberships WHERE organization_id = $1")
        .bind(page.organization)
        .fetch_all(write.on())
        .await?;
    for user in outcome.users.into_iter().filter(|user| members.contains(user)) {
        let PersonProgress { passed_minutes, next_ns, wait_ns } = progress::reached(now_ns);
        sqlx::query(
            "INSERT INTO oncall_page_people (page_id, user_id, passed_minutes, next_ns, wait_ns) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (page_id, user_id) DO UPDATE \
             SET passed_minutes = excluded.passed_minutes, next_ns = excluded.next_ns, wait_ns = excluded.wait_ns",
        )
        .bind(page.id)
        .bind(user)
        .bind(passed_minutes)
        .bind(next_ns)
        .bind(wait_ns)
        .execute(write.on())
        .await?;
    }
    Ok(())
}

async fn continue_chain(
    write: &mut Write<'_>,
    base_url: &str,
    page: &OncallPage,
    user: i64,
    now_ns: i64,
) -> Result<(), ControlError> {
    let found: Option<(i64, i64, i64)> = sqlx::query_as(
        "SELECT passed_minutes, next_ns, wait_ns FROM oncall_page_people p WHERE page_id = $1 AND user_id = $2",
    )
    .bind(page.id)
    .bind(user)
    .fetch_optional(write.on())
    .await?;
    let Some((passed_minutes, next_ns, wait_ns)) = found else { return Ok(()) };
    if write.role_of(page.organization, user).await?.is_none() {
        return end_chain(write, page.id, user).await;
    }
    let usable: Vec<ContactMethod> = usable_of(write, user).await?;
    let steps = chain_of(write, user, page.is_urgent).await?;
    let ids: Vec<i64> = usable.iter().map(|method| method.id).collect();
    let before = PersonProgress { passed_minutes, next_ns, wait_ns };
    let outcome = progress::chain(&ChainInput { steps: &steps, usable: &ids, progress: before, now_ns });
    // The step that has reached the person is the one before the next.
    let (step, round) = last_step(page);
    let at = At { step, round, now_ns };
    for method in usable.iter().filter(|method| outcome.methods.contains(&method.id)) {
        let ContactMethod { method_type, config, summary, .. } = method.clone();
        reach_user(write, base_url, page, at, user, &Method { method_type, config, summary }).await?;
    }
    if outcome.falls_back
        && let Some(account) = write.database().user(user)
    {
        let config = serde_json::json!({ "address": account.email });
        let method = Method { method_type: "email".to_owned(), config, summary: account.email.clone() };
        reach_user(write, base_url, page, at, user, &method).await?;
    }
    match outcome.next {
        Some(PersonProgress { passed_minutes, next_ns, wait_ns }) => {
            sqlx::query(
                "UPDATE oncall_page_people SET passed_minutes = $3, next_ns = $4, wait_ns = $5 \
                 WHERE page_id = $1 AND user_id = $2",
            )
            .bind(page.id)
            .bind(user)
            .bind(passed_minutes)
            .bind(next_ns)
            .bind(wait_ns)
            .execute(write.on())
            .await?;
            Ok(())
        }
        None => end_chain(write, page.id, user).await,
    }
}

async fn end_chain(write: &mut Write<'_>, page: i64, user: i64) -> Result<(), ControlError> {
    sqlx::query("DELETE FROM oncall_page_people WHERE page_id = $1 AND user_id = $2")
        .bind(page)
        .bind(user)
        .execute(write.on())
        .await?;
    Ok(())
}

/// The step of a page that ran last, and its round.
fn last_step(page: &OncallPage) -> (i64, i64) {
    let PageProgress { step, round, .. } = page.progress;
    if step > 0 {
        return (step - 1, round);
    }
    let policy: serde_json::Value = serde_json::from_str(&page.policy_definition).unwrap_or_default();
    let steps = policy["steps"].as_array().map_or(1, Vec::len);
    (i64::try_from(steps).unwrap_or(1) - 1, (round - 1).max(0))
}
