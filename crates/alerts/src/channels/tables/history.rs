//! The history of notifications: what fired, what ended, and whether it was sent.

use sqlx::{AssertSqlSafe, Row};
use tidewatch_accounts::ControlError;

use crate::channels::{AlertStatus, Channels, Severity};

/// Which notifications of a project a list has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotificationFilter {
    /// `None`: both.
    pub status: Option<AlertStatus>,
    /// `None`: every severity.
    pub severity: Option<Severity>,
    /// `None`: of every type.
    pub rule_type: Option<String>,
    /// Part of the subject or the name of the rule, any case of ASCII letters; `None`: every one.
    pub search: Option<String>,
    /// Start of the time range, nanoseconds since the epoch.
    pub from_ns: i64,
    /// End of the time range, exclusive.
    pub to_ns: i64,
}

/// A notification of the history.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredNotification {
    /// Row id.
    pub id: i64,
    /// Equal for the notifications of one alert.
    pub alert_key: String,
    /// Whether the alert began or ended.
    pub status: AlertStatus,
    /// Severity of the alert.
    pub severity: Severity,
    /// The type of its rule, or `monitor`.
    pub rule_type: String,
    /// The name of its rule.
    pub rule_name: String,
    /// One line.
    pub subject: String,
    /// Sentences.
    pub body: String,
    /// Path of the page that shows it.
    pub path: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Whether the alert began and is not over.
    pub is_open: bool,
    /// Number of targets that have it.
    pub sent: i64,
    /// Number of targets that it is still sent to.
    pub waiting: i64,
    /// Number of targets that it was given up for.
    pub failed: i64,
    /// The last error of a target that does not have it; empty without one.
    pub error: String,
}

/// Whether a notification of the table `n` begins an alert that has not ended. One about an Issue is open until a user
/// decides about the Issue; one about an AI call is over when it fires.
const IS_OPEN: &str = "CAST((CASE WHEN n.status = 'firing' AND NOT EXISTS (SELECT 1 FROM notifications l \
                       WHERE l.organization_id = n.organization_id AND l.alert_key = n.alert_key AND l.id > n.id) \
                       AND n.rule_type NOT IN ('ai_trace_cost', 'ai_conversation_cost', 'ai_flagged_content') \
                       AND (n.rule_type NOT IN ('new_error', 'error_regression') OR NOT EXISTS \
                       (SELECT 1 FROM issue_decisions d WHERE d.project = n.project AND d.decided_ns > n.created_ns \
                       AND n.alert_key LIKE '%:' || d.hash)) THEN 1 ELSE 0 END) AS BIGINT)";
/// Notifications that pass a filter.
const WHERE: &str = "n.project = $1 AND n.created_ns >= $2 AND n.created_ns < $3 AND ($4 = '' OR n.status = $4) \
                     AND ($5 = '' OR n.severity = $5) AND ($6 = '' OR n.rule_type = $6) \
                     AND ($7 = '' OR LOWER(n.subject) LIKE $7 ESCAPE '!' OR LOWER(n.rule_name) LIKE $7 ESCAPE '!')";

impl Channels {
    /// Returns notifications of a project, the latest first, and the number of all that pass the filter.
    pub async fn notifications(
        &self,
        project: u32,
        filter: &NotificationFilter,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<StoredNotification>, u64), ControlError> {
        let status = filter.status.map_or("", AlertStatus::name);
        let severity = filter.severity.map_or("", Severity::name);
        let rule_type = filter.rule_type.as_deref().unwrap_or("");
        let search = filter.search.as_deref().map(contains).unwrap_or_default();
        let count = format!("SELECT COUNT(*) FROM notifications n WHERE {WHERE}");
        let total: i64 = sqlx::query_scalar(AssertSqlSafe(count))
            .bind(i64::from(project))
            .bind(filter.from_ns)
            .bind(filter.to_ns)
            .bind(status)
            .bind(severity)
            .bind(rule_type)
            .bind(&search)
            .fetch_one(self.database.pool())
            .await?;
        let outbox = |column: &str| {
            format!("(SELECT COUNT(*) FROM notification_outbox o WHERE o.notification_id = n.id AND {column})")
        };
        let list = format!(
            "SELECT n.id, n.alert_key, n.status, n.severity, n.rule_type, n.rule_name, n.subject, n.body, n.path, \
             n.created_ns, {IS_OPEN}, {}, {}, {}, \
             COALESCE((SELECT MAX(o.error) FROM notification_outbox o WHERE o.notification_id = n.id \
             AND o.sent_ns IS NULL), '') \
             FROM notifications n WHERE {WHERE} ORDER BY n.id DESC LIMIT $8 OFFSET $9",
            outbox("o.sent_ns IS NOT NULL"),
            outbox("o.sent_ns IS NULL AND o.failed_ns IS NULL"),
            outbox("o.failed_ns IS NOT NULL"),
        );
        let rows = sqlx::query(AssertSqlSafe(list))
            .bind(i64::from(project))
            .bind(filter.from_ns)
            .bind(filter.to_ns)
            .bind(status)
            .bind(severity)
            .bind(rule_type)
            .bind(&search)
            .bind(limit)
            .bind(offset)
            .fetch_all(self.database.pool())
            .await?;
        let found: Result<Vec<StoredNotification>, ControlError> = rows.iter().map(read).collect();
        Ok((found?, u64::try_from(total).unwrap_or(0)))
    }

    /// Returns the number of alerts of a project that began since `from_ns` and have not ended.
    pub async fn open_alerts(&self, project: u32, from_ns: i64) -> Result<u64, ControlError> {
        let count = format!(
            "SELECT COUNT(*) FROM notifications n WHERE n.project = $1 AND n.created_ns >= $2 AND {IS_OPEN} = 1"
        );
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(count))
            .bind(i64::from(project))
            .bind(from_ns)
            .fetch_one(self.database.pool())
            .await?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

/// The pattern of `LIKE` for a part of a string; `!` escapes.
fn contains(part: &str) -> String {
    let mut pattern = String::from("%");
    for c in part.to_ascii_lowercase().chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

fn read(row: &sqlx::any::AnyRow) -> Result<StoredNotification, ControlError> {
    const UNREADABLE: ControlError = ControlError::Unreadable("a notification");
    let (status, severity): (String, String) = (row.try_get(2)?, row.try_get(3)?);
    let status = [AlertStatus::Firing, AlertStatus::Resolved].into_iter().find(|one| one.name() == status);
    Ok(StoredNotification {
        id: row.try_get(0)?,
        alert_key: row.try_get(1)?,
        status: status.ok_or(UNREADABLE)?,
        severity: Severity::of_name(&severity).ok_or(UNREADABLE)?,
        rule_type: row.try_get(4)?,
        rule_name: row.try_get(5)?,
        subject: row.try_get(6)?,
        body: row.try_get(7)?,
        path: row.try_get(8)?,
        created_ns: row.try_get(9)?,
        is_open: row.try_get::<i64, _>(10)? != 0,
        sent: row.try_get(11)?,
        waiting: row.try_get(12)?,
        failed: row.try_get(13)?,
        error: row.try_get(14)?,
    })
}
