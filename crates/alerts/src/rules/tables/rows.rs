//! Rows of the table of rules.

use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
#[cfg(doc)]
use tidewatch_accounts::Project;
use tidewatch_accounts::{ControlError, Write};

use crate::channels::Severity;

/// A stored rule.
#[derive(Debug, Clone, PartialEq)]
pub struct NotificationRule {
    /// Row id.
    pub id: i64,
    /// See [`Project::number`].
    pub project: u32,
    /// The channel that its notifications are sent to.
    pub channel: i64,
    /// Its name.
    pub name: String,
    /// Its type (wire, 7).
    pub rule_type: String,
    /// Its configuration.
    pub config: Value,
    /// Minutes between two notifications about one subject.
    pub cooldown_minutes: i64,
    /// `None`: by the type and the value.
    pub severity: Option<Severity>,
    /// Whether it is evaluated.
    pub is_enabled: bool,
    /// Nothing fires before this time; 0: it is not snoozed. Nanoseconds since the epoch.
    pub snoozed_until_ns: i64,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Time of the latest change, nanoseconds since the epoch.
    pub updated_ns: i64,
}

/// The columns of [`read`].
pub(super) const SELECT: &str = "SELECT id, project, channel_id, name, rule_type, config, cooldown_minutes, severity, enabled, \
                      snoozed_until_ns, created_ns, updated_ns FROM notification_rules";

/// The rule, as it is in this transaction; `None` when it does not exist.
pub(super) async fn rule(write: &mut Write<'_>, id: i64) -> Result<Option<NotificationRule>, ControlError> {
    let statement = format!("{SELECT} WHERE id = $1");
    let row = sqlx::query(AssertSqlSafe(statement)).bind(id).fetch_optional(write.on()).await?;
    row.as_ref().map(read).transpose()
}

pub(super) fn read(row: &AnyRow) -> Result<NotificationRule, ControlError> {
    const UNREADABLE: ControlError = ControlError::Unreadable("a rule");
    let (project, config, severity): (i64, String, String) = (row.try_get(1)?, row.try_get(5)?, row.try_get(7)?);
    Ok(NotificationRule {
        id: row.try_get(0)?,
        project: u32::try_from(project).map_err(|_| UNREADABLE)?,
        channel: row.try_get(2)?,
        name: row.try_get(3)?,
        rule_type: row.try_get(4)?,
        config: serde_json::from_str(&config).map_err(|_| UNREADABLE)?,
        cooldown_minutes: row.try_get(6)?,
        severity: Severity::of_name(&severity),
        is_enabled: row.try_get::<i64, _>(8)? != 0,
        snoozed_until_ns: row.try_get(9)?,
        created_ns: row.try_get(10)?,
        updated_ns: row.try_get(11)?,
    })
}
