//! Decisions of users about Issues: states, assignees. An Issue is named by its hash.

use std::collections::HashMap;

use serde_json::{Value, json};
use tidewatch_domain::rules::issue_state::Decision;

use super::Projects;
use super::issue_activity::{IssueActivityKind, record};
use crate::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

/// A decision with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssueDecision {
    /// The decision.
    pub decision: Decision,
    /// Nanoseconds since the epoch.
    pub decided_ns: i64,
}

const RESOLVED: &str = "resolved";
const RESOLVED_IN_NEXT_VERSION: &str = "resolved_in_next_version";
const MUTED: &str = "muted";
const ARCHIVED: &str = "archived";

impl Projects {
    /// Returns the decisions about Issues of a project by hash.
    pub async fn issue_decisions(&self, project: u32) -> Result<HashMap<u64, IssueDecision>, ControlError> {
        type Columns = (String, String, i64, Option<i64>, Option<i64>);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT hash, decision, decided_ns, until_ns, until_count FROM issue_decisions WHERE project = $1",
        )
        .bind(i64::from(project))
        .fetch_all(self.database.pool())
        .await?;
        let known = |(hash, name, decided_ns, until_ns, until_count): Columns| {
            let decision = match name.as_str() {
                RESOLVED => Decision::Resolved,
                RESOLVED_IN_NEXT_VERSION => Decision::ResolvedInNextVersion,
                MUTED => Decision::Muted { until_ns, until_count: until_count.and_then(|count| count.try_into().ok()) },
                ARCHIVED => Decision::Archived,
                _ => return None,
            };
            Some((parse(&hash)?, IssueDecision { decision, decided_ns }))
        };
        Ok(rows.into_iter().filter_map(known).collect())
    }

    /// Stores a decision about Issues at the time of `actor`; `None` opens them. `regressed`: Issues that had occurred
    /// again, with the time, nanoseconds since the epoch; it becomes an entry of their activity.
    ///
    /// [`ControlError::TooMany`] beyond [`limits::ISSUE_DECISIONS_MAX`].
    pub async fn decide_issues(
        &self,
        actor: &Actor,
        project: &Project,
        hashes: &[u64],
        decision: Option<Decision>,
        regressed: &HashMap<u64, i64>,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        for hash in hashes {
            if let Some(at_ns) = regressed.get(hash) {
                let server = Actor { user_id: None, name: String::new(), at_ns: *at_ns, ..actor.clone() };
                record(&mut write, &server, project, *hash, IssueActivityKind::Regressed, &json!({})).await?;
            }
            match decision {
                Some(decision) => store(&mut write, actor, project, *hash, decision).await?,
                None => delete(&mut write, project, *hash).await.map(drop)?,
            }
            record(&mut write, actor, project, *hash, IssueActivityKind::State, &details(decision)).await?;
        }
        check_count(&mut write, project).await?;
        let action = match decision {
            None => "issue.reopen",
            Some(Decision::Resolved | Decision::ResolvedInNextVersion) => "issue.resolve",
            Some(Decision::Muted { .. }) => "issue.mute",
            Some(Decision::Archived) => "issue.archive",
        };
        write.audit(actor.did(action).on_project(project).with(named(hashes))).await?;
        write.commit().await
    }

    /// Opens those of the Issues that are archived. Returns their number.
    pub async fn unarchive(&self, actor: &Actor, project: &Project, hashes: &[u64]) -> Result<usize, ControlError> {
        let mut write = self.database.write().await?;
        let mut count = 0;
        for hash in hashes {
            let known: Option<String> =
                sqlx::query_scalar("SELECT decision FROM issue_decisions WHERE project = $1 AND hash = $2")
                    .bind(i64::from(project.number))
                    .bind(format!("{hash:016x}"))
                    .fetch_optional(write.on())
                    .await?;
            if known.as_deref() == Some(ARCHIVED) {
                count += delete(&mut write, project, *hash).await?;
                record(&mut write, actor, project, *hash, IssueActivityKind::State, &details(None)).await?;
            }
        }
        write.audit(actor.did("issue.unarchive").on_project(project).with(named(hashes))).await?;
        write.commit().await?;
        Ok(count)
    }

    /// Returns the assignees of Issues of a project: hash -> id of the user.
    pub async fn issue_assignees(&self, project: u32) -> Result<HashMap<u64, i64>, ControlError> {
        let rows: Vec<(String, i64)> = sqlx::query_as("SELECT hash, user_id FROM issue_assignees WHERE project = $1")
            .bind(i64::from(project))
            .fetch_all(self.database.pool())
            .await?;
        Ok(rows.into_iter().filter_map(|(hash, user)| Some((parse(&hash)?, user))).collect())
    }

    /// Assigns Issues to a user; `None`: to nobody. [`ControlError::UnknownUser`] if the user has no role in the
    /// project; [`ControlError::TooMany`] beyond [`limits::ISSUE_DECISIONS_MAX`].
    pub async fn assign_issues(
        &self,
        actor: &Actor,
        project: &Project,
        hashes: &[u64],
        user: Option<i64>,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let assignee = match user {
            Some(user) if self.database.directory().read().role_in(user, project).is_none() => {
                return Err(ControlError::UnknownUser);
            }
            Some(user) => Some(self.database.user(user).ok_or(ControlError::UnknownUser)?),
            None => None,
        };
        for hash in hashes {
            let statement = match user {
                Some(_) => {
                    "INSERT INTO issue_assignees (project, hash, user_id) VALUES ($1, $2, $3) \
                     ON CONFLICT (project, hash) DO UPDATE SET user_id = excluded.user_id"
                }
                None => "DELETE FROM issue_assignees WHERE project = $1 AND hash = $2 AND CAST($3 AS BIGINT) IS NULL",
            };
            sqlx::query(statement)
                .bind(i64::from(project.number))
                .bind(format!("{hash:016x}"))
                .bind(user)
                .execute(write.on())
                .await?;
            let name = assignee.as_ref().map(|user| &user.name);
            let details = json!({ "userId": user, "name": name });
            record(&mut write, actor, project, *hash, IssueActivityKind::Assigned, &details).await?;
        }
        check_count(&mut write, project).await?;
        let mut details = named(hashes);
        details["userId"] = json!(user);
        write.audit(actor.did("issue.assign").on_project(project).with(details)).await?;
        write.commit().await
    }
}

pub(super) fn parse(hash: &str) -> Option<u64> {
    u64::from_str_radix(hash, 16).ok()
}

async fn store(
    write: &mut Write<'_>,
    actor: &Actor,
    project: &Project,
    hash: u64,
    decision: Decision,
) -> Result<(), ControlError> {
    let (name, until_ns, until_count) = columns(decision);
    sqlx::query(
        "INSERT INTO issue_decisions (project, hash, decision, decided_ns, until_ns, until_count) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project, hash) DO UPDATE SET decision = excluded.decision, \
         decided_ns = excluded.decided_ns, until_ns = excluded.until_ns, until_count = excluded.until_count",
    )
    .bind(i64::from(project.number))
    .bind(format!("{hash:016x}"))
    .bind(name)
    .bind(actor.at_ns)
    .bind(until_ns)
    .bind(until_count)
    .execute(write.on())
    .await?;
    Ok(())
}

/// Deletes the decision about an Issue. Returns the number of deleted rows.
async fn delete(write: &mut Write<'_>, project: &Project, hash: u64) -> Result<usize, ControlError> {
    let deleted = sqlx::query("DELETE FROM issue_decisions WHERE project = $1 AND hash = $2")
        .bind(i64::from(project.number))
        .bind(format!("{hash:016x}"))
        .execute(write.on())
        .await?;
    Ok(deleted.rows_affected() as usize)
}

/// The stored name, end and count of a decision.
fn columns(decision: Decision) -> (&'static str, Option<i64>, Option<i64>) {
    match decision {
        Decision::Resolved => (RESOLVED, None, None),
        Decision::ResolvedInNextVersion => (RESOLVED_IN_NEXT_VERSION, None, None),
        Decision::Muted { until_ns, until_count } => {
            (MUTED, until_ns, until_count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)))
        }
        Decision::Archived => (ARCHIVED, None, None),
    }
}

/// The details of an entry of the activity.
fn details(decision: Option<Decision>) -> Value {
    let Some(decision) = decision else { return json!({ "state": "open" }) };
    let (name, until_ns, until_count) = columns(decision);
    json!({ "state": name, "untilNs": until_ns, "untilCount": until_count })
}

async fn check_count(write: &mut Write<'_>, project: &Project) -> Result<(), ControlError> {
    let count: i64 = sqlx::query_scalar(
        "SELECT (SELECT COUNT(*) FROM issue_decisions WHERE project = $1) \
         + (SELECT COUNT(*) FROM issue_assignees WHERE project = $1)",
    )
    .bind(i64::from(project.number))
    .fetch_one(write.on())
    .await?;
    if count > limits::ISSUE_DECISIONS_MAX {
        return Err(ControlError::TooMany("decisions about Issues"));
    }
    Ok(())
}

/// The number of hashes and the first 20.
pub(super) fn named(hashes: &[u64]) -> Value {
    const NAMED_MAX: usize = 20;
    let named: Vec<String> = hashes.iter().take(NAMED_MAX).map(|hash| format!("{hash:016x}")).collect();
    json!({ "count": hashes.len(), "hashes": named })
}
