//! The two tokens of a project, for exporters and for symbol uploads: lookup, and rotation with a grace period.

use std::sync::Arc;
use std::time::Duration;

use super::Credentials;
use crate::secrets::tokens::{SEALED_AS, hash, project_token};
use crate::{Actor, ControlError, Project, Write};

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

impl Credentials {
    /// Returns the project of an exporter's token that is valid at `now_ns`.
    pub fn project_by_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        self.database.directory().read().project_by_token(token, now_ns)
    }

    /// Returns the project of an upload token that is valid at `now_ns`.
    pub fn project_by_upload_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        self.database.directory().read().project_by_upload_token(token, now_ns)
    }

    /// Returns the ends of the grace periods of the project's replaced tokens, nanoseconds since the epoch: runtime,
    /// upload. `None` if no replaced token is accepted at `now_ns`.
    pub fn replaced_tokens(&self, project: u32, now_ns: i64) -> [Option<i64>; 2] {
        self.database.directory().read().replaced_tokens(project, now_ns)
    }

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
        let sealed = self.database.sealer().seal(SEALED_AS, &token)?;
        let mut write = self.database.write().await?;
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
        let mut write = self.database.write().await?;
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
