//! Mails that wait to be sent. A mail is written in the transaction of its cause.
//!
//! A node claims mails, sends them, and deletes each one that the mail server accepted: delivery is at least once, and
//! no token remains stored. Other mails are retried after a delay that grows each time.

use serde::{Deserialize, Serialize};

use crate::{ControlError, Database, Mail, Write};

/// The purpose that bodies are sealed for: they hold links with tokens.
const SEALED_AS: &str = "mail";

/// A mail that this node may send until its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMail {
    /// Row id.
    pub id: i64,
    /// Earlier attempts.
    pub tries: i64,
    /// Time of creation, nanoseconds since the epoch.
    pub created_ns: i64,
    /// `None`: sealed with another key.
    pub mail: Option<Mail>,
    /// The address of RFC 8058 that ends the recipient's subscription; empty: it is no mail to a list.
    pub unsubscribe: String,
}

#[derive(Serialize, Deserialize)]
struct Bodies {
    text: String,
    html: String,
    #[serde(default)]
    unsubscribe: String,
}

impl Write<'_> {
    /// Puts a mail into the outbox. It is sent after the commit.
    pub async fn insert_mail(&mut self, mail: &Mail, at_ns: i64) -> Result<(), ControlError> {
        self.insert_list_mail(mail, "", at_ns).await
    }

    /// Like [`Write::insert_mail`], for a subscriber. `unsubscribe`: see [`ClaimedMail::unsubscribe`].
    pub async fn insert_list_mail(&mut self, mail: &Mail, unsubscribe: &str, at_ns: i64) -> Result<(), ControlError> {
        let bodies = Bodies { text: mail.text.clone(), html: mail.html.clone(), unsubscribe: unsubscribe.to_owned() };
        let bodies = serde_json::to_string(&bodies).map_err(|_| ControlError::Unreadable("a mail"))?;
        sqlx::query(
            "INSERT INTO mail_outbox (recipient, subject, body_sealed, next_try_ns, created_ns) \
             VALUES ($1, $2, $3, $4, $4)",
        )
        .bind(&mail.recipient)
        .bind(&mail.subject)
        .bind(self.database().sealer().seal(SEALED_AS, &bodies)?)
        .bind(at_ns)
        .execute(self.on())
        .await?;
        Ok(())
    }
}

/// The mails that wait to be sent.
#[derive(Clone)]
pub struct Outbox {
    database: Database,
}

impl Outbox {
    /// Reads and writes in `database`.
    pub fn new(database: Database) -> Outbox {
        Outbox { database }
    }

    /// Claims at most `limit` mails that are due at `now_ns`, oldest first. No other node sends them for `lease_ns`.
    pub async fn claim_mail(&self, now_ns: i64, lease_ns: i64, limit: i64) -> Result<Vec<ClaimedMail>, ControlError> {
        type Columns = (i64, String, String, String, i64, i64);
        const WAITING: &str = "SELECT id, recipient, subject, body_sealed, tries, created_ns FROM mail_outbox \
             WHERE sent_ns IS NULL AND next_try_ns <= $1 AND claimed_until_ns <= $1 ORDER BY next_try_ns, id LIMIT $2";
        // Most polls find nothing and do not need the writer's lock.
        let due: Vec<Columns> =
            sqlx::query_as(WAITING).bind(now_ns).bind(limit).fetch_all(self.database.pool()).await?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let mut write = self.database.write().await?;
        let rows: Vec<Columns> = sqlx::query_as(WAITING).bind(now_ns).bind(limit).fetch_all(write.on()).await?;
        for row in &rows {
            sqlx::query("UPDATE mail_outbox SET claimed_until_ns = $2 WHERE id = $1")
                .bind(row.0)
                .bind(now_ns.saturating_add(lease_ns))
                .execute(write.on())
                .await?;
        }
        write.commit().await?;
        let claimed = |(id, recipient, subject, sealed, tries, created_ns): Columns| {
            let bodies: Option<Bodies> =
                self.database.sealer().open(SEALED_AS, &sealed).ok().and_then(|json| serde_json::from_str(&json).ok());
            let unsubscribe = bodies.as_ref().map(|bodies| bodies.unsubscribe.clone()).unwrap_or_default();
            let mail = bodies.map(|Bodies { text, html, .. }| Mail { recipient, subject, text, html });
            ClaimedMail { id, tries, created_ns, mail, unsubscribe }
        };
        Ok(rows.into_iter().map(claimed).collect())
    }

    /// Deletes a mail that was sent or given up.
    pub async fn delete_mail(&self, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM mail_outbox WHERE id = $1").bind(id).execute(write.on()).await?;
        write.commit().await
    }

    /// Records a failed attempt; the mail is due again at `next_try_ns`.
    pub async fn defer_mail(&self, id: i64, error: &str, next_try_ns: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query(
            "UPDATE mail_outbox SET tries = tries + 1, error = $2, next_try_ns = $3, claimed_until_ns = 0 WHERE id = $1",
        )
        .bind(id)
        .bind(error)
        .bind(next_try_ns)
        .execute(write.on())
        .await?;
        write.commit().await
    }

    /// Returns the number of waiting mails, and the last error of the one with the most attempts (empty: none).
    pub async fn mail_waiting(&self) -> Result<(i64, String), ControlError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM mail_outbox WHERE sent_ns IS NULL")
            .fetch_one(self.database.pool())
            .await?;
        let error: Option<String> =
            sqlx::query_scalar("SELECT error FROM mail_outbox WHERE sent_ns IS NULL ORDER BY tries DESC LIMIT 1")
                .fetch_optional(self.database.pool())
                .await?;
        Ok((count, error.unwrap_or_default()))
    }
}
