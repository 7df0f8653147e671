//! Links that acknowledge an alert: `twk_` and 256 random bits, stored as a hash. WIRE 5.7.

use tidewatch_accounts::tokens::{hash, prefixed_token};
use tidewatch_accounts::{Actor, ControlError, Write};

use crate::oncall::OnCall;

/// A stored link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredLink {
    /// Identifies the alert within the organization.
    pub subject: String,
    /// Time of the acknowledgement, nanoseconds since the epoch; `None`: not acknowledged yet.
    pub acknowledged_ns: Option<i64>,
    /// Row id of the organization.
    pub organization: i64,
    /// The user who is recorded as the actor.
    pub user: Option<i64>,
}

impl OnCall {
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
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM ack_tokens WHERE expires_ns <= $1").bind(actor.at_ns).execute(write.on()).await?;
        let token = insert(&mut write, organization, user, subject, actor.at_ns, expires_ns).await?;
        write.commit().await?;
        Ok(token)
    }

    /// Deletes every link of an alert. WIRE 5.7: 404 after it is resolved.
    pub async fn end_ack_links(&self, organization: i64, subject: &str) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM ack_tokens WHERE organization_id = $1 AND subject = $2")
            .bind(organization)
            .bind(subject)
            .execute(write.on())
            .await?;
        write.commit().await
    }
}

/// Creates a link that is valid until it is removed, and returns its token.
pub(super) async fn insert_ack_link(
    write: &mut Write<'_>,
    organization: i64,
    user: Option<i64>,
    subject: &str,
    at_ns: i64,
) -> Result<String, ControlError> {
    insert(write, organization, user, subject, at_ns, None).await
}

async fn insert(
    write: &mut Write<'_>,
    organization: i64,
    user: Option<i64>,
    subject: &str,
    at_ns: i64,
    expires_ns: Option<i64>,
) -> Result<String, ControlError> {
    let token = prefixed_token("twk_")?;
    sqlx::query(
        "INSERT INTO ack_tokens (token_hash, organization_id, user_id, subject, created_ns, expires_ns) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(hash(&token))
    .bind(organization)
    .bind(user)
    .bind(subject)
    .bind(at_ns)
    .bind(expires_ns)
    .execute(write.on())
    .await?;
    Ok(token)
}

/// Looks a link up. `None` when there is no such link; [`ControlError::NoLongerValid`] when it has expired at `now_ns`.
pub(super) async fn find_link(
    on: &mut sqlx::AnyConnection,
    token: &str,
    now_ns: i64,
) -> Result<Option<StoredLink>, ControlError> {
    type Columns = (String, Option<i64>, Option<i64>, i64, Option<i64>);
    let found: Option<Columns> = sqlx::query_as(
        "SELECT subject, acknowledged_ns, expires_ns, organization_id, user_id FROM ack_tokens WHERE token_hash = $1",
    )
    .bind(hash(token))
    .fetch_optional(on)
    .await?;
    let Some((subject, acknowledged_ns, expires_ns, organization, user)) = found else { return Ok(None) };
    match expires_ns {
        Some(expires_ns) if expires_ns <= now_ns => Err(ControlError::NoLongerValid("this link has expired")),
        _ => Ok(Some(StoredLink { subject, acknowledged_ns, organization, user })),
    }
}

/// Records that a link was used.
pub(super) async fn mark_used(write: &mut Write<'_>, token: &str, at_ns: i64) -> Result<(), ControlError> {
    sqlx::query("UPDATE ack_tokens SET acknowledged_ns = $2 WHERE token_hash = $1")
        .bind(hash(token))
        .bind(at_ns)
        .execute(write.on())
        .await?;
    Ok(())
}
