//! Tokens of programs: generation, hashes for lookup, and rotation with a grace period.
//!
//! Lookups use the SHA-256 of a token, so their duration does not depend on how close a guess is. A project's two
//! tokens are also stored sealed, because WIRE 5.6 shows them; of every other token only the hash is stored.

use std::time::Duration;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::audit::Actor;
use super::db::Write;
use super::{Control, ControlError, Project};

/// The purpose that project tokens are sealed for.
pub const SEALED_AS: &str = "project token";

/// A kind of token of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// For exporters.
    Runtime,
    /// For symbol uploads.
    Upload,
}

impl TokenKind {
    /// The name in the API and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            TokenKind::Runtime => "runtime",
            TokenKind::Upload => "upload",
        }
    }
}

/// Generates a project token: a random UUID without dashes, 32 hex digits, as exporters of this protocol expect it.
/// WIRE 5.6.
pub fn project_token() -> Result<String, ControlError> {
    Ok(random_uuid()?.simple().to_string())
}

/// Generates a token of another kind: a prefix (`twp_`, `twk_`, ...) and 256 random bits in hex.
pub fn prefixed_token(prefix: &str) -> Result<String, ControlError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{prefix}{}", hex(&bytes)))
}

/// Generates a random UUID (version 4).
pub fn random_uuid() -> Result<Uuid, ControlError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// Returns the hash that is stored and looked up: SHA-256 in hex.
pub fn hash(token: &str) -> String {
    hex(&fingerprint(token))
}

/// Like [`hash`], as bytes.
pub fn fingerprint(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Control {
    /// Replaces a project's token and returns the new one. The old token is accepted for `grace` more, so that
    /// exporters can be updated one by one; tokens replaced earlier end. With a grace of zero only the new token is
    /// accepted.
    pub async fn rotate_token(
        &self,
        actor: &Actor,
        number: u32,
        kind: TokenKind,
        grace: Duration,
    ) -> Result<String, ControlError> {
        let token = project_token()?;
        let sealed = self.sealer().seal(SEALED_AS, &token)?;
        let mut write = self.write().await?;
        let (read, change) = match kind {
            TokenKind::Runtime => (
                "SELECT token_hash, id, organization_id FROM projects WHERE number = $1",
                "UPDATE projects SET token_hash = $2, token_sealed = $3 WHERE number = $1",
            ),
            TokenKind::Upload => (
                "SELECT upload_token_hash, id, organization_id FROM projects WHERE number = $1",
                "UPDATE projects SET upload_token_hash = $2, upload_token_sealed = $3 WHERE number = $1",
            ),
        };
        let found = sqlx::query_as::<_, (String, String, i64)>(read).bind(i64::from(number));
        let (old, id, organization) = found.fetch_optional(write.on()).await?.ok_or(ControlError::UnknownProject)?;
        sqlx::query(change).bind(i64::from(number)).bind(hash(&token)).bind(sealed).execute(write.on()).await?;
        delete_previous(&mut write, number, kind).await?;
        if !grace.is_zero() {
            let expires_ns = actor.at_ns.saturating_add(grace.as_nanos() as i64);
            sqlx::query("INSERT INTO previous_tokens (token_hash, project, kind, expires_ns) VALUES ($1, $2, $3, $4)")
                .bind(old)
                .bind(i64::from(number))
                .bind(kind.as_str())
                .bind(expires_ns)
                .execute(write.on())
                .await?;
        }
        sqlx::query("DELETE FROM previous_tokens WHERE expires_ns <= $1").bind(actor.at_ns).execute(write.on()).await?;
        let details = serde_json::json!({ "kind": kind.as_str(), "graceSeconds": grace.as_secs() });
        write.audit(actor.did("project.rotate_token").on("project", &id).within(organization).with(details)).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(token)
    }

    /// Ends the replaced tokens of `kind` that are still accepted. Returns false when there is none at `actor.at_ns`.
    pub async fn end_previous_tokens(
        &self,
        actor: &Actor,
        project: &Project,
        kind: TokenKind,
    ) -> Result<bool, ControlError> {
        let mut write = self.write().await?;
        let ended: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM previous_tokens WHERE project = $1 AND kind = $2 AND expires_ns > $3",
        )
        .bind(i64::from(project.number))
        .bind(kind.as_str())
        .bind(actor.at_ns)
        .fetch_one(write.on())
        .await?;
        if ended == 0 {
            return Ok(false);
        }
        delete_previous(&mut write, project.number, kind).await?;
        let details = serde_json::json!({ "kind": kind.as_str() });
        let entry = actor.did("project.end_previous_token").on_project(project);
        write.audit(entry.with(details)).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(true)
    }
}

async fn delete_previous(write: &mut Write<'_>, number: u32, kind: TokenKind) -> Result<(), ControlError> {
    sqlx::query("DELETE FROM previous_tokens WHERE project = $1 AND kind = $2")
        .bind(i64::from(number))
        .bind(kind.as_str())
        .execute(write.on())
        .await?;
    Ok(())
}
