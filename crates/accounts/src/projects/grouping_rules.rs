//! The grouping rules of a project, as the directory has them for the pipeline, and requests to apply them to stored
//! exceptions.

use serde_json::{Value, json};

use super::Projects;
use super::issue_hashes::{record_join, root};
use super::issues::parse;
use crate::directory::{StoredRule, StoredRules};
use crate::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

const NO_RULE: ControlError = ControlError::Missing("no such grouping rule");

impl Projects {
    /// Stores a rule, after the others if it is new. Returns its number. [`ControlError::Missing`] if there is no rule
    /// of the number; [`ControlError::TooMany`] beyond [`limits::GROUPING_RULES_MAX`].
    pub async fn save_grouping_rule(
        &self,
        actor: &Actor,
        project: &Project,
        id: Option<i64>,
        query: &str,
        template: &str,
    ) -> Result<i64, ControlError> {
        let (query, template) = (query.to_owned(), template.to_owned());
        let details = json!({ "rule": id, "query": query, "template": template });
        self.change_rules(actor, project, "grouping_rule.save", details, |stored| match id {
            Some(id) => {
                let rule = stored.rules.iter_mut().find(|rule| rule.id == id).ok_or(NO_RULE)?;
                (rule.query, rule.template) = (query, template);
                Ok(id)
            }
            None if stored.rules.len() >= limits::GROUPING_RULES_MAX => Err(ControlError::TooMany("grouping rules")),
            None => {
                stored.last += 1;
                stored.rules.push(StoredRule { id: stored.last, query, template });
                Ok(stored.last)
            }
        })
        .await
    }

    /// Deletes a rule. [`ControlError::Missing`] if there is none of the number.
    pub async fn delete_grouping_rule(&self, actor: &Actor, project: &Project, id: i64) -> Result<(), ControlError> {
        self.change_rules(actor, project, "grouping_rule.delete", json!({ "rule": id }), |stored| {
            let place = stored.rules.iter().position(|rule| rule.id == id).ok_or(NO_RULE)?;
            stored.rules.remove(place);
            Ok(())
        })
        .await
    }

    /// Orders the rules. [`ControlError::Missing`] unless `ids` has every rule once.
    pub async fn order_grouping_rules(
        &self,
        actor: &Actor,
        project: &Project,
        ids: &[i64],
    ) -> Result<(), ControlError> {
        self.change_rules(actor, project, "grouping_rule.order", json!({ "rules": ids }), |stored| {
            let mut ordered = Vec::with_capacity(ids.len());
            for id in ids {
                let place = stored.rules.iter().position(|rule| rule.id == *id).ok_or(NO_RULE)?;
                ordered.push(stored.rules.remove(place));
            }
            if !stored.rules.is_empty() {
                return Err(NO_RULE);
            }
            stored.rules = ordered;
            Ok(())
        })
        .await
    }

    async fn change_rules<T>(
        &self,
        actor: &Actor,
        project: &Project,
        action: &'static str,
        details: Value,
        change: impl FnOnce(&mut StoredRules) -> Result<T, ControlError>,
    ) -> Result<T, ControlError> {
        let mut write = self.database.write().await?;
        let before: Option<String> = sqlx::query_scalar("SELECT grouping_rules FROM projects WHERE number = $1")
            .bind(i64::from(project.number))
            .fetch_optional(write.on())
            .await?;
        let before = before.ok_or(ControlError::UnknownProject)?;
        let mut stored = StoredRules::read(&before);
        let result = change(&mut stored)?;
        // Another node may have changed them meanwhile.
        let changed = sqlx::query("UPDATE projects SET grouping_rules = $2 WHERE number = $1 AND grouping_rules = $3")
            .bind(i64::from(project.number))
            .bind(json!(stored).to_string())
            .bind(before)
            .execute(write.on())
            .await?;
        if changed.rows_affected() == 0 {
            return Err(NO_RULE);
        }
        write.audit(actor.did(action).on_project(project).with(details)).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(result)
    }

    /// Requests that the stored exceptions of a project are grouped again by its rules.
    pub async fn request_regrouping(&self, actor: &Actor, project: &Project) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query(
            "INSERT INTO issue_regroupings (project, requested_ns) VALUES ($1, $2) \
             ON CONFLICT (project) DO UPDATE SET requested_ns = excluded.requested_ns",
        )
        .bind(i64::from(project.number))
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        write.audit(actor.did("grouping_rule.apply").on_project(project).with(json!({}))).await?;
        write.commit().await
    }

    /// The projects whose stored exceptions are to be grouped again, with the time of the request.
    pub async fn regroupings(&self) -> Result<Vec<(u32, i64)>, ControlError> {
        let rows: Vec<(i64, i64)> =
            sqlx::query_as("SELECT project, requested_ns FROM issue_regroupings ORDER BY project")
                .fetch_all(self.database.pool())
                .await?;
        Ok(rows.into_iter().filter_map(|(project, at)| Some((u32::try_from(project).ok()?, at))).collect())
    }

    /// Removes a request that was met; a later one of the project stays.
    pub async fn regrouped(&self, project: u32, requested_ns: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM issue_regroupings WHERE project = $1 AND requested_ns = $2")
            .bind(i64::from(project))
            .bind(requested_ns)
            .execute(write.on())
            .await?;
        write.commit().await
    }

    /// Gives hashes, made by grouping rules of users, the decisions and assignees of the Issues that their exceptions
    /// had before: `(hash, Issue)`. A hash is an Issue of its own, and no new one. Hashes with a pointer stay.
    pub async fn inherit_issues(&self, project: u32, pairs: &[(u64, u64)]) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        for (hash, from) in pairs {
            let (hash, from) = (format!("{hash:016x}"), format!("{from:016x}"));
            let added = sqlx::query(
                "INSERT INTO issue_hashes (project, hash, issue, cause) VALUES ($1, $2, $2, 'own') \
                 ON CONFLICT (project, hash) DO NOTHING",
            )
            .bind(i64::from(project))
            .bind(&hash)
            .execute(write.on())
            .await?;
            if added.rows_affected() == 1 {
                copy_decision(&mut write, project, &hash, &from).await?;
            }
        }
        write.commit().await
    }

    /// Stores hashes that rows have before and after they are grouped again, until [`Projects::lead_on`].
    pub async fn record_moves(&self, project: u32, pairs: &[(u64, u64)]) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        for (before, after) in pairs {
            sqlx::query(
                "INSERT INTO issue_moves (project, hash, moved) VALUES ($1, $2, $3) \
                 ON CONFLICT (project, hash, moved) DO NOTHING",
            )
            .bind(i64::from(project))
            .bind(format!("{before:016x}"))
            .bind(format!("{after:016x}"))
            .execute(write.on())
            .await?;
        }
        write.commit().await
    }

    /// Returns the stored moves of a project: hashes before and after.
    pub async fn moves(&self, project: u32) -> Result<Vec<(u64, u64)>, ControlError> {
        let rows: Vec<(String, String)> = sqlx::query_as("SELECT hash, moved FROM issue_moves WHERE project = $1")
            .bind(i64::from(project))
            .fetch_all(self.database.pool())
            .await?;
        Ok(rows.iter().filter_map(|(hash, moved)| Some((parse(hash)?, parse(moved)?))).collect())
    }

    /// Points hashes without rows at the Issues that have them now, records the number of Issues that became one, and
    /// deletes their stored moves. `moved`: Issues with these hashes.
    pub async fn lead_on(
        &self,
        actor: &Actor,
        project: &Project,
        moved: &[(u64, Vec<u64>)],
        rule_version: u8,
    ) -> Result<(), ControlError> {
        let number = i64::from(project.number);
        let mut write = self.database.write().await?;
        for (into, hashes) in moved {
            let mut joined = Vec::new();
            for hash in hashes.iter().copied() {
                if root(&mut write, project.number, *into).await? == hash {
                    continue;
                }
                let changed = sqlx::query(
                    "INSERT INTO issue_hashes (project, hash, issue, cause, rule_version) VALUES ($1, $2, $3, 'rule', $4) \
                     ON CONFLICT (project, hash) DO UPDATE SET issue = excluded.issue, cause = excluded.cause \
                     WHERE issue_hashes.cause = 'own'",
                )
                .bind(number)
                .bind(format!("{hash:016x}"))
                .bind(format!("{into:016x}"))
                .bind(i64::from(rule_version))
                .execute(write.on())
                .await?;
                if changed.rows_affected() == 1 {
                    joined.push(hash);
                }
                sqlx::query("DELETE FROM issue_moves WHERE project = $1 AND hash = $2")
                    .bind(number)
                    .bind(format!("{hash:016x}"))
                    .execute(write.on())
                    .await?;
            }
            if joined.len() > 1 {
                record_join(&mut write, actor, project, (*into, &joined[1..]), rule_version).await?;
            }
        }
        write.commit().await
    }
}

async fn copy_decision(write: &mut Write<'_>, project: u32, hash: &str, from: &str) -> Result<(), ControlError> {
    for statement in [
        "INSERT INTO issue_decisions (project, hash, decision, decided_ns, until_ns, until_count) \
         SELECT project, $2, decision, decided_ns, until_ns, until_count FROM issue_decisions \
         WHERE project = $1 AND hash = $3 ON CONFLICT (project, hash) DO NOTHING",
        "INSERT INTO issue_assignees (project, hash, user_id) SELECT project, $2, user_id FROM issue_assignees \
         WHERE project = $1 AND hash = $3 ON CONFLICT (project, hash) DO NOTHING",
    ] {
        sqlx::query(statement).bind(i64::from(project)).bind(hash).bind(from).execute(write.on()).await?;
    }
    Ok(())
}
