//! Secret addresses of iCalendar feeds: `twc_` and 256 random bits, stored as a hash.

use tidewatch_accounts::tokens::{hash, prefixed_token};
use tidewatch_accounts::{Actor, ControlError};

use crate::oncall::OnCall;

impl OnCall {
    /// Creates the address of the actor's feed and returns its token. An earlier one ends.
    pub async fn create_oncall_calendar(&self, actor: &Actor) -> Result<String, ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let token = prefixed_token("twc_")?;
        let mut write = self.database.write().await?;
        sqlx::query(
            "INSERT INTO oncall_calendars (user_id, token_hash, created_ns) VALUES ($1, $2, $3) \
             ON CONFLICT (user_id) DO UPDATE SET token_hash = excluded.token_hash, created_ns = excluded.created_ns",
        )
        .bind(user)
        .bind(hash(&token))
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        write.audit(actor.did("oncall_calendar.create").on("user", user)).await?;
        write.commit().await?;
        Ok(token)
    }

    /// Ends the address of the actor's feed.
    pub async fn end_oncall_calendar(&self, actor: &Actor) -> Result<(), ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        let ended =
            sqlx::query("DELETE FROM oncall_calendars WHERE user_id = $1").bind(user).execute(write.on()).await?;
        if ended.rows_affected() > 0 {
            write.audit(actor.did("oncall_calendar.end").on("user", user)).await?;
        }
        write.commit().await
    }

    /// The time of creation of a user's address, nanoseconds since the epoch.
    pub async fn oncall_calendar(&self, user: i64) -> Result<Option<i64>, ControlError> {
        let created = sqlx::query_scalar("SELECT created_ns FROM oncall_calendars WHERE user_id = $1");
        Ok(created.bind(user).fetch_optional(self.database.pool()).await?)
    }

    /// The user whose feed has this token.
    pub async fn user_of_oncall_calendar(&self, token: &str) -> Result<Option<i64>, ControlError> {
        let user = sqlx::query_scalar("SELECT user_id FROM oncall_calendars WHERE token_hash = $1");
        Ok(user.bind(hash(token)).fetch_optional(self.database.pool()).await?)
    }
}
