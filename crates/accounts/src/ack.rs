//! Links that acknowledge an alert: `twk_` and 256 random bits, stored as a hash. WIRE 5.7.

use super::audit::Actor;
use super::tokens::{hash, prefixed_token};
use super::{Control, ControlError};

/// The alert that a link acknowledges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckLink {
    /// Identifies the alert within the organization.
    pub subject: String,
    /// Time of the acknowledgement, nanoseconds since the epoch; `None`: not acknowledged yet.
    pub acknowledged_ns: Option<i64>,
}

impl Control {
    /// Creates a link and returns its token. `user`: the user who is recorded as the actor. `expires_ns`: nanoseconds
    /// since the epoch; `None`: valid until it is removed.
    pub async fn create_ack_link(
        &self,
        actor: &Actor,
        organization: i64,
        user: Option<i64>,
        subject: &str,
        expires_ns: Option<i64>,
    ) -> Result<String, ControlError> {
        let token = prefixed_token("twk_")?;
        let mut write = self.write().await?;
        sqlx::query("DELETE FROM ack_tokens WHERE expires_ns <= $1").bind(actor.at_ns).execute(write.on()).await?;
        sqlx::query(
            "INSERT INTO ack_tokens (token_hash, organization_id, user_id, subject, created_ns, expires_ns) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(hash(&token))
        .bind(organization)
        .bind(user)
        .bind(subject)
        .bind(actor.at_ns)
        .bind(expires_ns)
        .execute(write.on())
        .await?;
        write.commit().await?;
        Ok(token)
    }

    /// Looks a link up. `None` when there is no such link; [`ControlError::NoLongerValid`] when it has expired at
    /// `now_ns`.
    pub async fn ack_link(&self, token: &str, now_ns: i64) -> Result<Option<AckLink>, ControlError> {
        let found: Option<(String, Option<i64>, Option<i64>)> =
            sqlx::query_as("SELECT subject, acknowledged_ns, expires_ns FROM ack_tokens WHERE token_hash = $1")
                .bind(hash(token))
                .fetch_optional(self.pool())
                .await?;
        let Some((subject, acknowledged_ns, expires_ns)) = found else { return Ok(None) };
        check_expiry(expires_ns, now_ns)?;
        Ok(Some(AckLink { subject, acknowledged_ns }))
    }

    /// Acknowledges the alert; a second time changes nothing. `None` and errors as for [`Control::ack_link`].
    pub async fn acknowledge(&self, actor: &Actor, token: &str) -> Result<Option<AckLink>, ControlError> {
        let mut write = self.write().await?;
        type Columns = (String, Option<i64>, Option<i64>, i64, Option<i64>);
        let found: Option<Columns> = sqlx::query_as(
            "SELECT subject, acknowledged_ns, expires_ns, organization_id, user_id FROM ack_tokens \
             WHERE token_hash = $1",
        )
        .bind(hash(token))
        .fetch_optional(write.on())
        .await?;
        let Some((subject, acknowledged_ns, expires_ns, organization, user_id)) = found else { return Ok(None) };
        check_expiry(expires_ns, actor.at_ns)?;
        if acknowledged_ns.is_none() {
            sqlx::query("UPDATE ack_tokens SET acknowledged_ns = $2 WHERE token_hash = $1")
                .bind(hash(token))
                .bind(actor.at_ns)
                .execute(write.on())
                .await?;
            let actor = Actor { user_id, ..actor.clone() };
            write.audit(actor.did("alert.acknowledge").on("alert", &subject).within(organization)).await?;
            write.commit().await?;
        }
        Ok(Some(AckLink { subject, acknowledged_ns: acknowledged_ns.or(Some(actor.at_ns)) }))
    }

    /// Deletes every link of an alert. WIRE 5.7: 404 after it is resolved.
    pub async fn end_ack_links(&self, organization: i64, subject: &str) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query("DELETE FROM ack_tokens WHERE organization_id = $1 AND subject = $2")
            .bind(organization)
            .bind(subject)
            .execute(write.on())
            .await?;
        write.commit().await
    }
}

fn check_expiry(expires_ns: Option<i64>, now_ns: i64) -> Result<(), ControlError> {
    match expires_ns {
        Some(expires_ns) if expires_ns <= now_ns => Err(ControlError::NoLongerValid("this link has expired")),
        _ => Ok(()),
    }
}
