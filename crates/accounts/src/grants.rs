//! Sign-ins of clients: a family of refresh tokens that replace each other, and end together. WIRE 5.4; RFC 9700, 4.14.

use std::sync::Arc;

use serde_json::json;

use super::audit::By;
use super::db::Write;
use super::tokens::{hash, prefixed_token};
use super::{Control, ControlError, Scope, User};
use tidewatch_limits as limits;

/// What refresh tokens begin with.
const REFRESH_PREFIX: &str = "twr_";
const SUCCESSOR: &str = "refresh token";

/// What a client gets: the refresh token, and what its access token says.
#[derive(Debug, Clone)]
pub struct Issued {
    pub user: Arc<User>,
    pub family: i64,
    pub refresh_token: String,
    pub scope: Scope,
    /// What the tokens were asked for (RFC 8707); empty: the whole server.
    pub resource: String,
    /// When the access token begins, nanoseconds since the epoch. The same for an answer that is said again.
    pub at_ns: i64,
}

/// One sign-in as its user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub id: i64,
    pub client_id: String,
    /// None: not a registered client.
    pub client_name: Option<String>,
    pub scope: Scope,
    pub created_ns: i64,
    pub last_used_ns: Option<i64>,
}

/// What a person approved, and in which session epoch.
pub(super) struct Approval<'a> {
    pub user: i64,
    /// None: approved before the epoch was stored; refused.
    pub session_epoch: Option<i64>,
    pub client: &'a str,
    pub resource: &'a str,
    pub scope: &'a Scope,
}

/// A new family with its first refresh token: its id and the token. [`ControlError::InvalidGrant`] when the person has
/// ended all sessions since the approval.
pub(super) async fn insert_family(
    write: &mut Write<'_>,
    approval: &Approval<'_>,
    at_ns: i64,
) -> Result<(i64, String), ControlError> {
    // What nobody can use any more.
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

/// Family, user, client, end, first use and successor of a refresh token; resource, scope and projects of its family.
type Refreshed = (i64, i64, String, i64, Option<i64>, Option<String>, String, String, Option<String>);
/// Id, client, its name, scope, projects, beginning and last use of a sign-in.
type GrantRow = (i64, String, Option<String>, String, Option<String>, i64, Option<i64>);

impl Control {
    /// Replaces a refresh token. Within [`limits::REFRESH_GRACE`] of its first use the same answer is given again; after
    /// it, whoever has the token is not alone, and the whole family ends. [`ControlError::InvalidGrant`] otherwise.
    ///
    /// `client`: when the request names one, it must be the token's. `resource` likewise; where the whole server was
    /// approved, it narrows the access token. [`ControlError::InvalidTarget`] otherwise.
    pub async fn refresh_grant(
        &self,
        by: &By,
        token: &str,
        client: Option<&str>,
        resource: Option<&str>,
    ) -> Result<Issued, ControlError> {
        let mut write = self.write().await?;
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
        if expires_ns <= by.at_ns || client.is_some_and(|client| client != known) {
            return Err(ControlError::InvalidGrant);
        }
        let resource = match resource.filter(|resource| !resource.is_empty()) {
            Some(asked) if !approved.is_empty() && asked != approved => return Err(ControlError::InvalidTarget),
            Some(asked) => asked.to_owned(),
            None => approved,
        };
        let user = self.user(user).ok_or(ControlError::InvalidGrant)?;
        let scope = Scope::read(&level, projects.as_deref());
        if let Some(used_ns) = used_ns {
            let is_again = by.at_ns.saturating_sub(used_ns) <= limits::REFRESH_GRACE.as_nanos() as i64;
            if let (true, Some(sealed)) = (is_again, &successor) {
                let refresh_token = self.sealer().open(SUCCESSOR, sealed)?;
                return Ok(Issued { user, family, refresh_token, scope, resource, at_ns: used_ns });
            }
            end_family(&mut write, family, by.at_ns).await?;
            let details = json!({ "client": known, "address": by.address });
            write.audit(by.did("grant.reuse").on("grant", family).with(details)).await?;
            write.commit().await?;
            tracing::warn!(user = user.id, family, "a refresh token came a second time; its sign-in was ended");
            return Err(ControlError::InvalidGrant);
        }
        let refresh_token = insert_refresh_token(&mut write, family, by.at_ns).await?;
        sqlx::query("UPDATE refresh_tokens SET used_ns = $2, successor_sealed = $3 WHERE token_hash = $1")
            .bind(hash(token))
            .bind(by.at_ns)
            .bind(self.sealer().seal(SUCCESSOR, &refresh_token)?)
            .execute(write.on())
            .await?;
        write.commit().await?;
        Ok(Issued { user, family, refresh_token, scope, resource, at_ns: by.at_ns })
    }

    /// Ends the sign-in a refresh token belongs to, whichever of the family it is. Nothing when there is none.
    pub async fn end_grant_of(&self, by: &By, token: &str) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        let found: Option<(i64, i64)> = sqlx::query_as(
            "SELECT f.id, f.user_id FROM refresh_tokens t JOIN refresh_families f ON f.id = t.family_id \
             WHERE t.token_hash = $1",
        )
        .bind(hash(token))
        .fetch_optional(write.on())
        .await?;
        let Some((family, user)) = found else { return Ok(()) };
        if end_family(&mut write, family, by.at_ns).await? > 0 {
            let by = By { user_id: Some(user), ..by.clone() };
            write.audit(by.did("grant.logout").on("grant", family)).await?;
        }
        write.commit().await
    }

    /// Sign-ins that still hold, newest first.
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
        .fetch_all(self.pool())
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

    /// False when the user has no such sign-in.
    pub async fn delete_grant(&self, by: &By, user: i64, id: i64) -> Result<bool, ControlError> {
        let mut write = self.write().await?;
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
        end_family(&mut write, id, by.at_ns).await?;
        write.audit(by.did("grant.delete").on("grant", id)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// What the sign-in an access token belongs to may do; none when it no longer holds.
    pub async fn grant_scope(&self, family: i64, user: i64) -> Result<Option<Scope>, ControlError> {
        let held: Option<(String, Option<String>)> = sqlx::query_as(
            "SELECT scope, projects FROM refresh_families WHERE id = $1 AND user_id = $2 AND revoked_ns IS NULL",
        )
        .bind(family)
        .bind(user)
        .fetch_optional(self.pool())
        .await?;
        Ok(held.map(|(level, projects)| Scope::read(&level, projects.as_deref())))
    }
}
