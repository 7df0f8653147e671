//! Subscribers of status pages: mailboxes and webhooks. A subscription begins after it was confirmed with the token
//! that only its address has received.

use tidewatch_accounts::ControlError;
use tidewatch_accounts::tokens::{hash, prefixed_token};
use tidewatch_limits as limits;

use super::StatusPage;
use super::database::StatusPages;
use crate::channels::{AlertStatus, Notification, Severity, notify};
use crate::incidents::{Announcer, RULE_TYPE, SUBSCRIBER_SEALED_AS, TOKEN_SEALED_AS, direct};
use crate::status_pages::mails;

/// Kinds of delivery to a subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriberKind {
    /// By mail.
    Email,
    /// By a request.
    Webhook,
}

impl SubscriberKind {
    fn name(self) -> &'static str {
        match self {
            SubscriberKind::Email => "email",
            SubscriberKind::Webhook => "webhook",
        }
    }
}

/// A subscription, as its token shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Row id of the page.
    pub page: i64,
    /// The mailbox or the webhook.
    pub address: String,
    /// Whether it was confirmed.
    pub is_confirmed: bool,
}

impl StatusPages {
    /// Asks an address to confirm its subscription. Nothing is sent to an address that is subscribed already, was asked
    /// within [`limits::STATUS_CONFIRM_PAUSE`], or is beyond [`limits::STATUS_SUBSCRIBERS_MAX`]: the caller cannot
    /// distinguish these cases.
    pub async fn subscribe_to_status(
        &self,
        announcer: &Announcer,
        page: &StatusPage,
        kind: SubscriberKind,
        address: &str,
        now_ns: i64,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM status_subscribers WHERE confirmed_ns IS NULL AND requested_ns < $1")
            .bind(now_ns.saturating_sub(limits::STATUS_CONFIRM_LIFE.as_nanos() as i64))
            .execute(write.on())
            .await?;
        let target_hash = hash(&format!("{}:{address}", kind.name()));
        let known: Option<(i64, i64, Option<i64>)> = sqlx::query_as(
            "SELECT id, requested_ns, confirmed_ns FROM status_subscribers WHERE page_id = $1 AND target_hash = $2",
        )
        .bind(page.id)
        .bind(&target_hash)
        .fetch_optional(write.on())
        .await?;
        if let Some((id, requested_ns, confirmed_ns)) = known {
            let pause_ns = limits::STATUS_CONFIRM_PAUSE.as_nanos() as i64;
            if confirmed_ns.is_some() || now_ns.saturating_sub(requested_ns) < pause_ns {
                return Ok(());
            }
            sqlx::query("DELETE FROM status_subscribers WHERE id = $1").bind(id).execute(write.on()).await?;
        }
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM status_subscribers WHERE page_id = $1")
            .bind(page.id)
            .fetch_one(write.on())
            .await?;
        if count >= limits::STATUS_SUBSCRIBERS_MAX {
            return Ok(());
        }
        let token = prefixed_token("tws_")?;
        sqlx::query(
            "INSERT INTO status_subscribers (page_id, kind, target_hash, target_sealed, token_hash, token_sealed, \
             requested_ns) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(page.id)
        .bind(kind.name())
        .bind(target_hash)
        .bind(self.database.sealer().seal(SUBSCRIBER_SEALED_AS, address)?)
        .bind(hash(&token))
        .bind(self.database.sealer().seal(TOKEN_SEALED_AS, &token)?)
        .bind(now_ns)
        .execute(write.on())
        .await?;
        let link = announcer.subscription(&page.settings.slug, &token, "");
        match kind {
            SubscriberKind::Email => {
                let mail = mails::status_confirmation(&page.settings.name, address, &link);
                write.insert_mail(&mail, now_ns).await?;
            }
            SubscriberKind::Webhook => {
                let notification = Notification {
                    organization: page.organization,
                    project: None,
                    alert_key: format!("status:{}", page.id),
                    status: AlertStatus::Resolved,
                    severity: Severity::Info,
                    rule_type: RULE_TYPE.to_owned(),
                    rule_name: page.settings.name.clone(),
                    subject: format!("Confirm your subscription to {}", page.settings.name),
                    body: "Open the address in the header Subscription-Link, and confirm.".to_owned(),
                    path: format!("/status/{}", page.settings.slug),
                    series: Vec::new(),
                    at_ns: now_ns,
                };
                notify(&mut write, &notification, &[direct(address, "Subscription-Link", &link)]).await?;
            }
        }
        write.commit().await
    }

    /// Returns the subscription of a token. `None`: there is none, or the time to confirm it is over.
    pub async fn subscription(&self, token: &str, now_ns: i64) -> Result<Option<Subscription>, ControlError> {
        let row: Option<(i64, String, Option<i64>, i64)> = sqlx::query_as(
            "SELECT page_id, target_sealed, confirmed_ns, requested_ns FROM status_subscribers WHERE token_hash = $1",
        )
        .bind(hash(token))
        .fetch_optional(self.database.pool())
        .await?;
        let Some((page, target, confirmed_ns, requested_ns)) = row else { return Ok(None) };
        let life_ns = limits::STATUS_CONFIRM_LIFE.as_nanos() as i64;
        if confirmed_ns.is_none() && now_ns.saturating_sub(requested_ns) > life_ns {
            return Ok(None);
        }
        let address = self.database.sealer().open(SUBSCRIBER_SEALED_AS, &target)?;
        Ok(Some(Subscription { page, address, is_confirmed: confirmed_ns.is_some() }))
    }

    /// Confirms a subscription. Repetitions change nothing.
    pub async fn confirm_subscription(&self, token: &str, now_ns: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("UPDATE status_subscribers SET confirmed_ns = $2 WHERE token_hash = $1 AND confirmed_ns IS NULL")
            .bind(hash(token))
            .bind(now_ns)
            .execute(write.on())
            .await?;
        write.commit().await
    }

    /// Ends a subscription and deletes its address. Repetitions change nothing.
    pub async fn end_subscription(&self, token: &str) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM status_subscribers WHERE token_hash = $1")
            .bind(hash(token))
            .execute(write.on())
            .await?;
        write.commit().await
    }
}
