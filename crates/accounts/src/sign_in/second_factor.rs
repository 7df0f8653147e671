//! Second factors: codes of an authenticator (TOTP), recovery codes, and the sign-ins that wait for one. Passkeys, in
//! `passkeys.rs`, are second factors too.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::SignIn;
use super::passkey_verification::Verification;
use super::pending_link::{PendingLink, mail_code_hash};
use super::sessions::end_sessions;
use crate::secrets::tokens::{hash, prefixed_token};
use crate::secrets::totp::Codes;
use crate::{Actor, ControlError, User, Write};
use tidewatch_limits as limits;

/// The purpose that secrets of authenticators are sealed for.
const SEALED_AS: &str = "totp";
/// Kind of the challenge between password and second factor.
pub(super) const WAITING: &str = "second factor";

/// The second factors of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SecondFactors {
    /// A confirmed authenticator.
    pub totp: bool,
    /// Number of unused recovery codes.
    pub recovery_codes_left: i64,
    /// Number of passkeys.
    pub passkeys: i64,
}

impl SecondFactors {
    /// Returns whether a sign-in with a password requires a second factor.
    pub fn any(self) -> bool {
        self.totp || self.passkeys > 0
    }
}

/// The response of a user to the request for a second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondFactorResponse<'a> {
    /// A code of an authenticator.
    Code(&'a str),
    /// A recovery code.
    RecoveryCode(&'a str),
    /// A passkey.
    Passkey(&'a Verification<'a>),
    /// The account's password, for a [`PendingLink`] to an account without a second factor only.
    Password {
        /// The password is right; the caller has verified it.
        is_right: bool,
    },
    /// A mailed code, for the same [`PendingLink`]s.
    MailCode(&'a str),
}

/// The result of a second factor.
#[derive(Debug, Clone)]
pub enum SecondFactorOutcome {
    /// The factor is right.
    In {
        /// The user of the sign-in.
        user: Arc<User>,
        /// A provider to be linked with [`SignIn::sign_in_with_provider`].
        link: Option<PendingLink>,
    },
    /// The factor is wrong, or the token is unknown, used or expired.
    No,
    /// The account has [`limits::SECOND_FACTOR_TRIES_MAX`] wrong factors, from all clients together.
    TooMany,
}

impl SignIn {
    /// Returns the second factors of a user.
    pub async fn second_factors(&self, user: i64) -> Result<SecondFactors, ControlError> {
        let (totp, recovery_codes_left, passkeys): (i64, i64, i64) = sqlx::query_as(
            "SELECT (SELECT COUNT(*) FROM totp WHERE user_id = $1 AND confirmed_ns IS NOT NULL), \
             (SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1 AND used_ns IS NULL), \
             (SELECT COUNT(*) FROM passkeys WHERE user_id = $1)",
        )
        .bind(user)
        .fetch_one(self.database.pool())
        .await?;
        Ok(SecondFactors { totp: totp > 0, recovery_codes_left, passkeys })
    }

    /// Stores the secret of a new authenticator, which is active after [`SignIn::confirm_totp`]. Returns false when
    /// the user has an active one.
    pub async fn begin_totp(&self, actor: &Actor, user: i64, codes: &Codes) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let changed = sqlx::query(
            "INSERT INTO totp (user_id, secret_sealed, created_ns) VALUES ($1, $2, $3) ON CONFLICT (user_id) DO \
             UPDATE SET secret_sealed = excluded.secret_sealed, created_ns = excluded.created_ns, last_step = 0 \
             WHERE totp.confirmed_ns IS NULL",
        )
        .bind(user)
        .bind(self.database.sealer().seal(SEALED_AS, &codes.base32())?)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        write.commit().await?;
        Ok(changed.rows_affected() > 0)
    }

    /// Activates the authenticator if `code` is right. Returns new recovery codes; `None` if the code is wrong or no
    /// setup is in progress.
    pub async fn confirm_totp(
        &self,
        actor: &Actor,
        user: &User,
        code: &str,
    ) -> Result<Option<Vec<String>>, ControlError> {
        let mut write = self.database.write().await?;
        let sealed: Option<String> =
            sqlx::query_scalar("SELECT secret_sealed FROM totp WHERE user_id = $1 AND confirmed_ns IS NULL")
                .bind(user.id)
                .fetch_optional(write.on())
                .await?;
        let Some(sealed) = sealed else { return Ok(None) };
        let codes = self.codes(&sealed, &user.email)?;
        let Some(step) = codes.step(code, actor.at_ns) else { return Ok(None) };
        sqlx::query("UPDATE totp SET confirmed_ns = $2, last_step = $3 WHERE user_id = $1")
            .bind(user.id)
            .bind(actor.at_ns)
            .bind(step)
            .execute(write.on())
            .await?;
        let recovery = insert_recovery_codes(&mut write, user.id).await?;
        write.audit(actor.did("two_factor.enable").on("user", user.id).with(json!({ "kind": "totp" }))).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(Some(recovery))
    }

    /// Removes the authenticator, and the recovery codes if the user has no passkey.
    pub async fn remove_totp(&self, actor: &Actor, user: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM totp WHERE user_id = $1").bind(user).execute(write.on()).await?;
        drop_idle_recovery_codes(&mut write, user).await?;
        write.audit(actor.did("two_factor.disable").on("user", user).with(json!({ "kind": "totp" }))).await?;
        write.changes_directory();
        write.commit().await
    }

    /// Removes every second factor and ends all sessions, because the lost device may be signed in.
    pub async fn remove_second_factors(&self, actor: &Actor, user: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        for statement in [
            "DELETE FROM totp WHERE user_id = $1",
            "DELETE FROM recovery_codes WHERE user_id = $1",
            "DELETE FROM passkeys WHERE user_id = $1",
        ] {
            sqlx::query(statement).bind(user).execute(write.on()).await?;
        }
        end_sessions(&mut write, user, actor.at_ns).await?;
        write.audit(actor.did("two_factor.disable").on("user", user)).await?;
        write.changes_directory();
        write.commit().await
    }

    /// Replaces the recovery codes. Returns the new ones.
    pub async fn replace_recovery_codes(&self, actor: &Actor, user: i64) -> Result<Vec<String>, ControlError> {
        let mut write = self.database.write().await?;
        let codes = insert_recovery_codes(&mut write, user).await?;
        write.audit(actor.did("two_factor.recovery_codes").on("user", user)).await?;
        write.commit().await?;
        Ok(codes)
    }

    /// Returns a token for the second step of a sign-in, valid for [`limits::SECOND_FACTOR_MAX`]. The caller has
    /// verified the password.
    pub async fn await_second_factor(&self, user: i64, now_ns: i64) -> Result<String, ControlError> {
        self.insert_waiting(user, None, limits::SECOND_FACTOR_MAX, now_ns).await
    }

    pub(super) async fn insert_waiting(
        &self,
        user: i64,
        link_sealed: Option<&str>,
        life: Duration,
        now_ns: i64,
    ) -> Result<String, ControlError> {
        let token = prefixed_token("twm_")?;
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM challenges WHERE kind = $1 AND created_ns < $2")
            .bind(WAITING)
            .bind(now_ns.saturating_sub(limits::SECOND_FACTOR_WINDOW.as_nanos() as i64))
            .execute(write.on())
            .await?;
        sqlx::query(
            "INSERT INTO challenges (token_hash, kind, user_id, state_sealed, created_ns, expires_ns, link_sealed) \
             SELECT $1, $2, id, CAST(session_epoch AS TEXT), $4, $5, $6 FROM users WHERE id = $3",
        )
        .bind(hash(&token))
        .bind(WAITING)
        .bind(user)
        .bind(now_ns)
        .bind(now_ns.saturating_add(life.as_nanos() as i64))
        .bind(link_sealed)
        .execute(write.on())
        .await?;
        write.commit().await?;
        Ok(token)
    }

    /// Verifies the second factor of a sign-in. Each code is accepted once; wrong ones are counted by account.
    pub async fn verify_second_factor(
        &self,
        actor: &Actor,
        token: &str,
        response: SecondFactorResponse<'_>,
    ) -> Result<SecondFactorOutcome, ControlError> {
        let mut write = self.database.write().await?;
        let waiting: Option<(i64, String, Option<String>, Option<String>)> = sqlx::query_as(
            "SELECT user_id, state_sealed, link_sealed, mail_code_hash FROM challenges \
             WHERE token_hash = $1 AND kind = $2 AND used_ns IS NULL AND expires_ns > $3",
        )
        .bind(hash(token))
        .bind(WAITING)
        .bind(actor.at_ns)
        .fetch_optional(write.on())
        .await?;
        let Some((id, epoch, link, mail_code)) = waiting else { return Ok(SecondFactorOutcome::No) };
        // The token is void if the password was changed meanwhile.
        let user = self.database.user(id).filter(|user| user.session_epoch.to_string() == epoch);
        let Some(user) = user else { return Ok(SecondFactorOutcome::No) };
        let tries: i64 = sqlx::query_scalar(
            "SELECT CAST(COALESCE(SUM(tries), 0) AS BIGINT) FROM challenges \
             WHERE kind = $1 AND user_id = $2 AND created_ns > $3",
        )
        .bind(WAITING)
        .bind(id)
        .bind(actor.at_ns.saturating_sub(limits::SECOND_FACTOR_WINDOW.as_nanos() as i64))
        .fetch_one(write.on())
        .await?;
        if tries >= limits::SECOND_FACTOR_TRIES_MAX {
            return Ok(SecondFactorOutcome::TooMany);
        }
        // Accounts with a second factor cannot be proved with a password or a mailed code.
        let accepts_weaker_proof = link.is_some() && !user.has_two_factor;
        let is_right = match response {
            SecondFactorResponse::Code(code) => self.use_code(&mut write, &user, code, actor.at_ns).await?,
            SecondFactorResponse::RecoveryCode(code) => use_recovery_code(&mut write, id, code, actor.at_ns).await?,
            SecondFactorResponse::Passkey(passkey) => {
                self.use_second_passkey(&mut write, actor, &user, token, passkey).await?
            }
            SecondFactorResponse::Password { is_right } => accepts_weaker_proof && is_right,
            SecondFactorResponse::MailCode(code) => {
                accepts_weaker_proof && mail_code.is_some_and(|sent| sent == mail_code_hash(token, code))
            }
        };
        let statement = if is_right {
            "UPDATE challenges SET used_ns = $2 WHERE token_hash = $1"
        } else {
            "UPDATE challenges SET tries = tries + 1 WHERE token_hash = $1 AND $2 > 0"
        };
        sqlx::query(statement).bind(hash(token)).bind(actor.at_ns).execute(write.on()).await?;
        let actor = Actor { user_id: Some(id), name: user.email.clone(), ..actor.clone() };
        if !is_right {
            let details = json!({ "how": "second factor", "failures": tries + 1 });
            write.audit(actor.did("sign_in.refuse").on("user", id).with(details)).await?;
        }
        if let (true, SecondFactorResponse::RecoveryCode(_)) = (is_right, response) {
            write.audit(actor.did("two_factor.recover").on("user", id)).await?;
        }
        write.commit().await?;
        if !is_right {
            return Ok(SecondFactorOutcome::No);
        }
        let link = link.map(|sealed| self.open_link(&sealed)).transpose()?;
        Ok(SecondFactorOutcome::In { user, link })
    }

    /// Verifies a code and uses it up. RFC 6238, 5.2: neither a used code nor an older one is accepted.
    async fn use_code(
        &self,
        write: &mut Write<'_>,
        user: &User,
        code: &str,
        now_ns: i64,
    ) -> Result<bool, ControlError> {
        let sealed: Option<String> =
            sqlx::query_scalar("SELECT secret_sealed FROM totp WHERE user_id = $1 AND confirmed_ns IS NOT NULL")
                .bind(user.id)
                .fetch_optional(write.on())
                .await?;
        let Some(sealed) = sealed else { return Ok(false) };
        let Some(step) = self.codes(&sealed, &user.email)?.step(code, now_ns) else { return Ok(false) };
        let used = sqlx::query("UPDATE totp SET last_step = $2 WHERE user_id = $1 AND last_step < $2")
            .bind(user.id)
            .bind(step)
            .execute(write.on())
            .await?;
        Ok(used.rows_affected() > 0)
    }

    fn codes(&self, sealed: &str, email: &str) -> Result<Codes, ControlError> {
        let secret = self.database.sealer().open(SEALED_AS, sealed)?;
        Codes::from_base32(&secret, email).map_err(|_| ControlError::Unreadable("a second factor"))
    }
}

/// Deletes the recovery codes of a user without a second factor.
pub(super) async fn drop_idle_recovery_codes(write: &mut Write<'_>, user: i64) -> Result<(), ControlError> {
    sqlx::query(
        "DELETE FROM recovery_codes WHERE user_id = $1 \
         AND (SELECT COUNT(*) FROM totp WHERE totp.user_id = $1) = 0 \
         AND (SELECT COUNT(*) FROM passkeys WHERE passkeys.user_id = $1) = 0",
    )
    .bind(user)
    .execute(write.on())
    .await?;
    Ok(())
}

/// Replaces the recovery codes with ten new ones: 80 random bits each, `xxxxx-xxxxx-xxxxx-xxxxx`, stored as hashes.
pub(super) async fn insert_recovery_codes(write: &mut Write<'_>, user: i64) -> Result<Vec<String>, ControlError> {
    sqlx::query("DELETE FROM recovery_codes WHERE user_id = $1").bind(user).execute(write.on()).await?;
    let mut codes = Vec::new();
    while codes.len() < limits::RECOVERY_CODES {
        let random = prefixed_token("")?;
        let code = [&random[..5], &random[5..10], &random[10..15], &random[15..20]].join("-");
        sqlx::query("INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)")
            .bind(user)
            .bind(hash(&code.replace('-', "")))
            .execute(write.on())
            .await?;
        codes.push(code);
    }
    Ok(codes)
}

async fn use_recovery_code(write: &mut Write<'_>, user: i64, code: &str, now_ns: i64) -> Result<bool, ControlError> {
    let plain: String = code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let used =
        sqlx::query("UPDATE recovery_codes SET used_ns = $3 WHERE user_id = $1 AND code_hash = $2 AND used_ns IS NULL")
            .bind(user)
            .bind(hash(&plain))
            .bind(now_ns)
            .execute(write.on())
            .await?;
    Ok(used.rows_affected() > 0)
}
