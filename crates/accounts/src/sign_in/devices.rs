//! Browsers from which users have signed in. A browser has one cookie for all its users; its value is replaced at every
//! sign-in, so that a stolen or planted value is valid until the next one only.

use super::SignIn;
use crate::ControlError;
use crate::secrets::tokens::{hash, prefixed_token};
use tidewatch_limits as limits;

const COOKIE_PREFIX: &str = "twb_";

fn life_start(now_ns: i64) -> i64 {
    now_ns.saturating_sub(limits::DEVICE_LIFE.as_nanos() as i64)
}

impl SignIn {
    /// Returns whether the user has signed in with the browser that sends this cookie within [`limits::DEVICE_LIFE`].
    pub async fn is_known_device(&self, user: i64, cookie: &str, now_ns: i64) -> Result<bool, ControlError> {
        let count: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM devices WHERE user_id = $1 AND device_hash = $2 AND seen_ns > $3")
                .bind(user)
                .bind(hash(cookie))
                .bind(life_start(now_ns))
                .fetch_one(self.database.pool())
                .await?;
        Ok(count > 0)
    }

    /// Records the browser of a sign-in. `sent` is the cookie that the browser sent. Returns the new value of the
    /// cookie. Beyond [`limits::DEVICES_MAX`] the device with the oldest sign-in is removed.
    pub async fn remember_device(&self, user: i64, sent: Option<&str>, now_ns: i64) -> Result<String, ControlError> {
        let cookie = prefixed_token(COOKIE_PREFIX)?;
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM devices WHERE seen_ns <= $1").bind(life_start(now_ns)).execute(write.on()).await?;
        if let Some(sent) = sent {
            sqlx::query("UPDATE devices SET device_hash = $2 WHERE device_hash = $1")
                .bind(hash(sent))
                .bind(hash(&cookie))
                .execute(write.on())
                .await?;
        }
        sqlx::query(
            "INSERT INTO devices (user_id, device_hash, seen_ns) VALUES ($1, $2, $3) \
             ON CONFLICT (user_id, device_hash) DO UPDATE SET seen_ns = excluded.seen_ns",
        )
        .bind(user)
        .bind(hash(&cookie))
        .bind(now_ns)
        .execute(write.on())
        .await?;
        sqlx::query(
            "DELETE FROM devices WHERE user_id = $1 AND id NOT IN \
             (SELECT id FROM devices WHERE user_id = $1 ORDER BY seen_ns DESC, id DESC LIMIT $2)",
        )
        .bind(user)
        .bind(limits::DEVICES_MAX)
        .execute(write.on())
        .await?;
        write.commit().await?;
        Ok(cookie)
    }
}
