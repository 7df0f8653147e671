//! Creating, changing and deleting projects. Their tokens are in `credentials/project_tokens.rs`.

use std::sync::Arc;

use serde_json::json;

use super::Projects;
use crate::directory::content_lists;
use crate::secrets::tokens;
use crate::{Actor, ControlError, Engine, Project, ProjectSettings, Write};
use tidewatch_limits as limits;

/// A project to be created.
#[derive(Debug, Clone)]
pub struct NewProject {
    /// The organization that owns it.
    pub organization_id: i64,
    /// Display name.
    pub name: String,
    /// Framework of the project.
    pub framework: String,
}

/// New values of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectChange {
    /// Display name.
    pub name: String,
    /// Framework of the project.
    pub framework: String,
    /// All settings.
    pub settings: ProjectSettings,
}

impl Projects {
    /// Creates a project. [`ControlError::TooMany`] beyond [`limits::PROJECTS_PER_ORGANIZATION_MAX`].
    pub async fn create_project(&self, actor: &Actor, new: &NewProject) -> Result<Arc<Project>, ControlError> {
        let mut write = self.database.write().await?;
        let number = insert_project(&mut write, actor, new).await?;
        write.changes_directory();
        write.commit().await?;
        self.database.project_by_number(number).ok_or(ControlError::UnknownProject)
    }

    /// Creates projects in one transaction, in this order.
    pub async fn create_projects(&self, actor: &Actor, new: &[NewProject]) -> Result<Vec<Arc<Project>>, ControlError> {
        let mut write = self.database.write().await?;
        let mut numbers = Vec::new();
        for new in new {
            numbers.push(insert_project(&mut write, actor, new).await?);
        }
        write.changes_directory();
        write.commit().await?;
        let known = |number: u32| self.database.project_by_number(number).ok_or(ControlError::UnknownProject);
        numbers.into_iter().map(known).collect()
    }

    /// Raises the sequence of project numbers to `highest`, the highest number of any row in this node's store. A
    /// control database restored from an older copy would otherwise reuse numbers, and a new project would see
    /// another's rows. Returns false if the sequence was not lower.
    pub async fn number_projects_above(&self, highest: u32) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let highest = i64::from(highest);
        let raised = match self.database.engine() {
            Engine::Sqlite => {
                let known: Option<i64> = sqlx::query_scalar("SELECT seq FROM sqlite_sequence WHERE name = 'projects'")
                    .fetch_optional(write.on())
                    .await?;
                let statement = match known {
                    Some(known) if known >= highest => return Ok(false),
                    Some(_) => "UPDATE sqlite_sequence SET seq = $1 WHERE name = 'projects'",
                    None if highest == 0 => return Ok(false),
                    None => "INSERT INTO sqlite_sequence (name, seq) VALUES ('projects', $1)",
                };
                sqlx::query(statement).bind(highest).execute(write.on()).await?.rows_affected() > 0
            }
            Engine::Postgres => {
                let set: Option<i64> = sqlx::query_scalar(
                    "SELECT setval(pg_get_serial_sequence('projects', 'number'), $1) \
                     WHERE $1 > COALESCE(pg_sequence_last_value(pg_get_serial_sequence('projects', 'number')::regclass), 0)",
                )
                .bind(highest)
                .fetch_optional(write.on())
                .await?;
                set.is_some()
            }
        };
        write.commit().await?;
        Ok(raised)
    }

    /// Changes a project. [`ControlError::UnknownProject`] if it was deleted meanwhile.
    pub async fn change_project(
        &self,
        actor: &Actor,
        old: &Project,
        change: &ProjectChange,
    ) -> Result<Arc<Project>, ControlError> {
        let mut write = self.database.write().await?;
        let ProjectChange { name, framework, settings } = change;
        let (flagged_languages, flagged_terms) = content_lists(settings.ingest.content_terms.as_deref());
        let changed = sqlx::query(
            "UPDATE projects SET name = $2, framework = $3, keep_unmatched_roots = $4, issues_from_logs = $5, \
             sample_rate = $6, error_sample_rate = $7, drop_healthy_healthchecks = $8, healthcheck_paths = $9, \
             profile_label_allowlist = $10, retention_days = $11, ai_conventions = $12, bytes_a_day = $13, \
             records_a_day = $14, records_a_second = $15, allowed_origins = $16, all_metric_kinds = $17, \
             session_recordings = $18, source_url = $19, source_root = $20, \
             ai_flagged_languages = $21, ai_flagged_terms = $22 WHERE number = $1",
        )
        .bind(i64::from(old.number))
        .bind(name)
        .bind(framework)
        .bind(i64::from(settings.ingest.keep_unmatched_roots))
        .bind(i64::from(settings.ingest.issues_from_logs))
        .bind(settings.ingest.sample_rate)
        .bind(settings.ingest.error_sample_rate)
        .bind(i64::from(settings.drop_healthy_healthchecks))
        .bind(json!(settings.healthcheck_paths).to_string())
        .bind(json!(settings.profile_label_allowlist).to_string())
        .bind(settings.retention_days.map(i64::from))
        .bind(i64::from(settings.ingest.ai_conventions))
        .bind(stored_limit(settings.quota.bytes_a_day))
        .bind(stored_limit(settings.quota.records_a_day))
        .bind(stored_limit(settings.quota.records_a_second))
        .bind(json!(settings.allowed_origins).to_string())
        .bind(i64::from(settings.ingest.all_metric_kinds))
        .bind(i64::from(settings.ingest.session_recordings))
        .bind(&settings.source_url)
        .bind(&settings.source_root)
        .bind(json!(flagged_languages).to_string())
        .bind(json!(flagged_terms).to_string())
        .execute(write.on())
        .await?;
        if changed.rows_affected() == 0 {
            return Err(ControlError::UnknownProject);
        }
        let details = json!({
            "name": [&old.name, name],
            "framework": [&old.framework, framework],
            "settings": [format!("{:?}", old.settings), format!("{settings:?}")],
        });
        let entry = actor.did("project.change").on("project", old.id).within(old.organization_id).with(details);
        write.audit(entry).await?;
        write.changes_directory();
        write.commit().await?;
        self.database.project_by_number(old.number).ok_or(ControlError::UnknownProject)
    }

    /// Deletes a project: its tokens become invalid, and its telemetry and uploads are purged later
    /// (`retention_changes.rs`). Its number is never reused. [`ControlError::UnknownProject`] if it does not exist.
    pub async fn delete_project(&self, actor: &Actor, project: &Project) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        if !delete_project(&mut write, actor, project).await? {
            return Err(ControlError::UnknownProject);
        }
        write.changes_directory();
        write.commit().await
    }
}

/// Deletes a project within the caller's transaction. Returns false if it does not exist.
pub(super) async fn delete_project(
    write: &mut Write<'_>,
    actor: &Actor,
    project: &Project,
) -> Result<bool, ControlError> {
    let deleted = sqlx::query("DELETE FROM projects WHERE number = $1")
        .bind(i64::from(project.number))
        .execute(write.on())
        .await?;
    if deleted.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query("INSERT INTO deleted_projects (number, deleted_ns, id) VALUES ($1, $2, $3)")
        .bind(i64::from(project.number))
        .bind(actor.at_ns)
        .bind(project.id.to_string())
        .execute(write.on())
        .await?;
    let details = json!({ "name": project.name });
    let entry = actor.did("project.delete").on_project(project).with(details);
    write.audit(entry).await?;
    Ok(true)
}

/// The stored form of a limit: `None` for 0, which means no limit.
fn stored_limit(limit: u64) -> Option<i64> {
    i64::try_from(limit).ok().filter(|limit| *limit > 0)
}

/// Inserts a project with new tokens. Returns its number.
pub(crate) async fn insert_project(
    write: &mut Write<'_>,
    actor: &Actor,
    new: &NewProject,
) -> Result<u32, ControlError> {
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM projects WHERE organization_id = $1")
        .bind(new.organization_id)
        .fetch_one(write.on())
        .await?;
    if count >= limits::PROJECTS_PER_ORGANIZATION_MAX {
        return Err(ControlError::TooMany("projects in this organization"));
    }
    let id = tokens::random_uuid()?;
    let (token, upload) = (tokens::project_token()?, tokens::project_token()?);
    let number: i64 = sqlx::query_scalar(
        "INSERT INTO projects (id, organization_id, name, framework, token_hash, token_sealed, upload_token_hash, \
         upload_token_sealed, created_ns) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING number",
    )
    .bind(id.to_string())
    .bind(new.organization_id)
    .bind(&new.name)
    .bind(&new.framework)
    .bind(tokens::hash(&token))
    .bind(write.database().sealer().seal(tokens::SEALED_AS, &token)?)
    .bind(tokens::hash(&upload))
    .bind(write.database().sealer().seal(tokens::SEALED_AS, &upload)?)
    .bind(actor.at_ns)
    .fetch_one(write.on())
    .await?;
    let details = json!({ "name": new.name });
    write.audit(actor.did("project.create").on("project", id).within(new.organization_id).with(details)).await?;
    u32::try_from(number).map_err(|_| ControlError::UnknownProject)
}
