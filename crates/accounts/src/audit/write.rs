//! Entries are written in the transaction of the change that they record.

use sqlx::AnyConnection;

use super::entry::Entry;
use super::notices;
use crate::{ControlError, Write};

impl Write<'_> {
    /// Writes an entry into the audit log within this transaction, and its notice into the outbox, if it has one.
    pub async fn audit(&mut self, entry: Entry<'_>) -> Result<(), ControlError> {
        let notice = sentence(&entry).map(|what| (what, entry.actor.clone(), entry.subject.clone()));
        insert(self.on(), entry).await?;
        match notice {
            Some((what, actor, subject)) => notices::insert(self, what, &actor, subject).await,
            None => Ok(()),
        }
    }
}

/// The sentence of the mail to the owner of the account, if the action sends one.
fn sentence(entry: &Entry<'_>) -> Option<&'static str> {
    // The link of a new account to its first provider sends no mail.
    let is_new = entry.details["isNew"] == true;
    notices::sentence(entry.action).filter(|_| !is_new)
}

async fn insert(on: &mut AnyConnection, entry: Entry<'_>) -> Result<(), ControlError> {
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
