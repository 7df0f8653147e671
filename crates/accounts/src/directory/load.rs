//! Loads the directory from the database.
//!
//! The version is read first: data read later is at least that new, and a change in between causes another load.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};
use tidewatch_domain::project::IngestSettings;
use uuid::Uuid;

use super::grouping_rules::read_rules;
use super::index::{Directory, TokenOwner};
use super::organization::Organization;
use super::organization_settings::OrganizationSettings;
use super::project::{DeletedProject, Demo, Project, ProjectSettings, content_terms};
use super::quota::Quota;
use super::user::User;
use crate::secrets::seal::Sealer;
use crate::secrets::tokens;
use crate::{ControlError, Role};

/// The version of what is stored.
pub(crate) async fn version(pool: &AnyPool) -> Result<i64, ControlError> {
    Ok(sqlx::query_scalar("SELECT version FROM directory_version").fetch_one(pool).await?)
}

impl Directory {
    /// Loads everything. `opened` maps sealed tokens to tokens that were opened before.
    pub(crate) async fn load(
        pool: &AnyPool,
        sealer: &Sealer,
        opened: &HashMap<String, String>,
    ) -> Result<Directory, ControlError> {
        let mut directory = Directory { version: version(pool).await?, ..Directory::default() };
        for row in sqlx::query(SELECT_USERS).fetch_all(pool).await? {
            let user = Arc::new(read_user(&row)?);
            directory.users.insert(user.id, user);
        }
        let organizations: Vec<(i64, String, String, String)> =
            sqlx::query_as("SELECT id, name, timezone, settings FROM organizations").fetch_all(pool).await?;
        for (id, name, timezone, settings) in organizations {
            let requires_two_factor = OrganizationSettings::read(&settings).require_two_factor;
            let organization = Organization { id, name, timezone, requires_two_factor };
            directory.organizations.insert(id, Arc::new(organization));
        }
        let memberships: Vec<(i64, i64, String)> =
            sqlx::query_as("SELECT organization_id, user_id, role FROM memberships").fetch_all(pool).await?;
        for (organization, user, role) in memberships {
            let role = Role::parse(&role).unwrap_or(Role::Readonly);
            directory.roles.entry(user).or_default().insert(organization, role);
        }
        let overrides: Vec<(i64, i64, String)> =
            sqlx::query_as("SELECT project, user_id, role FROM project_roles").fetch_all(pool).await?;
        for (project, user, role) in overrides {
            let (Ok(project), Some(role)) = (u32::try_from(project), Role::parse(&role)) else { continue };
            directory.overrides.entry(user).or_default().insert(project, role);
        }
        for row in sqlx::query(SELECT_PROJECTS).fetch_all(pool).await? {
            let mut open = |sealed: String| {
                let token = match opened.get(&sealed) {
                    Some(token) => token.clone(),
                    None => sealer.open(tokens::SEALED_AS, &sealed)?,
                };
                directory.opened.insert(sealed, token.clone());
                Ok::<String, ControlError>(token)
            };
            let project = Arc::new(read_project(&row, &mut open)?);
            let owner = || TokenOwner { project: project.clone(), expires_ns: i64::MAX };
            directory.by_token.insert(tokens::fingerprint(&project.token), owner());
            directory.by_upload_token.insert(tokens::fingerprint(&project.upload_token), owner());
            directory.projects.push(project);
        }
        let deleted: Vec<(i64, Option<String>, i64)> =
            sqlx::query_as("SELECT number, id, deleted_ns FROM deleted_projects ORDER BY number")
                .fetch_all(pool)
                .await?;
        directory.deleted = deleted.into_iter().filter_map(deleted_project).collect();
        directory.add_previous_tokens(pool).await?;
        Ok(directory)
    }

    async fn add_previous_tokens(&mut self, pool: &AnyPool) -> Result<(), ControlError> {
        let numbered: HashMap<i64, Arc<Project>> =
            self.projects.iter().map(|project| (i64::from(project.number), project.clone())).collect();
        let rows: Vec<(String, i64, String, i64)> =
            sqlx::query_as("SELECT token_hash, project, kind, expires_ns FROM previous_tokens").fetch_all(pool).await?;
        for (hash, project, kind, expires_ns) in rows {
            let (Some(hash), Some(project)) = (from_hex(&hash), numbered.get(&project)) else { continue };
            let is_upload = kind == "upload";
            let until = &mut self.replaced.entry(project.number).or_default()[usize::from(is_upload)];
            *until = expires_ns.max(*until);
            let tokens = if is_upload { &mut self.by_upload_token } else { &mut self.by_token };
            tokens.entry(hash).or_insert_with(|| TokenOwner { project: project.clone(), expires_ns });
        }
        Ok(())
    }
}

const SELECT_USERS: &str = "SELECT id, email, name, created_ns, session_epoch, \
     CASE WHEN disabled_ns IS NULL THEN 0 ELSE 1 END, timezone, theme, \
     CASE WHEN email_verified_ns IS NULL THEN 0 ELSE 1 END, \
     (SELECT COUNT(*) FROM totp WHERE totp.user_id = users.id AND totp.confirmed_ns IS NOT NULL) \
     + (SELECT COUNT(*) FROM passkeys WHERE passkeys.user_id = users.id), \
     CASE WHEN password_hash IS NULL THEN 1 ELSE 0 END, \
     (SELECT COUNT(*) FROM identities WHERE identities.user_id = users.id AND is_multi_factor = 1) FROM users";

fn read_user(row: &AnyRow) -> Result<User, ControlError> {
    let is = |column: usize| row.try_get::<i64, _>(column).map(|value| value != 0);
    Ok(User {
        id: row.try_get(0)?,
        email: row.try_get(1)?,
        name: row.try_get(2)?,
        created_ns: row.try_get(3)?,
        session_epoch: row.try_get(4)?,
        is_disabled: is(5)?,
        timezone: row.try_get(6)?,
        theme: row.try_get(7)?,
        is_email_verified: is(8)?,
        has_two_factor: is(9)?,
        has_no_password: is(10)?,
        is_provider_multi_factor: is(11)?,
    })
}

const SELECT_PROJECTS: &str = "SELECT id, number, name, token_sealed, upload_token_sealed, framework, \
     organization_id, created_ns, keep_unmatched_roots, issues_from_logs, sample_rate, error_sample_rate, \
     drop_healthy_healthchecks, healthcheck_paths, profile_label_allowlist, retention_days, ai_conventions, \
     bytes_a_day, records_a_day, records_a_second, allowed_origins, demo, all_metric_kinds, session_recordings, \
     source_url, source_root, ai_flagged_languages, ai_flagged_terms, grouping_rules \
     FROM projects ORDER BY number";

fn read_project(
    row: &AnyRow,
    open: &mut impl FnMut(String) -> Result<String, ControlError>,
) -> Result<Project, ControlError> {
    let is = |column: usize| row.try_get::<i64, _>(column).map(|value| value != 0);
    let text = |column: usize| row.try_get::<String, _>(column);
    let strings = |column: usize| text(column).map(|json| serde_json::from_str(&json).unwrap_or_default());
    let limit = |column: usize| {
        row.try_get::<Option<i64>, _>(column)
            .map(|limit| limit.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(0))
    };
    let number: i64 = row.try_get(1)?;
    let (drop_healthy_healthchecks, healthcheck_paths): (bool, Vec<String>) = (is(12)?, strings(13)?);
    let (flagged_languages, flagged_terms): (Vec<String>, Vec<String>) = (strings(26)?, strings(27)?);
    Ok(Project {
        id: Uuid::parse_str(&text(0)?).map_err(|_| ControlError::Unreadable("a project's id"))?,
        number: u32::try_from(number).map_err(|_| ControlError::Unreadable("a project's number"))?,
        name: text(2)?,
        token: open(text(3)?)?,
        upload_token: open(text(4)?)?,
        framework: text(5)?,
        organization_id: row.try_get(6)?,
        created_ns: row.try_get(7)?,
        demo: match row.try_get::<i64, _>(21)? {
            0 => None,
            1 => Some(Demo::Loading),
            _ => Some(Demo::Loaded),
        },
        settings: ProjectSettings {
            ingest: IngestSettings {
                keep_unmatched_roots: is(8)?,
                issues_from_logs: is(9)?,
                ai_conventions: is(16)?,
                all_metric_kinds: is(22)?,
                session_recordings: is(23)?,
                sample_rate: row.try_get(10)?,
                error_sample_rate: row.try_get(11)?,
                content_terms: content_terms(&flagged_languages, &flagged_terms),
                healthchecks: ProjectSettings::healthchecks(drop_healthy_healthchecks, &healthcheck_paths),
                ..IngestSettings::default()
            },
            drop_healthy_healthchecks,
            healthcheck_paths,
            profile_label_allowlist: strings(14)?,
            retention_days: row.try_get::<Option<i64>, _>(15)?.and_then(|days| u32::try_from(days).ok()),
            quota: Quota { bytes_a_day: limit(17)?, records_a_day: limit(18)?, records_a_second: limit(19)? },
            allowed_origins: strings(20)?,
            source_url: text(24)?,
            source_root: text(25)?,
        },
        grouping_rules: read_rules(&text(28)?),
    })
}

fn deleted_project((number, id, deleted_ns): (i64, Option<String>, i64)) -> Option<DeletedProject> {
    let id = id.and_then(|id| Uuid::parse_str(&id).ok());
    Some(DeletedProject { number: u32::try_from(number).ok()?, id, deleted_ns })
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 2 * bytes.len() || !text.is_ascii() {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
