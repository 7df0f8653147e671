//! Teams: people who own projects. A project has at most one team.

use std::collections::HashMap;

use serde_json::json;
use tidewatch_accounts::{Actor, ControlError, Write};
use tidewatch_limits as limits;
use uuid::Uuid;

use crate::oncall::OnCall;
use crate::tables::{RowValues, is_targeted};

/// A team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OncallTeam {
    /// Row id.
    pub id: i64,
    /// Its name, unique in the organization.
    pub name: String,
    /// Its purpose; may be empty.
    pub description: String,
    /// Ids of its members, in order. Those who left the organization are absent.
    pub members: Vec<i64>,
    /// Numbers of the projects that it owns.
    pub projects: Vec<u32>,
    /// Number of its schedules.
    pub schedules: i64,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub updated_ns: i64,
}

/// The parts of a team that a user chooses; `None` keeps the value, or is empty for a new team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTeam {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// Ids of its members, in order.
    pub members: Option<Vec<i64>>,
    /// Ids of its projects. They leave their teams.
    pub projects: Option<Vec<Uuid>>,
}

const NO_TEAM: ControlError = ControlError::Missing("no such team");

impl OnCall {
    /// Returns the teams of an organization by name.
    pub async fn oncall_teams(&self, organization: i64) -> Result<Vec<OncallTeam>, ControlError> {
        type Columns = (i64, String, String, i64, i64, i64);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT t.id, t.name, t.description, \
             (SELECT COUNT(*) FROM oncall_schedules s WHERE s.team_id = t.id), t.created_ns, t.updated_ns \
             FROM oncall_teams t WHERE t.organization_id = $1 ORDER BY t.name, t.id",
        )
        .bind(organization)
        .fetch_all(self.database.pool())
        .await?;
        let members: Vec<(i64, i64)> =
            sqlx::query_as(MEMBERS_OF_TEAMS).bind(organization).fetch_all(self.database.pool()).await?;
        let projects: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT p.team_id, p.project FROM oncall_team_projects p JOIN oncall_teams t ON t.id = p.team_id \
             WHERE t.organization_id = $1 ORDER BY p.project",
        )
        .bind(organization)
        .fetch_all(self.database.pool())
        .await?;
        let (mut members, mut projects) = (grouped(members), grouped(projects));
        let team = |(id, name, description, schedules, created_ns, updated_ns): Columns| OncallTeam {
            id,
            name,
            description,
            members: members.remove(&id).unwrap_or_default(),
            projects: projects
                .remove(&id)
                .unwrap_or_default()
                .into_iter()
                .filter_map(|one| one.try_into().ok())
                .collect(),
            schedules,
            created_ns,
            updated_ns,
        };
        Ok(rows.into_iter().map(team).collect())
    }

    /// Stores a new team, or changes one. Returns its id. Fails for people outside the organization and projects of
    /// others.
    pub async fn save_oncall_team(
        &self,
        actor: &Actor,
        organization: i64,
        id: Option<i64>,
        team: &NewTeam,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        check_name(
            &mut write,
            "SELECT id FROM oncall_teams WHERE organization_id = $1 AND name = $2",
            organization,
            id,
            &team.name,
        )
        .await?;
        let row = RowValues::of("oncall_teams")
            .set("name", &team.name)
            .set("description", &team.description)
            .set("updated_ns", actor.at_ns);
        let id = match id {
            Some(id) => {
                team_of(&mut write, organization, id).await?;
                row.update(&mut write, &[("id", id)]).await?;
                id
            }
            None => {
                let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_teams WHERE organization_id = $1")
                    .bind(organization)
                    .fetch_one(write.on())
                    .await?;
                if count >= limits::ONCALL_TEAMS_MAX {
                    return Err(ControlError::TooMany("teams"));
                }
                row.set("organization_id", organization).set("created_ns", actor.at_ns).insert(&mut write).await?
            }
        };
        if let Some(members) = &team.members {
            check_members(&mut write, organization, members).await?;
            sqlx::query("DELETE FROM oncall_team_members WHERE team_id = $1").bind(id).execute(write.on()).await?;
            for (position, user) in (0i64..).zip(members) {
                sqlx::query(
                    "INSERT INTO oncall_team_members (team_id, user_id, position) VALUES ($1, $2, $3) \
                     ON CONFLICT (team_id, user_id) DO NOTHING",
                )
                .bind(id)
                .bind(*user)
                .bind(position)
                .execute(write.on())
                .await?;
            }
        }
        if let Some(projects) = &team.projects {
            own(&mut write, organization, id, projects).await?;
        }
        let details = json!({ "name": team.name });
        write.audit(actor.did("oncall_team.save").on("team", id).within(organization).with(details)).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Deletes a team. Fails while it has schedules or a policy reaches it.
    pub async fn delete_oncall_team(&self, actor: &Actor, organization: i64, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        team_of(&mut write, organization, id).await?;
        let schedules: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_schedules WHERE team_id = $1")
            .bind(id)
            .fetch_one(write.on())
            .await?;
        if schedules > 0 {
            return Err(ControlError::Unacceptable("this team has schedules; delete them first"));
        }
        if is_targeted(&mut write, organization, "team", id).await? {
            return Err(ControlError::Unacceptable("an escalation policy reaches this team; remove that step first"));
        }
        sqlx::query("DELETE FROM oncall_teams WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(actor.did("oncall_team.delete").on("team", id).within(organization)).await?;
        write.commit().await
    }
}

/// Pairs of team and user of an organization, without those who left it.
const MEMBERS_OF_TEAMS: &str = "SELECT m.team_id, m.user_id FROM oncall_team_members m \
     JOIN oncall_teams t ON t.id = m.team_id \
     JOIN memberships o ON o.organization_id = t.organization_id AND o.user_id = m.user_id \
     WHERE t.organization_id = $1 ORDER BY m.team_id, m.position";

/// The members of each team, within a transaction.
pub(super) async fn members_of_teams(
    write: &mut Write<'_>,
    organization: i64,
) -> Result<HashMap<i64, Vec<i64>>, ControlError> {
    let pairs: Vec<(i64, i64)> = sqlx::query_as(MEMBERS_OF_TEAMS).bind(organization).fetch_all(write.on()).await?;
    Ok(grouped(pairs))
}

fn grouped(pairs: Vec<(i64, i64)>) -> HashMap<i64, Vec<i64>> {
    let mut groups: HashMap<i64, Vec<i64>> = HashMap::new();
    for (key, value) in pairs {
        groups.entry(key).or_default().push(value);
    }
    groups
}

/// Fails unless the organization has the team.
pub(super) async fn team_of(write: &mut Write<'_>, organization: i64, id: i64) -> Result<(), ControlError> {
    let found: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_teams WHERE id = $1 AND organization_id = $2")
        .bind(id)
        .bind(organization)
        .fetch_one(write.on())
        .await?;
    if found == 1 { Ok(()) } else { Err(NO_TEAM) }
}

/// Fails if another row than `id` has the name. `statement` selects ids by organization and name.
pub(super) async fn check_name(
    write: &mut Write<'_>,
    statement: &'static str,
    organization: i64,
    id: Option<i64>,
    name: &str,
) -> Result<(), ControlError> {
    let found: Option<i64> =
        sqlx::query_scalar(statement).bind(organization).bind(name).fetch_optional(write.on()).await?;
    match found {
        Some(other) if Some(other) != id => Err(ControlError::Unacceptable("this name is used already")),
        _ => Ok(()),
    }
}

/// Fails unless all users are members of the organization.
pub(super) async fn check_members(write: &mut Write<'_>, organization: i64, users: &[i64]) -> Result<(), ControlError> {
    let members: Vec<i64> = sqlx::query_scalar("SELECT user_id FROM memberships WHERE organization_id = $1")
        .bind(organization)
        .fetch_all(write.on())
        .await?;
    match users.iter().all(|user| members.contains(user)) {
        true => Ok(()),
        false => Err(ControlError::Unacceptable("everybody must be a member of the organization")),
    }
}

/// Makes a team the owner of exactly these projects.
async fn own(write: &mut Write<'_>, organization: i64, team: i64, projects: &[Uuid]) -> Result<(), ControlError> {
    sqlx::query("DELETE FROM oncall_team_projects WHERE team_id = $1").bind(team).execute(write.on()).await?;
    for project in projects {
        let number: Option<i64> =
            sqlx::query_scalar("SELECT number FROM projects WHERE id = $1 AND organization_id = $2")
                .bind(project.to_string())
                .bind(organization)
                .fetch_optional(write.on())
                .await?;
        let number = number.ok_or(ControlError::Unacceptable("a project is not of this organization"))?;
        sqlx::query(
            "INSERT INTO oncall_team_projects (project, team_id) VALUES ($1, $2) \
             ON CONFLICT (project) DO UPDATE SET team_id = excluded.team_id",
        )
        .bind(number)
        .bind(team)
        .execute(write.on())
        .await?;
    }
    Ok(())
}
