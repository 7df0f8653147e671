//! The hashes of Issues: what users merged, and what versions of the grouping rule joined.
//!
//! A pointer leads from a hash to another one, and the last hash of a chain names the Issue. A merge adds a pointer at
//! the merged Issue, so what points at that Issue, now or later, comes along, and an unmerge gives it back.

use std::collections::HashMap;

use serde_json::json;

use super::Projects;
use super::issue_activity::{IssueActivityKind, record};
use super::issues::{named, parse};
use crate::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

/// Cause of a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashCause {
    /// A user merged the hash.
    Merge,
    /// A version of the grouping rule made the hash of the exceptions of the Issue.
    Rule,
    /// A user made the hash an Issue of its own, which no rule joins again. It points at itself.
    Own,
}

/// The pointer of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashPointer {
    /// The hash that it leads to.
    pub to: u64,
    /// Its cause.
    pub cause: HashCause,
    /// Of [`HashCause::Rule`]: the version of the rule.
    pub rule_version: u8,
}

const MERGE: &str = "merge";
const RULE: &str = "rule";
const OWN: &str = "own";

/// Maximum length of a chain. Chains have no cycles; two nodes that merge at once may make one.
const CHAIN_MAX: usize = 64;

impl Projects {
    /// Returns the pointers of a project by hash.
    pub async fn issue_hashes(&self, project: u32) -> Result<HashMap<u64, HashPointer>, ControlError> {
        type Columns = (String, String, String, i64);
        let rows: Vec<Columns> =
            sqlx::query_as("SELECT hash, issue, cause, rule_version FROM issue_hashes WHERE project = $1")
                .bind(i64::from(project))
                .fetch_all(self.database.pool())
                .await?;
        let known = |(hash, to, cause, version): Columns| {
            let cause = match cause.as_str() {
                MERGE => HashCause::Merge,
                RULE => HashCause::Rule,
                OWN => HashCause::Own,
                _ => return None,
            };
            let rule_version = u8::try_from(version).ok()?;
            Some((parse(&hash)?, HashPointer { to: parse(&to)?, cause, rule_version }))
        };
        Ok(rows.into_iter().filter_map(known).collect())
    }

    /// Points hashes that a version of the grouping rule made at the hashes that the same exceptions had before.
    /// Pointers that exist stay, so it can be repeated. Returns `false` if the project has
    /// [`limits::ISSUE_HASHES_MAX`] of them: nothing is stored then.
    pub async fn point_hashes(
        &self,
        project: u32,
        pairs: &[(u64, u64)],
        rule_version: u8,
    ) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM issue_hashes WHERE project = $1 AND cause = 'rule'")
            .bind(i64::from(project))
            .fetch_one(write.on())
            .await?;
        if count + pairs.len() as i64 > limits::ISSUE_HASHES_MAX {
            return Ok(false);
        }
        for (hash, to) in pairs {
            if root(&mut write, project, *to).await? == *hash {
                continue;
            }
            sqlx::query(
                "INSERT INTO issue_hashes (project, hash, issue, cause, rule_version) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (project, hash) DO NOTHING",
            )
            .bind(i64::from(project))
            .bind(format!("{hash:016x}"))
            .bind(format!("{to:016x}"))
            .bind(RULE)
            .bind(i64::from(rule_version))
            .execute(write.on())
            .await?;
        }
        write.commit().await?;
        Ok(true)
    }

    /// Returns those of the hashes that have a decision, an assignee or an activity. At most
    /// [`limits::KNOWN_ISSUES_PER_STATEMENT`] hashes.
    pub async fn triaged_issues(&self, project: u32, hashes: &[u64]) -> Result<Vec<u64>, ControlError> {
        let some = &hashes[..hashes.len().min(limits::KNOWN_ISSUES_PER_STATEMENT)];
        if some.is_empty() {
            return Ok(Vec::new());
        }
        let list = some.iter().map(|hash| format!("'{hash:016x}'")).collect::<Vec<_>>().join(", ");
        let of = |table: &str| format!("SELECT hash FROM {table} WHERE project = $1 AND hash IN ({list})");
        let statement = ["issue_decisions", "issue_assignees", "issue_activity"].map(of).join(" UNION ");
        let found: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .bind(i64::from(project))
            .fetch_all(self.database.pool())
            .await?;
        Ok(found.iter().filter_map(|hash| parse(hash)).collect())
    }

    /// Merges Issues into another one, or into the one that it belongs to itself. Hashes that point at them come along.
    /// Returns the hash that they are merged into.
    ///
    /// [`ControlError::TooMany`] beyond [`limits::ISSUE_MERGES_MAX`].
    pub async fn merge_issues(
        &self,
        actor: &Actor,
        project: &Project,
        hashes: &[u64],
        into: u64,
    ) -> Result<u64, ControlError> {
        let number = i64::from(project.number);
        let mut write = self.database.write().await?;
        let target = root(&mut write, project.number, into).await?;
        let text = format!("{target:016x}");
        for hash in hashes.iter().copied().filter(|hash| *hash != target) {
            sqlx::query(
                "INSERT INTO issue_hashes (project, hash, issue, cause) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (project, hash) DO UPDATE SET issue = excluded.issue, cause = excluded.cause",
            )
            .bind(number)
            .bind(format!("{hash:016x}"))
            .bind(&text)
            .bind(MERGE)
            .execute(write.on())
            .await?;
            let details = json!({ "hash": format!("{hash:016x}") });
            record(&mut write, actor, project, target, IssueActivityKind::Merged, &details).await?;
        }
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM issue_hashes WHERE project = $1 AND cause = $2")
            .bind(number)
            .bind(MERGE)
            .fetch_one(write.on())
            .await?;
        if count > limits::ISSUE_MERGES_MAX {
            return Err(ControlError::TooMany("merged Issues"));
        }
        let mut details = named(hashes);
        details["into"] = json!(text);
        write.audit(actor.did("issue.merge").on_project(project).with(details)).await?;
        write.commit().await?;
        Ok(target)
    }

    /// Makes hashes Issues of their own again, with the decisions that they had before and the hashes that point at
    /// them. A hash that a rule joined stays apart from then on. Returns the number of those that had a pointer.
    pub async fn unmerge_issues(
        &self,
        actor: &Actor,
        project: &Project,
        hashes: &[u64],
    ) -> Result<usize, ControlError> {
        let number = i64::from(project.number);
        let mut write = self.database.write().await?;
        let mut count = 0;
        for hash in hashes {
            let text = format!("{hash:016x}");
            let before: Option<(String, String)> =
                sqlx::query_as("SELECT issue, cause FROM issue_hashes WHERE project = $1 AND hash = $2")
                    .bind(number)
                    .bind(&text)
                    .fetch_optional(write.on())
                    .await?;
            let statement = match before.as_ref().map(|(_, cause)| cause.as_str()) {
                Some(MERGE) => "DELETE FROM issue_hashes WHERE project = $1 AND hash = $2",
                Some(RULE) => "UPDATE issue_hashes SET issue = hash, cause = 'own' WHERE project = $1 AND hash = $2",
                _ => continue,
            };
            let target = root(&mut write, project.number, *hash).await?;
            sqlx::query(statement).bind(number).bind(&text).execute(write.on()).await?;
            count += 1;
            let details = json!({ "hash": text });
            record(&mut write, actor, project, target, IssueActivityKind::Unmerged, &details).await?;
        }
        write.audit(actor.did("issue.unmerge").on_project(project).with(named(hashes))).await?;
        write.commit().await?;
        self.new_hashes.forget(project.number, hashes);
        Ok(count)
    }
}

/// Issues that become one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IssueJoin {
    /// The hash of the Issue that the others become a part of.
    pub into: u64,
    /// Hashes of the other Issues.
    pub joined: Vec<u64>,
    /// Hashes without an Issue that belong to it.
    pub hashes: Vec<u64>,
    /// The new time of its decision, so that what occurred before the decision about another one does not count as
    /// later; `None`: it stays.
    pub decided_ns: Option<i64>,
    /// Its new assignee; `None`: it stays.
    pub assignee: Option<i64>,
}

impl Projects {
    /// Joins Issues whose exceptions a version of the grouping rule gives one hash. Pointers that exist stay, so it can
    /// be repeated. Returns `false` if the project has [`limits::ISSUE_HASHES_MAX`] pointers of rules: nothing is
    /// stored then.
    pub async fn join_issues(
        &self,
        actor: &Actor,
        project: &Project,
        joins: &[IssueJoin],
        rule_version: u8,
    ) -> Result<bool, ControlError> {
        let number = i64::from(project.number);
        let mut write = self.database.write().await?;
        let mut count: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM issue_hashes WHERE project = $1 AND cause = 'rule'")
                .bind(number)
                .fetch_one(write.on())
                .await?;
        for join in joins {
            let mut joined = Vec::new();
            for (hash, is_issue) in
                join.joined.iter().map(|hash| (*hash, true)).chain(join.hashes.iter().map(|hash| (*hash, false)))
            {
                if root(&mut write, project.number, join.into).await? == hash {
                    continue;
                }
                // The rows of an Issue that was its own are those of the other one now.
                let statement = match is_issue {
                    true => {
                        "INSERT INTO issue_hashes (project, hash, issue, cause, rule_version) \
                         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (project, hash) DO UPDATE SET issue = excluded.issue, \
                         cause = excluded.cause, rule_version = excluded.rule_version WHERE issue_hashes.cause = 'own'"
                    }
                    false => {
                        "INSERT INTO issue_hashes (project, hash, issue, cause, rule_version) \
                         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (project, hash) DO NOTHING"
                    }
                };
                let added = sqlx::query(statement)
                    .bind(number)
                    .bind(format!("{hash:016x}"))
                    .bind(format!("{:016x}", join.into))
                    .bind(RULE)
                    .bind(i64::from(rule_version))
                    .execute(write.on())
                    .await?
                    .rows_affected();
                count += added as i64;
                if added == 1 && is_issue {
                    joined.push(hash);
                }
            }
            if count > limits::ISSUE_HASHES_MAX {
                return Ok(false);
            }
            if joined.is_empty() {
                continue;
            }
            follow(&mut write, project, join).await?;
            record_join(&mut write, actor, project, (join.into, &joined), rule_version).await?;
        }
        write.commit().await?;
        Ok(true)
    }

    /// Returns the latest time of an activity of each of the hashes that have one. At most
    /// [`limits::KNOWN_ISSUES_PER_STATEMENT`] hashes.
    pub async fn last_acted(&self, project: u32, hashes: &[u64]) -> Result<HashMap<u64, i64>, ControlError> {
        let some = &hashes[..hashes.len().min(limits::KNOWN_ISSUES_PER_STATEMENT)];
        if some.is_empty() {
            return Ok(HashMap::new());
        }
        let list = some.iter().map(|hash| format!("'{hash:016x}'")).collect::<Vec<_>>().join(", ");
        let statement = format!(
            "SELECT hash, MAX(at_ns) FROM issue_activity WHERE project = $1 AND hash IN ({list}) GROUP BY hash"
        );
        let rows: Vec<(String, i64)> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(i64::from(project))
            .fetch_all(self.database.pool())
            .await?;
        Ok(rows.into_iter().filter_map(|(hash, at)| Some((parse(&hash)?, at))).collect())
    }
}

/// Gives the Issue the time of the latest decision and the assignee of those that became a part of it.
async fn follow(write: &mut Write<'_>, project: &Project, join: &IssueJoin) -> Result<(), ControlError> {
    let (number, hash) = (i64::from(project.number), format!("{:016x}", join.into));
    if let Some(decided_ns) = join.decided_ns {
        sqlx::query("UPDATE issue_decisions SET decided_ns = $3 WHERE project = $1 AND hash = $2 AND decided_ns < $3")
            .bind(number)
            .bind(&hash)
            .bind(decided_ns)
            .execute(write.on())
            .await?;
    }
    if let Some(user) = join.assignee {
        sqlx::query(
            "INSERT INTO issue_assignees (project, hash, user_id) VALUES ($1, $2, $3) \
             ON CONFLICT (project, hash) DO UPDATE SET user_id = excluded.user_id",
        )
        .bind(number)
        .bind(&hash)
        .bind(user)
        .execute(write.on())
        .await?;
    }
    Ok(())
}

/// Records the number of Issues that a version has made one, in one entry: the entries of the joined ones are added up.
pub(super) async fn record_join(
    write: &mut Write<'_>,
    actor: &Actor,
    project: &Project,
    (into, joined): (u64, &[u64]),
    rule_version: u8,
) -> Result<(), ControlError> {
    let mut issues = 0;
    for hash in joined.iter().copied().chain([into]) {
        let text = format!("{hash:016x}");
        let entries: Vec<(i64, String)> = sqlx::query_as(
            "SELECT id, details FROM issue_activity WHERE project = $1 AND hash = $2 AND kind = 'joined'",
        )
        .bind(i64::from(project.number))
        .bind(&text)
        .fetch_all(write.on())
        .await?;
        let mut of_hash = 1;
        for (id, details) in entries {
            let details: serde_json::Value = serde_json::from_str(&details).unwrap_or_default();
            if details["version"] != json!(rule_version) {
                continue;
            }
            of_hash = details["issues"].as_u64().unwrap_or(1);
            sqlx::query("DELETE FROM issue_activity WHERE id = $1").bind(id).execute(write.on()).await?;
        }
        issues += of_hash;
    }
    let details = json!({ "version": rule_version, "issues": issues });
    record(write, actor, project, into, IssueActivityKind::Joined, &details).await.map(drop)
}

/// The last hash of the chain of a hash.
pub(super) async fn root(write: &mut Write<'_>, project: u32, hash: u64) -> Result<u64, ControlError> {
    let mut last = hash;
    for _ in 0..CHAIN_MAX {
        let next: Option<String> =
            sqlx::query_scalar("SELECT issue FROM issue_hashes WHERE project = $1 AND hash = $2 AND issue <> hash")
                .bind(i64::from(project))
                .bind(format!("{last:016x}"))
                .fetch_optional(write.on())
                .await?;
        match next.and_then(|next| parse(&next)) {
            Some(next) => last = next,
            None => break,
        }
    }
    Ok(last)
}
