//! Sessions of users: one row for each sign-in, identified by a login (`sid`) or a cookie.
//!
//! A cookie's value is replaced after [`limits::SESSION_ROTATION`]. The previous value is accepted until the new one
//! was received and for [`limits::SESSION_COOKIE_GRACE`] after that, because requests overlap and responses get lost.
//! Later use means that the cookie was copied, and ends the session.

use serde_json::json;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::SignIn;
use crate::secrets::tokens::{hash, prefixed_token};
use crate::{Actor, ControlError, User, Write};
use tidewatch_limits as limits;

const COOKIE_PREFIX: &str = "twc_";
/// The purpose that values of cookies are sealed for.
const COOKIE_VALUE: &str = "session cookie";

/// A session as its user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Row id: the claim `sid` of its logins.
    pub id: i64,
    /// User-Agent of the sign-in.
    pub user_agent: String,
    /// IP address of the last recorded use.
    pub address: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Last use, nanoseconds since the epoch, with the resolution of [`limits::LAST_USED_PAUSE`].
    pub last_seen_ns: i64,
    /// Nanoseconds since the epoch.
    pub expires_ns: i64,
}

/// The session of a request. The caller must compare its epoch with the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveSession {
    /// Row id.
    pub id: i64,
    /// Id of the user.
    pub user: i64,
    /// The user's session epoch when the session began.
    pub session_epoch: i64,
    /// Time of the last sign-in or step-up, nanoseconds since the epoch.
    pub proved_ns: i64,
    /// Nanoseconds since the epoch.
    pub expires_ns: i64,
}

/// A session that was just created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Row id.
    pub id: i64,
    /// Value of the session cookie.
    pub cookie: String,
    /// Nanoseconds since the epoch.
    pub expires_ns: i64,
}

const COLUMNS: &str = "id, user_id, session_epoch, proved_ns, expires_ns, last_seen_ns";

fn read_session(row: &AnyRow) -> Result<(ActiveSession, i64), sqlx::Error> {
    let session = ActiveSession {
        id: row.try_get(0)?,
        user: row.try_get(1)?,
        session_epoch: row.try_get(2)?,
        proved_ns: row.try_get(3)?,
        expires_ns: row.try_get(4)?,
    };
    Ok((session, row.try_get(5)?))
}

impl SignIn {
    /// Creates a session that is valid for [`limits::LOGIN_LIFE`], in the session epoch of `user`. `proved_ns` is the
    /// time of the sign-in; it is earlier than now when the session replaces another. Beyond [`limits::SESSIONS_MAX`]
    /// the least recently used session ends.
    pub async fn begin_session(&self, actor: &Actor, user: &User, proved_ns: i64) -> Result<NewSession, ControlError> {
        let cookie = prefixed_token(COOKIE_PREFIX)?;
        let expires_ns = actor.at_ns.saturating_add(limits::LOGIN_LIFE.as_nanos() as i64);
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM sessions WHERE expires_ns <= $1").bind(actor.at_ns).execute(write.on()).await?;
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
        .bind(self.database.sealer().seal(COOKIE_VALUE, &cookie)?)
        .bind(actor.at_ns)
        .bind(&actor.user_agent)
        .bind(&actor.address)
        .bind(expires_ns)
        .bind(proved_ns)
        .fetch_one(write.on())
        .await?;
        write.commit().await?;
        Ok(NewSession { id, cookie, expires_ns })
    }

    /// Returns the session of a login by its id; `None` if it has ended. Records its use.
    pub async fn session_of_login(&self, actor: &Actor, id: i64) -> Result<Option<ActiveSession>, ControlError> {
        let found = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM sessions WHERE id = $1 AND expires_ns > $2"
        )))
        .bind(id)
        .bind(actor.at_ns)
        .fetch_optional(self.database.pool())
        .await?;
        let Some(row) = found else { return Ok(None) };
        let (session, last_seen_ns) = read_session(&row)?;
        self.record_use(actor, session.id, last_seen_ns).await?;
        Ok(Some(session))
    }

    /// Returns the session of a cookie, and the new value of the cookie if it changes; `None` if the session has ended.
    /// Records its use.
    pub async fn session_of_cookie(
        &self,
        actor: &Actor,
        cookie: &str,
    ) -> Result<Option<(ActiveSession, Option<String>)>, ControlError> {
        let sent = hash(cookie);
        let found = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS}, CASE WHEN cookie_hash = $1 THEN 1 ELSE 0 END, cookie_sealed, rotated_ns, confirmed_ns \
             FROM sessions WHERE (cookie_hash = $1 OR previous_hash = $1) AND expires_ns > $2"
        )))
        .bind(&sent)
        .bind(actor.at_ns)
        .fetch_optional(self.database.pool())
        .await?;
        let Some(row) = found else { return Ok(None) };
        let (session, last_seen_ns) = read_session(&row)?;
        let is_newest = row.try_get::<i64, _>(6)? == 1;
        let (rotated_ns, confirmed_ns): (i64, Option<i64>) = (row.try_get(8)?, row.try_get(9)?);
        if !is_newest {
            let grace_ns = limits::SESSION_COOKIE_GRACE.as_nanos() as i64;
            if confirmed_ns.is_some_and(|confirmed| actor.at_ns.saturating_sub(confirmed) > grace_ns) {
                self.end_replayed(actor, &session).await?;
                return Ok(None);
            }
            let newest = self.database.sealer().open(COOKIE_VALUE, &row.try_get::<String, _>(7)?)?;
            return Ok(Some((session, Some(newest))));
        }
        if confirmed_ns.is_none() {
            sqlx::query("UPDATE sessions SET confirmed_ns = $3 WHERE id = $1 AND cookie_hash = $2")
                .bind(session.id)
                .bind(&sent)
                .bind(actor.at_ns)
                .execute(self.database.pool())
                .await?;
        }
        self.record_use(actor, session.id, last_seen_ns).await?;
        let is_old = actor.at_ns.saturating_sub(rotated_ns) >= limits::SESSION_ROTATION.as_nanos() as i64;
        let next = if is_old { self.rotate_cookie(actor, session.id, &sent).await? } else { None };
        Ok(Some((session, next)))
    }

    /// Replaces the value with hash `sent`. Returns the new value; `None` if a concurrent request has replaced it
    /// already.
    async fn rotate_cookie(&self, actor: &Actor, id: i64, sent: &str) -> Result<Option<String>, ControlError> {
        let next = prefixed_token(COOKIE_PREFIX)?;
        let rotated = sqlx::query(
            "UPDATE sessions SET previous_hash = cookie_hash, cookie_hash = $3, cookie_sealed = $4, rotated_ns = $5, \
             confirmed_ns = NULL WHERE id = $1 AND cookie_hash = $2",
        )
        .bind(id)
        .bind(sent)
        .bind(hash(&next))
        .bind(self.database.sealer().seal(COOKIE_VALUE, &next)?)
        .bind(actor.at_ns)
        .execute(self.database.pool())
        .await?;
        Ok((rotated.rows_affected() > 0).then_some(next))
    }

    async fn end_replayed(&self, actor: &Actor, session: &ActiveSession) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM sessions WHERE id = $1").bind(session.id).execute(write.on()).await?;
        let actor = Actor { user_id: Some(session.user), ..actor.clone() };
        write
            .audit(actor.did("session.reuse").on("session", session.id).with(json!({ "address": actor.address })))
            .await?;
        write.commit().await?;
        tracing::warn!(
            user = session.user,
            session = session.id,
            "a replaced session cookie came again; its session was ended"
        );
        Ok(())
    }

    /// Records the use of a session, at most once in [`limits::LAST_USED_PAUSE`].
    async fn record_use(&self, actor: &Actor, id: i64, last_seen_ns: i64) -> Result<(), ControlError> {
        if actor.at_ns.saturating_sub(last_seen_ns) < limits::LAST_USED_PAUSE.as_nanos() as i64 {
            return Ok(());
        }
        sqlx::query("UPDATE sessions SET last_seen_ns = $2, address = $3 WHERE id = $1")
            .bind(id)
            .bind(actor.at_ns)
            .bind(&actor.address)
            .execute(self.database.pool())
            .await?;
        Ok(())
    }

    /// Returns the user's valid sessions, most recently used first.
    pub async fn sessions(&self, user: &User, now_ns: i64) -> Result<Vec<Session>, ControlError> {
        let rows: Vec<(i64, String, String, i64, i64, i64)> = sqlx::query_as(
            "SELECT id, user_agent, address, created_ns, last_seen_ns, expires_ns FROM sessions \
             WHERE user_id = $1 AND session_epoch = $2 AND expires_ns > $3 ORDER BY last_seen_ns DESC, id DESC",
        )
        .bind(user.id)
        .bind(user.session_epoch)
        .bind(now_ns)
        .fetch_all(self.database.pool())
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

    /// Ends a session. Returns false when the user has no such session.
    pub async fn end_session(&self, actor: &Actor, user: i64, id: i64) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let ended = sqlx::query("DELETE FROM sessions WHERE id = $1 AND user_id = $2")
            .bind(id)
            .bind(user)
            .execute(write.on())
            .await?;
        if ended.rows_affected() == 0 {
            return Ok(false);
        }
        write.audit(actor.did("session.end").on("session", id)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Records a step-up of the session at `proved_ns`. `how`: as in [`SignIn::record_sign_in`].
    pub async fn prove_session(&self, actor: &Actor, id: i64, how: &str, proved_ns: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("UPDATE sessions SET proved_ns = $2 WHERE id = $1 AND proved_ns < $2")
            .bind(id)
            .bind(proved_ns)
            .execute(write.on())
            .await?;
        write.audit(actor.did("session.step_up").on("session", id).with(json!({ "how": how }))).await?;
        write.commit().await
    }

    /// Returns the providers that the user has signed in with, sorted by id.
    pub async fn providers_of(&self, user: i64) -> Result<Vec<String>, ControlError> {
        Ok(sqlx::query_scalar("SELECT DISTINCT provider FROM identities WHERE user_id = $1 ORDER BY provider")
            .bind(user)
            .fetch_all(self.database.pool())
            .await?)
    }
}

/// Ends every session of the user and every pending authorization; the only function that does.
///
/// - Logins, second factors and approvals of an older epoch are refused; the epoch is compared where they are used.
/// - Refresh tokens and the access tokens of their sign-ins are revoked.
/// - Authorization codes that were not exchanged and device codes that were approved but not fetched are void.
/// - Setup tokens of coding agents expire. Reset links that were not used are void.
///
/// Personal access tokens and passkeys remain: they are credentials, not sessions.
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
