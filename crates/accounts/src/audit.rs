//! The audit log: who changed what, when and from where. Every change writes its entry in its own transaction.
//!
//! ```text
//! write.audit(actor.did("member.remove").on("user", 7).within(organization).with(json!({"role": "user"}))).await?;
//! ```

use std::fmt::Display;

use serde_json::{Value, json};
use sqlx::AnyConnection;

use super::db::Write;
use super::{ControlError, Project, notices};
#[cfg(doc)]
use tidewatch_limits as limits;

/// The author of a change, with the time and origin of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `None` for requests without a user, and for the command line.
    pub user_id: Option<i64>,
    /// E-mail address of the user, or the name of the acting program.
    pub name: String,
    /// IP address of the client; empty for the command line.
    pub address: String,
    /// User-Agent of the client, truncated to [`limits::USER_AGENT_CHARS_MAX`] characters.
    pub user_agent: String,
    /// Time of the change, nanoseconds since the epoch.
    pub at_ns: i64,
}

/// An entry to be written.
#[derive(Debug)]
pub struct Entry<'a> {
    actor: &'a Actor,
    action: &'static str,
    subject: String,
    organization_id: Option<i64>,
    details: Value,
}

impl Actor {
    /// Starts an entry for `action`: the kind of object, a dot, and the verb (`project.rename`).
    pub fn did(&self, action: &'static str) -> Entry<'_> {
        Entry { actor: self, action, subject: String::new(), organization_id: None, details: Value::Null }
    }
}

impl Entry<'_> {
    /// The sentence of the mail to the owner of the account, if the action sends one.
    pub(super) fn notice(&self) -> Option<&'static str> {
        // The link of a new account to its first provider sends no mail.
        let is_new = self.details["isNew"] == true;
        notices::sentence(self.action).filter(|_| !is_new)
    }

    pub(super) fn origin(&self) -> (Actor, String) {
        (self.actor.clone(), self.subject.clone())
    }

    /// Sets the object of the action: its kind and id.
    pub fn on(mut self, kind: &str, id: impl Display) -> Self {
        self.subject = format!("{kind}:{id}");
        self
    }

    /// Sets a project as the object of the action, and its organization.
    pub fn on_project(self, project: &Project) -> Self {
        self.on("project", project.id).within(project.organization_id)
    }

    /// Sets the organization whose admins may read the entry.
    pub fn within(mut self, organization: i64) -> Self {
        self.organization_id = Some(organization);
        self
    }

    /// Sets the details: a JSON object without secrets.
    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}

impl Write<'_> {
    /// Writes an entry into the audit log within this transaction, and its notice into the outbox, if it has one.
    pub async fn audit(&mut self, entry: Entry<'_>) -> Result<(), ControlError> {
        let notice = entry.notice().map(|what| (what, entry.origin()));
        insert(self.on(), entry).await?;
        match notice {
            Some((what, (actor, subject))) => notices::insert(self, what, &actor, subject).await,
            None => Ok(()),
        }
    }
}

pub(super) async fn insert(on: &mut AnyConnection, entry: Entry<'_>) -> Result<(), ControlError> {
    let details = if entry.details.is_null() { "{}".to_owned() } else { entry.details.to_string() };
    sqlx::query(
        "INSERT INTO audit_log (at_ns, organization_id, user_id, actor, address, action, subject, details, user_agent) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(entry.actor.at_ns)
    .bind(entry.organization_id)
    .bind(entry.actor.user_id)
    .bind(&entry.actor.name)
    .bind(&entry.actor.address)
    .bind(entry.action)
    .bind(entry.subject)
    .bind(details)
    .bind(&entry.actor.user_agent)
    .execute(on)
    .await?;
    Ok(())
}

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

pub(super) type Columns = (i64, i64, Option<i64>, String, String, String, String, String, String);

impl AuditEntry {
    pub(super) fn read(columns: Columns) -> AuditEntry {
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

impl super::Control {
    /// Returns at most `limit` entries of an organization, newest first, older than the entry `before`.
    pub async fn audit_log(&self, organization: i64, before: i64, limit: i64) -> Result<Vec<AuditEntry>, ControlError> {
        self.audit_entries(&AuditFilter { organization, before, limit, action: "", user: 0, has_accounts: false }).await
    }

    /// Records an export of the organization's audit log.
    pub async fn audit_export(&self, actor: &Actor, organization: i64) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        write.audit(actor.did("audit.export").on("organization", organization).within(organization)).await?;
        write.commit().await
    }

    /// Records the removal of an upload of the project.
    pub async fn audit_symbols_removal(&self, actor: &Actor, project: &Project, key: &str) -> Result<(), ControlError> {
        let entry = actor.did("symbols.remove").on_project(project);
        let mut write = self.write().await?;
        write.audit(entry.with(json!({ "key": key }))).await?;
        write.commit().await
    }

    /// Records the deletion of the sessions of one of the project's users. The user's id is not recorded.
    pub async fn audit_sessions_removal(
        &self,
        actor: &Actor,
        project: &Project,
        sessions: u64,
    ) -> Result<(), ControlError> {
        let entry = actor.did("sessions.remove").on_project(project);
        let mut write = self.write().await?;
        write.audit(entry.with(json!({ "sessions": sessions }))).await?;
        write.commit().await
    }

    /// Returns the selected entries, newest first.
    pub async fn audit_entries(&self, filter: &AuditFilter<'_>) -> Result<Vec<AuditEntry>, ControlError> {
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
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(AuditEntry::read).collect())
    }
}
