//! Sessions of people: one row for each sign-in, named by a login (`sid`) or shown as a page's cookie.
//!
//! A cookie's value is replaced after [`limits::SESSION_ROTATION`] of use. The value before is taken until the new one
//! was seen and for [`limits::SESSION_COOKIE_GRACE`] after that, because requests overlap and answers get lost; whoever
//! shows it later is not alone, and the session ends.

use serde_json::json;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::audit::By;
use super::db::Write;
use super::tokens::{hash, prefixed_token};
use super::{Control, ControlError, User};
use tidewatch_limits as limits;

const COOKIE_PREFIX: &str = "twc_";
const COOKIE_VALUE: &str = "session cookie";

/// A session as its person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: i64,
    pub user_agent: String,
    /// Where it was last seen.
    pub address: String,
    /// Nanoseconds since the epoch, as all times here.
    pub created_ns: i64,
    pub last_seen_ns: i64,
    pub expires_ns: i64,
}

/// The session that a request belongs to. Whether its epoch is still the user's is for the caller to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldSession {
    pub id: i64,
    pub user: i64,
    pub session_epoch: i64,
    /// When the person last proved who they are.
    pub proved_ns: i64,
    pub expires_ns: i64,
}

/// A new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunSession {
    pub id: i64,
    /// The value of a page's cookie.
    pub cookie: String,
    pub expires_ns: i64,
}

const COLUMNS: &str = "id, user_id, session_epoch, proved_ns, expires_ns, last_seen_ns";

fn held(row: &AnyRow) -> Result<(HeldSession, i64), sqlx::Error> {
    let session = HeldSession {
        id: row.try_get(0)?,
        user: row.try_get(1)?,
        session_epoch: row.try_get(2)?,
        proved_ns: row.try_get(3)?,
        expires_ns: row.try_get(4)?,
    };
    Ok((session, row.try_get(5)?))
}

impl Control {
    /// A session for [`limits::LOGIN_LIFE`], in the epoch of `user` as it was read. `proved_ns`: when the person proved who
    /// they are, which is now unless another session goes on in this one. Beyond [`limits::SESSIONS_MAX`] the one
    /// that was not seen for longest ends.
    pub async fn begin_session(&self, by: &By, user: &User, proved_ns: i64) -> Result<BegunSession, ControlError> {
        let cookie = prefixed_token(COOKIE_PREFIX)?;
        let expires_ns = by.at_ns.saturating_add(limits::LOGIN_LIFE.as_nanos() as i64);
        let mut write = self.write().await?;
        sqlx::query("DELETE FROM sessions WHERE expires_ns <= $1").bind(by.at_ns).execute(write.on()).await?;
        sqlx::query(
            "DELETE FROM sessions WHERE user_id = $1 AND id NOT IN \
             (SELECT id FROM sessions WHERE user_id = $1 ORDER BY last_seen_ns DESC, id DESC LIMIT $2)",
        )
        .bind(user.id)
        .bind(limits::SESSIONS_MAX - 1)
        .execute(write.on())
        .await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO sessions (user_id, session_epoch, cookie_hash, cookie_sealed, rotated_ns, confirmed_ns, \
             user_agent, address, proved_ns, created_ns, last_seen_ns, expires_ns) \
             VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $9, $5, $5, $8) RETURNING id",
        )
        .bind(user.id)
        .bind(user.session_epoch)
        .bind(hash(&cookie))
        .bind(self.sealer().seal(COOKIE_VALUE, &cookie)?)
        .bind(by.at_ns)
        .bind(&by.user_agent)
        .bind(&by.address)
        .bind(expires_ns)
        .bind(proved_ns)
        .fetch_one(write.on())
        .await?;
        write.commit().await?;
        Ok(BegunSession { id, cookie, expires_ns })
    }

    /// The session that a login names.
    pub async fn session_of_login(&self, by: &By, id: i64) -> Result<Option<HeldSession>, ControlError> {
        let found = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM sessions WHERE id = $1 AND expires_ns > $2"
        )))
        .bind(id)
        .bind(by.at_ns)
        .fetch_optional(self.pool())
        .await?;
        let Some(row) = found else { return Ok(None) };
        let (session, last_seen_ns) = held(&row)?;
        self.note_seen(by, session.id, last_seen_ns).await?;
        Ok(Some(session))
    }

    /// The session that a page's cookie shows, and the value that the page shall have from now on, when it is another.
    pub async fn session_of_cookie(
        &self,
        by: &By,
        cookie: &str,
    ) -> Result<Option<(HeldSession, Option<String>)>, ControlError> {
        let shown = hash(cookie);
        let found = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS}, CASE WHEN cookie_hash = $1 THEN 1 ELSE 0 END, cookie_sealed, rotated_ns, confirmed_ns \
             FROM sessions WHERE (cookie_hash = $1 OR previous_hash = $1) AND expires_ns > $2"
        )))
        .bind(&shown)
        .bind(by.at_ns)
        .fetch_optional(self.pool())
        .await?;
        let Some(row) = found else { return Ok(None) };
        let (session, last_seen_ns) = held(&row)?;
        let is_newest = row.try_get::<i64, _>(6)? == 1;
        let (rotated_ns, confirmed_ns): (i64, Option<i64>) = (row.try_get(8)?, row.try_get(9)?);
        if !is_newest {
            let grace_ns = limits::SESSION_COOKIE_GRACE.as_nanos() as i64;
            if confirmed_ns.is_some_and(|confirmed| by.at_ns.saturating_sub(confirmed) > grace_ns) {
                self.end_replayed(by, &session).await?;
                return Ok(None);
            }
            let newest = self.sealer().open(COOKIE_VALUE, &row.try_get::<String, _>(7)?)?;
            return Ok(Some((session, Some(newest))));
        }
        if confirmed_ns.is_none() {
            sqlx::query("UPDATE sessions SET confirmed_ns = $3 WHERE id = $1 AND cookie_hash = $2")
                .bind(session.id)
                .bind(&shown)
                .bind(by.at_ns)
                .execute(self.pool())
                .await?;
        }
        self.note_seen(by, session.id, last_seen_ns).await?;
        let is_old = by.at_ns.saturating_sub(rotated_ns) >= limits::SESSION_ROTATION.as_nanos() as i64;
        let next = if is_old { self.rotate_cookie(by, session.id, &shown).await? } else { None };
        Ok(Some((session, next)))
    }

    /// The value after `shown`; none when another request has replaced it already, which then has the answer.
    async fn rotate_cookie(&self, by: &By, id: i64, shown: &str) -> Result<Option<String>, ControlError> {
        let next = prefixed_token(COOKIE_PREFIX)?;
        let rotated = sqlx::query(
            "UPDATE sessions SET previous_hash = cookie_hash, cookie_hash = $3, cookie_sealed = $4, rotated_ns = $5, \
             confirmed_ns = NULL WHERE id = $1 AND cookie_hash = $2",
        )
        .bind(id)
        .bind(shown)
        .bind(hash(&next))
        .bind(self.sealer().seal(COOKIE_VALUE, &next)?)
        .bind(by.at_ns)
        .execute(self.pool())
        .await?;
        Ok((rotated.rows_affected() > 0).then_some(next))
    }

    async fn end_replayed(&self, by: &By, session: &HeldSession) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query("DELETE FROM sessions WHERE id = $1").bind(session.id).execute(write.on()).await?;
        let by = By { user_id: Some(session.user), ..by.clone() };
        write.audit(by.did("session.reuse").on("session", session.id).with(json!({ "address": by.address }))).await?;
        write.commit().await?;
        tracing::warn!(
            user = session.user,
            session = session.id,
            "a replaced session cookie came again; its session was ended"
        );
        Ok(())
    }

    /// Notes that a session was used, at most once in [`limits::LAST_USED_PAUSE`].
    async fn note_seen(&self, by: &By, id: i64, last_seen_ns: i64) -> Result<(), ControlError> {
        if by.at_ns.saturating_sub(last_seen_ns) < limits::LAST_USED_PAUSE.as_nanos() as i64 {
            return Ok(());
        }
        sqlx::query("UPDATE sessions SET last_seen_ns = $2, address = $3 WHERE id = $1")
            .bind(id)
            .bind(by.at_ns)
            .bind(&by.address)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// The user's sessions that hold, the one seen last first.
    pub async fn sessions(&self, user: &User, now_ns: i64) -> Result<Vec<Session>, ControlError> {
        let rows: Vec<(i64, String, String, i64, i64, i64)> = sqlx::query_as(
            "SELECT id, user_agent, address, created_ns, last_seen_ns, expires_ns FROM sessions \
             WHERE user_id = $1 AND session_epoch = $2 AND expires_ns > $3 ORDER BY last_seen_ns DESC, id DESC",
        )
        .bind(user.id)
        .bind(user.session_epoch)
        .bind(now_ns)
        .fetch_all(self.pool())
        .await?;
        let session = |(id, user_agent, address, created_ns, last_seen_ns, expires_ns)| Session {
            id,
            user_agent,
            address,
            created_ns,
            last_seen_ns,
            expires_ns,
        };
        Ok(rows.into_iter().map(session).collect())
    }

    /// False when the user has no such session.
    pub async fn end_session(&self, by: &By, user: i64, id: i64) -> Result<bool, ControlError> {
        let mut write = self.write().await?;
        let ended = sqlx::query("DELETE FROM sessions WHERE id = $1 AND user_id = $2")
            .bind(id)
            .bind(user)
            .execute(write.on())
            .await?;
        if ended.rows_affected() == 0 {
            return Ok(false);
        }
        write.audit(by.did("session.end").on("session", id)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// The person of the session proved who they are at `proved_ns`. `how`: as in [`Control::record_sign_in`].
    pub async fn prove_session(&self, by: &By, id: i64, how: &str, proved_ns: i64) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query("UPDATE sessions SET proved_ns = $2 WHERE id = $1 AND proved_ns < $2")
            .bind(id)
            .bind(proved_ns)
            .execute(write.on())
            .await?;
        write.audit(by.did("session.step_up").on("session", id).with(json!({ "how": how }))).await?;
        write.commit().await
    }

    /// Other providers that sign the user in.
    pub async fn providers_of(&self, user: i64) -> Result<Vec<String>, ControlError> {
        Ok(sqlx::query_scalar("SELECT DISTINCT provider FROM identities WHERE user_id = $1 ORDER BY provider")
            .bind(user)
            .fetch_all(self.pool())
            .await?)
    }
}

/// Ends every session of the user and everything that one could still become: the only function that does.
///
/// - Logins, second steps and approvals of an older epoch are refused; the epoch is compared where they are used.
/// - Refresh tokens and the access tokens of their sign-ins are revoked.
/// - Authorization codes that were not exchanged and device codes that were approved but not fetched are void.
/// - Setup tokens of coding agents expire. Reset links that were not used are void.
///
/// Personal access tokens and passkeys stay: they are credentials, not sessions.
pub(super) async fn end_sessions(write: &mut Write<'_>, user: i64, at_ns: i64) -> Result<(), ControlError> {
    for statement in [
        "UPDATE users SET session_epoch = session_epoch + 1 WHERE id = $1",
        "DELETE FROM sessions WHERE user_id = $1",
        "DELETE FROM devices WHERE user_id = $1",
        "DELETE FROM oauth_codes WHERE user_id = $1 AND used_ns IS NULL",
        "UPDATE device_codes SET status = 'denied' WHERE user_id = $1 AND status = 'approved'",
    ] {
        sqlx::query(statement).bind(user).execute(write.on()).await?;
    }
    for statement in [
        "UPDATE refresh_families SET revoked_ns = $2 WHERE user_id = $1 AND revoked_ns IS NULL",
        "UPDATE setup_sessions SET expires_ns = $2 WHERE user_id = $1 AND expires_ns > $2",
        "UPDATE password_resets SET used_ns = $2 WHERE user_id = $1 AND used_ns IS NULL",
    ] {
        sqlx::query(statement).bind(user).bind(at_ns).execute(write.on()).await?;
    }
    write.changes_directory();
    Ok(())
}
