//! Notification rules: who is notified of what. The states of rules are in [`super::states`].

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use tidewatch_accounts::audit::Entry;
use tidewatch_accounts::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

use super::rows::{NotificationRule, SELECT, read, rule};
use super::states::{RuleStateKind, add_known_issues, alert_key, states_of_rule};
use crate::channels::{AlertStatus, Notification, Severity, Target, notify};
use crate::rules::Rules;
use crate::tables::RowValues;

/// The parts of a rule that a user chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRule {
    /// See [`NotificationRule::channel`].
    pub channel: i64,
    /// Its name.
    pub name: String,
    /// Its type.
    pub rule_type: String,
    /// Its configuration, checked.
    pub config: Value,
    /// See [`NotificationRule::cooldown_minutes`].
    pub cooldown_minutes: i64,
    /// See [`NotificationRule::severity`].
    pub severity: Option<Severity>,
}

const NO_RULE: ControlError = ControlError::Missing("no such rule");
const NO_CHANNEL: ControlError = ControlError::Missing("no such channel");

impl Rules {
    /// Returns the rules of a project, in the order of their creation.
    pub async fn notification_rules(&self, project: u32) -> Result<Vec<NotificationRule>, ControlError> {
        let statement = format!("{SELECT} WHERE project = $1 ORDER BY id");
        let rows =
            sqlx::query(AssertSqlSafe(statement)).bind(i64::from(project)).fetch_all(self.database.pool()).await?;
        rows.iter().map(read).collect()
    }

    /// Returns the enabled rules of all projects, by project.
    pub async fn enabled_rules(&self) -> Result<Vec<NotificationRule>, ControlError> {
        let statement = format!("{SELECT} WHERE enabled = 1 ORDER BY project, id");
        let rows = sqlx::query(AssertSqlSafe(statement)).fetch_all(self.database.pool()).await?;
        rows.iter().map(read).collect()
    }

    /// Returns the enabled rules of these types of all projects, by project.
    pub async fn enabled_rules_of_types(&self, types: &[&'static str]) -> Result<Vec<NotificationRule>, ControlError> {
        let types: Vec<String> = types.iter().map(|name| format!("'{name}'")).collect();
        let statement =
            format!("{SELECT} WHERE enabled = 1 AND rule_type IN ({}) ORDER BY project, id", types.join(", "));
        let rows = sqlx::query(AssertSqlSafe(statement)).fetch_all(self.database.pool()).await?;
        rows.iter().map(read).collect()
    }

    /// Stores a rule, and `known` as Issues of the project that are not new. [`ControlError::Missing`] without the
    /// channel; [`ControlError::TooMany`] beyond [`limits::NOTIFICATION_RULES_MAX`].
    pub async fn create_rule(
        &self,
        actor: &Actor,
        project: &Project,
        rule: &NewRule,
        known: &[u64],
    ) -> Result<NotificationRule, ControlError> {
        let mut write = self.database.write().await?;
        check_channel(&mut write, project, rule.channel).await?;
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM notification_rules WHERE project = $1")
            .bind(i64::from(project.number))
            .fetch_one(write.on())
            .await?;
        if count >= limits::NOTIFICATION_RULES_MAX {
            return Err(ControlError::TooMany("rules"));
        }
        let row = chosen(rule, actor.at_ns).set("project", i64::from(project.number));
        let id = row.set("enabled", 1i64).set("created_ns", actor.at_ns).insert(&mut write).await?;
        add_known_issues(&mut write, project.number, known).await?;
        write.audit(about(actor.did("rule.create"), project, id, &rule.name)).await?;
        let stored = found(&mut write, project, id).await?;
        write.commit().await?;
        Ok(stored)
    }

    /// Replaces a rule. Its alerts end: the new rule starts without a state. Fails like [`Rules::create_rule`], and
    /// with [`ControlError::Missing`] without the rule.
    pub async fn change_rule(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
        rule: &NewRule,
        known: &[u64],
    ) -> Result<NotificationRule, ControlError> {
        let mut write = self.database.write().await?;
        let before = found(&mut write, project, id).await?;
        check_channel(&mut write, project, rule.channel).await?;
        let is_same = before.rule_type == rule.rule_type && before.config == rule.config;
        if !is_same {
            end_alerts(&mut write, actor, project, &before, "The rule was changed.").await?;
        }
        chosen(rule, actor.at_ns).update(&mut write, &[("id", id)]).await?;
        add_known_issues(&mut write, project.number, known).await?;
        write.audit(about(actor.did("rule.change"), project, id, &rule.name)).await?;
        let stored = found(&mut write, project, id).await?;
        write.commit().await?;
        Ok(stored)
    }

    /// Deletes a rule; its alerts end.
    pub async fn delete_rule(&self, actor: &Actor, project: &Project, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let rule = found(&mut write, project, id).await?;
        end_alerts(&mut write, actor, project, &rule, "The rule was deleted.").await?;
        sqlx::query("DELETE FROM notification_rules WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(about(actor.did("rule.delete"), project, id, &rule.name)).await?;
        write.commit().await
    }

    /// Turns a rule on or off. A rule that is turned off ends its alerts; one that is turned on starts without a state,
    /// and with `known` as Issues that are not new.
    pub async fn set_rule_enabled(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
        is_enabled: bool,
        known: &[u64],
    ) -> Result<NotificationRule, ControlError> {
        let mut write = self.database.write().await?;
        let rule = found(&mut write, project, id).await?;
        if rule.is_enabled != is_enabled {
            end_alerts(&mut write, actor, project, &rule, "The rule was turned off.").await?;
            sqlx::query("UPDATE notification_rules SET enabled = $2, updated_ns = $3 WHERE id = $1")
                .bind(id)
                .bind(i64::from(is_enabled))
                .bind(actor.at_ns)
                .execute(write.on())
                .await?;
            add_known_issues(&mut write, project.number, known).await?;
            let action = if is_enabled { "rule.enable" } else { "rule.disable" };
            write.audit(about(actor.did(action), project, id, &rule.name)).await?;
        }
        let stored = found(&mut write, project, id).await?;
        write.commit().await?;
        Ok(stored)
    }

    /// Lets nothing of a rule fire before `until_ns`; 0 ends a snooze.
    pub async fn snooze_rule(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
        until_ns: i64,
    ) -> Result<NotificationRule, ControlError> {
        let mut write = self.database.write().await?;
        let rule = found(&mut write, project, id).await?;
        sqlx::query("UPDATE notification_rules SET snoozed_until_ns = $2, updated_ns = $3 WHERE id = $1")
            .bind(id)
            .bind(until_ns)
            .bind(actor.at_ns)
            .execute(write.on())
            .await?;
        let entry = about(actor.did("rule.snooze"), project, id, &rule.name);
        write.audit(entry).await?;
        let stored = found(&mut write, project, id).await?;
        write.commit().await?;
        Ok(stored)
    }
}

/// The columns that a user chooses.
fn chosen(rule: &NewRule, at_ns: i64) -> RowValues {
    RowValues::of("notification_rules")
        .set("channel_id", rule.channel)
        .set("name", &rule.name)
        .set("rule_type", &rule.rule_type)
        .set("config", rule.config.to_string())
        .set("cooldown_minutes", rule.cooldown_minutes)
        .set("severity", rule.severity.map_or("", Severity::name))
        .set("updated_ns", at_ns)
}

/// The rule, if it is of the project.
async fn found(write: &mut Write<'_>, project: &Project, id: i64) -> Result<NotificationRule, ControlError> {
    rule(write, id).await?.filter(|rule| rule.project == project.number).ok_or(NO_RULE)
}

async fn check_channel(write: &mut Write<'_>, project: &Project, channel: i64) -> Result<(), ControlError> {
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM notification_channels WHERE id = $1 AND project = $2")
        .bind(channel)
        .bind(i64::from(project.number))
        .fetch_one(write.on())
        .await?;
    if count == 1 { Ok(()) } else { Err(NO_CHANNEL) }
}

/// Deletes the states of a rule, and notifies of the end of each alert that fires.
async fn end_alerts(
    write: &mut Write<'_>,
    actor: &Actor,
    project: &Project,
    rule: &NotificationRule,
    why: &str,
) -> Result<(), ControlError> {
    for (subject, state) in states_of_rule(write, rule.id).await? {
        if state.kind != RuleStateKind::Firing {
            continue;
        }
        let notification = Notification {
            organization: project.organization_id,
            project: Some(project.number),
            alert_key: alert_key(rule.id, &subject),
            status: AlertStatus::Resolved,
            severity: state.severity,
            rule_type: rule.rule_type.clone(),
            rule_name: rule.name.clone(),
            subject: format!("{}: ended", rule.name),
            body: why.to_owned(),
            path: format!("/p/{}/alerts/rules", project.id),
            series: Vec::new(),
            at_ns: actor.at_ns,
        };
        notify(write, &notification, &[Target::Channel(rule.channel)]).await?;
    }
    sqlx::query("DELETE FROM notification_rule_states WHERE rule_id = $1").bind(rule.id).execute(write.on()).await?;
    Ok(())
}

fn about<'a>(entry: Entry<'a>, project: &Project, id: i64, name: &str) -> Entry<'a> {
    entry.on_project(project).with(json!({ "rule": id, "name": name }))
}
