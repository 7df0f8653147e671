//! The audit log: entries that were written, and those that record no change of the database.

use serde_json::{Value, json};

use super::entry::Actor;
use crate::{ControlError, Database, Project};

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Row id; ascending in time.
    pub id: i64,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// See [`Actor::user_id`].
    pub user_id: Option<i64>,
    /// See [`Actor::name`].
    pub actor: String,
    /// See [`Actor::address`].
    pub address: String,
    /// See [`Actor::user_agent`].
    pub user_agent: String,
    /// See [`Actor::did`].
    pub action: String,
    /// Kind and id of the object: `user:7`. Empty: none.
    pub subject: String,
    /// A JSON object.
    pub details: Value,
}

type Columns = (i64, i64, Option<i64>, String, String, String, String, String, String);

impl AuditEntry {
    pub(crate) fn read(columns: Columns) -> AuditEntry {
        let (id, at_ns, user_id, actor, address, action, subject, details, user_agent) = columns;
        let details = serde_json::from_str(&details).unwrap_or_default();
        AuditEntry { id, at_ns, user_id, actor, address, user_agent, action, subject, details }
    }
}

/// Selects entries of an organization's audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditFilter<'a> {
    /// Id of the organization.
    pub organization: i64,
    /// Only entries older than the one with this id.
    pub before: i64,
    /// Maximum number of entries.
    pub limit: i64,
    /// An action, or the kind of object: `project.rename`, `project`. Empty: all.
    pub action: &'a str,
    /// Entries by this user; 0: by all.
    pub user: i64,
    /// Includes entries about the accounts of the organization's members.
    pub has_accounts: bool,
}

/// The audit log of the installation.
#[derive(Clone)]
pub struct AuditLog {
    database: Database,
}

impl AuditLog {
    /// Reads and writes in `database`.
    pub fn new(database: Database) -> AuditLog {
        AuditLog { database }
    }

    /// Returns at most `limit` entries of an organization, newest first, older than the entry `before`.
    pub async fn of_organization(
        &self,
        organization: i64,
        before: i64,
        limit: i64,
    ) -> Result<Vec<AuditEntry>, ControlError> {
        self.entries(&AuditFilter { organization, before, limit, action: "", user: 0, has_accounts: false }).await
    }

    /// Records an export of the organization's audit log.
    pub async fn record_export(&self, actor: &Actor, organization: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        write.audit(actor.did("audit.export").on("organization", organization).within(organization)).await?;
        write.commit().await
    }

    /// Records the removal of an upload of the project.
    pub async fn record_symbols_removal(
        &self,
        actor: &Actor,
        project: &Project,
        key: &str,
    ) -> Result<(), ControlError> {
        let entry = actor.did("symbols.remove").on_project(project);
        let mut write = self.database.write().await?;
        write.audit(entry.with(json!({ "key": key }))).await?;
        write.commit().await
    }

    /// Records the deletion of the sessions of one of the project's users. The user's id is not recorded.
    pub async fn record_sessions_removal(
        &self,
        actor: &Actor,
        project: &Project,
        sessions: u64,
    ) -> Result<(), ControlError> {
        let entry = actor.did("sessions.remove").on_project(project);
        let mut write = self.database.write().await?;
        write.audit(entry.with(json!({ "sessions": sessions }))).await?;
        write.commit().await
    }

    /// Returns the selected entries, newest first.
    pub async fn entries(&self, filter: &AuditFilter<'_>) -> Result<Vec<AuditEntry>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT id, at_ns, user_id, actor, address, action, subject, details, user_agent FROM audit_log \
             WHERE (organization_id = $1 OR ($8 = 1 AND organization_id IS NULL \
             AND user_id IN (SELECT m.user_id FROM memberships m WHERE m.organization_id = $1))) \
             AND id < $2 AND ($4 = '' OR action = $4 OR substr(action, 1, $5) = $6) \
             AND ($7 = 0 OR user_id = $7) ORDER BY id DESC LIMIT $3",
        )
        .bind(filter.organization)
        .bind(filter.before)
        .bind(filter.limit)
        .bind(filter.action)
        .bind(filter.action.len() as i32 + 1)
        .bind(format!("{}.", filter.action))
        .bind(filter.user)
        .bind(i64::from(filter.has_accounts))
        .fetch_all(self.database.pool())
        .await?;
        Ok(rows.into_iter().map(AuditEntry::read).collect())
    }
}
