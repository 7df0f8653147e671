//! Setting up by program: a token for an hour, the projects it proposes, and what their person says. WIRE 5.4 names the
//! routes and nothing else.
//!
//! The token sees its own session and proposes; it makes nothing. Projects are made by the person who gave it, and the
//! session then shows them with their tokens.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::audit::By;
use super::projects::insert_project;
use super::tokens::{hash, prefixed_token};
use super::{Control, ControlError, NewProject, Project};
use tidewatch_limits as limits;

/// One project as proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedProject {
    pub name: String,
    pub framework: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupStatus {
    /// Nothing is proposed yet.
    Open,
    Proposed,
    Approved,
    Refused,
}

/// One program's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupSession {
    pub id: i64,
    pub organization_id: i64,
    /// Who gave the token.
    pub user_id: i64,
    pub status: SetupStatus,
    pub plan: Vec<PlannedProject>,
    /// Numbers of the projects that were made.
    pub projects: Vec<u32>,
    pub created_ns: i64,
    pub expires_ns: i64,
}

impl SetupStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            SetupStatus::Open => "open",
            SetupStatus::Proposed => "proposed",
            SetupStatus::Approved => "approved",
            SetupStatus::Refused => "refused",
        }
    }

    fn parse(text: &str) -> SetupStatus {
        match text {
            "proposed" => SetupStatus::Proposed,
            "approved" => SetupStatus::Approved,
            "open" => SetupStatus::Open,
            _ => SetupStatus::Refused,
        }
    }
}

type Columns = (i64, i64, i64, String, String, String, i64, i64);
const COLUMNS: &str = "id, organization_id, user_id, status, plan, projects, created_ns, expires_ns";

fn session((id, organization_id, user_id, status, plan, projects, created_ns, expires_ns): Columns) -> SetupSession {
    SetupSession {
        id,
        organization_id,
        user_id,
        status: SetupStatus::parse(&status),
        plan: serde_json::from_str(&plan).unwrap_or_default(),
        projects: serde_json::from_str(&projects).unwrap_or_default(),
        created_ns,
        expires_ns,
    }
}

impl Control {
    /// A session and its token, for [`limits::SETUP_LIFE`]. Those that are over go.
    pub async fn begin_setup(
        &self,
        by: &By,
        user: i64,
        organization: i64,
    ) -> Result<(SetupSession, String), ControlError> {
        let token = prefixed_token("tws_")?;
        let mut write = self.write().await?;
        sqlx::query("DELETE FROM setup_sessions WHERE expires_ns <= $1").bind(by.at_ns).execute(write.on()).await?;
        let made: Columns = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "INSERT INTO setup_sessions \
             (token_hash, organization_id, user_id, status, plan, projects, created_ns, expires_ns) \
             VALUES ($1, $2, $3, 'open', '[]', '[]', $4, $5) RETURNING {COLUMNS}"
        )))
        .bind(hash(&token))
        .bind(organization)
        .bind(user)
        .bind(by.at_ns)
        .bind(by.at_ns.saturating_add(limits::SETUP_LIFE.as_nanos() as i64))
        .fetch_one(write.on())
        .await?;
        let made = session(made);
        write.audit(by.did("setup.begin").on("setup", made.id).within(organization)).await?;
        write.commit().await?;
        Ok((made, token))
    }

    /// The session of a token that holds.
    pub async fn setup_session(&self, token: &str, now_ns: i64) -> Result<Option<SetupSession>, ControlError> {
        let found: Option<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM setup_sessions WHERE token_hash = $1 AND expires_ns > $2"
        )))
        .bind(hash(token))
        .bind(now_ns)
        .fetch_optional(self.pool())
        .await?;
        Ok(found.map(session))
    }

    /// Proposes projects, in place of what was proposed before. Conflict once there is an answer.
    pub async fn propose_setup(&self, id: i64, plan: &[PlannedProject]) -> Result<SetupSession, ControlError> {
        let mut write = self.write().await?;
        let changed: Option<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "UPDATE setup_sessions SET plan = $2, status = 'proposed' \
             WHERE id = $1 AND status IN ('open', 'proposed') RETURNING {COLUMNS}"
        )))
        .bind(id)
        .bind(json!(plan).to_string())
        .fetch_optional(write.on())
        .await?;
        let changed = changed.ok_or(ControlError::Conflict("the plan was answered already"))?;
        write.commit().await?;
        Ok(session(changed))
    }

    /// What waits for the person's answer, newest first.
    pub async fn setup_drafts(&self, user: i64, now_ns: i64) -> Result<Vec<SetupSession>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM setup_sessions \
             WHERE user_id = $1 AND status = 'proposed' AND expires_ns > $2 ORDER BY id DESC"
        )))
        .bind(user)
        .bind(now_ns)
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(session).collect())
    }

    /// Makes the projects of a draft, as its person saw them. Conflict when they are others meanwhile.
    pub async fn approve_setup(
        &self,
        by: &By,
        draft: &SetupSession,
        seen: &[PlannedProject],
    ) -> Result<Vec<Arc<Project>>, ControlError> {
        let mut write = self.write().await?;
        let taken = sqlx::query(
            "UPDATE setup_sessions SET status = 'approved' WHERE id = $1 AND status = 'proposed' AND plan = $2",
        )
        .bind(draft.id)
        .bind(json!(seen).to_string())
        .execute(write.on())
        .await?;
        if taken.rows_affected() == 0 {
            return Err(ControlError::Conflict("the plan is another by now; look at it again"));
        }
        let mut numbers = Vec::new();
        for PlannedProject { name, framework } in seen.iter().cloned() {
            let new = NewProject { organization_id: draft.organization_id, name, framework };
            numbers.push(insert_project(self, &mut write, by, &new).await?);
        }
        sqlx::query("UPDATE setup_sessions SET projects = $2 WHERE id = $1")
            .bind(draft.id)
            .bind(json!(numbers).to_string())
            .execute(write.on())
            .await?;
        write.audit(by.did("setup.approve").on("setup", draft.id).within(draft.organization_id)).await?;
        write.changes_directory();
        write.commit().await?;
        let known = |number: u32| self.project_by_number(number).ok_or(ControlError::UnknownProject);
        numbers.into_iter().map(known).collect()
    }

    pub async fn refuse_setup(&self, by: &By, draft: &SetupSession) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query("UPDATE setup_sessions SET status = 'refused' WHERE id = $1 AND status = 'proposed'")
            .bind(draft.id)
            .execute(write.on())
            .await?;
        write.audit(by.did("setup.refuse").on("setup", draft.id).within(draft.organization_id)).await?;
        write.commit().await
    }
}
