//! Setup by a program: a token for an hour, the projects that the program proposes, and the decision of the user. WIRE
//! 5.4 names the routes and nothing else.
//!
//! The token reads its own session and proposes projects; it creates none. The user who issued it approves the plan,
//! and the session then contains the projects with their tokens.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Credentials;
use crate::projects::insert_project;
use crate::secrets::tokens::{hash, prefixed_token};
use crate::{Actor, ControlError, NewProject, Project};
use tidewatch_limits as limits;

/// A proposed project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedProject {
    /// Display name.
    pub name: String,
    /// Framework of the project.
    pub framework: String,
}

/// The state of a setup session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupStatus {
    /// Nothing is proposed yet.
    Open,
    /// A plan waits for the user's decision.
    Proposed,
    /// The user approved the plan; its projects exist.
    Approved,
    /// The user refused the plan.
    Refused,
}

/// The setup session of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupSession {
    /// Row id.
    pub id: i64,
    /// The organization of the projects.
    pub organization_id: i64,
    /// The user who issued the token.
    pub user_id: i64,
    /// State of the session.
    pub status: SetupStatus,
    /// Proposed projects.
    pub plan: Vec<PlannedProject>,
    /// Numbers of the created projects.
    pub projects: Vec<u32>,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub expires_ns: i64,
}

impl SetupStatus {
    /// The name in the API and the database.
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

impl Credentials {
    /// Creates a session with its token, valid for [`limits::SETUP_LIFE`]. Deletes expired sessions.
    pub async fn begin_setup(
        &self,
        actor: &Actor,
        user: i64,
        organization: i64,
    ) -> Result<(SetupSession, String), ControlError> {
        let token = prefixed_token("tws_")?;
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM setup_sessions WHERE expires_ns <= $1").bind(actor.at_ns).execute(write.on()).await?;
        let inserted: Columns = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "INSERT INTO setup_sessions \
             (token_hash, organization_id, user_id, status, plan, projects, created_ns, expires_ns) \
             VALUES ($1, $2, $3, 'open', '[]', '[]', $4, $5) RETURNING {COLUMNS}"
        )))
        .bind(hash(&token))
        .bind(organization)
        .bind(user)
        .bind(actor.at_ns)
        .bind(actor.at_ns.saturating_add(limits::SETUP_LIFE.as_nanos() as i64))
        .fetch_one(write.on())
        .await?;
        let session = session(inserted);
        write.audit(actor.did("setup.begin").on("setup", session.id).within(organization)).await?;
        write.commit().await?;
        Ok((session, token))
    }

    /// Returns the session of a token that is valid at `now_ns`.
    pub async fn setup_session(&self, token: &str, now_ns: i64) -> Result<Option<SetupSession>, ControlError> {
        let found: Option<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM setup_sessions WHERE token_hash = $1 AND expires_ns > $2"
        )))
        .bind(hash(token))
        .bind(now_ns)
        .fetch_optional(self.database.pool())
        .await?;
        Ok(found.map(session))
    }

    /// Proposes projects, in place of an earlier plan. [`ControlError::Conflict`] after the user's decision.
    pub async fn propose_setup(&self, id: i64, plan: &[PlannedProject]) -> Result<SetupSession, ControlError> {
        let mut write = self.database.write().await?;
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

    /// Returns the sessions that wait for the user's decision, newest first.
    pub async fn setup_drafts(&self, user: i64, now_ns: i64) -> Result<Vec<SetupSession>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM setup_sessions \
             WHERE user_id = $1 AND status = 'proposed' AND expires_ns > $2 ORDER BY id DESC"
        )))
        .bind(user)
        .bind(now_ns)
        .fetch_all(self.database.pool())
        .await?;
        Ok(rows.into_iter().map(session).collect())
    }

    /// Creates the projects of a draft. `seen` is the plan that the user saw: [`ControlError::Conflict`] if it changed
    /// meanwhile.
    pub async fn approve_setup(
        &self,
        actor: &Actor,
        draft: &SetupSession,
        seen: &[PlannedProject],
    ) -> Result<Vec<Arc<Project>>, ControlError> {
        let mut write = self.database.write().await?;
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
            numbers.push(insert_project(&mut write, actor, &new).await?);
        }
        sqlx::query("UPDATE setup_sessions SET projects = $2 WHERE id = $1")
            .bind(draft.id)
            .bind(json!(numbers).to_string())
            .execute(write.on())
            .await?;
        write.audit(actor.did("setup.approve").on("setup", draft.id).within(draft.organization_id)).await?;
        write.changes_directory();
        write.commit().await?;
        let known = |number: u32| self.database.project_by_number(number).ok_or(ControlError::UnknownProject);
        numbers.into_iter().map(known).collect()
    }

    /// Refuses the plan of a draft.
    pub async fn refuse_setup(&self, actor: &Actor, draft: &SetupSession) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        sqlx::query("UPDATE setup_sessions SET status = 'refused' WHERE id = $1 AND status = 'proposed'")
            .bind(draft.id)
            .execute(write.on())
            .await?;
        write.audit(actor.did("setup.refuse").on("setup", draft.id).within(draft.organization_id)).await?;
        write.commit().await
    }
}
