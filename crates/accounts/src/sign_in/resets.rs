//! Password resets. WIRE 5.2: one mail per user and hour; a token is valid for one hour and one use.

use super::SignIn;
use super::revocation::{AlsoRevoke, end_credentials};
use super::sessions::end_sessions;
use crate::secrets::tokens;
use crate::{Actor, ControlError, Mail};
use tidewatch_limits as limits;

impl SignIn {
    /// Puts a mail with a token into the outbox, if the address has an account without such a mail within the hour.
    /// Accounts without a password get none, because their provider alone controls access. The result does not reveal
    /// which case applies. `mail` renders the mail for a token.
    pub async fn begin_reset(
        &self,
        actor: &Actor,
        email: &str,
        mail: impl FnOnce(&str) -> Mail,
    ) -> Result<(), ControlError> {
        let token = tokens::prefixed_token("twr_")?;
        let mut write = self.database.write().await?;
        let user: Option<i64> = sqlx::query_scalar(
            "SELECT id FROM users WHERE email = $1 AND disabled_ns IS NULL AND password_hash IS NOT NULL",
        )
        .bind(email)
        .fetch_optional(write.on())
        .await?;
        let Some(user) = user else { return Ok(()) };
        let recent: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM password_resets WHERE user_id = $1 AND created_ns > $2")
                .bind(user)
                .bind(actor.at_ns.saturating_sub(limits::RESET_PAUSE.as_nanos() as i64))
                .fetch_one(write.on())
                .await?;
        if recent > 0 {
            return Ok(());
        }
        sqlx::query("DELETE FROM password_resets WHERE user_id = $1").bind(user).execute(write.on()).await?;
        sqlx::query(
            "INSERT INTO password_resets (token_hash, user_id, created_ns, expires_ns) VALUES ($1, $2, $3, $4)",
        )
        .bind(tokens::hash(&token))
        .bind(user)
        .bind(actor.at_ns)
        .bind(actor.at_ns.saturating_add(limits::RESET_LIFE.as_nanos() as i64))
        .execute(write.on())
        .await?;
        write.insert_mail(&mail(&token), actor.at_ns).await?;
        write.audit(actor.did("user.forgot_password").on("user", user)).await?;
        write.commit().await
    }

    /// Returns the address of the account whose password a valid token may set at `now_ns`; `None` for other tokens.
    pub async fn reset_email(&self, token: &str, now_ns: i64) -> Result<Option<String>, ControlError> {
        Ok(sqlx::query_scalar(
            "SELECT users.email FROM password_resets JOIN users ON users.id = password_resets.user_id \
             WHERE token_hash = $1 AND used_ns IS NULL AND expires_ns > $2 AND users.disabled_ns IS NULL",
        )
        .bind(tokens::hash(token))
        .bind(now_ns)
        .fetch_optional(self.database.pool())
        .await?)
    }

    /// Sets the password, uses up the token, ends every session, and deletes personal access tokens if
    /// `ends_personal_tokens`. Passkeys remain: access to a mailbox must not remove a second factor. Returns false for
    /// an invalid token.
    pub async fn finish_reset(
        &self,
        actor: &Actor,
        token: &str,
        password_hash: &str,
        ends_personal_tokens: bool,
    ) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let found: Option<(i64, String)> = sqlx::query_as(
            "SELECT users.id, users.email FROM password_resets JOIN users ON users.id = password_resets.user_id \
             WHERE token_hash = $1 AND used_ns IS NULL AND expires_ns > $2 AND users.disabled_ns IS NULL",
        )
        .bind(tokens::hash(token))
        .bind(actor.at_ns)
        .fetch_optional(write.on())
        .await?;
        let Some((user, email)) = found else { return Ok(false) };
        sqlx::query("UPDATE password_resets SET used_ns = $2 WHERE user_id = $1 AND used_ns IS NULL")
            .bind(user)
            .bind(actor.at_ns)
            .execute(write.on())
            .await?;
        // The link was sent to the address, which is therefore verified.
        sqlx::query(
            "UPDATE users SET password_hash = $2, email_verified_ns = COALESCE(email_verified_ns, $3) WHERE id = $1",
        )
        .bind(user)
        .bind(password_hash)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        end_sessions(&mut write, user, actor.at_ns).await?;
        let actor = Actor { user_id: Some(user), name: email, ..actor.clone() };
        let also = AlsoRevoke { personal_tokens: ends_personal_tokens, passkeys: false };
        end_credentials(&mut write, &actor, user, also).await?;
        write.audit(actor.did("user.reset_password").on("user", user)).await?;
        write.commit().await?;
        Ok(true)
    }
}
