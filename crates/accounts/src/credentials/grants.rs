//! Sign-ins of clients: families of refresh tokens, each of which replaces the one before. WIRE 5.4; RFC 9700, 4.14.

use std::sync::Arc;

use serde_json::json;

use super::Credentials;
use super::scope::Scope;
use crate::secrets::tokens::{hash, prefixed_token};
use crate::{Actor, ControlError, User, Write};
use tidewatch_limits as limits;

/// Prefix of refresh tokens.
const REFRESH_PREFIX: &str = "twr_";
/// The purpose that the successor of a refresh token is sealed for.
const SUCCESSOR: &str = "refresh token";

/// Tokens issued to a client: the refresh token, and the content of its access token.
#[derive(Debug, Clone)]
pub struct Issued {
    /// The user who signed in.
    pub user: Arc<User>,
    /// Id of the family: [`Grant::id`].
    pub family: i64,
    /// The secret of the refresh token.
    pub refresh_token: String,
    /// Upper bound of the tokens' permissions.
    pub scope: Scope,
    /// Resource of the access token (RFC 8707); empty: the whole server.
    pub resource: String,
    /// Time of issue, nanoseconds since the epoch. A repeated response has the same time.
    pub at_ns: i64,
}

/// A sign-in of a client as its user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Row id of the family.
    pub id: i64,
    /// Client id.
    pub client_id: String,
    /// Name of the client; `None`: not a registered client.
    pub client_name: Option<String>,
    /// Upper bound of the client's permissions.
    pub scope: Scope,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Last refresh, nanoseconds since the epoch.
    pub last_used_ns: Option<i64>,
}

/// The approval of a sign-in by a user, with the session epoch of the approval.
pub(super) struct Approval<'a> {
    pub user: i64,
    /// `None`: approved before the epoch was stored; refused.
    pub session_epoch: Option<i64>,
    /// Client id.
    pub client: &'a str,
    /// Approved resource; empty: the whole server.
    pub resource: &'a str,
    /// Approved scope.
    pub scope: &'a Scope,
}

/// Creates a family with its first refresh token. Returns its id and the token. [`ControlError::InvalidGrant`] when the
/// user has ended all sessions since the approval.
pub(super) async fn insert_family(
    write: &mut Write<'_>,
    approval: &Approval<'_>,
    at_ns: i64,
) -> Result<(i64, String), ControlError> {
    // Expired tokens, and families without tokens.
    sqlx::query("DELETE FROM refresh_tokens WHERE expires_ns <= $1").bind(at_ns).execute(write.on()).await?;
    sqlx::query(
        "DELETE FROM refresh_families WHERE created_ns < $1 AND id NOT IN (SELECT family_id FROM refresh_tokens)",
    )
    .bind(at_ns - limits::REFRESH_LIFE.as_nanos() as i64)
    .execute(write.on())
    .await?;
    let family: i64 = sqlx::query_scalar(
        "INSERT INTO refresh_families (user_id, client_id, resource, session_epoch, created_ns, scope, projects) \
         SELECT id, $2, $3, session_epoch, $4, $6, $7 FROM users \
         WHERE id = $1 AND session_epoch = $5 AND disabled_ns IS NULL RETURNING id",
    )
    .bind(approval.user)
    .bind(approval.client)
    .bind(approval.resource)
    .bind(at_ns)
    .bind(approval.session_epoch)
    .bind(approval.scope.level.as_str())
    .bind(approval.scope.stored_projects())
    .fetch_optional(write.on())
    .await?
    .ok_or(ControlError::InvalidGrant)?;
    let token = insert_refresh_token(write, family, at_ns).await?;
    Ok((family, token))
}

async fn insert_refresh_token(write: &mut Write<'_>, family: i64, at_ns: i64) -> Result<String, ControlError> {
    let token = prefixed_token(REFRESH_PREFIX)?;
    sqlx::query("INSERT INTO refresh_tokens (token_hash, family_id, created_ns, expires_ns) VALUES ($1, $2, $3, $4)")
        .bind(hash(&token))
        .bind(family)
        .bind(at_ns)
        .bind(at_ns.saturating_add(limits::REFRESH_LIFE.as_nanos() as i64))
        .execute(write.on())
        .await?;
    Ok(token)
}

pub(super) async fn end_family(write: &mut Write<'_>, family: i64, at_ns: i64) -> Result<u64, ControlError> {
    let ended = sqlx::query("UPDATE refresh_families SET revoked_ns = $2 WHERE id = $1 AND revoked_ns IS NULL")
        .bind(family)
        .bind(at_ns)
        .execute(write.on())
        .await?;
    Ok(ended.rows_affected())
}

/// Family, user, client, expiry, first use and successor of a refresh token; resource, scope and projects of its
/// family.
type Refreshed = (i64, i64, String, i64, Option<i64>, Option<String>, String, String, Option<String>);
/// Id, client, client name, scope, projects, creation and last use of a sign-in.
type GrantRow = (i64, String, Option<String>, String, Option<String>, i64, Option<i64>);

impl Credentials {
    /// Replaces a refresh token. Within [`limits::REFRESH_GRACE`] of its first use the same tokens are returned again.
    /// Later use means that the token was copied: the whole family is revoked. [`ControlError::InvalidGrant`] for
    /// invalid tokens.
    ///
    /// `client`: if the request names one, it must be the token's. `resource` likewise, with
    /// [`ControlError::InvalidTarget`]; if the whole server was approved, it restricts the access token.
    pub async fn refresh_grant(
        &self,
        actor: &Actor,
        token: &str,
        client: Option<&str>,
        resource: Option<&str>,
    ) -> Result<Issued, ControlError> {
        let mut write = self.database.write().await?;
        let found: Option<Refreshed> = sqlx::query_as(
            "SELECT f.id, f.user_id, f.client_id, t.expires_ns, t.used_ns, t.successor_sealed, f.resource, f.scope, \
             f.projects FROM refresh_tokens t JOIN refresh_families f ON f.id = t.family_id \
             JOIN users u ON u.id = f.user_id AND u.session_epoch = f.session_epoch AND u.disabled_ns IS NULL \
             WHERE t.token_hash = $1 AND f.revoked_ns IS NULL",
        )
        .bind(hash(token))
        .fetch_optional(write.on())
        .await?;
        let found = found.ok_or(ControlError::InvalidGrant)?;
        let (family, user, known, expires_ns, used_ns, successor, approved, level, projects) = found;
        if expires_ns <= actor.at_ns || client.is_some_and(|client| client != known) {
            return Err(ControlError::InvalidGrant);
        }
        let resource = match resource.filter(|resource| !resource.is_empty()) {
            Some(requested) if !approved.is_empty() && requested != approved => {
                return Err(ControlError::InvalidTarget);
            }
            Some(requested) => requested.to_owned(),
            None => approved,
        };
        let user = self.database.user(user).ok_or(ControlError::InvalidGrant)?;
        let scope = Scope::read(&level, projects.as_deref());
        if let Some(used_ns) = used_ns {
            let is_within_grace = actor.at_ns.saturating_sub(used_ns) <= limits::REFRESH_GRACE.as_nanos() as i64;
            if let (true, Some(sealed)) = (is_within_grace, &successor) {
                let refresh_token = self.database.sealer().open(SUCCESSOR, sealed)?;
                return Ok(Issued { user, family, refresh_token, scope, resource, at_ns: used_ns });
            }
            end_family(&mut write, family, actor.at_ns).await?;
            let details = json!({ "client": known, "address": actor.address });
            write.audit(actor.did("grant.reuse").on("grant", family).with(details)).await?;
            write.commit().await?;
            tracing::warn!(user = user.id, family, "a refresh token came a second time; its sign-in was ended");
            return Err(ControlError::InvalidGrant);
        }
        let refresh_token = insert_refresh_token(&mut write, family, actor.at_ns).await?;
        sqlx::query("UPDATE refresh_tokens SET used_ns = $2, successor_sealed = $3 WHERE token_hash = $1")
            .bind(hash(token))
            .bind(actor.at_ns)
            .bind(self.database.sealer().seal(SUCCESSOR, &refresh_token)?)
            .execute(write.on())
            .await?;
        write.commit().await?;
        Ok(Issued { user, family, refresh_token, scope, resource, at_ns: actor.at_ns })
    }

    /// Revokes the family of a refresh token, which may be a replaced one. Does nothing for an unknown token.
    pub async fn end_grant_of(&self, actor: &Actor, token: &str) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let found: Option<(i64, i64)> = sqlx::query_as(
            "SELECT f.id, f.user_id FROM refresh_tokens t JOIN refresh_families f ON f.id = t.family_id \
             WHERE t.token_hash = $1",
        )
        .bind(hash(token))
        .fetch_optional(write.on())
        .await?;
        let Some((family, user)) = found else { return Ok(()) };
        if end_family(&mut write, family, actor.at_ns).await? > 0 {
            let actor = Actor { user_id: Some(user), ..actor.clone() };
            write.audit(actor.did("grant.logout").on("grant", family)).await?;
        }
        write.commit().await
    }

    /// Returns the user's sign-ins that are valid at `now_ns`, newest first.
    pub async fn grants(&self, user: i64, now_ns: i64) -> Result<Vec<Grant>, ControlError> {
        let rows: Vec<GrantRow> = sqlx::query_as(
            "SELECT f.id, f.client_id, c.name, f.scope, f.projects, f.created_ns, \
             (SELECT MAX(t.created_ns) FROM refresh_tokens t WHERE t.family_id = f.id) \
             FROM refresh_families f JOIN users u ON u.id = f.user_id AND u.session_epoch = f.session_epoch \
             LEFT JOIN oauth_clients c ON c.id = f.client_id \
             WHERE f.user_id = $1 AND f.revoked_ns IS NULL AND \
             (SELECT COUNT(*) FROM refresh_tokens t WHERE t.family_id = f.id AND t.expires_ns > $2) > 0 \
             ORDER BY f.id DESC",
        )
        .bind(user)
        .bind(now_ns)
        .fetch_all(self.database.pool())
        .await?;
        let grant = |(id, client_id, client_name, level, projects, created_ns, last_used_ns): GrantRow| Grant {
            id,
            client_id,
            client_name,
            scope: Scope::read(&level, projects.as_deref()),
            created_ns,
            last_used_ns,
        };
        Ok(rows.into_iter().map(grant).collect())
    }

    /// Revokes a sign-in. Returns false when the user has no such sign-in.
    pub async fn delete_grant(&self, actor: &Actor, user: i64, id: i64) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let known: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM refresh_families WHERE id = $1 AND user_id = $2 AND revoked_ns IS NULL",
        )
        .bind(id)
        .bind(user)
        .fetch_one(write.on())
        .await?;
        if known == 0 {
            return Ok(false);
        }
        end_family(&mut write, id, actor.at_ns).await?;
        write.audit(actor.did("grant.delete").on("grant", id)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Returns the scope of the family of an access token; `None` if it was revoked.
    pub async fn grant_scope(&self, family: i64, user: i64) -> Result<Option<Scope>, ControlError> {
        let held: Option<(String, Option<String>)> = sqlx::query_as(
            "SELECT scope, projects FROM refresh_families WHERE id = $1 AND user_id = $2 AND revoked_ns IS NULL",
        )
        .bind(family)
        .bind(user)
        .fetch_optional(self.database.pool())
        .await?;
        Ok(held.map(|(level, projects)| Scope::read(&level, projects.as_deref())))
    }
}
