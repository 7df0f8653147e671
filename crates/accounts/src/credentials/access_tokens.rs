//! Personal access tokens: `twp_` and 256 random bits, stored as a hash. WIRE 5.4.

use serde_json::json;

use super::Credentials;
use super::scope::Scope;
use crate::secrets::tokens::{hash, prefixed_token};
use crate::{Actor, ControlError};
use tidewatch_limits as limits;

/// Prefix of personal access tokens.
pub const PERSONAL_PREFIX: &str = "twp_";

/// A personal access token as its owner sees it: without the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonalToken {
    /// Row id.
    pub id: i64,
    /// Name chosen by the owner.
    pub name: String,
    /// First characters of the token: [`PERSONAL_PREFIX`] and eight hex digits.
    pub prefix: String,
    /// Upper bound of the token's permissions.
    pub scope: Scope,
    /// Time of creation, nanoseconds since the epoch.
    pub created_ns: i64,
    /// End of validity, nanoseconds since the epoch; `None`: it does not expire.
    pub expires_ns: Option<i64>,
    /// Last use, nanoseconds since the epoch, with the resolution of [`limits::LAST_USED_PAUSE`].
    pub last_used_ns: Option<i64>,
}

/// Id, user, last use, scope and projects of a valid token.
type Found = (i64, i64, Option<i64>, String, Option<String>);
type Columns = (i64, String, String, String, Option<String>, i64, Option<i64>, Option<i64>);

impl Credentials {
    /// Creates a token. Also returns its secret, which is not shown again. [`ControlError::TooMany`] beyond
    /// [`limits::PERSONAL_TOKENS_MAX`].
    pub async fn create_personal_token(
        &self,
        actor: &Actor,
        user: i64,
        name: &str,
        scope: &Scope,
        expires_ns: Option<i64>,
    ) -> Result<(PersonalToken, String), ControlError> {
        let token = prefixed_token(PERSONAL_PREFIX)?;
        let prefix = token[..PERSONAL_PREFIX.len() + SHOWN].to_owned();
        let mut write = self.database.write().await?;
        let known: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM personal_access_tokens WHERE user_id = $1")
            .bind(user)
            .fetch_one(write.on())
            .await?;
        if known >= limits::PERSONAL_TOKENS_MAX {
            return Err(ControlError::TooMany("personal access tokens"));
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO personal_access_tokens (user_id, name, prefix, token_hash, created_ns, expires_ns, \
             scope, projects) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
        )
        .bind(user)
        .bind(name)
        .bind(&prefix)
        .bind(hash(&token))
        .bind(actor.at_ns)
        .bind(expires_ns)
        .bind(scope.level.as_str())
        .bind(scope.stored_projects())
        .fetch_one(write.on())
        .await?;
        let details = json!({ "name": name, "scope": scope.level.as_str(), "projects": scope.projects });
        write.audit(actor.did("token.create").on("personal_access_token", id).with(details)).await?;
        write.commit().await?;
        let (name, created_ns) = (name.to_owned(), actor.at_ns);
        let scope = scope.clone();
        Ok((PersonalToken { id, name, prefix, scope, created_ns, expires_ns, last_used_ns: None }, token))
    }

    /// Returns the user's tokens, newest first; expired ones too.
    pub async fn personal_tokens(&self, user: i64) -> Result<Vec<PersonalToken>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT id, name, prefix, scope, projects, created_ns, expires_ns, last_used_ns \
             FROM personal_access_tokens WHERE user_id = $1 AND revoked_ns IS NULL ORDER BY id DESC",
        )
        .bind(user)
        .fetch_all(self.database.pool())
        .await?;
        let token =
            |(id, name, prefix, level, projects, created_ns, expires_ns, last_used_ns): Columns| PersonalToken {
                id,
                name,
                prefix,
                scope: Scope::read(&level, projects.as_deref()),
                created_ns,
                expires_ns,
                last_used_ns,
            };
        Ok(rows.into_iter().map(token).collect())
    }

    /// Deletes a token. Returns false when the user has no such token.
    pub async fn delete_personal_token(&self, actor: &Actor, user: i64, id: i64) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let deleted = sqlx::query("DELETE FROM personal_access_tokens WHERE id = $1 AND user_id = $2")
            .bind(id)
            .bind(user)
            .execute(write.on())
            .await?;
        if deleted.rows_affected() == 0 {
            return Ok(false);
        }
        write.audit(actor.did("token.delete").on("personal_access_token", id)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Returns the user and the scope of a token that is valid at `now_ns`. Records its use, at most once in
    /// [`limits::LAST_USED_PAUSE`].
    pub async fn user_of_personal_token(&self, token: &str, now_ns: i64) -> Result<Option<(i64, Scope)>, ControlError> {
        let found: Option<Found> = sqlx::query_as(
            "SELECT id, user_id, last_used_ns, scope, projects FROM personal_access_tokens \
             WHERE token_hash = $1 AND revoked_ns IS NULL AND (expires_ns IS NULL OR expires_ns > $2)",
        )
        .bind(hash(token))
        .bind(now_ns)
        .fetch_optional(self.database.pool())
        .await?;
        let Some((id, user, last_used_ns, level, projects)) = found else { return Ok(None) };
        let pause = limits::LAST_USED_PAUSE.as_nanos() as i64;
        if last_used_ns.is_none_or(|last| now_ns.saturating_sub(last) >= pause) {
            sqlx::query("UPDATE personal_access_tokens SET last_used_ns = $2 WHERE id = $1")
                .bind(id)
                .bind(now_ns)
                .execute(self.database.pool())
                .await?;
        }
        Ok(Some((user, Scope::read(&level, projects.as_deref()))))
    }
}

/// Characters of the random part that are shown to distinguish tokens: 32 of 256 bits.
const SHOWN: usize = 8;
