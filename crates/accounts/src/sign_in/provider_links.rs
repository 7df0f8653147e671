//! A provider's sign-in with the verified address of an account that is not linked to the provider yet. The link waits
//! in a second-factor challenge until the user proves ownership of the account.

use super::SignIn;
use super::pending_link::{PendingLink, mail_code_hash};
use super::second_factor::WAITING;
use crate::secrets::tokens::hash;
use crate::{Actor, ControlError, Mail};
use tidewatch_limits as limits;

const DIGITS: usize = 8;

/// The result of a request for a mailed code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkMail {
    /// The mail is in the outbox.
    Sent,
    /// A code was sent for this sign-in before.
    SentBefore,
    /// No link waits with this token, or the account has a second factor, which is required instead.
    Unknown,
    /// [`limits::LINK_MAILS_MAX`] codes were sent within [`limits::SECOND_FACTOR_WINDOW`].
    TooMany,
}

impl SignIn {
    /// Stores the link and returns a token with which ownership of the account is proved within
    /// [`limits::LINK_PROOF_MAX`].
    pub async fn await_link_proof(&self, user: i64, link: &PendingLink, now_ns: i64) -> Result<String, ControlError> {
        let sealed = self.seal_link(link)?;
        self.insert_waiting(user, Some(&sealed), limits::LINK_PROOF_MAX, now_ns).await
    }

    /// Mails a code to the account's address, once for each waiting link. `mail` renders the mail for an address and a
    /// code.
    pub async fn mail_link_code(
        &self,
        actor: &Actor,
        token: &str,
        mail: impl FnOnce(&str, &str) -> Mail,
    ) -> Result<LinkMail, ControlError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random)?;
        let code = format!("{:0DIGITS$}", u64::from_le_bytes(random) % 10_u64.pow(DIGITS as u32));
        let mut write = self.database.write().await?;
        let waiting: Option<(i64, Option<String>)> = sqlx::query_as(
            "SELECT user_id, mail_code_hash FROM challenges WHERE token_hash = $1 AND kind = $2 \
             AND link_sealed IS NOT NULL AND used_ns IS NULL AND expires_ns > $3",
        )
        .bind(hash(token))
        .bind(WAITING)
        .bind(actor.at_ns)
        .fetch_optional(write.on())
        .await?;
        let Some((id, sent)) = waiting else { return Ok(LinkMail::Unknown) };
        let user = self.database.user(id).filter(|user| !user.has_two_factor);
        let Some(user) = user else { return Ok(LinkMail::Unknown) };
        if sent.is_some() {
            return Ok(LinkMail::SentBefore);
        }
        let mails: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM challenges WHERE user_id = $1 AND mail_code_hash IS NOT NULL AND created_ns > $2",
        )
        .bind(id)
        .bind(actor.at_ns.saturating_sub(limits::SECOND_FACTOR_WINDOW.as_nanos() as i64))
        .fetch_one(write.on())
        .await?;
        if mails >= limits::LINK_MAILS_MAX {
            return Ok(LinkMail::TooMany);
        }
        sqlx::query("UPDATE challenges SET mail_code_hash = $2 WHERE token_hash = $1")
            .bind(hash(token))
            .bind(mail_code_hash(token, &code))
            .execute(write.on())
            .await?;
        write.insert_mail(&mail(&user.email, &code), actor.at_ns).await?;
        write.audit(actor.did("user.link_code").on("user", id)).await?;
        write.commit().await?;
        Ok(LinkMail::Sent)
    }
}
