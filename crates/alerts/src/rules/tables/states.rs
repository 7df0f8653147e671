//! The states of notification rules, and their changes.
//!
//! A change commits the state, the notification and its outbox rows in one transaction. It is skipped when the rule or
//! the state is not the one that was evaluated: another node, or a run before a crash, has made the change already. So
//! a change is applied once, however often it is repeated.

use std::collections::{HashMap, HashSet};

use tidewatch_accounts::{ControlError, Write};
use tidewatch_limits as limits;

use super::rows::rule;
use crate::channels::{Notification, Severity, Target, notify};
use crate::rules::Rules;

/// Where a rule stands for a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleStateKind {
    /// It does not fire.
    Quiet,
    /// Its condition is true, for less than the required time.
    Pending,
    /// It fires.
    Firing,
}

/// The state of a rule for a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleState {
    /// Where it stands.
    pub kind: RuleStateKind,
    /// Since when, nanoseconds since the epoch.
    pub since_ns: i64,
    /// Time of the last notification that it fires, nanoseconds since the epoch; `None`: there was none.
    pub fired_ns: Option<i64>,
    /// When data was last measured, nanoseconds since the epoch.
    pub data_ns: i64,
    /// Severity of the last notification.
    pub severity: Severity,
    /// Marker of the latest firing, so that it fires once; 0: nothing.
    pub marker: i64,
}

/// Subject of a change, so that two evaluations of it change once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RuleClaim {
    /// An Issue of a project that was not known.
    Issue(u32, u64),
    /// A row that the rule had not evaluated.
    Row(String),
}

/// The change of the state of a rule for a subject.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleChange {
    /// Row id of the rule.
    pub rule: i64,
    /// [`super::NotificationRule::updated_ns`] of the rule that was evaluated.
    pub rule_updated_ns: i64,
    /// Key of the subject.
    pub subject: String,
    /// The state that was evaluated.
    pub before: Option<RuleState>,
    /// The new state; `None` deletes it.
    pub after: Option<RuleState>,
    /// Notification of the change, with its receivers.
    pub notification: Option<Notification>,
    /// The change is skipped when another one had the claim.
    pub claim: Option<RuleClaim>,
}

/// Changes of one transaction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleBatch {
    /// At most [`limits::RULE_CHANGES_MAX`].
    pub changes: Vec<RuleChange>,
    /// Issues that become known without a notification.
    pub known: Vec<(u32, u64)>,
}

/// Outcome of a batch of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleChanges {
    /// Another node has the lease: nothing was changed.
    NoLease,
    /// They were applied, except this number of them, whose state was another than the evaluated one.
    Applied {
        /// Changes that were not applied.
        conflicts: usize,
    },
}

/// The key of the alert of a rule about a subject, of its notifications.
pub fn alert_key(rule: i64, subject: &str) -> String {
    format!("rule:{rule}:{subject}")
}

type Columns = (String, String, i64, Option<i64>, i64, String, i64);
const COLUMNS: &str = "subject, state, since_ns, fired_ns, data_ns, severity, marker";

impl RuleStateKind {
    fn name(self) -> &'static str {
        match self {
            RuleStateKind::Quiet => "quiet",
            RuleStateKind::Pending => "pending",
            RuleStateKind::Firing => "firing",
        }
    }
}

impl Rules {
    /// Returns the states of rules, by rule and subject.
    pub async fn rule_states(&self, project: u32) -> Result<HashMap<(i64, String), RuleState>, ControlError> {
        type WithRule = (i64, String, String, i64, Option<i64>, i64, String, i64);
        let rows: Vec<WithRule> = sqlx::query_as(
            "SELECT rule_id, subject, state, since_ns, fired_ns, data_ns, severity, marker \
             FROM notification_rule_states WHERE rule_id IN (SELECT id FROM notification_rules WHERE project = $1)",
        )
        .bind(i64::from(project))
        .fetch_all(self.database.pool())
        .await?;
        rows.into_iter()
            .map(|(rule, subject, state, since_ns, fired_ns, data_ns, severity, marker)| {
                let (subject, state) = parsed((subject, state, since_ns, fired_ns, data_ns, severity, marker))?;
                Ok(((rule, subject), state))
            })
            .collect()
    }

    /// Returns the Issues of a project that are not new.
    pub async fn known_issues(&self, project: u32) -> Result<HashSet<u64>, ControlError> {
        let rows: Vec<String> = sqlx::query_scalar("SELECT hash FROM notification_known_issues WHERE project = $1")
            .bind(i64::from(project))
            .fetch_all(self.database.pool())
            .await?;
        Ok(rows.iter().filter_map(|hash| u64::from_str_radix(hash, 16).ok()).collect())
    }

    /// Applies changes in one transaction, as the holder of a lease. `lease`: its name and the holder; `None` for
    /// changes with claims, which need none.
    pub async fn apply_rule_changes(
        &self,
        lease: Option<(&str, &str)>,
        batch: &RuleBatch,
        now_ns: i64,
    ) -> Result<RuleChanges, ControlError> {
        let mut write = self.database.write().await?;
        if let Some((name, holder)) = lease
            && !write.has_lease(name, holder).await?
        {
            return Ok(RuleChanges::NoLease);
        }
        let mut is_claimed: HashMap<&RuleClaim, bool> = HashMap::new();
        let mut conflicts = 0;
        for change in &batch.changes {
            conflicts += usize::from(!apply_rule_change(&mut write, change, &mut is_claimed, now_ns).await?);
        }
        for (project, hash) in &batch.known {
            add_known_issues(&mut write, *project, &[*hash]).await?;
        }
        write.commit().await?;
        Ok(RuleChanges::Applied { conflicts })
    }

    /// Forgets rows that rules evaluated before `before_ns`, and notifications that were created before `kept_from_ns`.
    pub async fn delete_old_alerts(&self, before_ns: i64, kept_from_ns: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM notification_rule_rows WHERE seen_ns < $1")
            .bind(before_ns)
            .execute(write.on())
            .await?;
        sqlx::query("DELETE FROM notifications WHERE created_ns < $1").bind(kept_from_ns).execute(write.on()).await?;
        sqlx::query(
            "DELETE FROM notification_rule_states WHERE state = 'quiet' AND since_ns < $1 AND marker = 0 AND subject <> ''",
        )
        .bind(before_ns)
        .execute(write.on())
        .await?;
        write.commit().await
    }
}

/// `false`: the state is another than the evaluated one, and nothing was changed.
async fn apply_rule_change<'a>(
    write: &mut Write<'_>,
    change: &'a RuleChange,
    is_claimed: &mut HashMap<&'a RuleClaim, bool>,
    now_ns: i64,
) -> Result<bool, ControlError> {
    let Some(rule) = rule(write, change.rule).await? else { return Ok(true) };
    if !rule.is_enabled || rule.updated_ns != change.rule_updated_ns {
        return Ok(true);
    }
    if rule_state(write, change.rule, &change.subject).await? != change.before {
        return Ok(false);
    }
    let claimed = match &change.claim {
        None => true,
        // All rules of the project that wait for new Issues share the claim.
        Some(claim @ RuleClaim::Issue(project, hash)) => match is_claimed.get(claim) {
            Some(is) => *is,
            None => {
                let is = add_known_issues(write, *project, &[*hash]).await? == 1;
                is_claimed.insert(claim, is);
                is
            }
        },
        Some(RuleClaim::Row(row)) => {
            let inserted = sqlx::query(
                "INSERT INTO notification_rule_rows (rule_id, row_id, seen_ns) VALUES ($1, $2, $3) \
                 ON CONFLICT (rule_id, row_id) DO NOTHING",
            )
            .bind(change.rule)
            .bind(row)
            .bind(now_ns)
            .execute(write.on())
            .await?;
            inserted.rows_affected() == 1
        }
    };
    if !claimed {
        return Ok(true);
    }
    match &change.after {
        Some(state) => set_rule_state(write, change.rule, &change.subject, state).await?,
        None => {
            sqlx::query("DELETE FROM notification_rule_states WHERE rule_id = $1 AND subject = $2")
                .bind(change.rule)
                .bind(&change.subject)
                .execute(write.on())
                .await?;
        }
    }
    if let Some(notification) = &change.notification {
        notify(write, notification, &[Target::Channel(rule.channel)]).await?;
    }
    Ok(true)
}

async fn rule_state(write: &mut Write<'_>, rule: i64, subject: &str) -> Result<Option<RuleState>, ControlError> {
    let statement = format!("SELECT {COLUMNS} FROM notification_rule_states WHERE rule_id = $1 AND subject = $2");
    let row: Option<Columns> =
        sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(rule).bind(subject).fetch_optional(write.on()).await?;
    row.map(|row| Ok(parsed(row)?.1)).transpose()
}

/// The states of a rule by subject.
pub(super) async fn states_of_rule(write: &mut Write<'_>, rule: i64) -> Result<Vec<(String, RuleState)>, ControlError> {
    let statement = format!("SELECT {COLUMNS} FROM notification_rule_states WHERE rule_id = $1 ORDER BY subject");
    let rows: Vec<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(rule).fetch_all(write.on()).await?;
    rows.into_iter().map(parsed).collect()
}

async fn set_rule_state(
    write: &mut Write<'_>,
    rule: i64,
    subject: &str,
    state: &RuleState,
) -> Result<(), ControlError> {
    sqlx::query(
        "INSERT INTO notification_rule_states (rule_id, subject, state, since_ns, fired_ns, data_ns, severity, \
         marker) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (rule_id, subject) DO UPDATE SET state = excluded.state, since_ns = excluded.since_ns, \
         fired_ns = excluded.fired_ns, data_ns = excluded.data_ns, severity = excluded.severity, \
         marker = excluded.marker",
    )
    .bind(rule)
    .bind(subject)
    .bind(state.kind.name())
    .bind(state.since_ns)
    .bind(state.fired_ns)
    .bind(state.data_ns)
    .bind(state.severity.name())
    .bind(state.marker)
    .execute(write.on())
    .await?;
    Ok(())
}

/// Adds Issues that are not new. Returns the number of those that were not known.
pub(super) async fn add_known_issues(write: &mut Write<'_>, project: u32, hashes: &[u64]) -> Result<u64, ControlError> {
    let mut added = 0;
    for some in hashes.chunks(limits::KNOWN_ISSUES_PER_STATEMENT) {
        let values: Vec<String> = some.iter().map(|hash| format!("($1, '{hash:016x}')")).collect();
        let statement = format!(
            "INSERT INTO notification_known_issues (project, hash) VALUES {} ON CONFLICT (project, hash) DO NOTHING",
            values.join(", ")
        );
        let done = sqlx::query(sqlx::AssertSqlSafe(statement)).bind(i64::from(project)).execute(write.on()).await?;
        added += done.rows_affected();
    }
    Ok(added)
}

fn parsed(columns: Columns) -> Result<(String, RuleState), ControlError> {
    let (subject, state, since_ns, fired_ns, data_ns, severity, marker) = columns;
    let kinds = [RuleStateKind::Quiet, RuleStateKind::Pending, RuleStateKind::Firing];
    let kind = kinds.into_iter().find(|kind| kind.name() == state);
    let (Some(kind), Some(severity)) = (kind, Severity::of_name(&severity)) else {
        return Err(ControlError::Unreadable("the state of a rule"));
    };
    Ok((subject, RuleState { kind, since_ns, fired_ns, data_ns, severity, marker }))
}
