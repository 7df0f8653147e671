//! The audit log: who changed what, when, from where. Every change writes its line in its own transaction.
//!
//! ```text
//! write.audit(by.did("member.remove").on("user", 7).within(organization).with(json!({"role": "user"}))).await?;
//! ```

use std::fmt::Display;

use serde_json::{Value, json};
use sqlx::AnyConnection;

use super::db::Write;
use super::{ControlError, Project, notices};
#[cfg(doc)]
use tidewatch_limits as limits;

/// Who asks for a change, when and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// None: nobody signed in, or the command line.
    pub user_id: Option<i64>,
    /// An e-mail address, or what else acts.
    pub name: String,
    pub address: String,
    /// Of the browser or program; cut short ([`limits::USER_AGENT_CHARS_MAX`]).
    pub user_agent: String,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
}

/// One line to be written.
#[derive(Debug)]
pub struct Entry<'a> {
    by: &'a By,
    action: &'static str,
    subject: String,
    organization_id: Option<i64>,
    details: Value,
}

impl By {
    /// An action's name: the kind of thing, a dot, what was done (`project.rename`).
    pub fn did(&self, action: &'static str) -> Entry<'_> {
        Entry { by: self, action, subject: String::new(), organization_id: None, details: Value::Null }
    }
}

impl Entry<'_> {
    /// What the owner of the account is told by mail.
    pub(super) fn notice(&self) -> Option<&'static str> {
        // Who comes for the first time knows it.
        let is_new = self.details["isNew"] == true;
        notices::sentence(self.action).filter(|_| !is_new)
    }

    pub(super) fn origin(&self) -> (By, String) {
        (self.by.clone(), self.subject.clone())
    }

    pub fn on(mut self, kind: &str, id: impl Display) -> Self {
        self.subject = format!("{kind}:{id}");
        self
    }

    /// Whose admins may read it.
    pub fn within(mut self, organization: i64) -> Self {
        self.organization_id = Some(organization);
        self
    }

    /// A JSON object; never a secret.
    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}

impl Write<'_> {
    /// Writes into the audit log, with the change or not at all.
    pub async fn audit(&mut self, entry: Entry<'_>) -> Result<(), ControlError> {
        let notice = entry.notice().map(|what| (what, entry.origin()));
        insert(self.on(), entry).await?;
        match notice {
            Some((what, (by, subject))) => notices::insert(self, what, &by, subject).await,
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
    .bind(entry.by.at_ns)
    .bind(entry.organization_id)
    .bind(entry.by.user_id)
    .bind(&entry.by.name)
    .bind(&entry.by.address)
    .bind(entry.action)
    .bind(entry.subject)
    .bind(details)
    .bind(&entry.by.user_agent)
    .execute(on)
    .await?;
    Ok(())
}

/// One line as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditLine {
    pub id: i64,
    pub at_ns: i64,
    pub user_id: Option<i64>,
    pub actor: String,
    pub address: String,
    pub user_agent: String,
    pub action: String,
    pub subject: String,
    pub details: Value,
}

pub(super) type Columns = (i64, i64, Option<i64>, String, String, String, String, String, String);

impl AuditLine {
    pub(super) fn read(columns: Columns) -> AuditLine {
        let (id, at_ns, user_id, actor, address, action, subject, details, user_agent) = columns;
        let details = serde_json::from_str(&details).unwrap_or_default();
        AuditLine { id, at_ns, user_id, actor, address, user_agent, action, subject, details }
    }
}

/// Which lines of an organisation are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditQuestion<'a> {
    pub organization: i64,
    /// Older than this line.
    pub before: i64,
    pub most: i64,
    /// An action, or the kind of thing: `project.rename`, `project`. "": every one.
    pub action: &'a str,
    /// 0: everybody's.
    pub user: i64,
    /// Also what happened to the accounts of its members.
    pub has_accounts: bool,
}

impl super::Control {
    /// An organisation's lines, newest first, older than the line `before`.
    pub async fn audit_log(&self, organization: i64, before: i64, most: i64) -> Result<Vec<AuditLine>, ControlError> {
        self.audit_lines(&AuditQuestion { organization, before, most, action: "", user: 0, has_accounts: false }).await
    }

    /// Says that somebody took the log away as a file.
    pub async fn audit_export(&self, by: &By, organization: i64) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        write.audit(by.did("audit.export").on("organization", organization).within(organization)).await?;
        write.commit().await
    }

    /// Says that somebody removed an upload of the project.
    pub async fn audit_symbols_removal(&self, by: &By, project: &Project, key: &str) -> Result<(), ControlError> {
        let entry = by.did("symbols.remove").on("project", project.id).within(project.organization_id);
        let mut write = self.write().await?;
        write.audit(entry.with(json!({ "key": key }))).await?;
        write.commit().await
    }

    /// Lines, newest first.
    pub async fn audit_lines(&self, asked: &AuditQuestion<'_>) -> Result<Vec<AuditLine>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT id, at_ns, user_id, actor, address, action, subject, details, user_agent FROM audit_log \
             WHERE (organization_id = $1 OR ($8 = 1 AND organization_id IS NULL \
             AND user_id IN (SELECT m.user_id FROM memberships m WHERE m.organization_id = $1))) \
             AND id < $2 AND ($4 = '' OR action = $4 OR substr(action, 1, $5) = $6) \
             AND ($7 = 0 OR user_id = $7) ORDER BY id DESC LIMIT $3",
        )
        .bind(asked.organization)
        .bind(asked.before)
        .bind(asked.most)
        .bind(asked.action)
        .bind(asked.action.len() as i32 + 1)
        .bind(format!("{}.", asked.action))
        .bind(asked.user)
        .bind(i64::from(asked.has_accounts))
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(AuditLine::read).collect())
    }
}
